"""What several commands take: a config file with rules, players and models, how games are measured, and the words
that stand for times, titles and shares.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from pydantic import ValidationError

from wolfbus.config import Deadlines, GameConfig, config_from_table, read_toml_file
from wolfbus.errors import ConfigError
from wolfbus.printable import NOTE_SHOWN, counted, printable
from wolfbus.study.manifest import FILE

if TYPE_CHECKING:
    from analytics.gather import Criteria, FileNote
    from players.llm.settings import Model

    SecondsType = click.ParamType[float]
    LineType = click.ParamType[str]
else:
    # generic only in newer versions of click
    SecondsType = LineType = click.ParamType


TITLE_LONGEST: Final = 200
"""Characters of a game's title."""

_TABLES: Final = ("players", "models", "endpoints", "agents")
_PATH_SHOWN: Final = 400

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a config file says.

    Attributes:
        config: the rules.
        players: a spec, or a brain per seat; None where the file does not say.
        models: language models by alias.
    """

    config: GameConfig
    players: str | tuple[str, ...] | None
    models: Mapping[str, Model]


class Duration(SecondsType):
    """A time in words: ``90``, ``90s``, ``10m`` or ``2h``; seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds; raises a usage error for what is no time, or not above 0."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smh]?)", str(value))
        if found is None or float(found[1]) == 0:
            self.fail(f"{value!r}: write 90s, 10m or 2h", param, ctx)
        return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


class Title(LineType):
    """What people call a game: one line."""

    name = "title"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the line; raises a usage error for none, or one that no record takes."""
        title = str(value).strip()
        if not title or len(title) > TITLE_LONGEST or not title.isprintable():
            self.fail(f"a title is one line of at most {TITLE_LONGEST} characters", param, ctx)
        return title


class Share(click.FloatRange):
    """A number from 0 to 1."""

    name = "number from 0 to 1"

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, which NaN is none."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail("not a number", param, ctx)
        return number


def with_patience(config: GameConfig, seconds: float | None) -> GameConfig:
    """Return rules under which every request waits so many seconds; the same rules for None.

    Raises:
        click.BadParameter: longer than deadlines may be.
    """
    if seconds is None:
        return config
    try:
        deadlines = Deadlines(**dict.fromkeys(Deadlines.model_fields, seconds))
    except ValidationError as error:
        raise click.BadParameter(error.errors()[0]["msg"], param_hint="--patience") from None
    return config.model_copy(update={"deadlines": deadlines})


def check_seed(seed: str | None) -> None:
    """Raise a usage error for a seed that no record could hold."""
    try:
        (seed or "").encode()
    except UnicodeEncodeError:
        raise click.BadParameter("not text that UTF-8 can hold", param_hint="--seed") from None


def load_config(path: Path | None) -> Loaded:
    """Return what a TOML file says; the default rules without a file.

    The file holds the fields of `GameConfig` at its top level, a ``[deadlines]`` table, ``players``: one spec such as
    ``"scripted*6,random*2"``, a list of one brain per seat, or a table of seat name to brain (then ``names`` must be
    given; ``default`` is for the rest), and ``[models.*]`` and ``[endpoints.*]`` tables. An ``[agents]``
    table is left alone.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if path is None:
        return Loaded(GameConfig(), None, {})
    table = read_toml_file(path)
    players = table.pop("players", None)
    if isinstance(table.get("agents"), dict):
        del table["agents"]
    tables: dict[str, Any] = {name: table.pop(name) for name in ("models", "endpoints") if name in table}
    models: Mapping[str, Model] = {}
    if tables:
        from players.llm.settings import models_from_tables

        models = models_from_tables(tables, str(path))
    for name in table:
        # a table that is not ours is most likely one of these
        if name not in GameConfig.model_fields and (
            close := difflib.get_close_matches(name, _TABLES, n=1, cutoff=0.75)
        ):
            raise ConfigError(f"{path}: {name}: no such field; did you mean {close[0]!r}?")
    config = config_from_table(table, str(path))
    return Loaded(config, None if players is None else _players(players, config, str(path)), models)


def _players(players: Any, config: GameConfig, source: str) -> str | tuple[str, ...]:
    if isinstance(players, str):
        return players
    if isinstance(players, list) and all(isinstance(brain, str) for brain in players):
        if len(players) != config.seats:
            raise ConfigError(f"{source}: players: {len(players)} brains for {config.seats} seats")
        return tuple(players)
    if isinstance(players, dict) and all(isinstance(brain, str) for brain in players.values()):
        if config.names is None:
            raise ConfigError(f"{source}: players by name need `names`, in seating order")
        rest = players.pop("default", None)
        if stranger := next((name for name in players if name not in config.names), None):
            raise ConfigError(f"{source}: players: {stranger!r} is not among the names")
        if rest is None and (nobody := [name for name in config.names if name not in players]):
            raise ConfigError(f"{source}: players: nobody plays {', '.join(nobody)}; name a brain, or a `default`")
        return tuple(str(players.get(name, rest)) for name in config.names)
    raise ConfigError(f"{source}: players: a spec, a list of brains, or a table of seat name to brain")


prove_option = click.option(
    "--prove", is_flag=True, help="Re-execute every record by the rules; reading then takes about twice as long."
)

_OPTIONS = (
    click.option("--alpha", type=Share(), help="Smoothing weight to recompute with."),
    click.option("--prior", type=Share(), help="Suspicion before any judgement to recompute with."),
    click.option(
        "--include-defaulted",
        is_flag=True,
        help="Count missing labels and judgements as the paper's code did: truthful, suspicion 0.5.",
    ),
    click.option(
        "--as-recorded", is_flag=True, help="Read published logs as the paper's code stored them, fillers and all."
    ),
    click.option(
        "--roles",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The run_meta.json of published logs; looked for beside each unless given.",
    ),
    prove_option,
    click.option(
        "--include-differing",
        is_flag=True,
        help="Count records, too, that are not what their study noted, or that the rules do not give.",
    ),
)

workers_option = click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that read.")

cache_option = click.option(
    "--no-cache",
    is_flag=True,
    help="Compute everything anew. What records came to is kept beside them, in .wolfbus, and taken from there as long"
    " as their bytes are the same.",
)


def criteria_options(command: _Command) -> _Command:
    """Give a command the options that `criteria_of` takes, by their names."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def criteria_of(*, prove: bool, **options: Any) -> Criteria:
    """Return what the options of `criteria_options` say."""
    from analytics.gather import Criteria
    from moderator.engine.reexecution import Verifier

    return Criteria(**options, prover=Verifier if prove else None)


def tell_problems(problems: Sequence[FileNote]) -> None:
    """Print a line on stderr for every file with which something is wrong."""
    for note in problems:
        # what is wrong with a manifest is no game's fault
        left_out = "" if note.counted or Path(note.path).name == FILE else " (left out)"
        told = printable(f"{note.path}: {note.problem}", _PATH_SHOWN + 3 * NOTE_SHOWN)
        click.echo(f"wolfbus: {told}{left_out}", err=True)


def tell_how_many(problems: Sequence[FileNote]) -> None:
    """Print on stderr with how many files something is wrong, if with any."""
    if problems:
        click.echo(f"wolfbus: something is wrong with {counted(len(problems), 'file')}", err=True)
