"""What the words of a statement say, read by fixed patterns: whom it accuses, doubts or trusts, what its speaker
claims to be, and in what tone.

Hearers get words only, never typed claims, so scripted players read everybody's statements this way, a language
model's included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from wolfbus.game.roles import ROLE_WORDS
from wolfbus.game.vocabulary import Role
from wolfbus.knowledge.marks import MARK, MARKS, marked, marks_in, marks_of, without_marks
from wolfbus.messages.base import SeatName

LONGEST: Final = 1500
"""Characters of a statement that are read."""

_GAP: Final = f"[^\\w{MARKS}]+"

_CLAUSE = re.compile(r"[^.!?;:\n]+[.!?;:\n]*")
_TURN = re.compile(r"\b(?:but|while|although|whereas|so)\b|, and\b")
_SPACES = re.compile(r"\s+")

_TONE = re.compile(
    r"\b(?:(?P<hedge>maybe|perhaps|might|probably|possibly|seems?|not (?:sure|certain)|hard to say|i guess|i suppose|"
    r"could be|may be|no idea|for now|i may|no proof|only a (?:doubt|feeling))|"
    r"(?P<absolute>definitely|certainly|obvious(?:ly)?|clearly|no doubt|without (?:a )?doubt|i swear|absolutely|"
    r"positive|for sure|beyond question|plain as day|guarantee)|"
    r"(?P<deflect>why is every(?:body|one)|instead of|let(?:'s| us) not|look elsewhere|waste|wasting|distraction|"
    r"circus|easy target|wrong (?:tree|place|direction)|talk about something else|real question|rather hear|"
    r"forget (?:me|about))|"
    r"(?P<plead>i(?:'m| am) (?:not (?:a|the|your) (?:were)?wolf|innocent|on (?:the village's|your) side|"
    r"one of (?:you|the good ones))|trust me|believe me|you have (?:it|me) wrong|you are wrong about me|exile me|"
    r"voting me|i have nothing to hide|against me)|"
    r"(?P<grounded>voted|votes?|last night|yesterday|night|died|killed|ballots?|said))\b"
)
_I_AM = re.compile(
    r"\bi(?:'m| am| claim to be) (?:the|your|our|a|just a|only a|no more than a)(?: [a-z]+)? "
    r"(seer|doctor|villager|werewolf|wolf)\b|"
    r"\bas (?:the|your|our) (seer|doctor),? i\b|\bi claim (seer|doctor)\b|\blose your (seer|doctor)\b"
)
_INSPECTED = re.compile(
    r"\bi(?:'ve| have)? (?:also |then )?(?:inspected|investigated|checked|looked (?:at|into)|saw)\b"
    rf"[^{MARKS}]*({MARK})"
)
_PROTECTED = re.compile(r"\bi(?:'ve| have)? (?:protected|guarded|saved|healed|watched over)\b")
_WOLF = re.compile(r"\b(?:were)?wolf\b")
_NO_WOLF = re.compile(
    r"\b(?:not|no|isn't|never|cannot be|can't be|neither)(?: [a-z]+){0,2} (?:were)?wolf\b|"
    r"\b(?:innocent|clean|clear|villager|seer|doctor|one of us)\b"
)
_CALLED_WOLF = re.compile(
    rf"({MARK}){_GAP}(?:[\w']+{_GAP}){{0,4}}?"
    r"(?:(?:were)?wolf\b|one of the (?:were)?wolves\b|lying\b|liar\b|lied\b|guilty\b)|"
    rf"\b(?:were)?wolf(?:{_GAP}\w+){{0,2}}{_GAP}({MARK})|\bliar {MARK}"
)
_CALL_TO_VOTE = re.compile(
    rf"\b(?:votes?|voting)(?: \w+)?(?: (?:for|out|on|against|to|is|goes|stays|with))*{_GAP}({MARK})|"
    rf"\b(?:exile|exiling|get rid of|send away|send)(?: [a-z]+)?{_GAP}({MARK})|"
    rf"({MARK}) (?:should|must|has to) (?:go|leave)\b"
)
_PAST_VOTE = re.compile(r"\b(?:voted|you vote|they vote|(?:a|the|your|their) votes?)\b")
_IF = re.compile(r"\b(?:if|whether|unless|suppose|would|could|either)\b")
_NEGATED = re.compile(r"\b(?:not|no|never|isn't|don't|do not|cannot|can't|neither|without)\b")
_DOUBT = re.compile(
    r"\b(?:suspicious|suspect|suspicion|worr(?:y|ies|ied)|bothers?|odd|strange|off|evasive|hiding|dodging|dodges|"
    r"quiet|uneasy|doubts?|wrong|careful with|watch|watching|eyes?|not convinced|doesn't add up|does not add up|"
    r"uncomfortable|fishy|too (?:certain|eager|quick|calm|smooth)|almost nothing|hedges|steering|changed sides|"
    r"coming back to|dislike|explain|quick to|accuse|not trust|don't trust|nags|sits badly|would not even vote|"
    r"stands out|top of my list|against)\b"
)
_TRUST = re.compile(
    r"\b(?:trust|believe|vouch|innocent|honest|clean|clear|reliable|defend|stand by|good reason for|makes sense|"
    r"sounds right|cleared|reads? well)\b|"
    rf"{MARK}{_GAP}(?:[\w']+{_GAP}){{0,3}}?(?:villager|one of us|on our side)\b"
)
_NO_TRUST = re.compile(
    r"\b(?:not|don't|never|hardly|cannot|can't|nobody)(?: \w+){0,2} "
    r"(?:trust|believe|honest|innocent|clean|clear|reliable)\b"
)


@dataclass(frozen=True, slots=True)
class Cues:
    """What a hearer takes from one statement.

    Attributes:
        named: players mentioned, in order.
        accused: players called a Werewolf or a liar, or proposed for exile.
        doubted: players spoken of with suspicion, but not accused.
        trusted: players vouched for.
        claimed: what the speaker says it is.
        results: inspections reported: player, and whether it was seen to be a Werewolf.
        hedges: hedging words.
        absolutes: words of certainty.
        deflects: whether attention is turned elsewhere.
        pleads: whether the speaker defends itself.
        grounded: whether it refers to votes or nights.
        skeleton: the words without the names, to notice repetition.
    """

    named: tuple[SeatName, ...] = ()
    accused: tuple[SeatName, ...] = ()
    doubted: tuple[SeatName, ...] = ()
    trusted: tuple[SeatName, ...] = ()
    claimed: Role | None = None
    results: tuple[tuple[SeatName, bool], ...] = ()
    hedges: int = 0
    absolutes: int = 0
    deflects: bool = False
    pleads: bool = False
    grounded: bool = False
    skeleton: str = ""


@lru_cache(maxsize=4096)
def read(text: str, names: tuple[SeatName, ...]) -> Cues:
    """Return what `text` says about the players `names`.

    It is pure, and remembered: everybody at the table reads the same words.
    """
    words = marked(text[:LONGEST].replace("\u2019", "'"), names)
    words = _SPACES.sub(" ", words.lower()).strip()
    marks = _Marks()
    for clause in _CLAUSE.findall(words):
        for part in _TURN.split(clause):
            marks.read(part)
    claimed = marks.claimed
    if claimed is None and marks.results:
        claimed = "Seer"
    tone = [match.lastgroup for match in _TONE.finditer(words)]
    by_mark = {mark: name for name, mark in marks_of(names).items()}
    hard = tuple(dict.fromkeys(marks.accused))
    return Cues(
        named=tuple(dict.fromkeys(by_mark[mark] for mark in words if mark in by_mark)),
        accused=_names(hard, by_mark),
        doubted=_names([mark for mark in marks.doubted if mark not in hard], by_mark),
        trusted=_names([mark for mark in marks.trusted if mark not in hard], by_mark),
        claimed=claimed,
        results=tuple((by_mark[mark], wolf) for mark, wolf in marks.results.items()),
        hedges=tone.count("hedge"),
        absolutes=tone.count("absolute"),
        deflects="deflect" in tone,
        pleads="plead" in tone,
        grounded="grounded" in tone,
        skeleton=without_marks(words),
    )


def _names(marks: Sequence[str], by_mark: dict[str, SeatName]) -> tuple[SeatName, ...]:
    return tuple(dict.fromkeys(by_mark[mark] for mark in marks))


class _Marks:
    """Collects what the clauses of one statement say, in order."""

    __slots__ = ("accused", "claimed", "doubted", "doubting", "inspected", "results", "topic", "trusted")

    def __init__(self) -> None:
        self.accused: list[str] = []
        self.doubted: list[str] = []
        self.trusted: list[str] = []
        self.claimed: Role | None = None
        self.results: dict[str, bool] = {}
        self.inspected: str | None = None
        self.topic: str | None = None
        self.doubting = False

    def read(self, clause: str) -> None:
        """Take in one clause, in lower case, with names as marks."""
        self._claims(clause)
        marks = marks_in(clause)
        if self._inspection(clause, marks):
            return
        if not marks:
            # "That bothers me." speaks of whoever the clause before was about, or else the next one is
            if _DOUBT.search(clause) is not None:
                if self.topic is not None:
                    self.doubted.append(self.topic)
                else:
                    self.doubting = True
            return
        self.topic = marks[0]
        if "?" not in clause and _IF.search(clause) is None and self._accusation(clause, marks):
            return
        if self.doubting or _DOUBT.search(clause) is not None:
            self.doubted.append(marks[0])
            self.doubting = False
        elif _TRUST.search(clause) is not None:
            (self.doubted if _NO_TRUST.search(clause) is not None else self.trusted).append(marks[0])

    def _claims(self, clause: str) -> None:
        match = _I_AM.search(clause)
        if match is not None:
            self.claimed = ROLE_WORDS[match[match.lastindex or 0]]
        elif self.claimed is None and _PROTECTED.search(clause) is not None:
            self.claimed = "Doctor"

    def _inspection(self, clause: str, marks: list[str]) -> bool:
        """Read an inspection's result; a clause without a name still speaks of whom the clause before inspected."""
        match = _INSPECTED.search(clause) if marks else None
        if match is not None:
            self.inspected = match[1]
        elif self.inspected is None or any(mark != self.inspected for mark in marks):
            return False
        begin = match.end() if match is not None else 0
        if _NO_WOLF.search(clause, begin) is not None:
            self.results[self.inspected] = False
            self.trusted.append(self.inspected)
        elif _WOLF.search(clause, begin) is not None:
            self.results[self.inspected] = True
            self.accused.append(self.inspected)
        else:
            return match is not None
        self.inspected = None
        return True

    def _accusation(self, clause: str, marks: list[str]) -> bool:
        called = _CALL_TO_VOTE.search(clause)
        past = called is not None and _PAST_VOTE.search(clause) is not None
        if called is not None and not past and _NEGATED.search(clause, 0, called.start()) is None:
            self.accused.append(next(group for group in called.groups() if group))
            return True
        named = _CALLED_WOLF.search(clause)
        if named is None:
            return False
        mark = next((group for group in named.groups() if group), marks[-1])
        if _NEGATED.search(clause, named.start(), named.end()) is not None:
            self.trusted.append(mark)
        else:
            self.accused.append(mark)
        return True
