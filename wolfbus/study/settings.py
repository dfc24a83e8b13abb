"""`StudySettings`: the settings of a study, from its TOML file and the command line's options together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, field_validator

from wolfbus.errors import ConfigError, fault_of_table, main_mistake
from wolfbus.game.config import GameConfig, config_from_table
from wolfbus.study.designs import DesignKind
from wolfbus.study.forks import ForkSettings

MOST_GAMES: Final = 99_999
"""Games' ids end in five digits."""

TABLES: Final = ("rules", "models", "endpoints")
"""Tables of a study's file that are not fields of `StudySettings`."""


_Words = Annotated[tuple[str, ...], Strict(strict=False)]
"""A TOML list of texts."""


class ReportSettings(BaseModel):
    """What a study is to be judged by."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True)

    primary: _Words | None = None
    """Primary metrics: at most six, declared before the study is played, and adjusted together; all else is
    exploratory. The usual ones unless given."""
    margins: dict[str, Annotated[float, Field(gt=0)]] | None = None
    """By metric, the greatest difference from another study that counts as none; `wolfbus compare` then tells whether
    the two are equivalent."""


class StudySettings(BaseModel):
    """A study without its rules and models. Fields that are None were not given."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A title for people."""
    cell: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """Of a study with factors, which of its cells this is; it tells its games from those of the others."""
    games: Annotated[int, Field(ge=1, le=MOST_GAMES)] = 20
    """How many games are played."""
    seed: str | None = None
    """Seed of the study, from which every game's is drawn; any text, a number is usual."""
    design: DesignKind | None = None
    """Who sits where: "balanced" unless given, and "fixed" where players are given by name; "joined" for whoever has
    joined the house, where no players are given."""
    players: str | _Words | dict[str, str] | None = None
    """Who plays: a spec such as "scripted*6,random*2", a list of one brain per seat, or a table of seat name to
    brain."""
    agents: Annotated[_Words, Field(min_length=1, max_length=64)] | None = None
    """Instead of players: different brains that take the seats in turns, fewer or more than there are seats."""
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """US dollars that all model calls of the study may cost."""
    budget_tokens: Annotated[int, Field(ge=0)] | None = None
    """Tokens that they may use."""
    at_once: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Games under way at a time, over all workers."""
    workers: Annotated[int, Field(ge=1, le=256)] | None = None
    """Processes that play; one unless given, but one for each core where all players are scripted and the games are
    many."""
    forks: ForkSettings | None = None
    """Play forks of another study's games, in place of games of its own."""
    canaries: bool | None = None
    """Ask each model the same small questions twice before the games and once after them, and tell whether it answers
    as it did."""
    report: ReportSettings | None = None
    """What it is to be judged by; the usual metrics unless given."""

    @field_validator("seed", mode="before")
    @classmethod
    def _a_number_is_text(cls, seed: Any) -> Any:
        return str(seed) if isinstance(seed, int) and not isinstance(seed, bool) else seed

    @field_validator("agents")
    @classmethod
    def _agents_differ(cls, agents: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for place, agent in enumerate(agents or ()):
            if agent in (agents or ())[:place]:
                raise ValueError(f"{agent!r} is there twice; agents differ, and `players` counts seats")
        return agents

    def model_post_init(self, _context: Any, /) -> None:
        """Refuse what does not go together."""
        if self.players is not None and self.agents is not None:
            raise ValueError("players and agents: give one of them")
        if self.design == "joined" and (self.players is not None or self.agents is not None):
            raise ValueError('design = "joined": whoever has joined plays; give no players')
        if isinstance(self.players, dict) and self.design not in {None, "fixed"}:
            raise ValueError(f'design = "{self.design}": players by name have their seats; take "fixed"')
        if self.agents is not None and self.design == "fixed":
            raise ValueError('design = "fixed": agents take turns; give `players` to fix who sits where')

    @property
    def has_budget(self) -> bool:
        """Whether model calls have a limit."""
        return self.budget is not None or self.budget_tokens is not None

    @property
    def kind(self) -> DesignKind:
        """The design."""
        return self.design or ("fixed" if isinstance(self.players, dict) else "balanced")


def settings_from_table(table: Mapping[str, Any], source: str) -> StudySettings:
    """Return the settings that a TOML table holds.

    Raises:
        ConfigError: one line that names the source, the field and the reason.
    """
    try:
        return StudySettings.model_validate(dict(table))
    except ValidationError as error:
        raise ConfigError(f"{source}: {_fault(error)}") from None


def rules_from_table(rules: Any, source: str) -> GameConfig:
    """Return the rules that a study's ``[rules]`` hold.

    Raises:
        ConfigError: one line that names the source, the field and the reason.
    """
    if not isinstance(rules, dict):
        raise ConfigError(f"{source}: rules: input should be a table [rules]")
    return config_from_table(rules, f"{source}: [rules]")


_FORMS: Final = {
    "players": "players: a spec, a list of brains, or a table of seat name to brain",
    "report": "[report] primary: input should be a list of names of metrics",
    "margins": "[report] margins: input should be a number above 0 for each metric",
    "agents": "agents: input should be a list of brains",
}


def _fault(error: ValidationError) -> str:
    first = main_mistake(error)
    name, *more = map(str, first["loc"] or ("",))
    if first["type"] == "extra_forbidden":
        if more:
            return f"[{name}] {more[0]}: no such field; there are 'primary' and 'margins'"
        if name in GameConfig.model_fields:
            return f"{name}: a rule of the game; it belongs under [rules]"
    elif name in _FORMS and first["type"] not in {"value_error", "too_short", "too_long"}:
        return _FORMS["margins" if more[:1] == ["margins"] else name]
    # behind a field's name stands which of its forms was tried
    return fault_of_table(error, StudySettings, depth=1, tables=TABLES)
