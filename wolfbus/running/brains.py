"""Who plays: what a config file says of players, models and rules, how language models are called, what that takes."""

from __future__ import annotations

import contextlib
import difflib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.errors import ConfigError
from wolfbus.files.formats import count, listed, money, span
from wolfbus.files.printable import counted
from wolfbus.game.config import GIVE_UP, Deadlines, GameConfig, config_from_table, read_toml_file
from wolfbus.study.journal import CallsSoFar, Spent

if TYPE_CHECKING:
    from players.llm.budget import Amount, BudgetLedger
    from players.llm.provider import ModelQuestion, Speed
    from players.llm.redis_budget import RedisBudget
    from players.llm.settings import Model
    from players.spec import BrainContext
    from wolfbus.stage.people import People

_TABLES: Final = ("players", "models", "endpoints", "agents")
"""Of a config file, besides the rules."""
_SEED: Final = "r21"
"""Of a rehearsal: of 25 that were tried, its game is the one in the middle by calls."""
_PATIENCE_S: Final = 30.0
"""Longest time that a rehearsal may take."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a config file says.

    Attributes:
        config: the rules.
        players: a spec, or a brain per seat; None where the file does not say.
        models: language models by alias.
        tables: the models' and endpoints' tables as the file has them.
    """

    config: GameConfig
    players: str | tuple[str, ...] | None
    models: Mapping[str, Model]
    tables: Mapping[str, Any]

    def brains(self, players: str | None, expand: Callable[[str, int], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the brain of every seat: by `players` where somebody named them, else as the file says.

        Args:
            players: a spec; None for none.
            expand: reads a spec for so many seats.
        """
        chosen = players if players is not None else self.players if self.players is not None else "scripted"
        return expand(chosen, self.config.seats) if isinstance(chosen, str) else chosen


def loaded_from(config: GameConfig | Mapping[str, Any] | Path | str | None) -> Loaded:
    """Return what Python was given in the place of a config file: rules, a table, a path, or None for the usual rules.

    Raises:
        ConfigError: as `load_config` does.
    """
    if isinstance(config, GameConfig):
        return Loaded(config, None, {}, {})
    if isinstance(config, Mapping):
        return _loaded_from_table(dict(config), "config")
    return load_config(None if config is None else Path(config))


def load_config(path: Path | None) -> Loaded:
    """Return what a TOML file says; the default rules without a file.

    The file holds the fields of `GameConfig` at its top level or, as a study does, under ``[rules]``, ``players``: one
    spec such as ``"scripted*6,random*2"``, a list of one brain per seat, or a table of seat name to brain (then
    ``names`` must be given; ``default`` is for the rest), and ``[models.*]`` and ``[endpoints.*]`` tables. An
    ``[agents]`` table is left alone.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if path is None:
        return Loaded(GameConfig(), None, {}, {})
    return _loaded_from_table(read_toml_file(path), str(path))


def _loaded_from_table(table: dict[str, Any], source: str) -> Loaded:
    players = table.pop("players", None)
    if isinstance(table.get("agents"), dict):
        del table["agents"]
    tables = take_models(table)
    models = models_of_tables(tables, source)
    rules = table.pop("rules", None)
    if rules is not None and not isinstance(rules, dict):
        raise ConfigError(f"{source}: rules: input should be a table [rules]")
    if rules is not None and (beside := next((name for name in table if name in GameConfig.model_fields), None)):
        raise ConfigError(f"{source}: {beside}: a rule beside [rules]; write all of them at the top, or all under it")
    for name in table:
        # a table that is not ours is most likely one of these
        if name not in GameConfig.model_fields and (
            close := difflib.get_close_matches(name, _TABLES, n=1, cutoff=0.75)
        ):
            raise ConfigError(f"{source}: {name}: no such field; did you mean {close[0]!r}?")
    config = config_from_table(table, source)
    if rules is not None:
        config = config_from_table(rules, f"{source}: [rules]")
    spec = None if players is None else _read_players(players, config, source)
    return Loaded(config, spec, models, tables)


def take_models(table: dict[str, Any]) -> dict[str, Any]:
    """Take the tables of models and endpoints out of what a file says, and return them."""
    return {name: table.pop(name) for name in ("models", "endpoints") if name in table}


def models_of_tables(tables: Mapping[str, Any], source: str) -> Mapping[str, Model]:
    """Return the language models of ``models`` and ``endpoints`` tables by alias; raises ConfigError."""
    if not tables:
        return {}
    from players.llm.settings import models_from_tables

    return models_from_tables(tables, source)


def _read_players(players: Any, config: GameConfig, source: str) -> str | tuple[str, ...]:
    if isinstance(players, str):
        return players
    if isinstance(players, list | dict):
        brains = players if isinstance(players, list) else players.values()
        if all(isinstance(brain, str) for brain in brains):
            return brains_of_seats(players, config, f"{source}: players")
    raise ConfigError(f"{source}: players: a spec, a list of brains, or a table of seat name to brain")


def brains_of_seats(
    players: Sequence[str] | Mapping[str, str], config: GameConfig, place: str, where: str = ""
) -> tuple[str, ...]:
    """Return the brain of every seat, from a list of them or a table of seat name to brain.

    Args:
        players: the list, or the table, whose ``default`` is for whom it does not name.
        config: the rules.
        place: where they stand, for messages: ``players``, behind the file if there is one.
        where: what to say of where the rules have their ``names``.

    Raises:
        ConfigError: one line that names the place and the seats.
    """
    if not isinstance(players, Mapping):
        if len(players) != config.seats:
            raise ConfigError(f"{place}: {len(players)} brains for {config.seats} seats")
        return tuple(players)
    if config.names is None:
        raise ConfigError(f"{place} by name need `names`{where}, in seating order")
    default = players.get("default")
    if unknown := next((name for name in players if name not in {*config.names, "default"}), None):
        raise ConfigError(f"{place}: {unknown!r} is not among the names")
    if default is None and (unplayed := [name for name in config.names if name not in players]):
        raise ConfigError(f"{place}: nobody plays {', '.join(unplayed)}; name a brain, or a `default`")
    return tuple(players.get(name, default or "") for name in config.names)


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How a study has models called; `open_brain_context` says what each is."""

    budget: float | None
    budget_tokens: int | None
    cassette: Path | None
    replay_cassette: Path | None
    give_up: int
    logs: Path | None


@contextlib.contextmanager
def open_brain_context(
    brains: Sequence[str],
    models: Mapping[str, Model],
    *,
    budget: float | None = None,
    budget_tokens: int | None = None,
    before: Amount | None = None,
    cassette: Path | None = None,
    replay_cassette: Path | None = None,
    give_up: int = GIVE_UP,
    probe: bool = True,
    patience_s: float = 0.0,
    logs: Path | None = None,
    ledger: BudgetLedger | None = None,
    people: People | None = None,
) -> Iterator[BrainContext]:
    """Open what the brains of this process share, with each brain checked and each model probed.

    Args:
        brains: specs of all that will play.
        models: language models by alias.
        budget: US dollars that calls may cost.
        budget_tokens: tokens that they may use.
        before: what was spent of that before.
        cassette: folder to record replies into.
        replay_cassette: folder to play them from.
        give_up: replies in a row that are missing or cannot be read, and none before, after which the games of a model,
            a program or an address end; 0 for never.
        probe: whether to ask each model something small, and to see that somebody listens at each address.
        patience_s: seconds for which the reply to that is waited for at least.
        logs: folder for the error output of child processes; None lets it through to our own.
        ledger: keeps the budget in the place of this process.
        people: persons who play at pages.

    Raises:
        ConfigError: a brain that cannot be made, or options that do not go together.
        PlayerError: a model that does not answer.
        CassetteError: a cassette that cannot be opened.
    """
    from players.spec import BrainContext, addresses_of, check

    if cassette is not None and replay_cassette is not None:
        raise ConfigError("--cassette records and --replay-cassette plays: give one of them")
    spending = None
    if budget is not None or budget_tokens is not None:
        from players.llm.budget import NOTHING, Budget

        spending = Budget(budget, budget_tokens, before or NOTHING, ledger)
    recording = None
    if cassette is not None or replay_cassette is not None:
        from players.llm.cassette import Cassette

        recording = Cassette.record(cassette) if cassette is not None else Cassette.play(replay_cassette or Path())
    with BrainContext(models, spending, recording, logs, give_up=give_up, people=people) as brain_context:
        check(brains, brain_context)
        if spending is not None:
            spending.check(brain_context.tables_of(brains))
        # of several workers of a run none says so
        if cassette is not None and recording is not None and recording.replies and (probe or ledger is None):
            replies = f"{recording.replies} replies"
            click.echo(f"wolfbus: {cassette} holds {replies} already; what they answer is not asked anew", err=True)
        brain_context.check(brains)
        if probe:
            with _notice_if_slow(brain_context.models_of(brains), addresses_of(brains)):
                brain_context.probe(brains, patience_s)
        yield brain_context


@contextlib.contextmanager
def open_shared_budget(
    url: str, agenda: str, usd: float | None, tokens: int | None, lease_s: float = 15.0
) -> Iterator[RedisBudget | None]:
    """Open this process's share in the budget of an agenda; None where it has no budget.

    Args:
        url: the agenda's bus.
        agenda: its name.
        usd: US dollars that all who share it may spend; None for no limit.
        tokens: tokens, likewise.
        lease_s: seconds after which what a silent process had reserved counts as spent.
    """
    if usd is None and tokens is None:
        yield None
        return
    from players.llm.redis_budget import RedisBudget

    with contextlib.closing(RedisBudget(url, agenda, usd, tokens, lease_s)) as budget:
        yield budget


def calls_of(brain_context: BrainContext | None) -> CallsSoFar:
    """Return what the model calls of this process took so far."""
    accounts = brain_context.accounts if brain_context is not None else None
    return CallsSoFar() if accounts is None else CallsSoFar(*accounts.so_far())


def spent_of(amount: Amount | None) -> Spent | None:
    """Return what is spent as a journal notes it; None for no budget."""
    return None if amount is None else Spent(spent_usd=float(amount.usd), spent_tokens=amount.tokens)


@contextlib.contextmanager
def _notice_if_slow(models: Sequence[Model], addresses: Sequence[str]) -> Iterator[None]:
    awaited = [f"{', '.join(model.model for model in models)} to answer a first small question"] if models else []
    awaited += [f"{', '.join(addresses)} to listen"] if addresses else []
    if not awaited:
        yield
        return
    words = f"wolfbus: waiting for {' and for '.join(awaited)}"
    notice = threading.Timer(2.0, click.echo, (words,), {"err": True})
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()


def quiet_brains() -> contextlib.AbstractContextManager[Any]:
    """Send whatever brains print to stderr: it is not a result."""
    return contextlib.redirect_stdout(sys.stderr)


_REPLY_TOKENS: Final = 100
"""Tokens of a reply, as small models took in the games that docs/models.md tells of."""

_CHARACTERS: Final = 4
"""Of English text that make a token, as far as an estimate goes."""

_NOT_CACHED: Final = 0.25
"""Share of a prompt that a server works on which keeps the beginnings of prompts, in the same games."""

_WORTH_TELLING_S: Final = 60.0
"""Seconds of a game from which on one is told how long it takes."""


def estimate_of(questions: Iterable[ModelQuestion]) -> tuple[int, str]:
    """Return how many questions there are, and in words what it takes to ask them after a game."""
    calls = characters = 0
    names = set()
    usd: float | None = 0.0
    for question in questions:
        model, length = question.model, sum(len(message.content) for message in question.messages)
        calls, characters = calls + 1, characters + length
        names.add(model.model)
        if model.price is None or usd is None:
            usd = None
        else:
            usd += (length / _CHARACTERS * model.price.input + _REPLY_TOKENS * model.price.output) / 1e6
    cost = "price not configured" if usd is None else f"about {money(usd)}"
    return calls, (
        f"{counted(calls, 'call')} of {' and '.join(sorted(names)) or 'no model'}: about "
        f"{count(characters // _CHARACTERS)} tokens of prompts and {count(calls * _REPLY_TOKENS)} of replies, {cost}"
    )


def print_estimate(
    usage: Mapping[str, Any], games: int, speed: Speed | None = None, deadlines: Deadlines | None = None
) -> None:
    """Print on stderr about how many calls, tokens and dollars games will take, and how long on a server that tells how
    slow it is; nothing where no server is called.

    Args:
        usage: what a game takes, as `rehearse` returns it.
        games: how many games are to be played.
        speed: of the slowest server, where one tells its speed.
        deadlines: those of the rules.
    """
    if not usage.get("calls"):
        return

    def amount(times: int) -> str:
        return f"{counted(usage['calls'] * times, 'call')}, {_tokens(usage['prompt_tokens'] * times)} tokens"

    def price(times: int) -> str:
        return "" if usage["cost_usd"] is None else f", at least {money(usage['cost_usd'] * times)}"

    line = f"wolfbus: expect about {amount(1)} of prompts{price(1)} a game"
    if games > 1:
        line += f"; for {counted(games, 'game')} {amount(games)}{price(games)}"
    click.echo(line, err=True)
    if speed is not None:
        for line in _duration_lines(usage, games, speed, deadlines or Deadlines()):
            click.echo(f"wolfbus: {line}", err=True)


def _duration_lines(usage: Mapping[str, Any], games: int, speed: Speed, deadlines: Deadlines) -> Iterator[str]:
    calls, prompts = usage["calls"], usage["prompt_tokens"] / speed.prompt
    replies = _REPLY_TOKENS * calls / speed.reply
    least, most = _NOT_CACHED * prompts + replies, prompts + replies
    if most < _WORTH_TELLING_S:
        return
    at = f"at the server's {speed.prompt:,.0f} prompt and {speed.reply:,.0f} reply tokens a second"
    several = f", {counted(games, 'game')} {span(games * least)} to {span(games * most)}" if games > 1 else ""
    yield (
        f"{at} a game takes about {span(least)} to {span(most)}{several}: less, the more of each prompt it has in its "
        f"cache, and more where replies are longer than {_REPLY_TOKENS} tokens"
    )
    # prompts grow, and the last are some twice as long as the middling one
    longest = 2 * prompts / calls + 2 * _REPLY_TOKENS / speed.reply
    short = [name for name, seconds in dict(deadlines).items() if seconds < longest]
    if short:
        late = f"a late call may take {span(longest)}, longer than the deadlines of {listed(short)}"
        yield f"{late}: [rules.deadlines] sets them"


def _tokens(number: int) -> str:
    return f"{number / 1e6:.1f} M" if number >= 950_000 else f"{max(1, round(number / 1000))} k"


def rehearse(config: GameConfig, brains: Sequence[str], models: Mapping[str, Model]) -> dict[str, Any]:
    """Play one game with models that answer at once, and return the usage of its calls.

    Its prompts are the real ones, its replies are short. So calls and prompt tokens are those of a middling game, and
    real replies are longer.

    Args:
        config: the rules.
        brains: brain of each seat, in seating order.
        models: models by alias.

    Returns:
        The sum over all calls, as `Accounts.summary` tells it; nothing where no model plays, or only ones of this very
        process, or the game did not end.
    """
    from players.spec import BrainContext, named_models
    from wolfbus.running.house import EmbeddedHouse

    named = named_models(brains, models)
    if all(model.endpoint.provider == "mock" for model in named.values()):
        return {}
    mock = {"provider": "mock"}
    doubles = {
        name: model.model_copy(update={"endpoint": model.endpoint.model_copy(update=mock)})
        for name, model in named.items()
    }
    seats = [brain if brain.startswith("llm:") else "scripted" for brain in brains]
    with BrainContext(doubles) as brain_context, EmbeddedHouse(brain_context=brain_context) as house:
        game = house.open(config, _SEED, seats)
        if not game.finished.wait(_PATIENCE_S) or brain_context.accounts is None:
            return {}
        total: dict[str, Any] = brain_context.accounts.summary()["total"]
        return total
