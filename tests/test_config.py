from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wolfbus.config import Deadlines, GameConfig, config_from_table, read_toml
from wolfbus.errors import ConfigError
from wolfbus.vocabulary import KINDS, ROLES

EIGHT = list("ABCDEFGH")
DEALT = dict(zip(EIGHT, ["Villager"] * 4 + ["Werewolf"] * 2 + ["Seer", "Doctor"], strict=True))


def refusal(**table: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        config_from_table(table, "game.toml")
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 300
    assert text.startswith("game.toml: ")
    return text.removeprefix("game.toml: ")


def to_toml(config: GameConfig) -> str:
    """JSON's strings, numbers, arrays and booleans are TOML's too."""
    value = config.model_dump(exclude_none=True)
    tables = {name: value.pop(name) for name in ("roles", "deadlines") if name in value}
    lines = [f"{name} = {json.dumps(item, ensure_ascii=False)}" for name, item in value.items()]
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines.extend(f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(item)}" for key, item in table.items())
    return "\n".join(lines)


def test_the_defaults_are_the_papers() -> None:
    config = GameConfig()
    assert config.seats == 8
    assert [config.count(role) for role in ROLES] == [4, 2, 1, 1]
    assert (config.debate_turns, config.bid_max, config.overbid_at) == (6, 10, 8)
    assert (config.alpha, config.prior) == (0.7, 0.5)
    assert config_from_table({}) == config


def test_the_overbid_factor_is_the_number_as_written() -> None:
    assert GameConfig().exact_overbid_factor == Fraction(17, 20)
    assert GameConfig(overbid_factor=0.1).exact_overbid_factor == Fraction(1, 10)
    assert GameConfig(overbid_factor=1e-5).exact_overbid_factor == Fraction(1, 100_000)


def test_every_kind_of_request_has_a_deadline() -> None:
    assert set(Deadlines.model_fields) == set(KINDS)
    for kind in KINDS:
        assert Deadlines(**{kind: 7.5}).of(kind) == 7.5


@pytest.mark.parametrize(
    "config",
    [
        GameConfig(),
        GameConfig(names=tuple(EIGHT)),
        GameConfig(names=tuple(EIGHT), roles=DEALT),
        GameConfig(names=("Ève", "李", "O'Neil", 'Q"t', "Back\\slash", "Dr. X", "a b", "8"), reveal_on_death="role"),
        GameConfig(villagers=9, werewolves=5, deadlines=Deadlines(bid=0.5, vote=3600), alpha=0.125, overlap=False),
    ],
    ids=range(5),
)
def test_a_config_survives_toml(config: GameConfig) -> None:
    assert config_from_table(read_toml(to_toml(config), "x"), "x") == config


LEGAL = st.fixed_dictionaries(
    {},
    optional={
        "villagers": st.integers(0, 16),
        "werewolves": st.integers(0, 16),
        "seers": st.integers(0, 4),
        "doctors": st.integers(0, 4),
        "bid_max": st.integers(1, 12),
        "overbid_at": st.integers(1, 12),
        "overbid_factor": st.floats(0, 1, exclude_min=True),
        "debate_turns": st.integers(0, 3),
        "vote_reasons": st.booleans(),
        "first_night_kill": st.booleans(),
        "alpha": st.floats(0, 1),
    },
)


@settings(max_examples=300, deadline=None, database=None)
@given(LEGAL)
def test_every_config_can_be_played_or_is_refused_in_one_line(table: dict[str, Any]) -> None:
    try:
        config = config_from_table(table, "game.toml")
    except ConfigError:
        refusal(**table)
        return
    others = config.seats - config.werewolves
    assert 5 <= config.seats <= 16
    assert 1 <= config.werewolves < others - (1 if config.first_night_kill else 0)
    assert config.overbid_at <= config.bid_max
    assert config.debate_turns or config.vote_reasons
    assert config_from_table(read_toml(to_toml(config), "x"), "x") == config


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"villagers": True}, "villagers: input should be a valid integer (given True)"),
        ({"villagers": "4"}, "villagers: input should be a valid integer (given '4')"),
        ({"villagers": 4.0}, "villagers: input should be a valid integer (given 4.0)"),
        ({"villagers": -1}, "villagers: input should be greater than or equal to 0 (given -1)"),
        ({"villagers": 17}, "villagers: input should be less than or equal to 16 (given 17)"),
        ({"overlap": 1}, "overlap: input should be a valid boolean (given 1)"),
        ({"alpha": float("nan")}, "alpha: input should be less than or equal to 1 (given nan)"),
        ({"alpha": True}, "alpha: input should be a valid number (given True)"),
        ({"overbid_factor": 0}, "overbid_factor: input should be greater than 0 (given 0)"),
        ({"overbid_factor": float("inf")}, "overbid_factor: input should be less than or equal to 1 (given inf)"),
        ({"deadlines": {"bid": 0}}, "deadlines.bid: input should be greater than 0 (given 0)"),
        ({"deadlines": {"bidd": 1}}, "deadlines.bidd: no such field; did you mean 'bid'?"),
        ({"deadlines": 60}, "deadlines: input should be a table (given 60)"),
        ({"debate_tunrs": 1}, "debate_tunrs: no such field; did you mean 'debate_turns'?"),
        ({"zzz": 1}, "zzz: no such field"),
        ({"a\nb": 1}, "'a\\nb': no such field"),
        ({"reveal_on_death": "all"}, "reveal_on_death: input should be 'none', 'team' or 'role' (given 'all')"),
        ({"villagers": 0}, "the roles add up to 4 seats; a game has 5 to 16"),
        ({"villagers": 15}, "the roles add up to 19 seats; a game has 5 to 16"),
        ({"werewolves": 0}, "werewolves = 0: a game needs at least one"),
        ({"werewolves": 6}, "werewolves = 6: they must be fewer than the other seats (6)"),
        (
            {"werewolves": 5},
            (
                "werewolves = 5: after a first-night kill they would be as many as the other seats (5); "
                "lower it or set first_night_kill = false"
            ),
        ),
        ({"overbid_at": 11}, "overbid_at = 11: above bid_max = 10, so it could never apply"),
        (
            {"debate_turns": 0, "vote_reasons": False},
            "debate_turns = 0 and vote_reasons = false: nobody would ever make a statement",
        ),
        ({"names": "Raj"}, "names: input should be a list (given 'Raj')"),
        ({"names": ["A", 1]}, "names.1: input should be a valid string (given 1)"),
        ({"names": ["A", "B"]}, "names: 2 given, but the roles add up to 8 seats"),
        ({"names": [*EIGHT[:7], "a"]}, "names: 'a' is there twice (case does not count)"),
        ({"roles": DEALT}, "roles: give `names` as well, in seating order"),
        ({"names": EIGHT, "roles": 3}, "roles: input should be a table (given 3)"),
        (
            {"names": EIGHT, "roles": {**DEALT, "A": "Wolf"}},
            "roles.A: input should be 'Villager', 'Werewolf', 'Seer' or 'Doctor' (given 'Wolf')",
        ),
        ({"names": EIGHT, "roles": {**DEALT, "Z": "Seer"}}, "roles: 'Z' is not among the names"),
        ({"names": EIGHT, "roles": {"A": "Seer"}}, "roles: 'B' has none; give everybody a role or nobody"),
        (
            {"names": EIGHT, "roles": {**DEALT, "A": "Werewolf"}},
            "roles: 3 × Villager given, but the counts say 4",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_refusal_names_the_field_and_the_reason(table: dict[str, Any], said: str) -> None:
    assert refusal(**table) == said


@pytest.mark.parametrize(
    "name", ["", " Raj", "Raj ", "a/b", "a\nb", "x" * 33, "nobody", "NONE", "No One", "e\u0300", "\u202e", "\ud800"]
)
def test_words_that_are_no_name_are_refused(name: str) -> None:
    said = refusal(names=[*EIGHT[:7], name])
    assert said.startswith("names: ")
    assert " is no name: 1 to 32 printable characters" in said


def test_a_huge_value_does_not_fill_the_screen() -> None:
    refusal(names=["x" * 100_000] * 8)
    refusal(villagers="x" * 100_000)
    refusal(deadlines=list(range(10_000)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = ", "game.toml: not TOML: Invalid value"),
        ("a = 1\na = 2", "game.toml: not TOML: Cannot overwrite a value"),
        ("= 1", "game.toml: not TOML: Invalid statement (at line 1, column 1)"),
        ("a = " + "[" * 9999, "game.toml: not TOML: "),
    ],
)
def test_broken_toml_is_named_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_toml(text, "game.toml")
    assert str(caught.value).startswith(said)
