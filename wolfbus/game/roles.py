"""What each role is: its side, how many there are, what it alone is asked, how it is told of and drawn.

All of it stands in ``roles.toml``; rules, prompts, questions to people, forms of replies, figures and the padding of
nights are made from there. ``other_roles.toml`` has the roles of other tables, whose games come in as logs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, TypeAlias, cast

from pydantic import RootModel

from wolfbus.files.package_data import PackageData, read_data
from wolfbus.game.vocabulary import ROLES, Kind, Role, Team

Marker: TypeAlias = Literal["circle", "square", "triangle", "diamond", "wedge"]


class Mark(PackageData):
    """How a role is drawn.

    Attributes:
        marker: the shape of its points.
        dash: lengths of strokes and gaps, in pixels; "" for a solid line.
        light: its colour on a light ground.
        dark: its colour on a dark ground.
    """

    marker: Marker
    dash: str
    light: str
    dark: str


class Act(PackageData):
    """Something that a role is asked for: to name a player. See ``roles.toml`` for the members."""

    span: Literal["night", "day"] = "night"
    verb: str
    noun: str
    default: str
    chosen: str
    question: str
    prompt: str
    help: str = "A name."
    keys: tuple[str, ...]


class RoleFacts(PackageData):
    """What a role is. See ``roles.toml`` for the members."""

    team: Team
    count: str
    plural: str
    words: tuple[str, ...] = ()
    figure: Mark
    rules: str = ""
    day_rules: str = ""
    goal: str
    acts: Mapping[Kind, Act] = {}


class _Roles(RootModel[dict[Role, RoleFacts]]):
    """The whole file."""


FACTS: Final[Mapping[Role, RoleFacts]] = read_data("wolfbus.game", "roles", _Roles).root
"""What each role is, in the order in which the rules tell of their nights."""

ACTS: Final[Mapping[Kind, Act]] = {kind: act for facts in FACTS.values() for kind, act in facts.acts.items()}
"""What single roles are asked, most of it at night, by kind of request."""

ASKED_FOR: Final[Mapping[Kind, str]] = {
    "bid": "bid",
    "speak": "statement",
    "assess_own": "self-label",
    "assess_other": "judgement",
    "vote": "vote",
    **{kind: act.noun for kind, act in ACTS.items()},
    "whisper": "whisper",
}
"""What each kind of request asks for, in the singular."""

ROLE_WORDS: Final[Mapping[str, Role]] = {
    word: role for role, facts in FACTS.items() for word in (role.lower(), *facts.words)
}
"""Roles by the words for them in a text in lower case."""


class OtherRole(PackageData):
    """A role of other tables. See ``other_roles.toml`` for the members."""

    team: Team
    sees: Literal["nothing", "werewolves", "exiled"] = "nothing"
    words: tuple[str, ...] = ()


class _OtherRoles(PackageData):
    """The whole file."""

    words: Mapping[Role, tuple[str, ...]]
    roles: dict[str, OtherRole]


_OTHERS: Final = read_data("wolfbus.game", "other_roles", _OtherRoles)

OTHER_ROLES: Final[Mapping[str, OtherRole]] = {
    name: other for name, other in _OTHERS.roles.items() if name not in FACTS
}
"""Roles of other tables, but for those that there are here. They stand where a `Role` does in what is read of logs, and
in no message.
"""

TABLE_ROLES: Final[tuple[str, ...]] = (*ROLES, *OTHER_ROLES)
"""All that a seat of any table may count as."""

_TABLE_WORDS: Final[Mapping[str, str]] = {
    **{word: role for role, words in _OTHERS.words.items() for word in words},
    **{word: name for name, other in OTHER_ROLES.items() for word in (name.lower(), *other.words)},
    **ROLE_WORDS,
}


def table_role(word: str, team: Team | None) -> str | None:
    """Return what a seat counts as, by its role as another table calls it.

    Args:
        word: the role, in any case.
        team: its side, where that is told; one of the two roles at the end of ``other_roles.toml`` stands for any other
            of that side.

    Returns:
        One of `TABLE_ROLES`; None for a word that nobody knows here, of no side.
    """
    role = _TABLE_WORDS.get(" ".join(word.casefold().replace("_", " ").split()))
    others = {"villagers": "Other villager", "werewolves": "Other accomplice"}
    return role or (None if team is None else others[team])


def roles_among(names: Collection[str]) -> tuple[Role, ...]:
    """Return the roles that tables tell apart where somebody has these: ours, and those of other tables among them."""
    return tuple(cast("Role", name) for name in TABLE_ROLES if name in FACTS or name in names)


def plural_of(role: Role) -> str:
    """Return what several of a role are called, one of another table among them."""
    return FACTS[role].plural if role in FACTS else f"{role}s"


def team_of(role: Role) -> Team:
    """Return the side that `role` wins with, one of another table among them."""
    return FACTS[role].team if role in FACTS else OTHER_ROLES[role].team


def sees(role: Role) -> str:
    """Return who a role is told is a Werewolf: "werewolves", "exiled", or "nothing"; see ``other_roles.toml``."""
    return "werewolves" if role == "Werewolf" else OTHER_ROLES[role].sees if role in OTHER_ROLES else "nothing"
