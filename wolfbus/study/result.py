"""`GameResult`: what came of one game of a study; a line of its journal, and a row of its manifest."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from wolfbus.vocabulary import Winner

State: TypeAlias = Literal["ended", "stopped", "failed"]
Whole = Annotated[int, Field(ge=0)]


class GameResult(BaseModel):
    """What came of a game that was begun."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True)

    number: Annotated[int, Field(ge=1)]
    """Its number in the study."""
    game: str
    """Its id."""
    state: State
    """"ended" by its rules, "failed" by itself, or "stopped" because something else ended the study."""
    winner: Winner = None
    """Who won; None if nobody did."""
    rounds: Whole | None = None
    """Rounds begun."""
    digest: str | None = None
    """Digest of the game."""
    error: str | None = None
    """Why it did not end, in one line."""
    seconds: float = 0.0
    """Wall time from its opening to its last step."""
    statements: Whole = 0
    """Public statements."""
    judgements: Whole = 0
    """Judgements that count."""
    calls: Whole = 0
    """Model calls."""
    cost_usd: float | None = None
    """What they cost, as far as that is known; None where nothing is."""
    brains: tuple[str, ...] = ()
    """Who played, in seating order, where the plan does not say."""
    head: str = ""
    """Hash on its record's last line; it seals all of it."""

    @field_validator("brains", mode="before")
    @classmethod
    def _a_list_from_json(cls, brains: Any) -> Any:
        return tuple(brains) if isinstance(brains, list) else brains

    def line(self) -> bytes:
        """Return it as a line of the journal, with its end."""
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"


def read_line(line: bytes) -> GameResult | dict[str, Any] | None:
    """Return what a line of a journal says: a game's result, or members of another kind; None for no line of ours."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    if "number" not in value:
        return value
    try:
        return GameResult.model_validate(value)
    except ValidationError:
        return None
