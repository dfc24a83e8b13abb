"""`LoadedStudy`: a study ready to be planned, from its file, a config file and the command line's options.

`RunOptions` is how it is played, which its folder does not say.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wolfbus.bus.url import shown_url
from wolfbus.errors import ConfigError
from wolfbus.game.config import GIVE_UP, GameConfig, read_toml, read_toml_file
from wolfbus.game.fresh import seed_of
from wolfbus.running.brains import brains_of_seats, load_config, models_of_tables, take_models
from wolfbus.study.factors import TABLE as FACTORS
from wolfbus.study.forks import ForkPlan
from wolfbus.study.plan import Plan
from wolfbus.study.settings import StudySettings, rules_from_table, settings_from_table

if TYPE_CHECKING:
    from players.llm.settings import Model

_ANSWERING: Final = {"url"}
"""Members of an endpoint that say who answers; the others are limits and keys."""


@dataclass(frozen=True, slots=True)
class LoadedStudy:
    """What is to be played.

    Attributes:
        settings: everything but rules and models.
        config: the rules.
        models: language models by alias.
        tables: the models' and endpoints' tables as the file has them.
        seats: a brain per seat; None where agents take turns.
        seed: the settings' seed, or a fresh one.
    """

    settings: StudySettings
    config: GameConfig
    models: Mapping[str, Model]
    tables: Mapping[str, Any]
    seats: tuple[str, ...] | None
    seed: str

    @property
    def brains(self) -> tuple[str, ...]:
        """Every brain that it names, as often as it does; none where whoever has joined a house plays."""
        return self.seats if self.seats is not None else self.settings.agents or ()

    def plan(self) -> Plan:
        """Return who plays what when."""
        from moderator.rules.game import deal

        if self.settings.forks is not None:
            return ForkPlan(self.config, self.seed, self.settings.forks, deal)
        settings = self.settings
        return Plan(self.config, self.seed, settings.kind, self.seats, settings.agents, deal, settings.cell)

    def used_models(self, brains: tuple[str, ...]) -> dict[str, Any]:
        """Return the models that some brains name, by what they name them by, without secrets."""
        from players.spec import named_models

        used = {name: model.model_dump(mode="json") for name, model in named_models(brains, self.models).items()}
        for model in used.values():
            model["endpoint"] = {member: model["endpoint"][member] for member in _ANSWERING}
        return used

    def text(self, *, addresses: bool = True) -> str:
        """Return the study as TOML that says the same.

        Args:
            addresses: whether to tell where models are asked, and by which keys; a worker's own config says so.
        """
        import tomli_w

        members = self.settings.model_dump(exclude={"players"}, exclude_none=True)
        members["seed"], members["design"] = self.seed, self.settings.kind
        players = {"players": self.seats} if self.seats is not None else {}
        last: dict[str, Any] = {name: members.pop(name) for name in ("forks", "report") if name in members}
        tables = self.tables if addresses else _without_addresses(self.tables)
        return tomli_w.dumps({**members, **players, **last, "rules": self._rules(), **tables})

    def rules_text(self) -> str:
        """Return the rules and models as a config file of `wolfbus play`."""
        import tomli_w

        return tomli_w.dumps({**self._rules(), **self.tables})

    def _rules(self) -> dict[str, Any]:
        # TOML has no null
        return self.config.model_dump(mode="json", exclude_none=True)


def load_study(
    study: Mapping[str, Any] | Path | None,
    config_file: Path | None,
    options: Mapping[str, Any],
    *,
    house: bool = False,
    config_first: bool = False,
) -> LoadedStudy:
    """Return the study that a file and options describe.

    Args:
        study: the study's TOML file, or what such a file holds; None for none.
        config_file: rules, players and models as `wolfbus play` takes them, where the study's file has none.
        options: fields of `StudySettings` from the command line, which come before the file's; None for not given.
        house: whether agents of a house play: their brains may be called anything, and without any whoever has joined.
        config_first: whether rules and models of the config file come before the study's.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    table = read_toml_file(study) if isinstance(study, Path) else dict(study or {})
    if isinstance(study, Path) and not table:
        raise ConfigError(f"{study}: empty; a study says at least how many games are played, or by whom")
    if config_first:
        loaded = load_config(config_file)
        # a rule that the file states counts where it is the default, too
        hidden = [
            *(("models", "endpoints") if loaded.tables else ()),
            *(("rules",) if loaded.config.model_fields_set else ()),
        ]
        table = {name: value for name, value in table.items() if name not in hidden}
    source = str(study) if isinstance(study, Path) else "the study"
    return _study_of(table, source, config_file, options, house=house)


def study_of_text(text: str, source: str) -> LoadedStudy:
    """Return the study that `LoadedStudy.text` wrote, without any address in it, whoever wrote one there.

    Raises:
        ConfigError: one line that names the source.
    """
    table = read_toml(text, source)
    table |= _without_addresses(take_models(table))
    return _study_of(table, source, None, {}, house=False)


def _without_addresses(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables of models and endpoints without the endpoints."""
    models = tables.get("models")
    if not isinstance(models, dict):
        # what cannot be understood is refused where it is read
        return {name: value for name, value in tables.items() if name != "endpoints"}
    return {
        "models": {
            alias: {name: value for name, value in table.items() if name != "endpoint"}
            if isinstance(table, dict)
            else table
            for alias, table in models.items()
        }
    }


def _study_of(
    table: dict[str, Any], source: str, config_file: Path | None, options: Mapping[str, Any], *, house: bool
) -> LoadedStudy:
    from players.spec import expand

    if FACTORS in table:
        raise ConfigError(f"{source}: [{FACTORS}] makes a study for each cell: `wolfbus run` plays them")
    rules = table.pop("rules", None)
    loaded = load_config(config_file)
    config = loaded.config if rules is None else rules_from_table(rules, source)
    tables: Mapping[str, Any] = take_models(table)
    models = models_of_tables(tables, source)
    if not tables:
        models, tables = loaded.models, loaded.tables
    options = {name: value for name, value in options.items() if value is not None}
    if "players" in options:
        table.pop("agents", None)
    settings = settings_from_table({**table, **options}, source)
    if settings.forks is not None:
        settings = settings.model_copy(update={"games": settings.forks.games})
    if settings.players is None and settings.agents is None:
        settings = _without_players(settings, loaded.players, source, house=house)
    seats: tuple[str, ...] | None = None
    if isinstance(settings.players, str):
        seats = expand(settings.players, config.seats, buildable=not house)
    elif settings.players is not None:
        seats = brains_of_seats(settings.players, config, f"{source}: players", " under [rules]")
    # long: the names, which everybody sees, are drawn from the games' seeds, which are drawn from it
    seed = seed_of(settings.seed)
    loaded_study = LoadedStudy(settings, config, models, tables, seats, seed)
    _check(settings, loaded_study.brains, source, house=house)
    return loaded_study


def _check(settings: StudySettings, brains: tuple[str, ...], source: str, *, house: bool) -> None:
    """Refuse what does not go together, now that it is known who plays."""
    if settings.report is not None:
        from analytics.metrics.primary import check_margins, check_primary

        if settings.report.primary is not None:
            check_primary(settings.report.primary, source)
        check_margins(settings.report.margins or {}, f"{source}: [report]")
    if settings.kind == "mirrored" and house:
        raise ConfigError(f'{source}: design = "mirrored": agents of a house may know the second deal from the first')
    if settings.kind == "mirrored" and len(set(brains)) < 2:
        raise ConfigError(f'{source}: design = "mirrored": one agent plays against another; name two at least')
    if house and ((settings.workers or 1) > 1 or settings.has_budget):
        raise ConfigError(f"{source}: a house's agents are processes with budgets of their own: no workers, no budget")
    if "human" in brains and not house:
        raise ConfigError(f"{source}: players: a study has no seats for people at its terminal; take `wolfbus play`")


def _without_players(settings: StudySettings, players: Any, source: str, *, house: bool) -> StudySettings:
    """Return settings that name no players with those of the config file, if any, or else the usual ones."""
    if settings.design == "joined" and not house:
        raise ConfigError(f'{source}: design = "joined": whoever has joined a house plays; give --house')
    if players is not None and settings.design != "joined":
        return settings.model_copy(update={"players": players})
    if not house:
        return settings.model_copy(update={"players": "scripted"})
    if settings.design not in {None, "joined"}:
        raise ConfigError(f'{source}: design = "{settings.design}": say with --players whom it seats')
    return settings.model_copy(update={"design": "joined"})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a study is played, which its folder does not say.

    Attributes:
        url: the bus.
        house: the house on that bus whose agents play; None if this run's own brains play.
        tickets: let in holders of a ticket only, each as its ticket says.
        share: name of the agenda on that bus from which workers anywhere take the games; None to play them here.
        resume: go on with what is in the folder.
        trust: run what the file of a folder names that goes on, whoever made it.
        probe: ask each model something small first.
        give_up: replies in a row that are missing or cannot be read, and none before, after which the games of a model,
            a program or an address fail; 0 for never.
        cassette: folder to record model replies into.
        replay_cassette: folder to play them from.
        quiet: show nothing.
        plain: show lines even in a terminal.
    """

    url: str = field(default="memory://", repr=False)
    house: str | None = None
    tickets: bool = False
    share: str | None = None
    resume: bool = False
    trust: bool = False
    probe: bool = True
    give_up: int = GIVE_UP
    cassette: Path | None = None
    replay_cassette: Path | None = None
    quiet: bool = False
    plain: bool = False

    def resume_options(self) -> str:
        """Return them as they are given on a command line to go on; each bus as `shown_url` shows it."""
        words = [] if self.house is None else ["--house", self.house]
        words += ["--tickets"] if self.tickets else []
        words += [] if self.share is None else ["--share", self.share]
        words += [] if self.url == "memory://" else ["--bus", shown_url(self.url)]
        words += [] if self.cassette is None else ["--cassette", str(self.cassette)]
        words += [] if self.replay_cassette is None else ["--replay-cassette", str(self.replay_cassette)]
        words += [] if self.probe else ["--no-probe"]
        words += [] if self.give_up == GIVE_UP else ["--give-up", str(self.give_up)]
        return "".join(f" {shlex.quote(word)}" for word in words)
