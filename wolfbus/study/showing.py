"""A study in words: how balanced its design is before, how far it is while it is played, how it went after."""

from __future__ import annotations

import shlex
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import click

from wolfbus.files.formats import aligned, first_of, span
from wolfbus.files.printable import counted, printable, told_apart
from wolfbus.study.folder import Manifest
from wolfbus.study.journal import CallsSoFar, Spent
from wolfbus.study.plan import PlannedGame, players_spec

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_MOST_PAIRED: Final = 5
"""Agents up to which it is shown how every two of them met."""
_NAME_WIDTH: Final = 40
_LINE_S: Final = 5.0
_BAR: Final = 24
_WIDE: Final = 100
"""Columns from which on a line has room for a bar."""
_GAMES_SHOWN: Final = 4
_RECENT: Final = 200
"""Finished games that the rate is taken over."""


def design_lines(design: Mapping[str, Any]) -> list[str]:
    """Return a table of how often each agent has each role, and how evenly agents meet.

    Args:
        design: the member of that name of a manifest.
    """
    roles: Mapping[str, Mapping[str, int]] = design["roles"]
    agents = list(roles)
    if not agents:
        lines = [f"Design {design['kind']}, {counted(design['games'], 'game')}"]
        return [*lines, *(f"  {line}" for line in design["notes"])]
    names = told_apart(agents, _NAME_WIDTH)
    columns = list(next(iter(roles.values())))
    rows = [("agent", *columns, "seats")]
    rows += [(names[a], *(str(roles[a][role]) for role in columns), str(sum(roles[a].values()))) for a in agents]
    lines = [f"Design {design['kind']}, {counted(design['games'], 'game')}: seats by role"]
    lines += [f"  {row}" for row in aligned(rows, rows[0][1:])]
    if len(agents) > 1:
        by_share = "" if design["equal_shares"] else ", divided by the product of their shares of the seats"
        for side in ("allies", "opponents"):
            low, high = design[side]["min"], design[side]["max"]
            span = f"{low:g} to {high:g} times" if low != high else "once" if low == 1 else f"{low:g} times"
            lines.append(f"  Two agents meet as {side} {span}{by_share}.")
    if 1 < len(agents) <= _MOST_PAIRED:
        lines += _pair_lines(design["pairs"], names)
    return [*lines, *(f"  {line}" for line in design["notes"])]


def _pair_lines(pairs: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[str]:
    lines = []
    for pair in pairs:
        first, second = pair["agents"]
        one, other = names[first], names[second]
        if one != other:
            lines.append(
                f"  {one} and {other}: both Werewolves {pair['both_wolves']}, neither {pair['both_others']}, "
                f"only the first {pair['first_wolf']}, only the second {pair['second_wolf']}"
            )
    return lines


def house_note(*, tickets: bool) -> str:
    """Return the note on how the agents of a house are known."""
    if tickets:
        return "Who plays is known by ticket: an agent is outside:NAME by its own, whatever it says of itself."
    return "Who plays is each agent's own word: what it announced, and no ticket was asked for."


def design_notes(kind: str, design: Mapping[str, Any], rotation: int, cycle: int | None) -> list[str]:
    """Return notes on a design's balance, in whole sentences."""
    if kind == "forks":
        return ["Every game is forked from one of another study, and played by what played that one."]
    if kind == "joined":
        return ["Whoever has joined the house plays, seated by each game's seed; nothing evens out roles or meetings."]
    if len(design["roles"]) == 1:
        return ["One agent plays every seat."]
    games = design["games"]
    if kind == "mirrored":
        swapped = "Every two games are dealt from one seed, with sides swapped"
        notes = [f"{swapped}; all agents have met after {cycle} games."]
        if games % rotation:
            notes.append("The last game has no mirror image: take an even number of games.")
        return notes
    if kind != "balanced":
        uneven = 'Roles are dealt from each game\'s seed; nothing evens them out (design = "balanced" does).'
        return [] if design["roles_equal"] and design["meetings_equal"] else [uneven]
    notes = [f"Roles are equal after every {rotation} games, meetings after every {cycle}."]
    if cycle is None:
        unknown = "for this number of seats and agents no exact design of meetings is known here"
        notes = [f"Roles are equal after every {rotation} games; {unknown}, so they are as even as a search made them."]
    if games % rotation:
        notes.append(
            f"{counted(games, 'game')} are {counted(games // rotation, 'rotation')} and {games % rotation} more, which "
            f"leave roles up to {design['roles_apart']:g} apart."
        )
    return notes


class StudyProgress:
    """Shows how far a study is while it is played: a bar in a terminal, else a line now and then; a context manager.

    Args:
        manifest: what is known of it.
        quiet: show nothing.
        plain: lines even in a terminal.
        budget: US dollars that all model calls may cost; None for no limit.
        budget_tokens: tokens that they may use; None for no limit.
    """

    def __init__(
        self,
        manifest: Manifest,
        *,
        quiet: bool = False,
        plain: bool = False,
        budget: float | None = None,
        budget_tokens: int | None = None,
    ) -> None:
        self._manifest = manifest
        self._budget = budget
        self._budget_tokens = budget_tokens
        self._calls = CallsSoFar()
        self._spent: Spent | None = None
        self._quiet = quiet
        self._plain = plain or not sys.stderr.isatty()
        self._finished: deque[float] = deque([time.monotonic()], maxlen=_RECENT)
        self._next_line = time.monotonic() + _LINE_S
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def count_game(self) -> None:
        """Count a game that has ended or failed."""
        self._finished.append(time.monotonic())

    def update(self, calls: CallsSoFar, spent: Spent | None) -> None:
        """Update what is shown; call it now and then.

        Args:
            calls: what model calls took so far, those of games under way included.
            spent: what of that counts towards the budget, with what is known to be lost; None where there is none.
        """
        self._calls, self._spent = calls, spent
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            done, total = self._manifest.done, sum(self._manifest.states.values())
            columns = self._bar.console.width
            room = columns - 2 * len(str(total)) - 3 - (_BAR + 1 if columns >= _WIDE else 0)
            words = _fitted(self._words(now), room)
            self._bar.update(self._task, completed=done, words=words)
        elif not self._quiet and self._plain and now >= self._next_line:
            self._next_line = now + _LINE_S
            done, total = self._manifest.done, sum(self._manifest.states.values())
            click.echo(f"wolfbus: {done} of {total} games, {', '.join(self._words(now))}", err=True)

    def say(self, line: str) -> None:
        """Say something that is not about games; any thread may call it."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            click.echo(f"wolfbus: {line}", err=True)

    def _words(self, now: float) -> list[str]:
        """Return calls, cost and budget, failures, time left, rate and wins, what matters most first."""
        manifest = self._manifest
        words = self._calls_and_cost()
        words += [f"{manifest.states[state]} {state}" for state in ("failed", "halted") if manifest.states[state]]
        count, seconds = len(self._finished) - 1, now - self._finished[0]
        if count and seconds > 0:
            left = sum(manifest.states.values()) - manifest.done
            words += [f"{span(left * seconds / count)} left", _rate(count / seconds)]
        wins = manifest.wins
        words.append(f"wolves {wins['werewolves']}, villagers {wins['villagers']}, nobody {wins['nobody']}")
        return words

    def _calls_and_cost(self) -> list[str]:
        """Return what model calls took, and of how much."""
        calls, spent, words = self._calls, self._spent, []
        if calls.calls:
            words.append(counted(calls.calls, "call"))
        usd = spent.spent_usd if spent is not None and self._budget is not None else calls.cost_usd
        if usd is not None:
            words.append(f"${usd:,.2f}" + (f" of ${self._budget:,.2f}" if self._budget is not None else ""))
        if self._budget_tokens is not None:
            tokens = spent.spent_tokens if spent is not None else calls.tokens
            words.append(f"{_short(tokens)} of {_short(self._budget_tokens)} tokens")
        return words

    def __enter__(self) -> Self:
        if not self._quiet and not self._plain:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            console = Console(stderr=True)
            columns: list[Any] = [MofNCompleteColumn(), TextColumn("{task.fields[words]}")]
            if console.width >= _WIDE:
                columns.insert(0, BarColumn(_BAR))
            self._bar = Progress(*columns, console=console, refresh_per_second=4)
            self._bar.start()
            total = sum(self._manifest.states.values())
            self._task = self._bar.add_task("", total=total, completed=self._manifest.done, words="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._show()
            self._bar.stop()


def _fitted(words: Sequence[str], width: int) -> str:
    """Return as many words, from the first on, as a line of so many columns holds."""
    line = ""
    for word in words:
        longer = f"{line}, {word}" if line else word
        if len(longer) > width:
            break
        line = longer
    return line


def _short(tokens: int) -> str:
    """Return a number of tokens, in thousands or millions."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return f"{tokens / size:,.{1 if tokens < 100 * size else 0}f}{unit}"
    return str(tokens)


def _rate(rate: float) -> str:
    return f"{rate:.1f} games/s" if rate >= 0.1 else f"{rate * 3600:.0f} games/h"


def replay_command(game: PlannedGame, folder: Path) -> str:
    """Return the command that plays one game again alone, or words where none can say who plays."""
    spec = players_spec(game.brains)
    if spec is None:
        where = f"{folder / 'study.json'} has its brains, which go into a config file as `players`"
        return f"wolfbus play --seed {game.seed} --config …  (a brain has a comma in it: {where})"
    rules = shlex.quote(str(folder / "rules.toml"))
    return f"wolfbus play --seed {game.seed} --players {shlex.quote(spec)} --config {rules}"


def summary_lines(
    totals: Mapping[str, Any],
    folder: Path,
    study: str,
    name: str | None,
    errors: Sequence[tuple[str, str]],
    halts: Mapping[str, Sequence[str]],
    spoilt: Sequence[str],
) -> list[str]:
    """Return how a study went.

    Args:
        totals: the manifest's.
        folder: where it is.
        study: its id.
        name: its title, if it has one.
        errors: (game, error) of some games that failed.
        halts: games that halted, by why.
        spoilt: games that ended and are spoilt.
    """
    n = totals["ended"]
    title = f"{printable(name, 80)} ({study})" if name else study
    lines = [f"Study {title}: {n} of {counted(totals['games'], 'game')} ended"]
    wins = (
        (totals["werewolves"], "the Werewolves"),
        (totals["villagers"], "the villagers"),
        (totals["nobody"], "nobody"),
    )
    won = ", ".join(f"{who} {count} ({count / n:.0%})" for count, who in wins) if n else "no game has ended"
    lines.append(f"Wins    {won}, n = {n}")
    lines.append(f"Data    {totals['statements']:,} statements, {totals['judgements']:,} judgements")
    if totals["calls"]:
        cost = "" if totals["cost_usd"] is None else f", ${totals['cost_usd']:,.4f}"
        lines.append(f"Calls   {totals['calls']:,}{cost} (of the games that ended)")
    for state, words in (
        ("halted", "halted, and can go on"),
        ("failed", "failed"),
        ("stopped", "stopped"),
        ("pending", "not played yet"),
    ):
        if totals[state]:
            lines.append(f"{state.title():8}{counted(totals[state], 'game')} {words}")
        if state == "halted":
            lines += [f"        {first_of(games, _GAMES_SHOWN)}: {printable(why, 300)}" for why, games in halts.items()]
    lines += [f"        {game}: {printable(error, 200)}" for game, error in errors]
    if spoilt:
        why = "too many answers of a seat are defaults for want of a reply; no table counts them"
        lines.append(f"Spoilt  {counted(len(spoilt), 'game')} ({first_of(spoilt, _GAMES_SHOWN)}): {why}")
    lines.append(f"Folder  {folder}")
    return lines
