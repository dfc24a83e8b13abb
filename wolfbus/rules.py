"""The rules in words, written from the very `GameConfig` that the engine executes; the words stand in ``rules.txt``."""

from __future__ import annotations

from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from wolfbus.config import GameConfig
from wolfbus.package_data import folder_of
from wolfbus.printable import counted
from wolfbus.roles import ACTS, FACTS
from wolfbus.vocabulary import KINDS, ROLES, Kind, Role

if TYPE_CHECKING:
    from jinja2 import Environment

_VERBS: Final[dict[Kind, str]] = {
    "bid": "bid",
    "speak": "speak",
    "assess_own": "label a statement",
    "assess_other": "judge one",
    "vote": "vote",
    **{kind: act.verb for kind, act in ACTS.items()},
}


@lru_cache(maxsize=64)
def rules_text(config: GameConfig, *, technical: bool = True) -> str:
    """Return the rules of a game as plain text, sections under headings, for people and for prompts.

    Args:
        config: the rules.
        technical: whether to tell how answers are read and timed, too: what the form of an answer sees to, and what a
            language model cannot see.
    """
    there = {role: config.count(role) for role in ROLES if config.count(role)}
    told = dict(config)
    return (
        _words()
        .get_template("rules.txt")
        .render(
            told,
            seats=config.seats,
            roles=", ".join(f"{n} {FACTS[role].plural if n > 1 else role}" for role, n in there.items()),
            nights=[line for role in FACTS if role in there for line in _nights(role, config)],
            old=1 - Decimal(repr(config.alpha)),
            technical=technical,
            times=_times(config),
            grace=f"{config.absent_grace:g}",
        )
    )


def _nights(role: Role, config: GameConfig) -> list[str]:
    """Return what is told of a role's nights, line by line."""
    the = f"{'The' if config.count(role) == 1 else 'Each'} {role}"
    told = _words().from_string(FACTS[role].rules).render(dict(config), The=the)
    return [line for line in told.split("\n") if line]


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
        loader=FileSystemLoader(folder_of("wolfbus")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    words.filters["counted"] = counted
    return words
