"""The transcript part of the live view: who said what, and how it was assessed."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from wolfbus.cli.panels import (
    FAINT,
    STRONG,
    VILLAGE,
    WOLF,
    Lines,
    fit,
    heat,
    hundredths,
    line,
    name_width,
    section,
    team_style,
)
from wolfbus.cli.wording import claims_in_words, label_in_words
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import NightOutcome, Silence, Tally
from wolfbus.printable import name_of, spoken
from wolfbus.state import GameState, Moment
from wolfbus.utterance import Utterance

_LEGEND: Final = "self-label · flags · suspicion"


def transcript(state: GameState, console: Console, width: int, height: int) -> Lines:
    """Return the last moments of the game that fit into `height` lines, the latest at the bottom.

    Args:
        state: the game.
        console: only asked how text wraps.
        width: cells of a line.
        height: lines, the heading among them.
    """
    room = height - 1
    most = max(3, height // 2)
    chosen: list[Lines] = []
    for moment in reversed(state.transcript):
        lines = _moment(state, moment, console, width, most)
        if len(lines) > room:
            break
        room -= len(lines)
        chosen.append(lines)
    if chosen and not chosen[-1][0].plain:
        # the blank line above a night has nothing to set it off from
        chosen[-1] = chosen[-1][1:]
    return [section("Transcript", width, _LEGEND), *(each for lines in reversed(chosen) for each in lines)][:height]


def _moment(state: GameState, moment: Moment, console: Console, width: int, most: int) -> Lines:
    if isinstance(moment, Utterance):
        return _utterance(state, moment, console, width, most)
    if isinstance(moment, Silence):
        return [_said(state, moment.seat, line(("says nothing", f"{FAINT} italic")), width)]
    if isinstance(moment, NightOutcome):
        return [line(""), _divider(state, f"Night {moment.round}", moment.died, "died", width)]
    if isinstance(moment, Tally):
        return [_divider(state, f"Vote {moment.round}", None, "", width)]
    return [_divider(state, "", moment.seat, "is exiled", width)]


def _divider(state: GameState, title: str, name: SeatName | None, fate: str, width: int) -> Text:
    who = (
        ()
        if not fate
        else ((name_of(name), team_style(state.role(name), STRONG) if name is not None else ""), f" {fate}")
    )
    text = line(("── ", FAINT), title, (" ── ", FAINT) if title and fate else "", *who, " ")
    return fit(text + line(("─" * max(0, width - text.cell_len), FAINT)), width)


def _utterance(state: GameState, said: Utterance, console: Console, width: int, most: int) -> Lines:
    indent = name_width(state, 9 if width < 60 else 14) + 1
    words = spoken(said.text)
    tally = state.tallies.get(said.round) if said.phase == "vote" else None
    text = Text(words)
    if tally is not None:
        target = tally.votes.get(said.speaker)
        text = Text.assemble(
            ("→ ", FAINT), (name_of(target), team_style(state.role(target) if target else None)), "  ", words
        )
    wrapped = list(text.wrap(console, max(8, width - indent)))
    if len(wrapped) > most - 1:
        wrapped = wrapped[: most - 1]
        wrapped[-1].rstrip()
        wrapped[-1].truncate(max(7, width - indent - 1), overflow="crop")
        wrapped[-1].append("…")
    lines = [_said(state, said.speaker, wrapped[0] if wrapped else Text(), width)]
    lines += [fit(line(" " * indent) + rest, width) for rest in wrapped[1:]]
    lines.append(fit(line(" " * indent) + _assessment(said, width - indent), width))
    return lines


def _said(state: GameState, name: SeatName, words: Text, width: int) -> Text:
    names = name_width(state, 9 if width < 60 else 14)
    speaker = fit(line((name_of(name), team_style(state.role(name), STRONG))), names)
    return fit(speaker + line(" ") + words, width)


def _assessment(said: Utterance, width: int) -> Text:
    if not said.assessed:
        return line(("being judged…", f"{FAINT} italic"))
    if said.label is None:
        text = line(("– no label", FAINT))
    else:
        mark, colour = ("●", WOLF) if said.label.deceptive else ("○", VILLAGE)
        text = line((f"{mark} {label_in_words(said.label)}", colour))
        if width >= 50:
            text.append(f" ({said.label.confidence:.0%} sure)", FAINT)
    if said.suspicion is not None:
        flags = f"   ⚑ {said.flagged} of {said.judged}   " if width >= 50 else f"  ⚑ {said.flagged}/{said.judged}  "
        text.append(flags, STRONG if said.flagged else FAINT)
        text.append(f" {hundredths(said.suspicion)} ", heat(said.suspicion))
    if said.verdicts and width - text.cell_len > 2 + cell_len(claims_in_words(said)):
        lie = said.verdicts["lie"] > 0
        text.append(f"   {claims_in_words(said)}", STRONG if lie else FAINT)
    return text
