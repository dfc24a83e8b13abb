"""`LoadedStudy`: a study ready to be planned, from its file, a config file and the command line's options.

`RunOptions` is how it is played, which its folder does not say.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wolfbus.bus.url import shown_url
from wolfbus.cli.brains import brains_of_seats, load_config, models_of_tables, take_models
from wolfbus.cli.options import GIVE_UP
from wolfbus.config import GameConfig, read_toml, read_toml_file
from wolfbus.errors import ConfigError
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

    def plan(self) -> Plan:
        """Return who plays what when."""
        from moderator.rules.game import deal

        return Plan(self.config, self.seed, self.settings.kind, self.seats, self.settings.agents, deal)

    def used_models(self, brains: tuple[str, ...]) -> dict[str, Any]:
        """Return the models that some brains name, by what they name them by, without secrets."""
        from players.spec import named_models

        used = {name: model.model_dump(mode="json") for name, model in named_models(brains, self.models).items()}
        for model in used.values():
            model["endpoint"] = {member: model["endpoint"][member] for member in _ANSWERING}
        return used

    def text(self) -> str:
        """Return the study as TOML that says the same."""
        import tomli_w

        members = self.settings.model_dump(exclude={"players"}, exclude_none=True)
        members["seed"], members["design"] = self.seed, self.settings.kind
        players = {"players": self.seats} if self.seats is not None else {}
        report = {"report": members.pop("report")} if "report" in members else {}
        return tomli_w.dumps({**members, **players, **report, "rules": self._rules(), **self.tables})

    def rules_text(self) -> str:
        """Return the rules and models as a config file of `wolfbus play`."""
        import tomli_w

        return tomli_w.dumps({**self._rules(), **self.tables})

    def _rules(self) -> dict[str, Any]:
        # TOML has no null
        return self.config.model_dump(mode="json", exclude_none=True)


def load_study(
    file: Path | None,
    config_file: Path | None,
    options: Mapping[str, Any],
    *,
    house: bool = False,
    config_first: bool = False,
) -> LoadedStudy:
    """Return the study that a file and options describe.

    Args:
        file: the study's TOML file; None for none.
        config_file: rules, players and models as `wolfbus play` takes them, where the study's file has none.
        options: fields of `StudySettings` from the command line, which come before the file's; None for not given.
        house: whether agents of a house play: their brains may be called anything, and without any whoever has joined.
        config_first: whether rules and models of the config file come before the study's.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    table = {} if file is None else read_toml_file(file)
    if config_first:
        loaded = load_config(config_file)
        # a rule that the file states counts where it is the default, too
        hidden = [
            *(("models", "endpoints") if loaded.tables else ()),
            *(("rules",) if loaded.config.model_fields_set else ()),
        ]
        table = {name: value for name, value in table.items() if name not in hidden}
    source = "the study" if file is None else str(file)
    return _study_of(table, source, config_file, options, house=house)


def study_of_text(text: str, source: str) -> LoadedStudy:
    """Return the study that `LoadedStudy.text` wrote; raises ConfigError, which names the source."""
    return _study_of(read_toml(text, source), source, None, {}, house=False)


def _study_of(
    table: dict[str, Any], source: str, config_file: Path | None, options: Mapping[str, Any], *, house: bool
) -> LoadedStudy:
    from players.spec import expand

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
    if settings.players is None and settings.agents is None:
        settings = _without_players(settings, loaded.players, source, house=house)
    seats: tuple[str, ...] | None = None
    if isinstance(settings.players, str):
        seats = expand(settings.players, config.seats, buildable=not house)
    elif settings.players is not None:
        seats = brains_of_seats(settings.players, config, source, " under [rules]")
    brains = seats if seats is not None else settings.agents or ()
    _check(settings, brains, source, house=house)
    # long: the names, which everybody sees, are drawn from the games' seeds, which are drawn from it
    seed = settings.seed if settings.seed is not None else secrets.token_hex(16)
    return LoadedStudy(settings, config, models, tables, seats, seed)


def _check(settings: StudySettings, brains: tuple[str, ...], source: str, *, house: bool) -> None:
    """Refuse what does not go together, now that it is known who plays."""
    if settings.report is not None:
        from analytics.measures.primary import check_primary

        check_primary(settings.report.primary, source)
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
class HouseAddress:
    """A house whose agents play a study.

    Attributes:
        name: its name.
        url: its bus, a Redis.
        option: how it is given on a command line, NAME or NAME@URL, without a password.
    """

    name: str
    url: str = field(repr=False)
    option: str

    def __str__(self) -> str:
        return self.option


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a study is played, which its folder does not say.

    Attributes:
        url: the bus.
        houses: the houses whose agents play, as NAME on that bus or as NAME@URL; none if this run's own brains play.
        tickets: let in holders of a ticket only, each as its ticket says.
        share: name of the agenda on that bus from which workers anywhere take the games; None to play them here.
        resume: go on with what is in the folder.
        probe: ask each model something small first.
        give_up: replies in a row that cannot be read, and none before, after which a model's games fail; 0 for never.
        cassette: folder to record model replies into.
        replay_cassette: folder to play them from.
        quiet: show nothing.
        plain: show lines even in a terminal.
    """

    url: str = field(default="memory://", repr=False)
    houses: tuple[str, ...] = field(default=(), repr=False)
    tickets: bool = False
    share: str | None = None
    resume: bool = False
    probe: bool = True
    give_up: int = GIVE_UP
    cassette: Path | None = None
    replay_cassette: Path | None = None
    quiet: bool = False
    plain: bool = False

    def addresses(self) -> list[HouseAddress]:
        """Return where the houses are whose agents play."""
        return [
            HouseAddress(name, url or self.url, f"{name}@{shown_url(url)}" if at else name)
            for name, at, url in (house.partition("@") for house in self.houses)
        ]

    def resume_options(self) -> str:
        """Return them as they are given on a command line to go on; each bus as `shown_url` shows it."""
        words = [word for address in self.addresses() for word in ("--house", address.option)]
        words += ["--tickets"] if self.tickets else []
        words += [] if self.share is None else ["--share", self.share]
        words += [] if self.url == "memory://" else ["--bus", shown_url(self.url)]
        words += [] if self.cassette is None else ["--cassette", str(self.cassette)]
        words += [] if self.replay_cassette is None else ["--replay-cassette", str(self.replay_cassette)]
        words += [] if self.give_up == GIVE_UP else ["--give-up", str(self.give_up)]
        return "".join(f" {shlex.quote(word)}" for word in words)
