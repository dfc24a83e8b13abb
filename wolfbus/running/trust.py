"""What a process may play that others have named: a worker the study of an agenda, whoever resumes a folder what the
folder's own file names.

What came over a bus, or from a folder that was handed over, is data. Programs, modules, addresses and keys are named by
this process's own command line and config alone, or by whoever it asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from wolfbus.errors import ConfigError
from wolfbus.files.printable import NOTE_SHOWN, printable, visible
from wolfbus.files.user_secret import is_sealed, seal_of, user_secret
from wolfbus.files.whole_file import read_text_whole, write_whole
from wolfbus.game.config import read_toml_file
from wolfbus.game.vocabulary import SCRIPTS
from wolfbus.messages.events import Opened
from wolfbus.running.brains import loaded_from, models_of_tables, take_models

if TYPE_CHECKING:
    from pathlib import Path

    from players.llm.settings import Model
    from wolfbus.running.loading import LoadedStudy

_OWN: Final = {"endpoint", "price", "timeouts"}
"""Members of a model that are each worker's own: where it is asked, what that costs, and how long one waits."""


def own_models(config_file: Path | None) -> Mapping[str, Model]:
    """Return the models that a worker's own file names, a config's or a study's; none without a file.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if config_file is None:
        return {}
    return models_of_tables(take_models(read_toml_file(config_file)), str(config_file))


def allowed_study(
    study: LoadedStudy, models: Mapping[str, Model], allowed: Collection[str], source: str
) -> LoadedStudy:
    """Return a study of an agenda as this worker plays it: with models of its own, and none of the study's.

    Args:
        study: what the agenda says.
        models: the worker's own models, by alias.
        allowed: brains that its command line allows, word for word.
        source: the agenda, for messages.

    Raises:
        ConfigError: one line that names the first brain that this worker does not play, or the first setting in which
            its model is not the study's; or it is a study of forks.
    """
    from players.spec import MODEL

    if study.settings.forks is not None:
        # it names a folder of this machine, and so who plays
        raise ConfigError(f"{source}: it is a study of forks, which no worker plays: it needs its parents' records")
    for brain in dict.fromkeys(study.brains):
        alias = brain.removeprefix(MODEL) if brain.startswith(MODEL) else None
        if brain not in SCRIPTS and brain not in allowed and alias not in models:
            raise ConfigError(f"{source}: {_refusal(brain)}")
        if alias is not None:
            _check_same(alias, study.models, models, source)
    return replace(study, models=models)


def _refusal(brain: str) -> str:
    from players.llm.settings import table_of
    from players.spec import MODEL

    words = brain.removeprefix(MODEL)
    if brain.startswith(MODEL) and table_of(words, {}) == words:
        table = f"[models.{printable(words, NOTE_SHOWN)}]"
        return f"it has players {printable(brain, NOTE_SHOWN)!r}, and this worker's --config has no table {table}"
    return (
        f"it has players {printable(brain, NOTE_SHOWN)!r}, which this worker does not play: programs, modules and "
        "addresses are those of its own command line (--allow)"
    )


def _check_same(alias: str, stated: Mapping[str, Model], models: Mapping[str, Model], source: str) -> None:
    """Refuse a model of a worker that is another than the one that the study states, by which its games are counted."""
    from players.llm.settings import model_of

    study_model, worker_model = (
        model_of(alias, table).model_dump(mode="json", exclude=_OWN) for table in (stated, models)
    )
    if name := next((name for name in study_model if study_model[name] != worker_model[name]), None):
        values = [printable(repr(model[name]), 60) for model in (study_model, worker_model)]
        raise ConfigError(
            f"{source}: model {printable(alias, NOTE_SHOWN)!r}: {name} is {values[0]} there, and {values[1]} in "
            "this worker's --config; a study has the same models everywhere"
        )


_SEALS: Final = ".trusted"
"""In a study's folder: this user's seals, one a line, over what its study has this machine run and ask."""
_PURPOSE: Final = b"trusted study"
_SEALS_LONGEST: Final = 1 << 16


def named_by(
    study: LoadedStudy, *, brains: bool = True, models: bool = True, own_brains: Collection[str] = ()
) -> list[str]:
    """Return, in words, which programs, modules, addresses and keys a study has this machine use; none for scripts.

    Args:
        study: the study.
        brains: whether its players count, or were named by whoever plays it.
        models: whether its tables of models count, likewise.
        own_brains: those that do not count, for whoever plays it named them.
    """
    from players.spec import MODEL

    words: list[str] = []
    for brain in dict.fromkeys(study.brains):
        if brain in own_brains:
            continue
        if brain.startswith(MODEL):
            words += _named_by_model(brain.removeprefix(MODEL), study.models) if brains or models else []
        elif brains and brain not in SCRIPTS:
            words.append(_named_by_brain(brain))
    return list(dict.fromkeys(words))


def named_by_record(record: Path, config_file: Path | None) -> list[str]:
    """Return, in words, which programs, modules and addresses a fork of a record has this machine use.

    Args:
        record: the record.
        config_file: where models are named, by whoever plays the fork; None for none.

    Raises:
        ConfigError: the config cannot be read.
        RecordError: the record cannot be read.
    """
    from players.spec import KNOWN, MODEL
    from wolfbus.running.forking import events_of

    models = loaded_from(config_file).models
    opened = next((one.event for one in events_of(record)), None)
    brains = [seat.brain for seat in opened.seats] if isinstance(opened, Opened) else []
    words: list[str] = []
    for brain in dict.fromkeys(brains):
        if not brain.startswith(MODEL):
            words += [] if brain in KNOWN else [_named_by_brain(brain)]
        elif (alias := brain.removeprefix(MODEL)) not in models and "@" in alias:
            words += _named_by_model(alias, models)
    return list(map(visible, words))


def addresses_named_by(brains: Iterable[str], models: Mapping[str, Model]) -> list[str]:
    """Return, in words, which addresses specs of language models name that no table of this user's does."""
    from players.llm.settings import model_of
    from players.spec import MODEL

    own_urls = {None, *(model.endpoint.url for model in models.values())}
    aliases = (brain.removeprefix(MODEL) for brain in brains if brain.startswith(MODEL))
    strange = (alias for alias in aliases if model_of(alias, models).endpoint.url not in own_urls)
    return [line for alias in strange for line in _named_by_model(alias, models)]


def _named_by_brain(brain: str) -> str:
    from players.spec import ADDRESS, COMMAND

    verb = "runs" if brain.startswith(COMMAND) else "asks" if brain.startswith(ADDRESS) else "imports"
    return f"{verb} {brain}"


def _named_by_model(name: str, models: Mapping[str, Model]) -> list[str]:
    from players.llm.settings import model_of

    model = model_of(name, models)
    endpoint = model.endpoint
    if endpoint.provider == "mock":
        return []
    words = [] if endpoint.provider == "openai" else [f"imports {endpoint.provider}"]
    words += [] if endpoint.key_command is None else [f"runs {endpoint.key_command}"]
    place = endpoint.url or "the server of OPENAI_BASE_URL or else OpenAI's"
    line = f"asks {model.model} at {place}"
    key = endpoint.key_env or endpoint.key_file
    line += f" with the key in {key}" if key is not None else ""
    line += f", or at {endpoint.follow_redirects}" if endpoint.follow_redirects is not None else ""
    return [*words, line, *(f"sends {variable} to {place}" for variable in endpoint.variables)]


def seal_folder(folder: Path, study: LoadedStudy) -> None:
    """Note in a study's folder what this user has had it run and ask, so that it goes on without a question.

    Raises:
        OSError: the folder cannot be written.
    """
    secret = user_secret()
    if secret is not None and (named := named_by(study)):
        seals = (seal_of(secret, _PURPOSE, line.encode()).hex() for line in named)
        write_whole(folder / _SEALS, [f"{seal}\n" for seal in seals])


def not_sealed(folder: Path, named: Iterable[str]) -> list[str]:
    """Return what of that which a study names this user has not had it run or ask in its folder before, fit to print.

    All of a line counts and is shown: behind its beginning, or by what cannot be seen, another command could hide.
    """
    secret = user_secret()
    try:
        lines = read_text_whole(folder / _SEALS, _SEALS_LONGEST).split()
        seals = [bytes.fromhex(line) for line in lines]
    except (ConfigError, ValueError):
        seals = []
    return [
        visible(line)
        for line in named
        if secret is None or not any(is_sealed(secret, _PURPOSE, line.encode(), seal) for seal in seals)
    ]
