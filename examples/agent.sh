#!/bin/sh
# A wolfbus agent in POSIX shell with sed, tr and sort alone. Play it with:
#   wolfbus play --players "exec:sh examples/agent.sh*2,scripted*6"
# This is no JSON parser: it leans on every request being one line that begins with v, type, id and kind, without spaces
# between its parts. With jq it would be shorter and sturdier.
export LC_ALL=C

# pick PATTERN: what its group matches in the request, or nothing
pick() { printf '%s\n' "$line" | sed -n "s/$1.*/\\1/p"; }

# list KEY: the names of a list, with their quotation marks and commas
list() { pick ".*\"$1\":\\[\\(\\(\"[^\"]*\",*\\)*\\)"; }

# map KEY: the entries of a map, one a line: the value, a space, the name with its quotation marks
map() {
    pick ".*\"$1\":{\\(\\(\"[^\"]*\":[^,}]*,*\\)*\\)" | sed 's/\("[^"]*"\):\([^,]*\),*/\2 \1\
/g'
}

# first NAMES: the first of them, one a line with their quotation marks, that is a legal answer and no partner
first() {
    printf '%s\n' "$1" | while IFS= read -r name; do
        case ",$partners," in *",$name,"*) continue ;; esac
        case ",$legal," in *",$name,"*) printf '%s' "$name" && break ;; esac
    done
}

while IFS= read -r line; do
    case $line in '{"v":1,"type":"ask",'*) ;; *) continue ;; esac
    # written so, the quotation marks and backslashes within texts cannot be taken for their ends
    line=$(printf '%s\n' "$line" | sed 's/\\\\/\\u005c/g; s/\\"/\\u0022/g')
    id=$(pick '^{"v":1,"type":"ask","id":"\([^"]*\)"')
    kind=$(pick '^{"v":1,"type":"ask","id":"[^"]*","kind":"\([a-z_]*\)"')
    legal=$(list legal) partners=$(list partners)
    role=$(pick '.*"you":{"role":"\([A-Za-z]*\)"')
    suspects=$(map suspicion | sort -rn | sed 's/^[^ ]* //')
    worst=$(map inspections | sed -n 's/^"Werewolf" //p' && printf '%s\n' "$suspects")
    case $kind in
    bid) reply="\"bid\":$(($(pick '.*"bid_max":\([0-9]*\)') / 2))" ;;
    speak)
        # the living are who may be spoken of
        legal=$(list living)
        suspect=$(first "$worst" | tr -d '"')
        reply="\"text\":\"I am watching ${suspect:-nobody}. Think of what has been said, and by whom.\""
        ;;
    assess_own)
        reply='"deceptive":false,"confidence":0.8,"kind":"none"'
        [ "$role" = Werewolf ] && reply='"deceptive":true,"confidence":0.8,"kind":"omission"'
        ;;
    assess_other) reply='"deceptive":false,"suspicion":0.4,"confidence":0.3,"kind":"none"' ;;
    vote)
        target=$(first "$worst")
        reply="\"target\":${target:-null},\"reason\":\"My doubts point there.\""
        ;;
    inspect) reply="\"target\":$(first "$suspects")" ;;
    *) reply="\"target\":$(first "$(printf '%s\n' "$suspects" | sed '1!G;h;$!d')")" ;;
    esac
    printf '{"id":"%s",%s}\n' "$id" "$reply"
done
