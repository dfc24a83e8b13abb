"""`fork`: what would have come of another statement; for Python, and `ForkMaker`, which studies use, too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moderator.engine.forking import ForkPoint, check_parent, find_point
from players.spec import BrainContext, declined_by, model_name
from wolfbus.actors.closable import Closable
from wolfbus.errors import ConfigError, RecordError, WolfError
from wolfbus.files.printable import NOTE_SHOWN, counted, error_in_words, printable
from wolfbus.foreign.log import log_in_words
from wolfbus.game.config import GIVE_UP, GameConfig
from wolfbus.messages.content import Speech
from wolfbus.messages.events import Opened, Seat
from wolfbus.record.line import Recorded
from wolfbus.record.reader import open_lines, read_record
from wolfbus.record.usage import Usage
from wolfbus.record.writer import RecordFile, check_are_new
from wolfbus.running.arguments import checked
from wolfbus.running.brains import loaded_from, open_brain_context
from wolfbus.running.drawing import StatementDraws
from wolfbus.running.earlier import EarlierPlay
from wolfbus.running.house import AGENT, EmbeddedHouse, Game, GameKeeper
from wolfbus.study.forks import TRIES, Arm, arms_of
from wolfbus.study.manifest import RECORDS
from wolfbus.study.plan import ForkOrder

if TYPE_CHECKING:
    from analytics.rows import GameRows
    from wolfbus.game.vocabulary import Winner

logger = logging.getLogger(__name__)

_AT_ONCE: Final = 8
_LONGEST_ID: Final = 64


@dataclass(frozen=True, slots=True)
class ReadyFork:
    """A fork that can be played on.

    Attributes:
        earlier: what there is of it; None where it is refused, as no usable, or no honest, statement was drawn.
        tries: how many statements were drawn.
        words: what stands in the statement's place; None for silence.
        refusal: why it is refused, in one line; "" where it is not.
    """

    earlier: EarlierPlay | None
    tries: int
    words: str | None = None
    refusal: str = ""


class ForkMaker(Closable):
    """Makes forks ready to be played on by this process.

    Args:
        brain_context: what its brains share; None for a fresh one.
    """

    def __init__(self, brain_context: BrainContext | None) -> None:
        brain_context = brain_context or BrainContext()
        self._models = brain_context.models
        self._draws = StatementDraws(brain_context)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "forks")
        # the forks of one statement come one after another
        self._point = lru_cache(_AT_ONCE)(_point_of)

    def close(self) -> None:
        """End every draw; nothing more is made."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._draws.close()

    def make_later(
        self, order: ForkOrder, game: str, brains: Sequence[str], done: Callable[[ReadyFork | WolfError], object]
    ) -> None:
        """Make a fork ready in another thread.

        Args:
            order: which.
            game: its id.
            brains: see `make`.
            done: called from that thread with the fork, or with why it cannot be made.
        """

        def make() -> None:
            try:
                ready: ReadyFork | WolfError = self.make(order, game, brains)
            except WolfError as error:
                ready = error
            except Exception as error:
                logger.exception("fork %s cannot be made", game)
                ready = WolfError(f"the fork cannot be made: {error_in_words(error)}")
            done(ready)

        self._threads.submit(make)

    def make(self, order: ForkOrder, game: str, brains: Sequence[str] | None = None) -> ReadyFork:
        """Return a fork up to the end of the step in which its statement is made.

        Args:
            order: which.
            game: its id.
            brains: who may play, in seating order, by the notes of the parent's study; None for whoever its record
                names.

        Raises:
            ConfigError: the statement cannot be forked, an agent cannot be made here, or the record names others.
            WolfError: who is to make the statement can be asked no more.
            RecordError: the parent's record cannot be read, or is not what the rules give.
        """
        point = self._point(order.parent, order.statement)
        played = [seat.brain for seat in point.opened.seats]
        if brains is not None and played != list(brains):
            # leave was asked for those of the study alone; a record may name any program
            named = printable(", ".join(dict.fromkeys(played)), NOTE_SHOWN)
            raise ConfigError(f"{order.parent}: its study notes other players than the record has: {named}")
        fork = point.fork(order.arm, order.k)
        if order.arm == "keep":
            speech = point.answer.content
        elif order.arm == "silence":
            speech = None
        elif order.words is not None:
            speech = Speech(text=order.words)
        else:
            speech, tries = self._draws.draw(point, fork, game, order.tries)
            if speech is None:
                what = "honest" if order.arm == "honest" else "usable"
                return ReadyFork(None, tries, refusal=f"refused: no {what} statement in {counted(tries, 'draw')}")
            fork = fork.model_copy(update={"tries": tries})
        opened = point.opening(fork, game, seats_here(point.opened, self._models))
        words = None if speech is None else speech.text
        return ReadyFork(EarlierPlay(point.record(opened, speech), (), 0), fork.tries, words)


def _point_of(path: str, statement: int) -> ForkPoint:
    return find_point(events_of(path), statement)


def events_of(record: Path | str) -> Iterator[Recorded]:
    """Yield the events of a record that is to be played on.

    Raises:
        RecordError: it cannot be read, or is a log; the line names the file.
    """
    with closing(open_lines(record)) as lines:
        try:
            yield from read_record(_of_no_log(lines))
        except RecordError as error:
            # one that cannot be opened is named already
            raise RecordError(f"{record}: {str(error).removeprefix(f'{record}: ')}") from None


def _of_no_log(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a record; raises RecordError for a log."""
    for number, line in enumerate(lines):
        if number == 0 and (log := log_in_words(line)) is not None:
            raise RecordError(f"{log}: nobody can run its rules again, so no game is played on from it")
        yield line


def seats_here(opened: Opened, models: Mapping[str, Any]) -> tuple[Seat, ...]:
    """Return the seats of a record as this process plays them.

    Raises:
        ConfigError: what played a seat cannot play here, or declines other requests than it did.
    """
    seats = []
    for seat in opened.seats:
        if set(declined_by(seat.brain)) != set(seat.declines):
            raise ConfigError(f"game {opened.game}: {seat.brain} answers other kinds of request now than it did then")
        model = model_name(seat.brain, models)
        seats.append(seat.model_copy(update={"agent": AGENT, "in_house": True, "model": model}))
    return tuple(seats)


def fork_id(parent: str, statement: int, arm: Arm, k: int) -> str:
    """Return the id of a fork."""
    tail = f"-s{statement}-{arm.label}-{k}"
    return f"{parent[: _LONGEST_ID - len(tail)]}{tail}"


@dataclass(frozen=True, slots=True)
class PlayedFork:
    """One fork.

    Attributes:
        arm: its arm, as its record says it.
        k: which fork of this arm, from 1.
        tries: statements that were drawn for it.
        refused: whether it was not played, as none of these could be used, or was honest.
        words: what stands in the statement's place; None for silence.
        winner: "villagers" or "werewolves"; None where the rounds ran out, or it was not played.
        digest: SHA-256 over its events; "" where it was not played.
        record: the file of its record; None where none was written.
        events: every event of its record, in order.
    """

    arm: str
    k: int
    tries: int
    refused: bool
    words: str | None
    winner: Winner | None = None
    digest: str = ""
    record: Path | None = None
    events: tuple[Recorded, ...] = field(default=(), repr=False)

    def rows(self) -> GameRows:
        """Return what its record comes to, for measurement; `GameRows.forks` has what came of the fork.

        Raises:
            RulesError: it was not played.
        """
        from analytics.fold import GameFold

        game = GameFold()
        for recorded in self.events:
            game.take(recorded)
        return game.rows()


@checked
def fork(
    record: Path | str,
    *,
    at: int,
    arms: Sequence[str] = (),
    times: int = 1,
    tries: int = TRIES,
    config: GameConfig | Mapping[str, Any] | Path | str | None = None,
    out: Path | str | None = None,
    budget: float | None = None,
    budget_tokens: int | None = None,
    cassette: Path | None = None,
    replay_cassette: Path | None = None,
    probe: bool = True,
    give_up: int = GIVE_UP,
    announce: Callable[[int], None] = lambda _forks: None,
) -> tuple[PlayedFork, ...]:
    """Play a game on from one of its statements, with others in its place.

    All before the statement is as it was recorded, and nobody is asked for it again; all behind it is played live, by
    what played the seats then, be it a program, a module or an address: fork no record of somebody you do not trust.

    Args:
        record: the parent's record, which is over.
        at: number of a statement of a debate.
        arms: what to put in its place, beside ``keep`` and ``honest``, which are always played: ``silence``,
            ``redraw``, ``say WORDS``, ``by:AGENT``.
        times: forks of each arm, >= 1. Those with the same number share the draws of the rules.
        tries: statements that may be drawn for one fork, >= 1.
        config: where models are named, as for `wolfbus.play`; rules in it count for nothing.
        out: folder of the forks' records; None to write none.
        budget: US dollars that model calls may cost.
        budget_tokens: tokens that they may use.
        cassette: folder to record model replies into.
        replay_cassette: folder to play them from.
        probe: whether to ask each model something small first.
        give_up: replies in a row that are missing or cannot be read, and none before, after which the games of a model,
            a program or an address end; 0 for never.
        announce: called once with how many forks will be played, before anybody is asked.

    Returns:
        The forks: arm by arm, in each by number.

    Raises:
        ConfigError: the statement cannot be forked, an arm is not known, an agent cannot be made.
        RecordError: the record cannot be read, or is not what the rules give.
        WolfError: a fork did not come to its end.
    """
    if times < 1 or tries < 1:
        raise ConfigError("times and tries: whole numbers from 1")
    chosen = arms_of(arms)
    point = _point_of(str(record), at)
    brains = [seat.brain for seat in point.opened.seats]
    brains += [arm.agent for arm in chosen if arm.agent is not None]
    forks = [arm.order(Path(record), at, k, tries) for arm in chosen for k in range(1, times + 1)]
    names = [fork_id(point.opened.game, at, arm, k) for arm in chosen for k in range(1, times + 1)]
    announce(len(forks))
    folder = None if out is None else Path(out)
    paths = [None if folder is None else folder / f"{name}.ndjson" for name in names]
    check_are_new(paths)
    with open_brain_context(
        brains,
        loaded_from(config).models,
        budget=budget,
        budget_tokens=budget_tokens,
        cassette=cassette,
        replay_cassette=replay_cassette,
        probe=probe,
        give_up=give_up,
        logs=None if folder is None else folder / "stderr",
    ) as brain_context:
        return tuple(_play(brain_context, forks, names, paths))


def cost_after(record: Path | str, at: int) -> dict[str, Any]:
    """Return what model calls took in a record behind one of its statements: about what a fork there will take.

    Args:
        record: the record.
        at: the statement's number.

    Returns:
        ``calls``, ``prompt_tokens`` and ``cost_usd`` (None where no price is known), as `print_estimate` takes them.

    Raises:
        RecordError: the record cannot be read.
    """
    usage, is_behind = Usage(), False
    for recorded in events_of(record):
        event = recorded.event
        if event.type == "statement" and event.statement == at:
            is_behind = True
        elif is_behind and event.type == "model_call":
            usage.add(event)
    tokens = usage.tokens("prompt_tokens") or 0
    return {"calls": usage.calls, "prompt_tokens": tokens, "cost_usd": usage.cost_usd}


def forks_unlike(records: Iterable[Path | str], parents: Path) -> tuple[int, list[str]]:
    """Return how many forks begin as their parents do, and a line for each record that does not.

    Args:
        records: the forks' files.
        parents: the parent's record; or the folder of a study, which has it among its records.
    """
    alike, unlike = 0, []
    for path in records:
        try:
            events = list(read_record(open_lines(path)))
            opened = events[0].event
            name = opened.fork.parent if isinstance(opened, Opened) and opened.fork is not None else ""
            parent = parents / RECORDS / f"{name}.ndjson" if parents.is_dir() else parents
            check_parent(events, read_record(open_lines(parent)))
            alike += 1
        except WolfError as error:
            unlike.append(f"{path}: {error}")
    return alike, unlike


class _Kept(GameKeeper):
    """Keeps the events of one game."""

    def __init__(self, record: Sequence[Recorded]) -> None:
        self.events = list(record)

    def recorded(self, events: Sequence[Recorded]) -> None:
        """Keep the events of a step."""
        self.events += events


def _play(
    brain_context: BrainContext, forks: Sequence[ForkOrder], names: Sequence[str], paths: Sequence[Path | None]
) -> Iterator[PlayedFork]:
    """Play forks, all at once, and yield them in the order given."""
    with (
        ForkMaker(brain_context) as maker,
        EmbeddedHouse(brain_context=brain_context) as house,
        ThreadPoolExecutor(_AT_ONCE) as threads,
    ):
        ready_forks = threads.map(maker.make, forks, names)
        playing = [
            (ready, None if ready.earlier is None else _open(house, ready.earlier, path))
            for ready, path in zip(ready_forks, paths, strict=True)
        ]
        for order, (ready, begun), path in zip(forks, playing, paths, strict=True):
            if begun is None:
                yield PlayedFork(order.arm, order.k, ready.tries, refused=True, words=None)
                continue
            game, keeper = begun
            # a wait without a time-out cannot be interrupted on every platform
            while not game.finished.wait(1.0):
                pass
            (ended, digest), events = game.outcome(), tuple(keeper.events)
            yield PlayedFork(order.arm, order.k, ready.tries, False, ready.words, ended.winner, digest, path, events)


def _open(house: EmbeddedHouse, earlier: EarlierPlay, path: Path | None) -> tuple[Game, _Kept]:
    if path is not None:
        # another process may have begun the same fork since it was looked for: what it writes is not to be replaced
        RecordFile(path).close()
    opened, keeper = earlier.opened, _Kept(earlier.record)
    brains = [seat.brain for seat in opened.seats]
    return house.open(opened.config, opened.seed, brains, path, opened.game, earlier=earlier, keeper=keeper), keeper
