"""The parts of the live view: who plays, who suspects whom, what happened, who said what; each a list of lines of a
given width.

Blue and orange tell the teams apart, and shade from trust to suspicion: a pair that colour-blind readers can tell,
legible on light and dark. Nothing is said by colour alone.
"""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from wolfbus.cli.terminal.wording import claims_in_words, label_in_words, names_of, votes_by_target
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Tally
from wolfbus.printable import name_of, printable, spoken
from wolfbus.roles import team_of
from wolfbus.state import GameState, Moment, Night, Utterance
from wolfbus.vocabulary import Role

WOLF: Final = "#d9661f"
VILLAGE: Final = "#3a8fd0"
FAINT: Final = "dim"
STRONG: Final = "bold"

_SUSP_WIDTH: Final = 4
"""Cells of the column that shows the suspicion a player meets."""
_LABEL_WIDTH: Final = 11
"""Cells of the words in front of what happened in a night or vote."""
_TRUST: Final = (29, 79, 145)
_NEUTRAL: Final = (74, 74, 82)
_SUSPICION: Final = (240, 138, 36)

Lines = list[Text]


def line(*parts: str | tuple[str, str | Style]) -> Text:
    """Return one unwrapped line of plain and styled words; no word of it is read as markup."""
    return Text.assemble(*parts, no_wrap=True, overflow="crop")


def fit(text: Text, width: int) -> Text:
    """Return `text` cut (with an ellipsis) or padded to exactly `width` cells."""
    fitted = text.copy()
    fitted.truncate(max(0, width), overflow="ellipsis", pad=True)
    return fitted


def section(title: str, width: int, legend: str = "") -> Text:
    """Return a heading with a thin rule up to `width`, and a legend at its right end where there is room."""
    tail = f" {legend}" if legend and cell_len(title) + cell_len(legend) + 6 <= width else ""
    rule = "─" * max(0, width - cell_len(title) - 1 - cell_len(tail))
    return fit(line((title, STRONG), " ", (rule, FAINT), (tail, FAINT)), width)


def team_style(role: Role | None, extra: str = "") -> str:
    """Return the colour of a role's team."""
    if role is None:
        return extra
    return f"{extra} {WOLF if team_of(role) == 'werewolves' else VILLAGE}".strip()


def heat(value: float) -> Style:
    """Return the background for a suspicion in [0, 1]: blue for trust, grey at 0.5, orange for suspicion."""
    value = min(1.0, max(0.0, value))
    start, end, part = (_TRUST, _NEUTRAL, value * 2) if value < 0.5 else (_NEUTRAL, _SUSPICION, value * 2 - 1)
    red, green, blue = (round(low + (high - low) * part) for low, high in zip(start, end, strict=True))
    ink = Color.from_rgb(0, 0, 0) if value > 0.75 else Color.from_rgb(255, 255, 255)
    return Style(color=ink, bgcolor=Color.from_rgb(red, green, blue))


def hundredths(value: float) -> str:
    """Return a suspicion in [0, 1] as two digits, 00 to 99."""
    return f"{min(99, round(value * 100)):02d}"


def bar(value: int, most: int, width: int) -> tuple[str, str]:
    """Return the filled and the empty part of a thin bar `width` cells long."""
    halves = round(2 * width * min(1.0, max(0.0, value / most)))
    filled = "━" * (halves // 2) + "╸" * (halves % 2)
    return filled, "─" * (width - len(filled))


def name_width(state: GameState, limit: int) -> int:
    """Return the cells that the longest name takes, at most `limit`."""
    return min(limit, max((cell_len(name_of(name)) for name in state.seats), default=4))


def players(state: GameState, width: int) -> Lines:
    """Return the table of players: role, brain where there is room, latest bid or how the player left, suspicion."""
    names = name_width(state, 9 if width < 44 else 14)
    digits = max(2, len(str(state.config.bid_max)))
    brains = min(18, width - names - digits - 33)
    brains = brains if brains >= 6 else 0
    # marker, role, and one blank before every column; the bid and its number share a column
    bids = max(0, width - (1 + 1 + names + 1 + 8 + 1 + 1 + digits + 1 + _SUSP_WIDTH) - (brains + 1 if brains else 0))
    legend = f"{'last bid':<{bids + 1 + digits}} {'susp':<{_SUSP_WIDTH}}"
    lines = [section("Players", width, legend)]
    for name, seat in state.seats.items():
        left = state.left.get(name)
        faded = "" if left is None else FAINT
        parts = [
            line(("▸" if state.floor == name else " ", STRONG)),
            fit(line((name_of(name), f"{faded or STRONG} {team_style(seat.role)}")), names),
            fit(line((seat.role, team_style(seat.role, faded))), 8),
        ]
        if brains:
            parts.append(fit(line((printable(seat.brain, 64), FAINT)), brains))
        parts += [
            fit(_standing(state, name, bids, digits), bids + digits + 1),
            _suspicion(state.suspicion_of(name), is_faded=left is not None, width=_SUSP_WIDTH),
        ]
        lines.append(fit(Text(" ").join(parts), width))
    return lines


def _standing(state: GameState, name: SeatName, width: int, digits: int) -> Text:
    left = state.left.get(name)
    if left is not None:
        fate = f"† killed, night {left.round}" if left.how == "night" else f"× exiled, vote {left.round}"
        short = f"† night {left.round}" if left.how == "night" else f"× vote {left.round}"
        return line((fate if cell_len(fate) <= width + digits + 1 else short, FAINT))
    if name in state.absent:
        return line(("not answering", "italic"))
    if name not in state.bids:
        return line((f"{'·':>{width + digits + 1}}", FAINT))
    bid = state.bids[name]
    filled, empty = bar(bid, state.config.bid_max, width)
    stale = FAINT if state.phase != "debate" else ""
    return line((filled, stale), (empty, FAINT), (f" {bid:>{digits}}", stale))


def _suspicion(value: float | None, *, is_faded: bool, width: int) -> Text:
    """Return a suspicion on its colour, in so many cells; that of or for who has left is grey, none is dots."""
    words = f" {'··' if value is None else hundredths(value)}".ljust(width)
    return line((words, FAINT if is_faded or value is None else heat(value)))


def matrix(state: GameState, width: int) -> Lines:
    """Return the heat map of smoothed suspicion, observers in rows and targets in columns; empty if too wide."""
    seats = list(state.seats)
    names = name_width(state, 9 if width < 60 else 14)
    cell = 4 if names + 4 * len(seats) <= width else 3
    names = min(names, width - cell * len(seats))
    if not seats or names < 5:
        return []
    heads = Text(" " * names)
    for target in seats:
        head = fit(line(name_of(target)), cell - 1).plain.replace("…", name_of(target)[cell - 2 : cell - 1])
        heads.append(f" {head}", team_style(state.role(target), FAINT if target in state.left else ""))
    lines = [section("Suspicion of the row for the column", width), fit(heads, width)]
    for observer in seats:
        has_left = observer in state.left
        row = fit(line((name_of(observer), team_style(state.role(observer), FAINT if has_left else ""))), names)
        for target in seats:
            value = state.suspicion.of(observer, target) if state.suspicion.judged(observer, target) else None
            cell_text = _suspicion(value, is_faded=has_left or target in state.left, width=cell)
            row.append_text(line(" " * cell) if observer == target else cell_text)
        lines.append(fit(row, width))
    return lines


def chronicle(state: GameState, width: int, height: int) -> Lines:
    """Return the votes and nights, the latest first, as many as `height` lines hold."""
    lines: Lines = []
    for round_ in range(state.round, 0, -1):
        tally, night = state.tallies.get(round_), state.nights.get(round_)
        for part in ([] if tally is None else _vote(state, tally, width), _night(state, night, width) if night else []):
            if lines and part:
                part.insert(0, line(""))
            room = height - len(lines)
            if len(part) > room:
                # the head of an older entry, without its result, would say little
                return lines or part[:room]
            lines.extend(part)
    return lines


def _night(state: GameState, night: Night, width: int) -> Lines:
    facts: list[tuple[str, str]] = []
    proposers: dict[SeatName | None, list[SeatName]] = {}
    for wolf, (target, _) in night.proposals.items():
        proposers.setdefault(target, []).append(wolf)
    victim = night.outcome.target if night.outcome is not None else None
    for target, wolves in sorted(proposers.items(), key=lambda item: item[0] != victim):
        chosen = target is not None and target == victim
        facts.append(("hunted" if chosen else "proposed", f"{name_of(target)}, by {names_of(wolves)}"))
    facts += [("protected", f"{name_of(saved)}, by {name_of(doctor)}") for doctor, saved in night.protections.items()]
    facts += [
        ("inspected", f"{name_of(target)}: {role}, by {name_of(seer)}")
        for seer, (target, role) in night.inspections.items()
    ]
    lines = [section(f"Night {night.round}", width), *(_fact(label, words, width) for label, words in facts)]
    if night.outcome is not None:
        lines.append(_result(state, "died", night.outcome.died, width))
    return lines


def _vote(state: GameState, tally: Tally, width: int) -> Lines:
    lines = [section(f"Vote {tally.round}", width, f"{tally.needed} needed")]
    most = max((len(voters) for target, voters in votes_by_target(tally) if target is not None), default=0)
    for target, voters in votes_by_target(tally):
        names = ", ".join(map(name_of, voters))
        if target is None:
            lines.append(_fact("abstaining", names, width))
        else:
            tail = f"{' ' * (most - len(voters))} {len(voters)}  "
            head = fit(line((name_of(target), team_style(state.role(target)))), _LABEL_WIDTH)
            lines.append(fit(head + line(" ", "━" * len(voters), tail, (names, FAINT)), width))
    exile = state.exiles.get(tally.round)
    if exile is not None:
        lines.append(_result(state, "exiled", exile.seat, width))
    return lines


def _fact(label: str, words: str | Text, width: int) -> Text:
    text = line(words) if isinstance(words, str) else words
    return fit(fit(line((label, FAINT)), _LABEL_WIDTH + 1) + text, width)


def _result(state: GameState, label: str, name: SeatName | None, width: int) -> Text:
    if name is None:
        return _fact(label, "nobody", width)
    role = state.role(name)
    words = f"{name_of(name)}, {role}" if role else name_of(name)
    return _fact(label, line((words, team_style(role, STRONG))), width)


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
    return [
        section("Transcript", width, "self-label · flags · suspicion"),
        *(text for lines in reversed(chosen) for text in lines),
    ][:height]


def _moment(state: GameState, moment: Moment, console: Console, width: int, limit: int) -> Lines:
    if isinstance(moment, Utterance):
        return _utterance(state, moment, console, width, limit)
    if moment.type == "silence":
        return [_spoken_line(state, moment.seat, line(("says nothing", f"{FAINT} italic")), width)]
    if moment.type == "night_outcome":
        return [line(""), _divider(state, f"Night {moment.round}", width, moment.died, "died")]
    if moment.type == "tally":
        return [_divider(state, f"Vote {moment.round}", width)]
    return [_divider(state, "", width, moment.seat, "is exiled")]


def _divider(state: GameState, title: str, width: int, name: SeatName | None = None, fate: str = "") -> Text:
    text = line(("── ", FAINT), title, (" ── ", FAINT) if title and fate else "")
    if fate:
        text += line((name_of(name), team_style(state.role(name), STRONG) if name is not None else ""), f" {fate}")
    return fit(text + line(" ", ("─" * max(0, width - text.cell_len - 1), FAINT)), width)


def _utterance(state: GameState, utterance: Utterance, console: Console, width: int, limit: int) -> Lines:
    statement = utterance.spoken
    indent = name_width(state, 9 if width < 60 else 14) + 1
    words = spoken(statement.text)
    tally = state.tallies.get(statement.round) if statement.phase == "vote" else None
    text = Text(words)
    if tally is not None:
        target = tally.votes.get(statement.speaker)
        text = Text.assemble(
            ("→ ", FAINT), (name_of(target), team_style(state.role(target) if target else None)), "  ", words
        )
    wrapped = list(text.wrap(console, max(8, width - indent)))
    if len(wrapped) > limit - 1:
        wrapped = wrapped[: limit - 1]
        wrapped[-1].rstrip()
        wrapped[-1].truncate(max(7, width - indent - 1), overflow="crop")
        wrapped[-1].append("…")
    lines = [_spoken_line(state, statement.speaker, wrapped[0] if wrapped else Text(), width)]
    lines += [fit(line(" " * indent) + text_line, width) for text_line in wrapped[1:]]
    lines.append(fit(line(" " * indent) + _assessment(utterance, width - indent), width))
    return lines


def _spoken_line(state: GameState, name: SeatName, words: Text, width: int) -> Text:
    names = name_width(state, 9 if width < 60 else 14)
    speaker = fit(line((name_of(name), team_style(state.role(name), STRONG))), names)
    return fit(speaker + line(" ") + words, width)


def _assessment(utterance: Utterance, width: int) -> Text:
    if not utterance.assessed:
        return line(("being judged…", f"{FAINT} italic"))
    is_wide = width >= 50
    if utterance.label is None:
        text = line(("– no label", FAINT))
    else:
        mark, colour = ("●", WOLF) if utterance.label.deceptive else ("○", VILLAGE)
        text = line((f"{mark} {label_in_words(utterance.label)}", colour))
        if is_wide:
            text.append(f" ({utterance.label.confidence:.0%} sure)", FAINT)
    if utterance.suspicion is not None:
        margin, slash = ("   ", " of ") if is_wide else ("  ", "/")
        flags = f"{margin}⚑ {utterance.flagged}{slash}{utterance.judged}{margin}"
        text.append(flags, STRONG if utterance.flagged else FAINT)
        text.append(f" {hundredths(utterance.suspicion)} ", heat(utterance.suspicion))
    if utterance.verdicts and width - text.cell_len > 2 + cell_len(claims_in_words(utterance)):
        lie = utterance.verdicts["lie"] > 0
        text.append(f"   {claims_in_words(utterance)}", STRONG if lie else FAINT)
    return text
