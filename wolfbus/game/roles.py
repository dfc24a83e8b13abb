"""What each role is: its side, how many there are, what it alone is asked, how it is told of and drawn.

All of it stands in ``roles.toml``; rules, prompts, questions to people, forms of replies, figures and the padding of
nights are made from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pydantic import RootModel

from wolfbus.files.package_data import PackageData, read_data
from wolfbus.game.vocabulary import Kind, Role, Team

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

ROLE_WORDS: Final[Mapping[str, Role]] = {
    word: role for role, facts in FACTS.items() for word in (role.lower(), *facts.words)
}
"""Roles by the words for them in a text in lower case."""


def team_of(role: Role) -> Team:
    """Return the side that `role` wins with."""
    return FACTS[role].team
