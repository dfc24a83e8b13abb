"""`check_shape`: whether a manifest's members are what readers take them for, whoever wrote the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from wolfbus.messages.base import ID_PATTERN
from wolfbus.messages.codec import first_fault

_MOST: Final = 2**53
"""Numbers beyond which a float is no longer exact; nothing that a manifest counts comes near."""


def _instant(text: str) -> str:
    datetime.fromisoformat(text)
    return text


_Id = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]
_Text = Annotated[str, Field(max_length=10_000)]
_Whole = Annotated[int, Field(ge=0, le=_MOST)]
_Sum = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]
_Instant = Annotated[str, Field(max_length=40), AfterValidator(_instant)]


class _Shape(BaseModel):
    # members that nobody knows here are of a later build
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Git(_Shape):
    commit: _Text | None = None
    dirty: bool | None = None


class _Playing(_Shape):
    wolfbus: _Text | None = None
    python: _Text | None = None
    git: _Git | None = None


class _Design(_Shape):
    kind: _Text | None = None
    rotation: _Whole | None = None
    cycle: _Whole | None = None
    games: _Whole | None = None
    notes: list[_Text] | None = None
    pairs: list[dict[str, Any]] | None = None


class _Totals(_Shape):
    games: _Whole | None = None
    ended: _Whole | None = None
    stopped: _Whole | None = None
    failed: _Whole | None = None
    pending: _Whole | None = None
    villagers: _Whole | None = None
    werewolves: _Whole | None = None
    nobody: _Whole | None = None
    statements: _Whole | None = None
    judgements: _Whole | None = None
    calls: _Whole | None = None
    cost_usd: _Sum | None = None


class _Game(_Shape):
    number: _Whole | None = None
    game: _Id
    seed: _Text | None = None
    block: _Text | None = None
    record: Annotated[str, Field(pattern=rf"^records/{ID_PATTERN}\.ndjson$")] | None = None
    brains: list[_Text] | None = None
    state: Literal["ended", "stopped", "failed", "pending"] | None = None
    winner: _Text | None = None
    rounds: _Whole | None = None
    digest: _Text | None = None
    head: _Text | None = None
    error: str | None = None
    seconds: _Sum | None = None


class _Manifest(_Playing):
    study: _Id | None = None
    name: _Text | None = None
    seed: _Text | None = None
    config: dict[str, Any] | None = None
    agents: list[_Text] | None = None
    seats: list[_Text] | None = None
    models: dict[str, Any] | None = None
    prompts: _Text | None = None
    house: _Text | None = None
    tickets: bool | None = None
    design: _Design | None = None
    primary: list[_Text] | None = None
    budget_usd: _Sum | None = None
    continued_with: list[_Playing] | None = None
    created: _Instant | None = None
    updated: _Instant | None = None
    complete: bool | None = None
    study_hash: _Text | None = None
    totals: _Totals | None = None
    games: list[_Game] = []


_CLASS: Final = re.compile(r" or instance of \w+")
"""What pydantic says beside, and is of no use to whoever wrote the file."""
_ADAPTER: Final[TypeAdapter[_Manifest]] = TypeAdapter(_Manifest)


def check_shape(manifest: dict[str, Any]) -> str | None:
    """Return what is wrong with the first member that is not of its type, as "MEMBER: reason"; None if all are.

    A member may be missing; what it must not be is of another type, or a number that JSON cannot hold.
    """
    head = {name: value for name, value in manifest.items() if name != "games"}
    for place, number in _numbers(head, ""):
        if not abs(number) <= _MOST:
            return f"{place}: not a number of ordinary size"
    try:
        _ADAPTER.validate_python(manifest)
    except ValidationError as error:
        return _CLASS.sub("", first_fault(error)).replace("dictionary", "object")
    return None


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield place, value
    elif isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            # names are strangers' words, and stand in a line
            shown = str(name)[:60]
            shown = shown if shown.isprintable() else repr(shown)
            yield from _numbers(each, f"{place}.{shown}" if place else shown)
