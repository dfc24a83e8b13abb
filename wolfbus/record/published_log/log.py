"""What a log of the paper's own code holds: the game, and every analysis in two readings.

Who played and what they were says its `run_meta.json`, which stands beside the log or is named by the user.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from wolfbus.errors import ConfigError
from wolfbus.files.whole_file import read_whole
from wolfbus.game.vocabulary import ROLES, Deception, Kind, Reading, Role, Winner
from wolfbus.reading import Read

PaperPhase: TypeAlias = Literal["debate", "vote"]


@dataclass(frozen=True, slots=True)
class PaperLabel:
    """One reading of an analysis: a self-label, or a judgement if it has a suspicion.

    Fields are optional, unlike those of `Label` and `Judgement`, because a cut-off reply holds some and not others.
    Whether the statement is called deceptive is the least: without it there is no label. A judgement without suspicion
    counts where flags are counted, and not where suspicion is averaged or smoothed.

    Attributes:
        deceptive: d; None if that is lost.
        suspicion: s in [0, 1]; None for a self-label, and where it is lost.
        confidence: c in [0, 1]; None where it is lost.
        kind: the kind of deception, settled by `deceptive` (see `wolfbus.reading.normalise`); None without it.
        stated_kind: the kind as it was given, where `deceptive` overruled it.
        reasoning: why, as far as the text goes.
        reading: the rung of the reading ladder; None for what the paper's code had stored.
    """

    deceptive: bool | None
    suspicion: float | None = None
    confidence: float | None = None
    kind: Deception | None = None
    stated_kind: Deception | None = None
    reasoning: str = ""
    reading: Reading | None = None

    @property
    def usable(self) -> bool:
        """Whether there is a label at all."""
        return self.deceptive is not None


@dataclass(frozen=True, slots=True)
class PaperAnalysis:
    """What one player made of one statement.

    Attributes:
        recorded: the fields as the paper's code stored them.
        filler: whether these stand for a reply that the code could not parse or did not get ("truthful", confidence 0,
            suspicion 0.5).
        raw: the model's text; None if it was not kept.
        reread: the fields that our reading ladder finds in `raw`; where there is no raw text and no filler, `recorded`
            as clean. None if nothing was found.
        read: the raw text read as a whole reply, with fault and note; None without raw text.
    """

    recorded: PaperLabel
    filler: bool
    raw: str | None
    reread: PaperLabel | None
    read: Read | None

    @property
    def lost(self) -> bool:
        """Whether our reading finds no label."""
        return self.reread is None or not self.reread.usable

    @property
    def partial(self) -> bool:
        """Whether our reading finds a label, but not all fields of one."""
        return not self.lost and self.read is not None and self.read.content is None

    def label(self, *, as_recorded: bool) -> PaperLabel | None:
        """Return the label in one of the two readings, None where there is none.

        Args:
            as_recorded: count what the paper's code counted, fillers included; else what our reading finds.
        """
        chosen = self.recorded if as_recorded else self.reread
        return chosen if chosen is not None and chosen.usable else None


@dataclass(frozen=True, slots=True)
class PaperStatement:
    """One public statement: a turn of the debate, or the public reason of a vote.

    Attributes:
        number: 1, 2, … in the order of the log.
        line: 1-based line of the log where it first stands.
        round: 1, 2, …; recovered from the order of events.
        phase: "debate" or "vote".
        speaker: who said it.
        text: the words.
        own_analysis: the speaker's analysis; None if the log has none.
        intended: whether the reply that holds the words calls them deceptive; None if it does not say, or is not kept.
        others: analysis per observer, in the order of the log.
    """

    number: int
    line: int
    round: int
    phase: PaperPhase
    speaker: str
    text: str
    own_analysis: PaperAnalysis | None
    others: Mapping[str, PaperAnalysis]
    intended: bool | None = None

    def analyses(self) -> Iterator[PaperAnalysis]:
        """Return the speaker's analysis, if any, and the observers'."""
        if self.own_analysis is not None:
            yield self.own_analysis
        yield from self.others.values()


@dataclass(frozen=True, slots=True)
class PaperAction:
    """What somebody did at night: `kind` is "kill", "protect" or "inspect"; `role` is what an inspection revealed."""

    kind: Kind
    actor: str
    target: str | None
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class PaperNight:
    """A night's actions, and who was found dead after it."""

    round: int
    actions: tuple[PaperAction, ...]
    died: str | None


@dataclass(frozen=True, slots=True)
class PaperVote:
    """One vote.

    Attributes:
        voter: who voted.
        recorded: the name as the paper's code stored it, None for the empty name of a reply it could not parse; not
            always the name of a living player, or of a player at all.
        read: the raw reply in our reading, where the log kept one. The paper's own code did not.
    """

    voter: str
    recorded: str | None
    read: Read | None = None


@dataclass(frozen=True, slots=True)
class PaperDay:
    """A day's vote and its effect.

    Attributes:
        round: 1, 2, …
        votes: in the order of the log; empty if it stops before them.
        named: whom the tally names for exile, None for nobody; not always a living player.
        exiled: who left, None for nobody.
    """

    round: int
    votes: tuple[PaperVote, ...]
    named: str | None
    exiled: str | None


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """How many analyses were recorded and what our reading makes of them.

    Attributes:
        analyses: self-labels and judgements in the log.
        fillers: those that the paper's code filled in.
        recovered: fillers whose raw text gives a label in our reading.
        readings: labels of our reading by the rung it took.
        partial: labels of our reading with fields missing.
        lost: analyses without a label in our reading.
    """

    analyses: int
    fillers: int
    recovered: int
    readings: Mapping[Reading, int]
    partial: int
    lost: int


@dataclass(frozen=True, slots=True)
class PaperLog:
    """A published run.

    Attributes:
        name: the log's display name.
        run: the run's id.
        model: the model all seats were played by; None if not recorded.
        models: the model by player, where the run's metadata name one for each.
        players: in seating order.
        roles: role by player.
        statements: in the order of the log.
        nights: by round.
        days: those with votes or an exile, by round.
        winner: "villagers" or "werewolves"; None if the log has no winner.
        ended: whether the log goes on to the end of its game.
        unknown: events of names that this reader does not know, passed over.
    """

    name: str
    run: str
    model: str | None
    players: tuple[str, ...]
    roles: Mapping[str, Role]
    statements: tuple[PaperStatement, ...]
    nights: tuple[PaperNight, ...]
    days: tuple[PaperDay, ...]
    winner: Winner
    ended: bool
    unknown: int
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """How many rounds the log has entered."""
        last = [0, *(night.round for night in self.nights), *(statement.round for statement in self.statements)]
        return max([*last, *(day.round for day in self.days)])

    def counts(self) -> PaperCounts:
        """Count the analyses."""
        analyses = [analysis for statement in self.statements for analysis in statement.analyses()]
        labels = [label for analysis in analyses if (label := analysis.label(as_recorded=False)) is not None]
        readings = Counter(label.reading for label in labels)
        return PaperCounts(
            analyses=len(analyses),
            fillers=sum(analysis.filler for analysis in analyses),
            recovered=sum(analysis.filler and not analysis.lost for analysis in analyses),
            readings={rung: count for rung, count in readings.items() if rung is not None},
            partial=sum(analysis.partial for analysis in analyses),
            lost=sum(analysis.lost for analysis in analyses),
        )


_ROLES: Final[TypeAdapter[dict[str, Role]]] = TypeAdapter(dict[str, Role])
_EVENTS = "-events.ndjson"
_META = "run_meta.json"
_LONGEST: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class PaperMeta:
    """What a `run_meta.json` says: the run's id and model, if given, the players in seating order and their roles;
    under `models` perhaps a model for each.
    """

    run: str | None
    model: str | None
    players: tuple[str, ...]
    roles: Mapping[str, Role]
    models: Mapping[str, str]


def meta_beside(log: Path) -> Path | None:
    """Return the metadata file that belongs to a log by its name, None if there is none.

    It is `PREFIX-run_meta.json` for `PREFIX-events.ndjson`, else `run_meta.json` in the same folder; a `.gz` at the end
    of the log's name does not count.
    """
    name = log.name.removesuffix(".gz")
    candidates = [log.with_name(_META)]
    if name.endswith(_EVENTS):
        candidates.insert(0, log.with_name(f"{name.removesuffix(_EVENTS)}-{_META}"))
    return next((path for path in candidates if path.is_file()), None)


def read_meta(path: Path) -> PaperMeta:
    """Read a `run_meta.json`.

    Raises:
        ConfigError: one line, if it cannot be read or says nothing of roles.
    """
    try:
        value = json.loads(read_whole(path, _LONGEST))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict) or not isinstance(value.get("roles"), dict) or not value["roles"]:
        raise ConfigError(f'{path}: no "roles" in it; this is no run_meta.json of the paper')
    try:
        roles = _ROLES.validate_python(value["roles"])
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])
        raise ConfigError(f"{path}: the role of {name!r} is none of {', '.join(ROLES)}") from None
    models = value.get("models")
    named = {name: model for name, model in models.items() if _text(model)} if isinstance(models, dict) else {}
    return PaperMeta(_text(value.get("run_id")), _text(value.get("model")), _players(path, value, roles), roles, named)


def _players(path: Path, value: dict[str, Any], roles: Mapping[str, Role]) -> tuple[str, ...]:
    players = value.get("players", list(roles))
    if not isinstance(players, list) or sorted(players, key=str) != sorted(roles):
        raise ConfigError(f'{path}: "players" and "roles" name different players')
    return tuple(players)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
