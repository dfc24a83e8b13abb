"""Forks as a study: `ForkSettings` names the statements of another study at which games are forked, and what stands in
their place; `ForkPlan` has a game for each arm and number of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, Strict

from wolfbus.errors import ConfigError
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.game.config import GameConfig
from wolfbus.study.designs import Design, Fixed
from wolfbus.study.manifest import FILE, RECORDS, load_manifest
from wolfbus.study.plan import Balance, Deal, ForkOrder, Plan, PlannedGame

ALWAYS: Final = ("keep", "honest")
"""Arms that every contrast has: the statement as it was, played live, and an honest one in its place."""
TRIES: Final = 8
"""Statements that are drawn at most for one fork, unless told otherwise."""

_STATEMENT: Final = re.compile(r"(.+):(\d{1,6})")
_Words = Annotated[tuple[str, ...], Strict(strict=False)]


@dataclass(frozen=True, slots=True)
class Arm:
    """What stands in a statement's place.

    Attributes:
        name: as the record says it: ``keep``, ``silence``, ``say``, ``redraw``, ``honest`` or ``by:AGENT``.
        words: what is said; of ``say`` only.
    """

    name: str
    words: str | None = None

    @property
    def agent(self) -> str | None:
        """The agent that is asked for it in place of the speaker's; None for the speaker's."""
        return self.name.removeprefix("by:") if self.name.startswith("by:") else None

    def order(self, parent: Path, statement: int, k: int, tries: int) -> ForkOrder:
        """Return what a fork of this arm is made by; see `ForkOrder`."""
        return ForkOrder(str(parent), statement, self.name, self.words, k, tries)

    @property
    def label(self) -> str:
        """A word for it that can stand in the names of files."""
        return re.sub(r"[^A-Za-z0-9]+", "-", self.name).strip("-")[:24]


def arm_of(text: str) -> Arm:
    """Return the arm that some text names.

    Raises:
        ConfigError: it names none.
    """
    if text in {*ALWAYS, "silence", "redraw"}:
        return Arm(text)
    word, _, rest = text.partition(" ")
    if word == "say" and (words := rest.strip().strip('"“”').strip()):
        return Arm("say", words)
    if text.startswith("by:") and text.removeprefix("by:").strip():
        return Arm(text)
    raise ConfigError(f"arm {text!r}: known are keep, silence, redraw, honest, say WORDS and by:AGENT")


def arms_of(texts: Iterable[str]) -> tuple[Arm, ...]:
    """Return the arms of a contrast: those that every one has, then those named, each once.

    Raises:
        ConfigError: one names no arm, or two say something else.
    """
    arms = tuple(dict.fromkeys((*map(Arm, ALWAYS), *map(arm_of, texts))))
    if len({arm.label for arm in arms}) < len(arms):
        raise ConfigError("arms: two of them have one name; a fork says one thing in a place")
    return arms


class ForkSettings(BaseModel):
    """At which statements of another study games are forked, and what stands in their place."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True)

    of: str
    """Folder of the study whose games are the parents."""
    statements: Annotated[_Words, Field(min_length=1)]
    """Where games are forked: statements of debates, each as GAME:NUMBER."""
    arms: _Words = ()
    """What stands in their place, beside keep and honest."""
    times: Annotated[int, Field(ge=1, le=999)] = 2
    """Forks of each arm."""
    tries: Annotated[int, Field(ge=1, le=100)] = TRIES
    """Statements that are drawn at most for one fork."""

    @property
    def games(self) -> int:
        """How many forks there are."""
        return len(self.statements) * self.times * len(arms_of(self.arms))


class ForkPlan(Plan):
    """The forks of a study, statement by statement, in each by number, then by arm.

    Args:
        config: the rules, which are the parents'.
        seed: the study's seed; no draw follows from it.
        forks: where, and what.
        deal: the moderator's deal.

    Raises:
        ConfigError: there is no such study, it has no such game, or that has not ended.
    """

    def __init__(self, config: GameConfig, seed: str, forks: ForkSettings, deal: Deal) -> None:
        self._forks = forks
        self._arms = arms_of(forks.arms)
        folder = Path(forks.of)
        manifest = load_manifest(folder / FILE) or {}
        games: dict[str, dict[str, Any]] = {row["game"]: row for row in manifest.get("games", ())}
        self._parents: list[tuple[dict[str, Any], int]] = []
        for statement in forks.statements:
            match = _STATEMENT.fullmatch(statement)
            row = games.get(match[1]) if match is not None else None
            if match is None or row is None or row.get("state") != "ended":
                raise ConfigError(f"forks: {statement}: {folder} has no game of that name that has ended")
            if (lacking := next((name for name in ("seed", "brains") if not row.get(name)), None)) is not None:
                raise ConfigError(f"forks: {statement}: {folder / FILE} does not tell the game's {lacking}")
            self._parents.append((row, int(match[2])))
        brains = sorted({brain for row, _ in self._parents for brain in row["brains"]})
        others = (arm.agent for arm in self._arms if arm.agent is not None)
        super().__init__(config, seed, "fixed", None, tuple(dict.fromkeys((*brains, *others))), deal)
        self.kind = "forks"

    @cached_property
    def design(self) -> Design:
        """Nothing that would even anything out: who plays is what played the parents."""
        return Fixed(())

    @cached_property
    def study(self) -> str:
        """The study's id, the same wherever the same is forked."""
        forks = self._forks.model_dump(mode="json", exclude={"of"})
        return f"forks-{sha256_hex(canonical({'config': self.config.model_dump(mode='json'), 'forks': forks}))[:8]}"

    def game(self, number: int) -> PlannedGame:
        """Return fork `number`, from 1; its block is its parent's."""
        place, arm = divmod(number - 1, len(self._arms))
        place, k = divmod(place, self._forks.times)
        row, statement = self._parents[place]
        path = Path(self._forks.of) / RECORDS / f"{row['game']}.ndjson"
        order = self._arms[arm].order(path, statement, k + 1, self._forks.tries)
        block = row.get("block") or row["game"]
        return PlannedGame(number, self.game_id(number), row["seed"], block, tuple(row["brains"]), order)

    def seed_of(self, number: int) -> str:
        """Return the seed of fork `number`, which is its parent's."""
        return self.game(number).seed

    def balance(self, last: int) -> dict[str, Any]:
        """Return who plays what in the forks from 1 to `last`; see `Balance.result`."""
        balance = Balance()
        for number in range(1, last + 1):
            game = self.game(number)
            balance.add(self._roles(game.seed), game.brains)
        return balance.result(self.shares)
