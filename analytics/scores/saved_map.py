"""A map of suspicion as a file, to be applied to other games than it was fitted on (metrics: Recalibration).

The file is one JSON object with exactly these members:

``format``
    always ``"wolfbus-map"``.
``version``
    of this layout, 1.
``wolfbus``
    version of the program that wrote it.
``map``
    the map, fitted on all games: ``{"kind": "platt", "clip", "slope", "intercept"}`` or ``{"kind": "isotonic",
    "points": [[suspicion, probability], …]}``; see `analytics.scores.maps`.
``held_out``
    how maps of this kind did on games that they were not fitted on: ``before`` and ``after`` with ``brier``, ``ece``,
    ``auc``, in ``folds`` folds of ``blocks`` blocks of games.
``n``
    judgements that it was fitted on.
``games``
    games that these are of.

Numbers are finite. A reader refuses other versions and unknown members: a map that is half understood gives wrong
probabilities without a sign.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analytics.accumulator import Result
from analytics.scores.maps import KINDS, Kind, Map, Probability
from wolfbus import __version__
from wolfbus.errors import ConfigError
from wolfbus.messages.codec import first_fault
from wolfbus.printable import printable
from wolfbus.whole_file import read_whole, write_whole

FORMAT: Final = "wolfbus-map"
VERSION: Final = 1

_LONGEST: Final = 64 * 1024 * 1024
"""Bytes beyond which a file is no map, and is not read."""


class Calibration(BaseModel):
    """How well calibrated some probabilities were.

    Attributes:
        brier: Brier score.
        ece: expected calibration error.
        auc: ROC AUC.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    brier: Probability
    ece: Probability
    auc: Probability


class HeldOut(BaseModel):
    """How maps of this kind did on games that they were not fitted on.

    Attributes:
        before: suspicions as they were.
        after: what the maps made of them.
        folds: parts that the games were dealt into.
        blocks: blocks of games, none of which was torn apart.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    before: Calibration
    after: Calibration
    folds: int = Field(ge=2)
    blocks: int = Field(ge=2)


class SavedMap(BaseModel):
    """What a file holds; see the module for its members."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    format: Literal["wolfbus-map"] = FORMAT
    version: Literal[1] = VERSION
    wolfbus: str = Field(max_length=100)
    map: Map
    held_out: HeldOut
    n: int = Field(ge=1)
    games: int = Field(ge=1)


_SAVED: Final[TypeAdapter[SavedMap]] = TypeAdapter(SavedMap)


def saved_map(recalibration: Result, kind: Kind | None = None) -> SavedMap:
    """Return one of the maps of `analytics.scores.recalibration.recalibration`, with its scores.

    Args:
        recalibration: the section as it stands, or as JSON gave it back.
        kind: which; unless given the one with the lower held-out Brier score, Platt's where they are equal.

    Raises:
        ConfigError: there is no such map; the line says why.
    """
    if recalibration["reason"] is not None:
        raise ConfigError(f"there is no map to save: {recalibration['reason']}")
    if kind is None:
        briers = [float(recalibration[each]["after"]["brier"]) for each in KINDS]
        kind = KINDS[briers.index(min(briers))]
    own = recalibration[kind]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "wolfbus": __version__,
        "map": own["map"],
        "held_out": {
            **{when: {name: own[when][name] for name in ("brier", "ece", "auc")} for when in ("before", "after")},
            "folds": recalibration["folds"],
            "blocks": recalibration["blocks"],
        },
        "n": own["before"]["n"],
        "games": recalibration["games"],
    }
    return _SAVED.validate_json(json.dumps(content))


def save_map(recalibration: Result, path: Path, kind: Kind | None = None) -> SavedMap:
    """Write one of the maps of a recalibration to a file, whole or not at all; arguments as `saved_map`.

    Raises:
        ConfigError: there is no such map, or the file cannot be written; the line names the file.
    """
    try:
        saved = saved_map(recalibration, kind)
    except ConfigError as error:
        raise ConfigError(f"{path}: not written: {error}") from None
    try:
        write_whole(path, [json.dumps(saved.model_dump(mode="json"), allow_nan=False, indent=1) + "\n"])
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    return saved


def load_map(path: Path) -> SavedMap:
    """Return the map in a file.

    Raises:
        ConfigError: it cannot be read or is no map; the line names the file and the member at fault.
    """
    content = read_whole(path, _LONGEST)
    _check_format(path, content)
    try:
        return _SAVED.validate_json(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_fault(error)}") from None


def _check_format(path: Path, content: bytes) -> None:
    """Refuse what is of another format or version, before it is measured against this one."""
    try:
        told: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: not JSON") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise ConfigError(f'{path}: format: no map of wolfbus; one says "format": "{FORMAT}"')
    version = told.get("version")
    if version != VERSION or not isinstance(version, int) or isinstance(version, bool):
        shown = printable(repr(version), 40)
        raise ConfigError(f"{path}: version: this wolfbus reads version {VERSION}, the file has {shown}")
