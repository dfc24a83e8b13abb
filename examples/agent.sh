#!/bin/sh
# A wolfbus agent in POSIX shell with sed, tr and sort alone. Play it with:
#   wolfbus play --players "exec:sh examples/agent.sh*2,scripted*6"
# This is no JSON parser: it leans on every request being one line that begins with v, type, id and kind, and on names
# without quotation marks, commas, colons and braces. With jq it would be shorter and sturdier.
export LC_ALL=C

# pick PATTERN: what its group matches in the request, or nothing
pick() { printf '%s\n' "$line" | sed -n "s/$1.*/\\1/p"; }

# first NAMES: the first of them, one a line with their quotation marks, that is a legal answer and no partner
first() {
    printf '%s\n' "$1" | while IFS= read -r name; do
        case ",$partners," in *",$name,"*) continue ;; esac
        case ",$legal," in *",$name,"*) printf '%s' "$name" && break ;; esac
    done
}

while IFS= read -r line; do
    case $line in '{"v":1,"type":"ask",'*) ;; *) continue ;; esac
    id=$(pick '^{"v":1,"type":"ask","id":"\([^"]*\)"')
    kind=$(pick '^{"v":1,"type":"ask","id":"[^"]*","kind":"\([a-z_]*\)"')
    legal=$(pick '.*,"legal":\[\([^]]*\)\]')
    partners=$(pick '.*"you":{"role":"[A-Za-z]*","partners":\[\([^]]*\)\]')
    role=$(pick '.*"you":{"role":"\([A-Za-z]*\)"')
    caught=$(pick '.*"inspections":{\([^}]*\)}' | tr ',' '\n' | sed -n 's/:"Werewolf"$//p')
    suspects=$(pick '.*"suspicion":{\([^}]*\)}' | tr ',' '\n' | sort -t : -k 2,2 -rn | sed 's/:[0-9.e-]*$//')
    trusted=$(printf '%s\n' "$suspects" | sed '1!G;h;$!d')
    case $kind in
    bid) reply="\"bid\":$(($(pick '.*"bid_max":\([0-9]*\)') / 2))" ;;
    speak)
        # the living are who may be spoken of
        legal=$(pick '.*,"living":\[\([^]]*\)\]')
        suspect=$(first "$caught
$suspects" | tr -d '"')
        reply="\"text\":\"I am watching $suspect. Think of what has been said, and by whom.\""
        ;;
    assess_own)
        reply='"deceptive":false,"confidence":0.8,"kind":"none"'
        [ "$role" = Werewolf ] && reply='"deceptive":true,"confidence":0.8,"kind":"omission"'
        ;;
    assess_other) reply='"deceptive":false,"suspicion":0.4,"confidence":0.3,"kind":"none"' ;;
    vote) reply="\"target\":$(first "$caught
$suspects"),\"reason\":\"My doubts point there.\"" ;;
    inspect) reply="\"target\":$(first "$suspects")" ;;
    *) reply="\"target\":$(first "$trusted")" ;;
    esac
    printf '{"id":"%s",%s}\n' "$id" "$reply"
done
