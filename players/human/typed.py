"""A typed line as an answer, or what is wrong with it: a person is told and asked again, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from players.human.words import KINDS_TYPED, names_of
from wolfbus.files.printable import printable
from wolfbus.game.config import NOBODY_WORDS, GameConfig
from wolfbus.game.vocabulary import Deception
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech, published_words
from wolfbus.messages.requests import Ask
from wolfbus.reading import resolve_name
from wolfbus.reading.values import Bad, Resolved, kind_of, read_unit, read_whole

_FLAGS: Final = {"d": True, "deceptive": True, "h": False, "honest": False}
_BECAUSE = re.compile(r"(?:because\b|:|[–—-](?=\s))[\s,:]*", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s]+")
_AFTER_NAME = re.compile(r"\s*[,:;.–—-]*\s*(?:because\b[\s,:]*)?", re.IGNORECASE)
_SEPARATED = re.compile(r"\s*(?:[,:;.–—-]|because\b)", re.IGNORECASE)
_SHORTEST_BEGINNING: Final = 3


@dataclass(frozen=True, slots=True)
class Typo:
    """Why a line is no answer, for the person who typed it."""

    why: str


def room_for_words(config: GameConfig) -> int:
    """Return how many bytes of a person's own words are read: the rest of a reply has 700, at most."""
    return max(100, config.max_reply_bytes - 700)


def answer_typed(line: str, ask: Ask, view: SeatView) -> Content | Typo:
    """Return what a line that is not blank answers to a request."""
    line = line.strip()
    room = room_for_words(view.config)
    if len(line.encode()) > room:
        return Typo(f"That is too long; {room} bytes are read at most.")
    content = _content_typed(line, ask, view)
    if not view.config.may_be_said(published_words(content)):
        return Typo(f"That is too long; a statement has at most {view.config.max_statement} characters.")
    return content


def _content_typed(line: str, ask: Ask, view: SeatView) -> Content | Typo:
    if ask.kind == "bid":
        bid = read_whole(line, view.config.bid_max)
        return Typo(printable(f"A bid {bid.why}.")) if isinstance(bid, Bad) else Bid(bid=bid.value)
    if ask.kind == "speak":
        return Speech(text=line)
    if ask.kind == "assess_own" or ask.kind == "assess_other":
        return _assessment(line, is_label=ask.kind == "assess_own")
    if ask.kind == "vote" or ask.kind == "whisper":
        return _name_and_words(line, ask, view)
    chosen = _one_name(line, ask, view)
    return chosen if isinstance(chosen, Typo) else Choice(target=chosen.name)


def _one_name(line: str, ask: Ask, view: SeatView) -> Resolved | Typo:
    legal = ask.legal or ()
    resolved = resolve_name(line, legal, view.names)
    if resolved.fault is None:
        return resolved
    fault = "could mean several players" if resolved.fault == "ambiguous" else "is no legal answer"
    return Typo(f"“{printable(line, 60)}” {fault}; one of: {names_of(legal)}")


def _name_and_words(line: str, ask: Ask, view: SeatView) -> Content | Typo:
    # a name somewhere in a sentence: then the whole sentence is what is said
    sentence = line, (line if len(line.split()) > 1 else "")
    name, words = _leading_name(line, ask.legal or (), view.names) or sentence
    named = _one_name(name, ask, view)
    if isinstance(named, Typo):
        return named
    if ask.kind == "whisper":
        return Proposal(target=named.name, word=words)
    return Ballot(target=named.name, reason=words or None)


def _leading_name(line: str, legal: Sequence[SeatName | None], names: Sequence[SeatName]) -> tuple[str, str] | None:
    """Return the name that a line begins with, as it was typed, and the words after it."""
    candidates = {*names, *(name for name in legal if name is not None), *NOBODY_WORDS}
    for name in sorted(candidates, key=len, reverse=True):
        # whole words only: Ann is not Anna
        match = re.match(rf"{re.escape(name)}(?![\w'’])", line, re.IGNORECASE)
        if match:
            return match.group(), _words_after(line, match.end())
    word = line.split(maxsplit=1)[0]
    bare, words = word.rstrip(",:;.!-–—").casefold(), line[len(word) :]
    # in front of other words it may be a word itself: “And I think …” is not Andrea
    is_set_off = len(bare) < len(word) or not words or _SEPARATED.match(words)
    if is_set_off and len(bare) >= _SHORTEST_BEGINNING and any(name.casefold().startswith(bare) for name in names):
        return bare, _words_after(line, len(word))
    return None


def _words_after(line: str, position: int) -> str:
    match = _AFTER_NAME.match(line, position)
    return line[match.end() if match else position :].strip()


def _assessment(line: str, *, is_label: bool) -> Content | Typo:
    assessment = _Assessment()
    position = 0
    while token := _TOKEN.search(line, position):
        because = _BECAUSE.match(line, token.start())
        if because:
            assessment.reasoning = line[because.end() :].strip()
            break
        mistake = assessment.read_word(token.group().rstrip(",;:"))
        if mistake is not None:
            return Typo(mistake)
        position = token.end()
        if token.group().endswith(":"):
            reasoning = line[position:].lstrip()
            because = _BECAUSE.match(reasoning)
            assessment.reasoning = reasoning[because.end() if because else 0 :].strip()
            break
    return assessment.label() if is_label else assessment.judgement()


class _Assessment:
    """The words of a label or judgement, in any order."""

    def __init__(self) -> None:
        self._deceptive: bool | None = None
        self._kind: Deception | None = None
        self._numbers: list[float] = []
        self.reasoning = ""

    def read_word(self, token: str) -> str | None:
        """Read one word more; return what is wrong with it."""
        word = token.casefold()
        if word in _FLAGS:
            if self._deceptive not in {None, _FLAGS[word]}:
                return "Both h and d; which is it?"
            self._deceptive = _FLAGS[word]
            return None
        if word[:1].isdigit() or word[:1] in {".", "+", "-", "~"}:
            number = read_unit(word)
            if isinstance(number, Bad):
                return printable(f"A number here {number.why}.")
            self._numbers.append(number.value)
            return None
        kind = _kind(word)
        if kind is None:
            kinds = ", ".join(KINDS_TYPED)
            return f"What is “{printable(token, 40)}”? A kind is one of {kinds}; a reason begins with “because”."
        if self._kind not in {None, kind}:
            return f"Two kinds, {self._kind} and {kind}; give one."
        self._kind = kind
        return None

    def label(self) -> Content | Typo:
        deceptive = self._flag(None)
        if isinstance(deceptive, Typo):
            return deceptive
        if len(self._numbers) > 1:
            return Typo("One number only: how sure you are, from 0 to 1.")
        sure = self._numbers[0] if self._numbers else 1.0
        return Label(deceptive=deceptive, confidence=sure, kind=self._kind_stated(deceptive), reasoning=self.reasoning)

    def judgement(self) -> Content | Typo:
        if not self._numbers or len(self._numbers) > 2:
            return Typo("Give a suspicion from 0 (full trust) to 1 (certainly deceptive), as in “0.7” or “d 0.8”.")
        suspicion = self._numbers[0]
        deceptive = self._flag(None if suspicion == 0.5 else suspicion > 0.5)
        if isinstance(deceptive, Typo):
            return deceptive
        sure = self._numbers[1] if len(self._numbers) == 2 else suspicion if deceptive else round(1 - suspicion, 9)
        return Judgement(
            deceptive=deceptive,
            suspicion=suspicion,
            confidence=sure,
            kind=self._kind_stated(deceptive),
            reasoning=self.reasoning,
        )

    def _flag(self, default: bool | None) -> bool | Typo:
        """Return whether it is called deceptive; a kind says so as well."""
        deceptive = self._deceptive
        if deceptive is None:
            deceptive = True if self._kind is not None else default
        if deceptive is None:
            return Typo("Write h (honest) or d (deceptive) with it.")
        if not deceptive and self._kind is not None:
            return Typo(f"Honest, and yet {self._kind}? Write h without a kind, or d.")
        return deceptive

    def _kind_stated(self, deceptive: bool) -> Deception:
        return (self._kind or "unspecified") if deceptive else "none"


def _kind(word: str) -> Deception | None:
    kind = kind_of(word)
    if kind in KINDS_TYPED:
        return kind
    matches = [kind for kind in KINDS_TYPED if len(word) >= _SHORTEST_BEGINNING and kind.startswith(word)]
    return matches[0] if len(matches) == 1 else None
