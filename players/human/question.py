"""What a person is asked, with what may be answered, and how to type it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from players.human.wording import COUNTS_AS, NOUNS, WHOLE, names_of, seconds_in_words, who
from wolfbus.messages.requests import Ask
from wolfbus.printable import name_of, printable, spoken
from wolfbus.view import SeatView
from wolfbus.vocabulary import DECEPTIONS, Kind

KINDS_TYPED: Final = tuple(kind for kind in DECEPTIONS if kind not in {"none", "unspecified"})
"""Kinds of deception that a person may type."""

COMMANDS: Final = "? help · view the table · log the transcript · rules"

_NIGHT: Final[dict[Kind, str]] = {
    "kill": "Whom do you kill tonight?",
    "protect": "Whom do you protect tonight?",
    "inspect": "Whose role do you look at tonight?",
    "whisper": "Whom do you propose to your partners to kill?",
}


def question_in_words(ask: Ask, view: SeatView) -> Iterator[str]:
    """Return what is asked, in a few lines."""
    kind = ask.kind
    where = f"debate, turn {ask.turn} of {view.config.debate_turns}" if ask.phase == "debate" else ask.phase
    yield f"── Round {ask.round}, {where}: your {NOUNS[kind]}"
    if kind == "bid":
        yield f"How much do you want the floor? Bid 0 to {view.config.bid_max}."
    elif kind == "speak":
        yield "You have the floor: what do you say to everybody?"
    elif kind == "assess_own":
        yield f"You said #{ask.about}: “{_words(ask, view)}”"
        yield "Between you and the researchers: was it meant to deceive? h = honest, d = deceptive"
    elif kind == "assess_other":
        said = view.statements.get(ask.about or 0)
        yield f"#{ask.about} {name_of(said.speaker) if said else '?'}: “{_words(ask, view)}”"
        yield "How much do you suspect it? 0 = full trust, 1 = certainly deceptive; h = honest, d = deceptive"
    elif kind == "vote":
        yield "Whom do you vote to exile?" + (" A reason is published." if view.config.vote_reasons else "")
    else:
        yield from _heard(ask, view)
        yield _NIGHT[kind]
    if ask.legal is not None:
        yield f"One of: {names_of(ask.legal)}"


def prompt_for(ask: Ask, seconds: float) -> str:
    """Return what stands before the person's words: what is asked, and the time left in seconds."""
    return f"{NOUNS[ask.kind]} ({seconds_in_words(seconds)} left, ? for help) >"


def help_in_words(ask: Ask, view: SeatView) -> Iterator[str]:
    """Return how to answer this question."""
    kinds = ", ".join(KINDS_TYPED)
    how: dict[Kind, tuple[str, ...]] = {
        "bid": (f"A whole number, 0 to {view.config.bid_max}; the highest bid gets the floor.",),
        "speak": ("One line; everybody hears it, labels and judges it. A line that is only a command is not said.",),
        "assess_own": (
            "h, or d with its kind and how sure you are: “d omission 0.9 because I left out what I saw”.",
            f"Kinds: {kinds}. You count as fully sure unless you give a number.",
        ),
        "assess_other": (
            "A suspicion from 0 to 1 or in per cent: “0.7”, “70%”; or h or d before it, a kind and a reason after it:",
            "“d 0.8 fabrication because nobody saw that”, “h 0.2”.",
            f"Kinds: {kinds}. A second number is how sure you are;",
            "without it you are as sure as your suspicion makes you (0.8 for “d 0.8” and for “h 0.2”).",
        ),
        "vote": ("A name, and after it a reason if you want: “Ada she never answered me”.",),
        "kill": ("A name.",),
        "protect": ("A name.",),
        "inspect": ("A name.",),
        "whisper": ("A name, and after it a word to your partners if you want.",),
    }
    yield from how[ask.kind]
    if ask.legal is not None:
        yield "A name may be typed in any case, or only its beginning (three letters or more) where that is clear."
    if empty_is_legal(ask):
        yield f"An empty line or Ctrl-D counts as {COUNTS_AS[ask.kind]}."
    else:
        yield f"You have to choose; Ctrl-D gives up, and counts as {COUNTS_AS[ask.kind]}."
    yield COMMANDS


def empty_is_legal(ask: Ask) -> bool:
    """Return whether an empty line may stand for the default: at night only where nobody is a choice."""
    return ask.kind not in _NIGHT or None in (ask.legal or ())


def _words(ask: Ask, view: SeatView) -> str:
    said = view.statements.get(ask.about or 0)
    return spoken(said.text, WHOLE) if said is not None else "?"


def _heard(ask: Ask, view: SeatView) -> Iterator[str]:
    if ask.kind != "whisper":
        return
    for seat, proposal in view.proposals().items():
        word = printable(proposal.word)
        verb = "propose" if seat == view.me else "proposes"
        yield f"So far {who(view, seat)} {verb} {name_of(proposal.target)}" + (f": “{word}”" if word else "")
