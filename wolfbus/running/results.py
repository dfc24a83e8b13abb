"""Results of games by their records: `fetch_record` fetches one from a bus, `find_pending` finds which games of a
resumed study are not played, by their records and its notes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.errors import BusError, MessageError, RecordError, WolfError
from wolfbus.files.printable import NOTE_SHOWN, error_in_words, printable
from wolfbus.game.config import GameConfig
from wolfbus.messages.codec import unpack
from wolfbus.record.line import line_of
from wolfbus.record.reader import Prover, check_seals, open_lines, read_checked, read_record
from wolfbus.running.earlier import find_in_folder, read_said
from wolfbus.running.house import AGENT
from wolfbus.study.folder import ASIDE, Manifest, StudyFolder, set_aside
from wolfbus.study.journal import CallsSoFar, GameCounts, GameResult, Spent, State
from wolfbus.study.manifest import FILE, NotedGame, notes_of
from wolfbus.study.plan import Plan, PlannedGame
from wolfbus.study.said import forget_said, remove_said_folder, said_path

if TYPE_CHECKING:
    from wolfbus.record.usage import Usage

_WHY_SHOWN: Final = 500
_CLOCKS_DIFFER_S: Final = 10.0
"""By how much the time of a file, which its disk keeps, may be behind that of what was written into it."""
_LONGEST_RECORD: Final = 1 << 30
"""Bytes of a record that is taken from a bus; the longest game's stays below."""


def is_whole(path: Path, head: str) -> bool:
    """Return whether all seals of a record hold, up to one that was noted when its game had ended."""
    is_sealed, _, seal, _ = check_seals(path)
    return is_sealed and bool(seal) and seal == head


def result_of(
    path: Path, planned: PlannedGame, config: GameConfig, prover: Prover | None = None, noted: NotedGame | None = None
) -> GameResult | str:
    """Return the result of a record that holds a planned game from its opening to its end; of any other, why not.

    Args:
        path: the record.
        planned: the game.
        config: the study's rules.
        prover: re-executes it; None not to.
        noted: what the study has noted of the game, for a record that is to be that; None if it has noted nothing.
    """
    counts = GameCounts()
    checked = read_checked(open_lines(path), counts.feed, prover)
    opened, end = checked.opened, checked.ended
    if checked.problem is not None or opened is None or end is None:
        return (checked.problem or "there is no game in it").removeprefix(f"{path}: ")
    if (opened.game, opened.seed, opened.config) != (planned.game, planned.seed, config):
        return "it is of another game, of another seed, or by other rules"
    brains = tuple(seat.brain for seat in opened.seats)
    if brains != (planned.brains or brains):
        return f"others play in it: {printable(', '.join(brains), NOTE_SHOWN)}"
    if noted is not None and (difference := noted.difference(checked)) is not None:
        return difference
    result = ended_result(planned, counts, checked.digest, end.rounds, checked.seconds, checked.head)
    return result if planned.brains else result.model_copy(update={"brains": brains})


def may_go_on(path: Path, planned: PlannedGame, config: GameConfig) -> bool:
    """Return whether a record is of a planned game that was broken off on this machine, and can be gone on with."""
    earlier = find_in_folder(path)
    if earlier is None:
        return False
    opened = earlier.opened
    brains = tuple(seat.brain for seat in opened.seats if seat.agent == AGENT)
    return (opened.game, opened.seed, opened.config, brains) == (planned.game, planned.seed, config, planned.brains)


def ended_result(
    planned: PlannedGame, counts: GameCounts, digest: str, rounds: int | None, seconds: float, head: str
) -> GameResult:
    """Return the result of a game that has ended."""
    return GameResult(
        number=planned.number,
        game=planned.game,
        state="ended",
        winner=counts.winner,
        rounds=rounds,
        digest=digest,
        seconds=round(seconds, 3),
        statements=counts.statements,
        judgements=counts.judgements,
        calls=counts.usage.calls if counts.usage is not None else 0,
        cost_usd=counts.usage.cost_usd if counts.usage is not None else None,
        head=head,
        unheard=tuple(sorted(counts.unheard)),
        answers=counts.answers,
        defaults=dict(counts.defaults),
        spoilt=counts.spoilt,
        served={model: tuple(names) for model, names in counts.served.answered.items()},
    )


def calls_in(path: Path, since: float = 0.0) -> CallsSoFar:
    """Return what the model calls of a game took from a Unix time on, as far as its record can be read and says so; of
    a game that is not over, by what its players have said where that was kept.
    """
    usage = _usage_in(path, since)
    return CallsSoFar(usage.calls, usage.cost_usd, usage.tokens("prompt_tokens", "completion_tokens") or 0)


def _usage_in(path: Path, since: float) -> Usage:
    from wolfbus.messages.codec import CALLED, validate
    from wolfbus.record.usage import Usage

    usage, started = Usage(), 0.0
    if messages := read_said(path):
        # the clock of its record stands still while nobody plays
        for at, entry in messages:
            if entry.type == "called" and at >= since:
                with contextlib.suppress(MessageError):
                    call = validate(CALLED, unpack(entry.body)).call
                    if not call.cassette:
                        usage.add(call)
        return usage
    for recorded in read_record(open_lines(path), tolerant=True):
        event = recorded.event
        if event.type == "opened":
            started = event.started
        elif event.type == "model_call" and not event.cassette and started + recorded.time >= since:
            usage.add(event)
    return usage


def _spent_in(path: Path, since: float = 0.0) -> Spent:
    calls = calls_in(path, since)
    return Spent(spent_usd=calls.cost_usd or 0.0, spent_tokens=calls.tokens)


def _spent_since(folder: StudyFolder, at: float) -> Spent:
    """Return what was spent after the last note of it, up to a kill, by records of games, broken off or not."""
    since = Spent()
    for path in (folder.records, folder.path / ASIDE):
        for entry in os.scandir(path) if path.is_dir() else ():
            record = Path(entry.path)
            if entry.is_file() and max(entry.stat().st_mtime, _changed(said_path(record))) >= at - _CLOCKS_DIFFER_S:
                since += _spent_in(record, at)
    return since


def _changed(path: Path) -> float:
    """Return when a file was written to last, in Unix time; 0 where there is none."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def head_of(path: Path) -> str:
    """Return the hash on the last line of a record; "" if there is none."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            # the last line says that the game has ended, and is short
            file.seek(max(0, end - 4096))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return ""
    match = re.search(rb'"hash":"([0-9a-f]{64})"', last)
    return match.group(1).decode() if match else ""


def failed_result(planned: PlannedGame, why: str, seconds: float, state: State = "failed") -> GameResult:
    """Return the result of a game that failed, or is in another state, with why in one line."""
    return GameResult(
        number=planned.number,
        game=planned.game,
        state=state,
        error=" ".join(why.split())[:_WHY_SHOWN],
        seconds=round(seconds, 3),
    )


def fetch_record(
    bus: Bus, planned: PlannedGame, house: str, folder: Path, config: GameConfig, prover: Prover | None = None
) -> GameResult | str:
    """Fetch a game's record from the bus into a study's folder, as far as the bus has it.

    Args:
        bus: where the record is.
        planned: the game.
        house: where it was played.
        folder: the study's.
        config: the study's rules.
        prover: re-executes it; None not to.

    Returns:
        The result of a record that holds, to the game's end; of any other, why it does not.

    Raises:
        BusError: the record cannot be read now.
        OSError: it cannot be written.
    """
    # under the record's own name there is never less than all that the bus has of it
    partial = folder / f".{planned.game}.new"
    try:
        # the folder may be somebody else's: a link of that name would lead to any file of this user's
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:
            for entry in every_entry(bus, streams.record(house, planned.game)):
                if file.tell() > _LONGEST_RECORD:
                    raise RecordError(f"its record is longer than {_LONGEST_RECORD >> 20} MiB")
                file.write(_line_of(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        result = result_of(partial, planned, config, prover)
        if partial.stat().st_size:
            partial.replace(folder / planned.record)
    except BusError:
        raise
    except WolfError as error:
        return str(error)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return result


def _line_of(entry: Entry) -> bytes:
    """Return the line of an entry of a record's stream; raises MessageError or RecordError where it holds none."""
    members = unpack(entry.body)
    try:
        return line_of(members)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RecordError(f"entry {entry.id} is no line of a record: {error_in_words(error, NOTE_SHOWN)}") from None


def find_pending(
    folder: StudyFolder,
    noted_manifest: Mapping[str, Any],
    plan: Plan,
    games: list[PlannedGame],
    manifest: Manifest,
    *,
    has_budget: bool,
) -> tuple[list[PlannedGame], Spent]:
    """Find which games are not played, and move records that one cannot go on with, or that are not as noted, out of
    the way.

    Args:
        folder: the study's.
        noted_manifest: the manifest that is in it.
        plan: the study.
        games: its games.
        manifest: takes in the results of those that are played.
        has_budget: whether what is spent counts, also of a study that was begun without a budget.

    Returns:
        The games to play, and what is spent so far.

    Raises:
        ConfigError: the journal cannot be read.
        OSError: the folder cannot be written.
    """
    from moderator.engine.reexecution import Verifier

    results, spent = folder.read_journal()
    notes = notes_of(folder.path, noted_manifest, plan.study)
    if notes.fault is not None:
        click.echo(f"wolfbus: {folder.path / FILE}: {notes.fault}", err=True)
    records = {entry.name for entry in os.scandir(folder.records)}
    pending: list[PlannedGame] = []
    # without a budget nothing was noted; an earlier version noted no time
    since = 0.0 if has_budget and spent == Spent() else spent.at
    lost = Spent() if since is None else _spent_since(folder, since)
    for game in games:
        path = folder.path / game.record
        noted = notes.games.get(game.game)
        has_ended = noted is not None and noted.state == "ended"
        if path.name not in records:
            if has_ended:
                _note_lost(folder, game, "missing, though its game was played to its end")
            pending.append(game)
            continue
        result = results.get(game.number)
        # where journal and manifest note the same record, its seals are enough
        agreed = result is not None and result.state == "ended" and noted is not None and noted.agrees
        if result is None or not agreed or not is_whole(path, result.head):
            # a run that was killed leaves records of whose end nobody has noted anything: they count as played, and are
            # not paid twice, if the rules give every derived event in them
            prover, expected = (None, noted) if has_ended else (Verifier(), None)
            checked = result_of(path, game, plan.config, prover, expected)
            if isinstance(checked, str):
                if since is None:
                    lost += _spent_in(path)
                has_failed = result is not None and result.state == "failed"
                if not (has_ended or has_failed) and may_go_on(path, game, plan.config):
                    # it stays where it is, and whoever plays it goes on with it
                    pending.append(game)
                    continue
                aside = set_aside(path)
                forget_said(path)
                if has_ended:
                    # once it is moved: a kill in between must not leave it to be taken over
                    _note_lost(folder, game, f"{checked}; it is now {aside}")
                pending.append(game)
                continue
            forget_said(path)
            if result is None or result.head != checked.head or result.state != checked.state:
                folder.note(checked)
            result = checked
        manifest.put(result)
    remove_said_folder(folder.path)
    total = spent + lost
    usd = (manifest.cost_usd or 0.0) + (lost.spent_usd if since is None else 0.0)
    return pending, total.model_copy(update={"spent_usd": max(total.spent_usd, usd)})


def _note_lost(folder: StudyFolder, game: PlannedGame, why: str) -> None:
    """Say that the record of a game that had ended is not to be had, and note it.

    What was noted of the game's end is of another play: the record to come is not to be measured by
    it, should a kill keep its own result from being noted.
    """
    click.echo(f"wolfbus: {game.record}: {printable(why, _WHY_SHOWN)}; the game is played anew", err=True)
    folder.note(GameResult(number=game.number, game=game.game, state="stopped", error=why[:_WHY_SHOWN]))
