"""`play`: one whole game in this process, for Python; and `play_game`, from which `wolfbus play` has its game, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wolfbus.errors import ConfigError, WolfError
from wolfbus.game.config import GameConfig
from wolfbus.game.fresh import fresh_id, seed_of
from wolfbus.game.vocabulary import Winner
from wolfbus.messages.events import Seat
from wolfbus.record.line import Recorded
from wolfbus.record.writer import check_are_new
from wolfbus.running.arguments import checked
from wolfbus.running.brains import brains_of_seats, loaded_from, open_brain_context
from wolfbus.running.house import EmbeddedHouse, Game

if TYPE_CHECKING:
    from players.spec import BrainContext

PlayersOf: TypeAlias = str | Sequence[str | type] | Mapping[str, str | type]
"""Who plays: a spec such as ``"llm:gpt-4o-mini*6,scripted*2"``; a brain for every seat in seating order; or a table of
seat name to brain. A brain is a spec or a class of agents."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that was played to its end.

    Attributes:
        game: its id.
        seed: its seed: the same seed, rules and scripted players make the same game.
        winner: "villagers" or "werewolves"; None where the rounds ran out.
        reason: why it ended, in words of the record.
        rounds: rounds begun.
        digest: SHA-256 over its events, 64 hex digits; equal games have equal digests.
        seats: who sat where, in seating order: name, role, agent, brain.
        seconds: wall time.
        calls: what calls of language models took: ``total``, and by model and purpose; None where there were none.
        record: the file of its record; None where none was written.
        events: every event of the record, in order, each with its number and time.
    """

    game: str
    seed: str
    winner: Winner | None
    reason: str
    rounds: int
    digest: str
    seats: tuple[Seat, ...]
    seconds: float
    calls: Mapping[str, Any] | None
    record: Path | None
    events: tuple[Recorded, ...] = field(repr=False)

    def findings(self) -> dict[str, Any]:
        """Return what `wolfbus replay --json` tells of the game: who deceived, who detected (docs/metrics.md)."""
        from analytics.findings import metrics
        from analytics.fold import GameFold

        fold = GameFold()
        for recorded in self.events:
            fold.take(recorded)
        return dict(metrics([fold.rows()]))


@checked
def play(
    players: PlayersOf | None = None,
    *,
    seed: str | int | None = None,
    config: GameConfig | Mapping[str, Any] | Path | str | None = None,
    out: Path | str | None = None,
    game: str | None = None,
    title: str | None = None,
    bus: str = "memory://",
    watch: Callable[[Recorded], None] | None = None,
    budget: float | None = None,
    budget_tokens: int | None = None,
    cassette: Path | None = None,
    replay_cassette: Path | None = None,
    probe: bool = True,
) -> PlayedGame:
    """Play one game and return once it is over.

    Args:
        players: who plays; what the config says unless given, or else our scripts.
        seed: of names, roles and every draw of the rules; fresh unless given.
        config: the rules: themselves, a table of them as a config file holds it (``[models]`` and ``[endpoints]``
            too), or the path of such a file; the usual ones unless given.
        out: folder of the record, which is GAME.ndjson; None to write none.
        game: its id; fresh unless given.
        title: what people call it, in its record.
        bus: the bus it is played on, ``memory://`` or a Redis.
        watch: called with every event in the order of the record, from another thread; once it raises, no more.
        budget: US dollars that model calls may cost; None for any amount.
        budget_tokens: tokens that they may use; None for any number.
        cassette: folder to record model replies into.
        replay_cassette: folder to play them from, without a network.
        probe: whether to ask each model something small first.

    Raises:
        ConfigError: players, rules or options that cannot be understood; one line that names the fault.
        WolfError: the game did not come to its end: a model that does not answer, a budget that is spent, a bus that is
            gone; the record, if any, holds what happened until then.
        KeyboardInterrupt: the user interrupted it; the record says so.
    """
    from players.spec import declined_by, expand

    loaded = loaded_from(config)
    # a class of a notebook may be another one by now
    declined_by.cache_clear()
    brains = loaded.brains(None, expand) if players is None else brains_of(players, loaded.config, expand)
    seed = seed_of(seed)
    # pages and terminals show it on one line; records of before may have any
    if title is not None and not (title.strip() and title.isprintable()):
        raise ConfigError("title: one line of characters that can be seen")
    game = game or fresh_id()
    path = None if out is None else Path(out) / f"{game}.ndjson"
    check_are_new([path])
    events: list[Recorded] = []
    watching = [events.append, *([] if watch is None else [watch])]
    with open_brain_context(
        brains,
        loaded.models,
        budget=budget,
        budget_tokens=budget_tokens,
        cassette=cassette,
        replay_cassette=replay_cassette,
        probe=probe,
        logs=None if path is None else path.with_suffix(".stderr"),
    ) as brain_context:
        played = play_game(loaded.config, seed, brains, path, game, title, brain_context, watching, bus)
        calls = None if brain_context.accounts is None else brain_context.accounts.summary()
    return result_of(played, path, events, calls)


def result_of(
    played: Game, path: Path | None, events: Sequence[Recorded], calls: Mapping[str, Any] | None = None
) -> PlayedGame:
    """Return what came of a game that has left its moderator; raises what ended it where it was not played out."""
    opened, (ended, digest) = played.opened, played.outcome()
    return PlayedGame(
        opened.game,
        opened.seed,
        ended.winner,
        ended.reason,
        ended.rounds,
        digest,
        opened.seats,
        round(played.seconds, 3),
        calls,
        path,
        tuple(events),
    )


def play_game(
    config: GameConfig,
    seed: str,
    brains: Sequence[str],
    path: Path | None,
    game: str,
    title: str | None,
    brain_context: BrainContext,
    watch: Sequence[Callable[[Recorded], None]],
    url: str,
) -> Game:
    """Play one game to its end, however it ends.

    Args:
        config: the rules.
        seed: its seed.
        brains: brain of every seat, in seating order.
        path: record to write; None for none.
        game: its id.
        title: what people call it.
        brain_context: what the brains share.
        watch: each sees every event in record order.
        url: the bus.

    Raises:
        WolfError: it cannot be begun.
        KeyboardInterrupt: the user interrupted it; what was reported until then is in the record.
    """
    with EmbeddedHouse(url, watch=watch, brain_context=brain_context) as house:
        played = house.open(config, seed, brains, path, game, title)
        try:
            # a wait without a time-out cannot be interrupted on every platform
            while not played.finished.wait(1.0):
                pass
        except KeyboardInterrupt:
            house.end(WolfError("interrupted"))
            # what was reported so far belongs into the record, but a bus that is gone is not waited for
            played.finished.wait(1.0)
            house.abandon()
            raise
    return played


def brains_of(players: PlayersOf, config: GameConfig, expand: Callable[[str, int], tuple[str, ...]]) -> tuple[str, ...]:
    """Return the brain of every seat."""
    specs = specs_of(players)
    return expand(specs, config.seats) if isinstance(specs, str) else brains_of_seats(specs, config, "players")


def specs_of(players: PlayersOf) -> str | list[str] | dict[str, str]:
    """Return who plays with specs for classes of agents; raises ConfigError for what is neither."""
    if isinstance(players, str):
        return players
    if isinstance(players, Mapping):
        return {name: spec_of(brain) for name, brain in players.items()}
    if not isinstance(players, Iterable):
        raise ConfigError(f"players: {players!r:.80}: give a spec, or a list with a brain for every seat")
    return [spec_of(brain) for brain in players]


def spec_of(agent: str | type) -> str:
    """Return a spec as it is, and the spec of a class of agents; raises ConfigError where it has none."""
    if isinstance(agent, str):
        return agent
    if not isinstance(agent, type):
        raise ConfigError(
            f"players: {agent!r:.80} is no spec and no class of agents; each seat makes an instance, so give the class"
        )
    if "." in agent.__qualname__:
        raise ConfigError(
            f"players: {agent.__qualname__} is defined inside something else; put it at the top of its module"
        )
    # what multiprocessing calls the script of the parent in a process that it spawned
    module = "__main__" if agent.__module__ == "__mp_main__" else agent.__module__
    return f"{module}:{agent.__qualname__}"
