"""`EmbeddedHouse`: a house in one process, with its moderator's host, its agents and those who watch its games."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from moderator.engine.context import GameOver
from moderator.engine.seating import SeatPlayer, opening
from moderator.house.host import Host
from moderator.house.lease import Claim
from moderator.house.settings import Agenda, AgendaItem, ModeratorSettings
from moderator.house.term import ClaimedHouse
from players.spec import BrainContext, build, declined_by, model_name
from wolfbus.actors import PooledActor, tell_if_alive
from wolfbus.actors.closable import Closable
from wolfbus.agent.router import SeatRouter
from wolfbus.bus import open_bus, streams
from wolfbus.bus.streams import parse_id
from wolfbus.bus.url import read_address
from wolfbus.errors import BusError, ConfigError, ModelGone, ModelHalted, WolfError, first_fault
from wolfbus.files.printable import error_in_words
from wolfbus.game.config import GameConfig
from wolfbus.game.fresh import fresh_id, fresh_name
from wolfbus.messages.events import Ended, Opened
from wolfbus.record.line import Recorded
from wolfbus.record.publish import commits_of
from wolfbus.record.writer import RecordFile
from wolfbus.running.earlier import EarlierPlay
from wolfbus.service.lifecycle import Health, Stopping
from wolfbus.study.journal import GameCounts

if TYPE_CHECKING:
    from pykka import ActorRef

    from moderator.engine.context import HouseContext
    from moderator.house.settings import GameReport
    from wolfbus.bus.protocol import Bus, Entry

logger = logging.getLogger(__name__)

AGENT: Final = "local"
"""The one agent of an embedded house; it plays every seat."""

_CLOSE_S: Final = 5.0
"""Longest time that the end of a house may take to be announced on its bus."""


def keys_of(house: str) -> list[str]:
    """Return what an embedded house has on a Redis beside its games."""
    keys = [key(house) for key in (streams.games, streams.lobby, streams.heads, streams.owner, streams.cursors)]
    return [*keys, streams.inbox(house, AGENT), streams.outbox(house, AGENT)]


class GameKeeper:
    """Keeps what is played of a game as it goes, where whoever goes on with it finds it; this one keeps nothing."""

    def recorded(self, events: Sequence[Recorded]) -> None:
        """Keep the events of a step that has landed; called by the game's actor."""

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep what its players say, before the moderator has it; called by the thread that reads."""

    def close(self) -> None:
        """Keep no more; all that was kept is where it should be."""


@dataclass(slots=True)
class Game:
    """A game that was asked for.

    Attributes:
        opened: its opening event.
        started: monotonic time at which it was asked for, in seconds.
        counts: what is counted of it, as far as it was played.
        finished: set when the moderator is through with it, and all of it was seen.
        over: how it left the moderator, once it did.
        seconds: wall time from opening to the last commit.
        keeper: keeps what is played of it, so that others can go on with it; None where that is left to the bus.
        goes_on: whether it was begun before, elsewhere.
    """

    opened: Opened
    started: float
    counts: GameCounts = field(default_factory=GameCounts)
    finished: threading.Event = field(default_factory=threading.Event)
    over: GameOver | None = None
    seconds: float = 0.0
    keeper: GameKeeper | None = None
    goes_on: bool = False

    def outcome(self) -> tuple[Ended, str]:
        """Return its end and its digest; raises what ended it where it was not played out."""
        over = self.over
        if over is None or over.ended is None or over.error is not None:
            raise over.error if over is not None and over.error is not None else WolfError("the game did not finish")
        return over.ended, over.digest


class _Callbacks(PooledActor):
    """Runs callbacks one after another, so that no game waits for those who watch it."""

    def on_receive(self, callback: Callable[[], None]) -> None:
        """Run one; its failure leaves the others alone."""
        try:
            callback()
        except Exception:
            logger.exception("what follows from a game's events failed")


class EmbeddedHouse(Closable):
    """A moderator's host that takes games from an agenda; this process plays and counts them.

    Args:
        url: the bus's address, `memory://` or a Redis.
        name: house name on the bus; one that no other house has unless given.
        threads: pool threads that run the actors.
        watch: each sees every event of every game in record order; one that fails sees no more.
        done: called with every finished game, from another thread; None for nobody.
        brain_context: what the brains of this process share; whoever gives it closes it after the house.
        keep_s: seconds that the record of a game that is over stays on a Redis, >= 0; None for ever.

    Raises:
        WolfError: the bus cannot be used.
    """

    def __init__(
        self,
        url: str = "memory://",
        name: str | None = None,
        threads: int = 2,
        watch: Sequence[Callable[[Recorded], None]] = (),
        done: Callable[[Game], None] | None = None,
        brain_context: BrainContext | None = None,
        keep_s: float | None = None,
    ) -> None:
        self.name = name or fresh_name("play")
        self._watching = list(watch)
        self._done = done
        self._games: dict[str, Game] = {}
        self._keepers: dict[str, GameKeeper] = {}
        self._lock = threading.Lock()
        self._why: WolfError | None = None
        self._is_abandoned = False
        self._has_left = False
        self._callbacks: ActorRef[_Callbacks] | None = None
        self._agent: ActorRef[SeatRouter] | None = None
        self._begun = threading.Event()
        self._brain_context = brain_context
        self._bus: Bus = open_bus(url)
        self._in_memory = self._bus.in_process
        if not self._in_memory:
            from wolfbus.bus.redis.pool import warn_of_eviction

            warn_of_eviction(url)
        self._stopping = Stopping()
        self._agenda = Agenda(self.name, (), self._is_kept, logger.debug, [AGENT])
        try:
            holder = f"play-{os.getpid()}"
            self._epoch = self._bus.claim(self.name, holder)
            claim = Claim(holder, self._epoch, stood_by=False, news_before="0-0")
            settings = self._settings(url, threads, keep_s)
            self._host = Host(ClaimedHouse(self._bus, settings, claim, self._stopping, Health(None), self._on_report))
            # a daemon, and with it every thread that it starts: a house that nobody closed must not keep the process
            self._thread = threading.Thread(target=self._moderate, name="moderator", daemon=True)
            self._thread.start()
        except BaseException:
            self._bus.close()
            raise
        self._begun.wait()
        try:
            self._check_open()
        except WolfError:
            self.abandon()
            self.close()
            raise

    def _settings(self, url: str, threads: int, keep_s: float | None) -> ModeratorSettings:
        return ModeratorSettings(
            self._bus.url,
            self.name,
            games=None,
            at_once=sys.maxsize,
            keep_s=0.0 if self._in_memory else keep_s,
            lease_s=0.0,
            agenda=self._agenda,
            threads=threads,
            # only its owner can make room on it
            full_s=None if self._in_memory else read_address(url).patience_s,
            landed=self._on_recorded,
            received=self._on_received,
        )

    def open(
        self,
        config: GameConfig,
        seed: str,
        brains: Sequence[str],
        path: Path | None = None,
        game: str | None = None,
        title: str | None = None,
        *,
        earlier: EarlierPlay | None = None,
        keeper: GameKeeper | None = None,
    ) -> Game:
        """Ask for a game and return at once.

        Args:
            config: its rules.
            seed: its seed.
            brains: brain spec per seat, in seating order.
            path: NDJSON record to write; None for none.
            game: its id; a fresh one unless given.
            title: what people call it.
            earlier: what is left of it, if it was broken off: it goes on from there, as long as the same play in it by
                the same rules; otherwise it begins anew. Its record then replaces what is at `path`.
            keeper: keeps what is played of it; closed when it is over.

        Raises:
            WolfError: the record cannot be written, a brain cannot be made, or the bus is lost.
        """
        opened = self._opening(config, seed, brains, game or fresh_id(), title)
        self._check_open()
        running = Game(opened, time.monotonic(), keeper=keeper)
        file = None
        if earlier is not None:
            running.opened, running.goes_on = earlier.opened, True
            file = earlier.open_file(path) if path is not None else None
            try:
                self._bring(earlier)
            except BusError:
                if file is not None:
                    file.close()
                raise
        elif path is not None:
            file = RecordFile(path)
        with self._lock:
            self._games[opened.game] = running
        messages = None
        if earlier is not None:
            messages = earlier.messages
            self._call_later(partial(self._see, running, earlier.record))
        self._agenda.add(AgendaItem(opened.game, seed, None, running.opened, file, messages))
        try:
            self._check_open()
        except WolfError as error:
            # its end is not reported any more
            self._fail(running, error)
        return running

    def is_same(self, earlier: EarlierPlay, config: GameConfig, seed: str, brains: Sequence[str], game: str) -> bool:
        """Return whether what is left of a game is of this one: by these rules, from this seed, with these players."""
        began = {name: getattr(earlier.opened, name) for name in ("started", "title", "version", "fork")}
        return self._opening(config, seed, brains, game, None).model_copy(update=began) == earlier.opened

    def _bring(self, earlier: EarlierPlay) -> None:
        """Bring a game that goes on onto the bus, as if it had been played here; raises BusError."""
        game, record = earlier.opened.game, earlier.record
        self._bus.expire(self.name, game, 0)
        for error in self._bus.commit(list(commits_of(record, self.name, game, self._epoch))):
            if error is not None:
                raise error
        if not self._in_memory and earlier.messages:
            # whoever goes on with it after us finds them there; our own out stream has ids of its own
            messages = sorted(earlier.messages, key=lambda entry: parse_id(entry.id))
            self._bus.append(streams.outbox(self.name, game), messages)

    def renew_keys(self, after_s: float) -> None:
        """Have a Redis forget all that this house has there after a while, unless this is said again; raises BusError.

        Args:
            after_s: seconds, > 0.
        """
        if self._in_memory:
            return
        name = self.name
        keys = keys_of(name)
        for game in list(self._games):
            keys += [streams.record(name, game), streams.table(name, game), streams.outbox(name, game)]
        self._bus.forget(keys, after_s)

    def _opening(self, config: GameConfig, seed: str, brains: Sequence[str], game: str, title: str | None) -> Opened:
        """Return the opening event of a game whose seats are all played by this process."""
        models = self._brain_context.models if self._brain_context is not None else {}
        players = [SeatPlayer(AGENT, brain, declined_by(brain), model=model_name(brain, models)) for brain in brains]
        try:
            return opening(config, seed, players, game, title)
        except ValidationError as error:
            raise ConfigError(first_fault(error)) from None

    @property
    def is_over(self) -> bool:
        """Whether its moderator has ended, for whatever reason, so that no more games are played."""
        return self._why is not None

    def _check_open(self) -> None:
        if self._why is not None:
            raise self._why

    def end(self, reason: WolfError, game: str | None = None) -> None:
        """Break off every game, or one; each record says why, and its `Game` is finished when that has landed."""
        self._host.break_off(reason, game)

    def halt(self, reason: ModelHalted) -> None:
        """Leave the game of a model that halts where it stands, to be gone on with; its `Game` is finished with the
        reason, and what its other models still answer is kept until this house is closed. Any thread may call it.
        """
        self._has_left = True
        self._host.break_off(reason, reason.game, stays=True)

    def leave(self, reason: str) -> None:
        """Leave every game where it stands, to whoever goes on with it: nothing more is recorded of them, and each
        `Game` is finished with the reason. This house plays no more. Any thread may call it.
        """
        self._has_left = True
        self._host.leave(reason)
        self._agenda.changed()

    def abandon(self) -> None:
        """Do not wait for the bus any more when closing: what has not landed by then never will."""
        self._is_abandoned = True

    def close(self) -> None:
        """Stop whatever still runs and end every thread; records stay readable."""
        if self._is_abandoned:
            self._stopping.ask("the house is abandoned")
            self._bus.close()
        elif not self._in_memory and not self._games:
            # others may have followed its news
            self._agenda.close()
            self._thread.join(_CLOSE_S)
        self._stopping.ask("the house is closed")
        self._agenda.changed()
        self._thread.join()
        for keeper in self._keepers.values():
            keeper.close()
        if not (self._is_abandoned or self._in_memory or self._has_left):
            self._empty_mailboxes()
        self._bus.close()

    # -- the host's thread

    def _moderate(self) -> None:
        why = WolfError("the house is closed")
        try:
            ended = self._host.run(start_local=self._begin)
            in_order = ended.outcome in {"closed", "handed over"}
            why = WolfError(ended.reason) if in_order else ended.error or BusError(ended.reason)
        except WolfError as error:
            why = error
        except Exception as error:
            logger.exception("the moderator failed")
            why = WolfError(f"the moderator failed: {error_in_words(error)}")
        finally:
            self._why = why
            self._is_abandoned = self._is_abandoned or isinstance(why, BusError)
            # nothing else ends the games that are left, as after an error of the moderator's own
            for game in list(self._games.values()):
                self._fail(game, why)
            self._begun.set()

    def _begin(self, context: HouseContext, ending: contextlib.ExitStack) -> None:
        """Begin to play and to count, by what the host reads and writes with."""
        self._callbacks = _Callbacks.start_in(context.pool)
        ending.callback(self._callbacks.stop)
        brain_context = self._brain_context
        if brain_context is None:
            brain_context = BrainContext()
            ending.callback(brain_context.close)
        brain_context.fatal = self._fatal
        make = partial(build, brain_context=brain_context)
        self._agent, hand_out_rest = SeatRouter.listen(
            AGENT, self.name, context.bus, context.reader, context.writer, context.pool, make
        )
        ending.callback(self._agent.stop)
        ending.callback(self._hand_out, hand_out_rest)
        self._begun.set()

    def _hand_out(self, rest: Callable[[], None]) -> None:
        """Hand out mail that nobody has read: the end of a game that has just landed is to reach a person, too."""
        if self._is_abandoned or self._has_left:
            return
        try:
            rest()
        except BusError as error:
            logger.debug("house %s: the last mail was not read: %s", self.name, error)

    def _is_kept(self, game: str) -> bool:
        return game not in self._games

    # -- events and ends of games

    def _on_recorded(self, name: str, events: Sequence[Recorded]) -> None:
        """Take in what was recorded of a game; called by its moderator."""
        game = self._games.get(name)
        if self._in_memory and not (game is not None and game.goes_on):
            # it has no other reader; but where a game goes on its players are told from there what was before
            self._bus.trim(streams.record(self.name, name), f"{events[-1].n}-0")
        if game is not None:
            if game.keeper is not None:
                game.keeper.recorded(events)
            self._call_later(partial(self._see, game, events))

    def _on_received(self, name: str, entries: Sequence[Entry]) -> None:
        """Take in what players of a game have said; called by the thread that reads."""
        game = self._games.get(name)
        keeper = game.keeper if game is not None else self._keepers.get(name)
        if keeper is not None:
            keeper.keep(entries)

    def _on_report(self, report: GameReport) -> None:
        game = self._games.get(report.game)
        if game is not None and report.over is not None:
            game.seconds = time.monotonic() - game.started
            self._call_later(partial(self._finish, game, report.over))

    def _call_later(self, callback: Callable[[], None]) -> None:
        if self._callbacks is not None:
            tell_if_alive(self._callbacks, callback)

    def _see(self, game: Game, events: Sequence[Recorded]) -> None:
        for recorded in events:
            game.counts.feed(recorded)
            for watch in list(self._watching):
                try:
                    watch(recorded)
                except BaseException:
                    # a view is no part of the game, and `sys.exit` or `pytest.fail` in it would end every actor
                    logger.exception("showing the game failed; it goes on unseen")
                    self._watching.remove(watch)

    def _fail(self, game: Game, why: WolfError) -> None:
        game.seconds = time.monotonic() - game.started
        self._finish(game, GameOver(game.opened.game, None, why, ""))

    def _finish(self, game: Game, over: GameOver) -> None:
        name = game.opened.game
        with self._lock:
            if self._games.pop(name, None) is None:
                return
        game.over = over
        if isinstance(over.error, ModelHalted):
            # other models are being asked, and what they answer is wanted when the game goes on
            if game.keeper is not None:
                self._keepers[name] = game.keeper
        else:
            if game.keeper is not None:
                game.keeper.close()
            if self._agent is not None and over.error is not None:
                tell_if_alive(self._agent, name)
        self._agenda.changed()
        try:
            if self._done is not None:
                self._done(game)
        except Exception:
            # threads that wait for this game, or for another, are woken all the same
            logger.exception("what follows from the end of game %s failed", name)
        finally:
            game.finished.set()

    def _fatal(self, reason: WolfError) -> None:
        self.end(reason, reason.game if isinstance(reason, ModelGone) else None)

    def _empty_mailboxes(self) -> None:
        """Leave on the bus what others may want, the records and tables, but not this process's own mail."""
        try:
            for stream in (streams.inbox(self.name, AGENT), streams.outbox(self.name, AGENT)):
                self._bus.trim(stream, self._bus.last_id(stream))
        except BusError as error:
            logger.debug("the mailboxes of house %s were left as they are: %s", self.name, error)
