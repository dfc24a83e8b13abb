"""A statement's text made ready for the grammar of claims: names as single marks, plain words, quotations cut out.

Everything here takes time in proportion to the text, whatever it holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import takewhile
from typing import Final

from wolfbus.claims.lexicon import SPELLING, WORDS, any_of, coded, join_phrases, match_from
from wolfbus.game.roles import FACTS
from wolfbus.knowledge.marks import FIRST_MARK, LAST_MARK, MARK, MARKS, marked
from wolfbus.messages.base import SeatName

_SINGULAR: Final = {facts.plural.lower(): role.lower() for role, facts in FACTS.items()}
CUT: Final = "\ufffc"
"""Stands where a quotation was."""
STOPS: Final = frozenset(".?!")

_HYPHENS: Final = str.maketrans("\u2010\u2011", "--")
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2013\u2014\u2015", "\u2014"),
        **dict.fromkeys("*_~#", None),
        "\u2026": ". ",
        "\u00a0": " ",
        "\u2192": " = ",
        "\u21d2": " = ",
    }
)
_DOUBLE_QUOTED = re.compile(r'"[^"]*(?:"|\Z)')
_SINGLE_QUOTED = re.compile(
    rf"(?<![\w{MARKS}])'(?!(?:cause|em|til|twas|tis|n)\b)(?=[\w{MARKS}])(?:[^']|'(?=\w))*(?:'|\Z)"
)
_MARK = re.compile(MARK)
# within "Raj Bea and Tom"
_UNLISTED = re.compile(rf"(?<={MARK})(?= +{MARK}(?: +{MARK})*,? +(?:and|&) +{MARK})")
_TITLE = re.compile(
    rf"\b(?:mr|mrs|ms|mx|dr|prof|miss|sir|madam)\b\.?\s*(?=[{MARKS}])|(?<=[{MARKS}])-(?:san|kun|chan|sama)\b"
)
_ABBREVIATED = re.compile(r"\b(mr|mrs|ms)\.(?=\s*\w)")
_QUOTED_RESULT = re.compile(
    r"\b(got|returned|back|up|as|verdict|result|(?:result|verdict|reading) (?:is|was)|result:)\s+"
    r'"((?:not )?(?:an? )?[\w-]+)[.!]?"'
)
_MENTION = re.compile(rf"@(?=[{MARKS}])")
_OWN_LINE = re.compile(rf"\A\W*{chr(FIRST_MARK)}(?:\s+sa(?:ys|id))?\s*:\s*")
"""The speaker's own name before what it says."""
_CHAIR = re.compile(rf"\W*(?:{'|'.join(sorted(WORDS['chair'])).replace('_', ' ')})\s*:")
_INNER = re.compile(rf"!(?=[\w{MARKS}])")
_BULLET = re.compile(r"\s*(?:[-\u2022+]\s|\(?\d{1,2}[.)]\s|[-\u2022]$)\s*")
_WORD = re.compile(rf"[{MARKS}]|'s\b|\.\.+|[^\W_]+(?:['\-/][^\W_{MARKS}]+)*%?|--?>|=>|--|[.?!]+(?=[\s)'{CUT}]|$)|[^\s]")
_NIGHT = re.compile(r"n(?:ight)?[ -]?(\d{1,2})\b")
_NIGHTS: Final = {
    word: str(number)
    for number, words in enumerate(
        ("1st first one", "2nd second two", "3rd third three", "4th fourth four", "5th fifth five"), 1
    )
    for word in words.split()
}
# names that are words as well count only as they are spelt
_COMMON: Final = WORDS["names_that_are_words"]
_NO_NAMES: Final = any_of("names_that_are_words", "no_short_name", "role", "roles").union(SPELLING)
_RESULTS: Final = any_of("role", "cleared", "condemned")
_NAME_PART: Final = re.compile(r"[^\W_]+")
_CAPITALIZED: Final = re.compile(r"[^\W\d_a-zß-ÿ]*[^\W\d_A-ZÀ-Þ]+|[^\W\d_]+|\d+")


def tokenize(text: str, speaker: str) -> tuple[list[str], frozenset[int], frozenset[int]]:
    """Return a statement in words.

    Args:
        text: what `plain` makes of it.
        speaker: the speaker's mark, "" if it does not play.

    Returns:
        Its words and marks of punctuation, "." "?" "!" only where a sentence ends; the places of words that say
        nothing on the speaker's own account: of questions, of lines of others, of lists whose heading takes them back;
        and of these the places in questions of its own.
    """
    words: list[str] = []
    silent: set[int] = set()
    for line, is_retracted in _lines(text, speaker):
        begin, line_words = len(words), _words(line)
        if line_words and line_words[-1] not in STOPS:
            line_words.append(".")
        words += line_words
        silent.update(
            range(begin, len(words)) if is_retracted else (begin + place for place in _quoted(line_words, speaker))
        )
    in_question = {place for begin, end in _questions(words) for place in range(begin, end)} - silent
    _resolve_one(words)
    return words, frozenset(silent | in_question), frozenset(in_question)


def _resolve_one(words: list[str]) -> None:
    """Put the role that was named last in place of "one": "I am no wolf, but Raj is one"."""
    role = ""
    for place, word in enumerate(words):
        if word in WORDS["role"] or word in _SINGULAR:
            role = _SINGULAR.get(word, word)
        elif (
            word == "one"
            and role
            and 0 < place < len(words) - 1
            and words[place - 1] in WORDS["being_one"]
            and words[place + 1] in WORDS["after_one"]
        ):
            words[place] = role


def player(mark: str, names: int) -> int | None:
    """Return the place of the player that a word names, None if it names none."""
    return (ord(mark) - FIRST_MARK) % names if len(mark) == 1 and FIRST_MARK <= ord(mark) <= LAST_MARK else None


_LISTED_NUMBERS: Final = r"\d+(?:(?: ?[-\u2013\u2014] ?|,? ?and [_#]?| ?& ?[_#]?|, ?[_#]?)\d+)+"
_RANGE: Final = re.compile(r"(\d+) ?[-\u2013\u2014] ?(\d+)")
_MOST_IN_RANGE: Final = 16
_NUMBER: Final = re.compile(r"\d+")
_ENDS_WITH_NUMBER: Final = re.compile(r"(.*\D)\d+")


@lru_cache(maxsize=512)
def _spellings(names: tuple[SeatName, ...]) -> tuple[SeatName, ...]:
    """Return the names as they may be spelt, each player's at its place modulo their number; exact ones last.

    A name of several words may be written with another sign between them, or with none. It may be shortened to the
    word that no other player's name has, "Kyle" of "Kyle Travis", "Robik" of "IAmRobik", or to its initials, "HF" of
    "Holy_Flare"; either may be in lower case, or with one capital.
    """
    parts = [_NAME_PART.findall(name) for name in names]
    words = [[word for part in name for word in _CAPITALIZED.findall(part)] for name in parts]
    spelt: list[SeatName] = []
    for short in (_initials(words), _short_names(words, 0), _short_names(words, -1)):
        for shape in (str.lower, str.capitalize, str):
            spelt += [shape(word) if word else name for word, name in zip(short, names, strict=True)]
    for separator in ("", " ", "_", "-"):
        joined = [separator.join(name) if len(name) > 1 else whole for name, whole in zip(parts, names, strict=True)]
        spelt += [_cased(name, form, names) for form in (str.lower, _with_capital) for name in joined]
        spelt += joined
    for form in (str.lower, str.upper, _with_capital):
        spelt += [_cased(name, form, names) for name in names]
    return (*spelt, *names)


def _initials(words: list[list[str]]) -> list[str | None]:
    """Return each name's initials in capitals; None for one word, and where they are a word or another's as well."""
    initials = ["".join(word[0] for word in name).upper() for name in words]
    shared = Counter(initials)
    return [letters if len(letters) > 1 and _names_one(letters, shared) else None for letters in initials]


def _short_names(words: list[list[str]], place: int) -> list[str | None]:
    """Return the word at a place of each name of several, if it names that player alone and nothing else."""
    shared = Counter(word for name in words for word in {other.lower() for other in name})
    return [
        name[place] if len(name) > 1 and len(name[place]) > 2 and _names_one(name[place], shared) else None
        for name in words
    ]


def _names_one(part: str, shared: Counter[str]) -> bool:
    """Return whether a part of a player's name is no other player's, begins with a capital and is no plain word."""
    count = shared[part] or shared[part.lower()]
    return part[0].isupper() and part.isalpha() and count == 1 and part.lower() not in _NO_NAMES


def _with_capital(name: SeatName) -> str:
    """Return a name as it stands where a sentence begins."""
    return name[:1].upper() + name[1:]


def _cased(name: SeatName, form: Callable[[str], str], names: tuple[SeatName, ...]) -> SeatName:
    """Return a name in another case; as it is where that is a word, or another player's name."""
    return name if name.lower() in _COMMON or form(name) in names else form(name)


def plain(text: str, names: tuple[SeatName, ...], speaker: SeatName) -> tuple[str, tuple[SeatName, ...]]:
    """Return a text made plain, and the names whose marks stand in it: the nth of them as the nth mark.

    The speaker comes first, if it plays, and the others as they are named: so texts that say the same of others are
    the same.
    """
    composed = tuple(unicodedata.normalize("NFC", name) for name in names)
    text = unicodedata.normalize("NFC", text.replace(CUT, "")).translate(_HYPHENS)
    words = marked(_one_by_one(text, composed), _spellings(composed)).translate(_PLAIN).lower().strip()
    words = _ABBREVIATED.sub(r"\1", _TITLE.sub("", words))
    words = _INNER.sub(" !_ ", _MENTION.sub("", words))
    words = _UNLISTED.sub(",", words)
    marks = {speaker: chr(FIRST_MARK)} if speaker in names else {}

    def mark_of(match: re.Match[str]) -> str:
        return marks.setdefault(names[(ord(match[0]) - FIRST_MARK) % len(names)], chr(FIRST_MARK + len(marks)))

    words = _MARK.sub(mark_of, words)
    if speaker in names:
        words = _OWN_LINE.sub("", words)
    if words[:1] == '"' and words.find('"', 1) == len(words) - 1:
        words = words[1:-1]
    if '"' in words:
        words = _QUOTED_RESULT.sub(_result_word, words)
        words = _DOUBLE_QUOTED.sub(_cut, words)
    if "'" in words:
        words = _SINGLE_QUOTED.sub(_cut, words)
    return words, tuple(marks)


def _one_by_one(text: str, names: tuple[SeatName, ...]) -> str:
    """Return a text with "players 3 and 8" as "player_3 and player_8", and "players 7-9" as all three, if that is what
    players are called.
    """
    for stem, listed in _numbered(names):
        text = listed.sub(partial(_with_stem, stem), text)
    return text


def _with_stem(stem: str, match: re.Match[str]) -> str:
    numbers = _RANGE.sub(_in_full, match[1])
    return _NUMBER.sub(rf"{stem}\g<0>", numbers) if len(_NUMBER.findall(numbers)) > 1 else match[0]


def _in_full(match: re.Match[str]) -> str:
    """Return "7, 8 and 9" for "7-9"; a range that no table has as it is."""
    first, last = int(match[1]), int(match[2])
    if not first < last < first + _MOST_IN_RANGE:
        return match[0]
    return f"{', '.join(map(str, range(first, last)))} and {last}"


@lru_cache(maxsize=512)
def _numbered(names: tuple[SeatName, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return what stands before the numbers in names that end with one, with what finds lists of such names."""
    stems = dict.fromkeys(match[1] for name in names if (match := _ENDS_WITH_NUMBER.fullmatch(name)))
    return tuple(
        (stem, re.compile(rf"\b{re.escape(stem.rstrip(' _-'))}s[ _-]?({_LISTED_NUMBERS})\b", re.IGNORECASE))
        for stem in stems
        if stem.strip(" _-")
    )


def _result_word(match: re.Match[str]) -> str:
    """Return an inspection's result without the quotation marks round it: 'I got "human"'; anything else as it is."""
    word = match[2].split()[-1]
    word = SPELLING.get(word, word)
    return f"{match[1]} {match[2]}" if word in _RESULTS else match[0]


def _cut(match: re.Match[str]) -> str:
    """Return what stands for a quotation: a sentence that ends in it ends with it."""
    inner = match[0].rstrip("'\"")
    return f"{CUT}. " if inner[-1:] in STOPS else CUT


def _lines(text: str, speaker: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text without what marks lists, each with whether a heading takes it back."""
    lines = text.split("\n")
    heading, columns, lead = False, None, ""
    for place, line in enumerate(lines):
        if line.lstrip().startswith(">"):
            continue
        if line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if columns is None:
                columns = cells
            else:
                yield _row(columns, cells), False
            continue
        columns = None
        bullet = _BULLET.match(line)
        item = bullet is not None and bullet.end() > 0
        body = line[bullet.end() :] if bullet is not None else line
        if _CHAIR.match(body):
            yield body, True
            continue
        if not item:
            following = next((other for other in lines[place + 1 :] if other.strip()), "")
            heads = body.strip() and _BULLET.match(following) is not None
            words = set(_words(body)) if heads else set()
            heading = bool(heads) and (
                not words.isdisjoint(WORDS["heading_veto"])
                or any(word != speaker and player(word, 1) is not None for word in words)
            )
            lead = "" if heading or not heads else _lead(words)
        elif lead and player(body.strip()[:1], 1) is not None:
            body = lead.format(body.strip())
        yield body, heading


def _lead(heading: set[str]) -> str:
    """Return how the names in a list are to be read under a heading."""
    if heading & WORDS["heading_inspections"] and not heading & {"vote", "votes", "voting"}:
        return "i checked {}"
    if heading & WORDS["heading_protections"]:
        return "i protected {}"
    if "werewolves" in heading and len(heading) <= 5:
        return "the werewolf is {}"
    return ""


def _row(columns: list[str], cells: list[str]) -> str:
    """Return a row of a table of inspections as the words for one; any other row says nothing."""
    row: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=False):
        words = set(_words(column))
        if words & WORDS["table_night"]:
            row["night"] = cell
        elif words & WORDS["table_protected"]:
            row["protected"] = cell
        elif words & WORDS["table_result"]:
            row["result"] = cell
        elif words & WORDS["table_target"]:
            row["target"] = cell
    night = row.get("night", "").removeprefix("night").removeprefix("n").strip()
    if row.keys() >= {"night", "protected"}:
        return f"night {night} i protected {row['protected']}"
    if not row.keys() >= {"result", "target"} or (
        "night" not in row and not WORDS["inspected"] & set(_words(" ".join(columns)))
    ):
        return ""
    return f"{f'night {night}' if night else 'i checked'} {row['target']} = {row['result']}"


def _words(line: str) -> list[str]:
    """Return a line's words, spelt as the lexicon has them."""
    spelt = []
    for spelling in _WORD.findall(line):
        word = SPELLING.get(spelling, spelling)
        night = _NIGHT.fullmatch(word) if word[0] == "n" else None
        if night is not None:
            spelt.append(f"night {night[1]}")
        elif word[0] in STOPS:
            spelt.append("?" if "?" in word else "!" if "!" in word else ".")
        else:
            spelt.append(word)
    return _nights(join_phrases(" ".join(spelt)).split(" ")) if spelt else []


def _nights(words: list[str]) -> list[str]:
    """Return the words with "night one", "on the first night" and their like as one word `night_N`, and with "the
    night", "in the last night" and their like as `last_night`.
    """
    tokens: list[str] = []
    for word, following in zip(words, [*words[1:], "."], strict=True):
        last = tokens[-1] if tokens else ""
        if word in WORDS["side"] and last == "werewolf":
            tokens[-1] = "werewolves"
        elif word == "member" and last == "werewolf":
            continue
        elif (word == "pack" and last == "the") or word == "werewolves":
            _add_wolves(tokens)
        elif (
            last in {"night", "nights", "round", "last_night"}
            and (word.isdecimal() or word in _NIGHTS)
            and len(word) < 6
        ):
            tokens[-1] = f"night_{_NIGHTS.get(word, word)}"
        elif (
            word.isdecimal()
            and len(word) < 6
            and last in WORDS["listing"]
            # "on night 1, 2 players voted" lists no night
            and (following in STOPS or following in WORDS["listing"] or following in {"I", ":"})
            and _listed_last(tokens).startswith("night_")
        ):
            tokens.append(f"night_{word}")
        elif word == "night" and last in _NIGHTS and last != "one":
            tokens.pop()
            _at_night(tokens, f"night_{_NIGHTS[last]}")
        elif word == "night" and last in WORDS["that_night"]:
            tokens.pop()
            _at_night(tokens, "last_night")
        elif word == "last_night" or (word in {"night", "nights"} and last in WORDS["at_night"]):
            _at_night(tokens, word)
        else:
            tokens.append(word)
    return tokens


def _add_wolves(words: list[str]) -> None:
    """Add "werewolves" to the words, which make "one of the werewolves" "a werewolf"."""
    if words[-3:] == ["one", "of", "the"]:
        words[-3:] = ["a", "werewolf"]
    else:
        words.append("werewolves")


def _listed_last(words: list[str]) -> str:
    """Return the last word before "," and "and" at the end of the words, "" if there is none."""
    return next((word for word in reversed(words[-3:]) if word not in WORDS["listing"]), "")


def _at_night(words: list[str], night: str) -> None:
    """Add a night to the words, instead of "during the" and the like at their end."""
    while words and words[-1] in WORDS["at_night"]:
        words.pop()
    words.append(night)


def _quoted(words: list[str], speaker: str) -> Iterator[int]:
    """Yield the places of a line's words that another player says under its name, "Tom: I am the Seer": up to the next
    name or the end of the line, for nothing marks where it ends. "Tom: I checked Tom" is none.
    """
    if ":" not in words:
        return
    code, is_quoted = coded(words), False
    for place, word in enumerate(words):
        if (place == 0 or words[place - 1] in STOPS) and match_from(code, place, "line_of"):
            sentence = takewhile(lambda other: other not in STOPS, words[place + 1 :])
            is_quoted = word not in {speaker, *sentence} and match_from(code, place, "quoted_line") is not None
        if is_quoted:
            yield place


def _questions(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where questions begin and end. What is said before a tag ("…, so why would I lie?") asks nothing."""
    begin = 0
    for place, word in enumerate(words):
        if word not in STOPS:
            continue
        if word == "?":
            first = next((other for other in words[begin:place] if other not in {",", "so", "and", "but"}), "")
            start = begin
            if first not in WORDS["question"]:
                tags = [
                    index
                    for index in range(begin + 2, place)
                    if words[index] in WORDS["tag_question"]
                    and (words[index] not in WORDS["tag_after_comma"] or words[index - 1] == ",")
                ]
                start = tags[0] if tags else begin
                if (
                    tags
                    and words[start] in {"is", "are"}
                    and (words[start + 1] != "that" or WORDS["confirming"].intersection(words[start:place]))
                ):
                    start = begin
            yield start, place + 1
        begin = place + 1
