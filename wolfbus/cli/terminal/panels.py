"""The parts of the live view: who plays, who suspects whom, what happened, who said what; each a list of lines of a
given width.

Blue and orange tell the teams apart, and shade from trust to suspicion: a pair that colour-blind readers can tell,
legible on light and dark. Nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from wolfbus.cli.terminal.standing import Standing
from wolfbus.cli.terminal.wording import (
    ballots_of,
    claims_in_words,
    inspections_of,
    label_in_words,
    names_of,
    proposals_of,
    protections_of,
    votes_by_target,
)
from wolfbus.files.printable import name_of, printable, spoken
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import Role
from wolfbus.knowledge.departure import WAYS
from wolfbus.messages.base import SeatName
from wolfbus.stage.beats import Beat, NightShown, SeatStatus, Spoken

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


def _style_of(standing: Standing, name: SeatName | None, extra: str = "") -> str:
    """Return the colour of a player's team; that of nobody is none."""
    if name is None:
        return ""
    return team_style(standing.seats[name].role if name in standing.seats else None, extra)


def heat(value: float) -> Style:
    """Return the background for a suspicion in [0, 1]: blue for trust, grey at 0.5, orange for suspicion."""
    value = min(1.0, max(0.0, value))
    start, end, part = (_TRUST, _NEUTRAL, value * 2) if value < 0.5 else (_NEUTRAL, _SUSPICION, value * 2 - 1)
    red, green, blue = [round(low + (high - low) * part) for low, high in zip(start, end, strict=True)]
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


def name_width(standing: Standing, limit: int) -> int:
    """Return the cells that the longest name takes, at most `limit`."""
    return min(limit, max((cell_len(name_of(name)) for name in standing.seats), default=4))


def players(standing: Standing, width: int) -> Lines:
    """Return the table of players: role, brain where there is room, latest bid or how the player left, suspicion."""
    names = name_width(standing, 9 if width < 44 else 14)
    digits = max(2, len(str(standing.config.bid_max)))
    brains = min(18, width - names - digits - 33)
    brains = brains if brains >= 6 else 0
    # marker, role, and one blank before every column; the bid and its number share a column
    bids = max(0, width - (1 + 1 + names + 1 + 8 + 1 + 1 + digits + 1 + _SUSP_WIDTH) - (brains + 1 if brains else 0))
    legend = f"{'last bid':<{bids + 1 + digits}} {'susp':<{_SUSP_WIDTH}}"
    lines = [section("Players", width, legend)]
    for name, seat in standing.seats.items():
        has_left = seat.left is not None
        faded = FAINT if has_left else ""
        parts = [
            line(("▸" if standing.floor == name else " ", STRONG)),
            fit(line((name_of(name), f"{faded or STRONG} {team_style(seat.role)}")), names),
            fit(line((seat.role or "", team_style(seat.role, faded))), 8),
        ]
        if brains:
            parts.append(fit(line((printable(standing.brains.get(name, ""), 64), FAINT)), brains))
        parts += [
            fit(_fate(standing, seat, bids, digits), bids + digits + 1),
            _suspicion(seat.suspected, is_faded=has_left, width=_SUSP_WIDTH),
        ]
        lines.append(fit(Text(" ").join(parts), width))
    return lines


def _fate(standing: Standing, seat: SeatStatus, width: int, digits: int) -> Text:
    """Return how a player left, or its latest bid."""
    if seat.left is not None:
        way = WAYS[seat.left]
        mark = "×" if seat.left == "exile" else "†"
        fate = f"{mark} {way.verb}, {way.span} {seat.left_round}"
        short = f"{mark} {way.span} {seat.left_round}"
        return line((fate if cell_len(fate) <= width + digits + 1 else short, FAINT))
    if seat.absent:
        return line(("not answering", "italic"))
    if seat.bid is None:
        return line((f"{'·':>{width + digits + 1}}", FAINT))
    filled, empty = bar(seat.bid, standing.config.bid_max, width)
    stale = FAINT if standing.phase != "debate" else ""
    return line((filled, stale), (empty, FAINT), (f" {seat.bid:>{digits}}", stale))


def _suspicion(value: float | None, *, is_faded: bool, width: int) -> Text:
    """Return a suspicion on its colour, in so many cells; that of or for who has left is grey, none is dots."""
    words = f" {'··' if value is None else hundredths(value)}".ljust(width)
    return line((words, FAINT if is_faded or value is None else heat(value)))


def matrix(standing: Standing, width: int) -> Lines:
    """Return the heat map of smoothed suspicion, observers in rows and targets in columns; empty if too wide."""
    seats, suspicion = list(standing.seats), standing.suspicion
    departed = {name for name, seat in standing.seats.items() if seat.left is not None}
    names = name_width(standing, 9 if width < 60 else 14)
    cell = 4 if names + 4 * len(seats) <= width else 3
    names = min(names, width - cell * len(seats))
    if not seats or names < 5:
        return []
    heads = Text(" " * names)
    for target in seats:
        head = fit(line(name_of(target)), cell - 1).plain.replace("…", name_of(target)[cell - 2 : cell - 1])
        heads.append(f" {head}", _style_of(standing, target, FAINT if target in departed else ""))
    lines = [section("Suspicion of the row for the column", width), fit(heads, width)]
    for observer in seats:
        row = fit(
            line((name_of(observer), _style_of(standing, observer, FAINT if observer in departed else ""))), names
        )
        for target in seats:
            value = suspicion.of(observer, target) if suspicion.judged(observer, target) else None
            cell_text = _suspicion(value, is_faded=not departed.isdisjoint({observer, target}), width=cell)
            row.append_text(line(" " * cell) if observer == target else cell_text)
        lines.append(fit(row, width))
    return lines


def chronicle(standing: Standing, width: int, height: int) -> Lines:
    """Return the votes and nights, the latest first, as many as `height` lines hold."""
    votes, nights = _votes(standing, width), _nights(standing, width)
    lines: Lines = []
    for round_ in range(standing.round, 0, -1):
        for part in (votes.get(round_, []), nights.get(round_, [])):
            if lines and part:
                part.insert(0, line(""))
            room = height - len(lines)
            if len(part) > room:
                # the head of an older entry, without its result, would say little
                return lines or part[:room]
            lines.extend(part)
    return lines


def _nights(standing: Standing, width: int) -> dict[int, Lines]:
    nights = {beat.round: beat.night for beat in standing.beats if beat.night is not None}
    lines = {
        round_: [*_night(night, round_, width), _result(standing, "died", night.died, width)]
        for round_, night in nights.items()
    }
    if standing.night is not None:
        lines[standing.round] = _night(standing.night, standing.round, width)
    return lines


def _night(night: NightShown, round_: int, width: int) -> Lines:
    facts: list[tuple[str, str]] = []
    proposers: dict[SeatName | None, list[SeatName]] = {}
    for wolf, move in proposals_of(night).items():
        proposers.setdefault(move.target, []).append(wolf)
    for target, wolves in sorted(proposers.items(), key=lambda item: item[0] != night.target):
        chosen = target is not None and target == night.target
        facts.append(("hunted" if chosen else "proposed", f"{name_of(target)}, by {names_of(wolves)}"))
    facts += [
        ("protected", f"{name_of(saved)}, by {name_of(doctor)}") for doctor, saved in protections_of(night).items()
    ]
    facts += [
        ("inspected", f"{name_of(move.target)}: {move.role}, by {name_of(move.seat)}") for move in inspections_of(night)
    ]
    return [section(f"Night {round_}", width), *(_fact(label, words, width) for label, words in facts)]


def _votes(standing: Standing, width: int) -> dict[int, Lines]:
    lines: dict[int, Lines] = {}
    for beat in standing.beats:
        if beat.tally is not None:
            votes = votes_by_target(ballots_of(beat.tally))
            lines[beat.round] = [
                section(f"Vote {beat.round}", width, f"{beat.tally.needed} needed"),
                *_bars(standing, votes, width),
            ]
        elif beat.exile is not None:
            lines.setdefault(beat.round, []).append(_result(standing, "exiled", beat.exile.seat, width))
    return lines


def _bars(
    standing: Standing, votes: Sequence[tuple[SeatName | None, Sequence[SeatName]]], width: int
) -> Iterator[Text]:
    most = max((len(voters) for target, voters in votes if target is not None), default=0)
    for target, voters in votes:
        names = ", ".join(map(name_of, voters))
        if target is None:
            yield _fact("abstaining", names, width)
            continue
        tail = f"{' ' * (most - len(voters))} {len(voters)}  "
        head = fit(line((name_of(target), _style_of(standing, target))), _LABEL_WIDTH)
        yield fit(head + line(" ", "━" * len(voters), tail, (names, FAINT)), width)


def _fact(label: str, words: str | Text, width: int) -> Text:
    text = line(words) if isinstance(words, str) else words
    return fit(fit(line((label, FAINT)), _LABEL_WIDTH + 1) + text, width)


def _result(standing: Standing, label: str, name: SeatName | None, width: int) -> Text:
    if name is None:
        return _fact(label, "nobody", width)
    role = standing.seats[name].role if name in standing.seats else None
    words = f"{name_of(name)}, {role}" if role else name_of(name)
    return _fact(label, line((words, team_style(role, STRONG))), width)


def transcript(standing: Standing, console: Console, width: int, height: int) -> Lines:
    """Return the last moments of the game that fit into `height` lines, the latest at the bottom.

    Args:
        standing: the game.
        console: only asked how text wraps.
        width: cells of a line.
        height: lines, the heading among them.
    """
    room = height - 1
    most = max(3, height // 2)
    chosen: list[Lines] = []
    for beat in reversed(standing.beats):
        lines = _beat(standing, beat, console, width, most)
        if len(lines) > room:
            break
        room -= len(lines)
        if lines:
            chosen.append(lines)
    if chosen and not chosen[-1][0].plain:
        # the blank line above a night has nothing to set it off from
        chosen[-1] = chosen[-1][1:]
    return [
        section("Transcript", width, "self-label · flags · suspicion"),
        *(text for lines in reversed(chosen) for text in lines),
    ][:height]


def _beat(standing: Standing, beat: Beat, console: Console, width: int, limit: int) -> Lines:
    """Return the lines of a beat; none for the opening and the end, which stand elsewhere."""
    if beat.spoken is not None:
        return _statement(standing, beat, beat.spoken, console, width, limit)
    if beat.unsaid is not None:
        return [_spoken_line(standing, beat.unsaid.seat, line(("says nothing", f"{FAINT} italic")), width)]
    if beat.night is not None:
        return [line(""), _divider(standing, f"Night {beat.round}", width, beat.night.died, "died")]
    if beat.tally is not None:
        return [_divider(standing, f"Vote {beat.round}", width)]
    if beat.exile is not None:
        return [_divider(standing, "", width, beat.exile.seat, "is exiled")]
    return [] if beat.news is None else [_divider(standing, printable(beat.news), width)]


def _divider(standing: Standing, title: str, width: int, name: SeatName | None = None, fate: str = "") -> Text:
    text = line(("── ", FAINT), title, (" ── ", FAINT) if title and fate else "")
    if fate:
        text += line((name_of(name), _style_of(standing, name, STRONG)), f" {fate}")
    return fit(text + line(" ", ("─" * max(0, width - text.cell_len - 1), FAINT)), width)


def _statement(standing: Standing, beat: Beat, statement: Spoken, console: Console, width: int, limit: int) -> Lines:
    indent = name_width(standing, 9 if width < 60 else 14) + 1
    words = spoken(statement.text)
    text = Text(words)
    if beat.phase == "vote":
        vote = (name_of(statement.vote), _style_of(standing, statement.vote))
        text = Text.assemble(("→ ", FAINT), vote, "  ", words)
    wrapped = list(text.wrap(console, max(8, width - indent)))
    if len(wrapped) > limit - 1:
        wrapped = wrapped[: limit - 1]
        wrapped[-1].rstrip()
        wrapped[-1].truncate(max(7, width - indent - 1), overflow="crop")
        wrapped[-1].append("…")
    lines = [_spoken_line(standing, statement.speaker, wrapped[0] if wrapped else Text(), width)]
    lines += [fit(line(" " * indent) + text_line, width) for text_line in wrapped[1:]]
    assessment = _assessment(statement, width - indent) if beat.complete else line(("being judged…", f"{FAINT} italic"))
    lines.append(fit(line(" " * indent) + assessment, width))
    return lines


def _spoken_line(standing: Standing, name: SeatName, words: Text, width: int) -> Text:
    names = name_width(standing, 9 if width < 60 else 14)
    speaker = fit(line((name_of(name), _style_of(standing, name, STRONG))), names)
    return fit(speaker + line(" ") + words, width)


def _assessment(statement: Spoken, width: int) -> Text:
    is_wide = width >= 50
    label = statement.label
    if label is None or label.deceptive is None:
        text = line(("– no label", FAINT))
    else:
        mark, colour = ("●", WOLF) if label.deceptive else ("○", VILLAGE)
        text = line((f"{mark} {label_in_words(label)}", colour))
        if is_wide:
            text.append(f" ({label.confidence:.0%} sure)", FAINT)
    if statement.mean is not None:
        margin, slash = ("   ", " of ") if is_wide else ("  ", "/")
        flags = f"{margin}⚑ {statement.flagged}{slash}{statement.judged}{margin}"
        text.append(flags, STRONG if statement.flagged else FAINT)
        text.append(f" {hundredths(statement.mean)} ", heat(statement.mean))
    verdicts = claims_in_words(statement)
    if verdicts and width - text.cell_len > 2 + cell_len(verdicts):
        lies = any(claim.verdict == "lie" for claim in statement.claims)
        text.append(f"   {verdicts}", STRONG if lies else FAINT)
    return text
