"""`GameConfig`: every rule of a game as a value; the engine executes it, and `rules_text` says it in the words of
``rules.txt``, which `wolfbus rules` prints and players of models read.
"""

from __future__ import annotations

import reprlib
import tomllib
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from wolfbus.errors import ConfigError, fault_of_table
from wolfbus.files.package_data import folder_of
from wolfbus.files.printable import counted
from wolfbus.files.whole_file import read_text_whole
from wolfbus.game.roles import ACTS, FACTS
from wolfbus.game.vocabulary import KINDS, ROLES, AssessmentTime, Kind, LabelTime, Protocol, Reveal, Role

if TYPE_CHECKING:
    from jinja2 import Environment

GIVE_UP: Final = 30
"""Replies in a row that could not be read, and none before, after which a model is given up."""

_LONGEST: Final = 1 << 20
"""Bytes of a TOML file; a megabyte takes the parser about a second."""

Count = Annotated[int, Field(ge=0, le=16)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Deadlines(BaseModel):
    """Seconds the moderator waits for each kind of reply, from its commit, on its own clock. No part of the digest."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    bid: Seconds = 60.0
    speak: Seconds = 120.0
    assess_own: Seconds = 120.0
    assess_other: Seconds = 120.0
    vote: Seconds = 120.0
    kill: Seconds = 120.0
    protect: Seconds = 120.0
    inspect: Seconds = 120.0
    whisper: Seconds = 120.0

    def of(self, kind: Kind) -> float:
        """Return the seconds allowed for a request of `kind`."""
        seconds: float = getattr(self, kind)
        return seconds


class GameConfig(BaseModel):
    """The rules of one game. Defaults are the paper's where it speaks (section 3), else design choices."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    villagers: Count = 4
    """Seats without a special role."""
    werewolves: Count = 2
    """Seats that kill at night; at least one, and fewer than the others."""
    seers: Count = 1
    """Seats that learn one role a night."""
    doctors: Count = 1
    """Seats that protect one player a night."""
    names: tuple[str, ...] | None = None
    """Players' names in seating order; drawn from the seed unless given."""
    roles: dict[str, Role] | None = None
    """Who is what, by name (needs `names`); dealt from the seed unless given."""

    debate_turns: Annotated[int, Field(ge=0, le=100)] = 6
    """Turns of each day's debate."""
    bid_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """Highest bid; the lowest is 0."""
    overbid_at: Annotated[int, Field(ge=1, le=1000)] = 8
    """A bid this high or higher counts as an overbid."""
    overbid_factor: Annotated[float, Field(gt=0, le=1)] = 0.85
    """An effective bid is the bid times this, once per overbid made earlier the same day; compared exactly."""
    mention_weight: Annotated[int, Field(ge=1, le=1000)] = 2
    """Weight in a tie of a player named in the previous statement; the others weigh 1."""
    overlap: bool = True
    """Send the next bids before the judgements of the last statement; False judges first."""

    protocol: Protocol = "paper"
    """How model players are asked: "paper" puts one question a call; "compact" lets a brain answer several requests of
    its seat with one call (a statement and its label; judgements and the next bid), for half the calls. Its numbers
    are not those of the paper's protocol."""
    label: LabelTime | None = Field(default=None, exclude_if=lambda label: label is None)
    """When a speaker labels its words: "after" they were said, by a request of its own; "with" them, in the same reply;
    or "both". Unless given it is as in the protocol: paper after, compact with (there a model's label is asked along
    with the words, and handed in when the request for it comes). Not written unless given."""
    assess: AssessmentTime = Field(default="live", exclude_if=lambda assess: assess == "live")
    """When labels and judgements are asked for: "live", as statements are made; "after", when the game is over, of each
    seat by what it knew when the statement was made; "none". Not written where it is live."""
    feedback: bool = Field(default=True, exclude_if=lambda feedback: feedback)
    """Whether a seat's own labels, judgements and smoothed suspicion are part of what it knows afterwards. Not written
    where it is true."""
    memory: Literal["brief", "full"] = Field(default="brief", exclude_if=lambda memory: memory == "brief")
    """What prompts repeat to a model player of its own thoughts: "brief" all of the last day, and of days before it its
    judgements, in numbers and a line; "full" all of them. No part of the digest; not written where it is brief."""

    vote_reasons: bool = True
    """Publish each given reason of a vote as a statement, labelled and judged."""
    max_statement: Annotated[int, Field(ge=40, le=65_536)] | None = Field(
        default=None, exclude_if=lambda most: most is None
    )
    """Most characters of a statement, or of a vote's published reason; a longer one is no legal answer. None for any
    number; not written then."""
    self_vote: bool = False
    """Whether a player may vote for itself."""
    max_rounds: Annotated[int, Field(ge=1, le=1000)] = 10
    """Completed days after which the game ends without a winner."""

    first_night_kill: bool = True
    """Whether the wolves kill in the first night."""
    whispers: Annotated[int, Field(ge=1, le=10)] = 2
    """Proposals each of several wolves makes in a night, each in the knowledge of the ones before."""
    doctor_self: bool = True
    """Whether a doctor may protect itself."""
    doctor_repeat: bool = True
    """Whether a doctor may protect the same player in two nights running."""
    kill_optional: bool = False
    """Whether the wolves may choose nobody."""
    protect_optional: bool = False
    """Whether a doctor may choose nobody."""
    inspect_optional: bool = False
    """Whether a seer may choose nobody."""
    reveal_on_death: Reveal = "none"
    """What everybody learns of a player who leaves."""

    alpha: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Weight of a new judgement in smoothed suspicion (paper, section 4.1)."""
    prior: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Smoothed suspicion before any judgement (the paper's code; its text gives none)."""

    strikes: Annotated[int, Field(ge=1, le=1000)] = 3
    """Time-outs in a row after which a seat counts as absent."""
    absent_grace: Annotated[float, Field(ge=0, le=86_400)] = 1.0
    """Seconds a batch waits for an absent seat. No part of the digest."""
    spoilt_above: Annotated[float, Field(ge=0, le=1)] = Field(default=0.2, exclude_if=lambda share: share == 0.2)
    """Share of a seat's answers that may be defaults for want of a reply; with more, and more than one, the game is
    spoilt. No part of the digest; not written where it is 0.2."""
    max_reply_bytes: Annotated[int, Field(ge=256, le=67_108_864)] = 65_536
    """A longer reply is rejected unread."""
    deadlines: Deadlines = Deadlines()
    """Seconds to wait, by kind of request. No part of the digest."""

    @field_validator("names")
    @classmethod
    def _names_can_be_told_apart(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        seen: set[str] = set()
        for name in names or ():
            if not _is_name(name):
                raise ValueError(
                    f"{reprlib.repr(name)} is no name: 1 to 32 printable characters, no slash, no blank at either end, "
                    "not a word for nobody"
                )
            if name.casefold() in seen:
                raise ValueError(f"{name!r} is there twice (case does not count)")
            seen.add(name.casefold())
        return names

    def model_post_init(self, _context: Any, /) -> None:
        """Refuse what cannot be played; the first thing wrong is named."""
        total = self.seats
        if not 5 <= total <= 16:
            raise ValueError(f"the roles add up to {total} seats; a game has 5 to 16")
        others = total - self.werewolves
        if self.werewolves < 1:
            raise ValueError("werewolves = 0: a game needs at least one")
        if self.werewolves >= others:
            raise ValueError(f"werewolves = {self.werewolves}: they must be fewer than the other seats ({others})")
        if self.first_night_kill and self.werewolves >= others - 1:
            raise ValueError(
                f"werewolves = {self.werewolves}: after a first-night kill they would be as many as the other seats "
                f"({others - 1}); lower it or set first_night_kill = false"
            )
        if self.names is not None and len(self.names) != total:
            raise ValueError(f"names: {len(self.names)} given, but the roles add up to {total} seats")
        if self.overbid_at > self.bid_max:
            raise ValueError(f"overbid_at = {self.overbid_at}: above bid_max = {self.bid_max}, so it could never apply")
        if self.debate_turns == 0 and not self.vote_reasons:
            raise ValueError("debate_turns = 0 and vote_reasons = false: nobody would ever make a statement")
        if self.assess != "live" and self.label_asked != "after":
            unset = "" if self.label else f'; with protocol = "{self.protocol}" it must be given'
            raise ValueError(f'assess = "{self.assess}": no label is asked in a game, so label must be "after"{unset}')
        if self.roles is not None:
            self._check_roles(self.roles)

    def _check_roles(self, roles: dict[str, Role]) -> None:
        if self.names is None:
            raise ValueError("roles: give `names` as well, in seating order")
        if stranger := next((name for name in roles if name not in self.names), None):
            raise ValueError(f"roles: {stranger!r} is not among the names")
        if missing := next((name for name in self.names if name not in roles), None):
            raise ValueError(f"roles: {missing!r} has none; give everybody a role or nobody")
        for role in ROLES:
            dealt = [*roles.values()].count(role)
            if dealt != self.count(role):
                raise ValueError(f"roles: {dealt} × {role} given, but the counts say {self.count(role)}")

    @property
    def seats(self) -> int:
        """Number of players."""
        return sum(map(self.count, ROLES))

    def count(self, role: Role) -> int:
        """Return how many seats hold `role`."""
        seats: int = getattr(self, FACTS[role].count)
        return seats

    @property
    def accomplices(self) -> tuple[Role, ...]:
        """Roles of the game that win with the Werewolves, and are none."""
        wins_with_them = (role for role in ROLES if FACTS[role].team == "werewolves" and self.count(role))
        return tuple(role for role in wins_with_them if role != "Werewolf")

    @property
    def label_asked(self) -> LabelTime:
        """When speakers label their words, be it by `label` or by the protocol."""
        return self.label or ("with" if self.protocol == "compact" else "after")

    @property
    def labels_words(self) -> bool:
        """Whether the reply that holds the words holds their label, too."""
        return self.label in {"with", "both"}

    def may_be_said(self, words: str) -> bool:
        """Return whether words are no longer than a statement may be."""
        return self.max_statement is None or len(words) <= self.max_statement

    @property
    def feeds_back(self) -> bool:
        """Whether what a seat made of statements is part of what it knows during the game."""
        return self.feedback and self.assess == "live"

    @property
    def exact_overbid_factor(self) -> Fraction:
        """`overbid_factor` as it was written (0.85 is 17/20), so that effective bids compare exactly."""
        return _exactly(self.overbid_factor)


@lru_cache(maxsize=64)
def _exactly(number: float) -> Fraction:
    """Return a number as it was written."""
    return Fraction(Decimal(repr(number)))


NOBODY_WORDS = frozenset({"nobody", "none", "null", "abstain", "no one", "noone", "n/a", "pass", "skip"})
"""Words that answer "nobody" or "I abstain", in lower case; none of them can be a player's name."""


def _is_name(name: str) -> bool:
    return (
        0 < len(name) <= 32
        and name == name.strip()
        and name.isprintable()
        and "/" not in name
        and unicodedata.normalize("NFC", name) == name
        and name.casefold() not in NOBODY_WORDS
    )


def config_from_table(table: dict[str, Any], source: str = "config") -> GameConfig:
    """Build a `GameConfig` from TOML tables.

    Raises:
        ConfigError: one line that names the source, the field and the reason.
    """
    try:
        return GameConfig.model_validate(_lists_to_tuples(table))
    except ValidationError as error:
        raise ConfigError(f"{source}: {fault_of_table(error, GameConfig)}") from None


def read_toml_file(path: Path) -> dict[str, Any]:
    """Parse a TOML file that a user names.

    Raises:
        ConfigError: it cannot be read or is no TOML; the line names the file and the reason.
    """
    return read_toml(read_text_whole(path, _LONGEST), str(path))


def read_toml(text: str, source: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        ConfigError: with the source and the place of the mistake.
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:
        # TOMLDecodeError, or a number that is too long for Python
        raise ConfigError(f"{source}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{source}: not TOML: nested too deeply") from None


def _lists_to_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_lists_to_tuples(item) for item in value)
    if isinstance(value, dict):
        return {key: _lists_to_tuples(item) for key, item in value.items()}
    return value


_VERBS: Final[dict[Kind, str]] = {
    "bid": "bid",
    "speak": "speak",
    "assess_own": "label a statement",
    "assess_other": "judge one",
    "vote": "vote",
    **{kind: act.verb for kind, act in ACTS.items()},
}


_LABELLED: Final = {"with": " as it makes it", "both": " as it makes it, and again afterwards"}


def rules_text(config: GameConfig, *, technical: bool = True) -> str:
    """Return the rules of a game as plain text, sections under headings, for people and for prompts.

    Args:
        config: the rules.
        technical: whether to tell how answers are read and timed, too: what the form of an answer sees to, and what a
            language model cannot see.
    """
    # who is what by name is no rule, and cannot be hashed
    return _rules_text(config.model_copy(update={"roles": None}), technical)


@lru_cache(maxsize=64)
def _rules_text(config: GameConfig, technical: bool) -> str:
    counts = {role: config.count(role) for role in ROLES if config.count(role)}
    values = dict(config)
    return (
        _words()
        .get_template("rules.txt")
        .render(
            values,
            seats=config.seats,
            roles=", ".join(f"{n} {FACTS[role].plural if n > 1 else role}" for role, n in counts.items()),
            nights=_rule_lines(config, {role: FACTS[role].rules for role in FACTS if role in counts}),
            accomplices=[FACTS[role].plural for role in config.accomplices],
            lacking=[
                act.noun for role in FACTS if role in counts and role != "Werewolf" for act in FACTS[role].acts.values()
            ],
            days=_rule_lines(config, {role: FACTS[role].day_rules for role in FACTS if role in counts}),
            labelled=_LABELLED.get(config.label or "", ""),
            old=1 - Decimal(repr(config.alpha)),
            technical=technical,
            times=_times(config),
            grace=f"{config.absent_grace:g}",
        )
    )


def _rule_lines(config: GameConfig, templates: Mapping[Role, str]) -> list[str]:
    """Return what is told of the roles of a game, line by line."""
    lines: list[str] = []
    for role, template in templates.items():
        the = f"{'The' if config.count(role) == 1 else 'Each'} {role}"
        lines += _words().from_string(template).render(dict(config), The=the).split("\n")
    return [line for line in lines if line]


def _times(config: GameConfig) -> str:
    by_length: dict[float, list[str]] = {}
    for kind in KINDS:
        by_length.setdefault(config.deadlines.of(kind), []).append(_VERBS[kind])
    return "; ".join(f"{seconds:g} s to {', '.join(verbs)}" for seconds, verbs in by_length.items())


@cache
def _words() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # plain text, for terminals and prompts
    words = Environment(  # noqa: S701
        loader=FileSystemLoader(folder_of("wolfbus.game")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    words.filters["counted"] = counted
    return words
