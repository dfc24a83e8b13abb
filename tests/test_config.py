from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

import wolfbus
from tests.llm.tables import tables
from wolfbus.errors import ConfigError
from wolfbus.game.config import Deadlines, GameConfig, config_from_table, read_toml
from wolfbus.game.vocabulary import KINDS, ROLES

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
    return tomli_w.dumps(config.model_dump(exclude_none=True))


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


@pytest.mark.parametrize(("text", "message"), tables(__file__)["refusals"])
def test_the_refusal_names_the_field_and_the_reason(text: str, message: str) -> None:
    assert refusal(**read_toml(text, "game.toml")) == message


@pytest.mark.parametrize(
    "name", ["", " Raj", "Raj ", "a/b", "a\nb", "x" * 33, "nobody", "NONE", "No One", "e\u0300", "\u202e", "\ud800"]
)
def test_words_that_are_no_name_are_refused(name: str) -> None:
    message = refusal(names=[*EIGHT[:7], name])
    assert message.startswith("names: ")
    assert " is no name: 1 to 32 printable characters" in message


def test_a_huge_value_does_not_fill_the_screen() -> None:
    refusal(names=["x" * 100_000] * 8)
    refusal(villagers="x" * 100_000)
    refusal(deadlines=list(range(10_000)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "game.toml: not TOML: Invalid value"),
        ("a = 1\na = 2", "game.toml: not TOML: Cannot overwrite a value"),
        ("= 1", "game.toml: not TOML: Invalid statement (at line 1, column 1)"),
        ("a = " + "[" * 9999, "game.toml: not TOML: "),
    ],
)
def test_broken_toml_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_toml(text, "game.toml")
    assert str(caught.value).startswith(message)


def test_a_config_file_has_its_rules_at_its_top_or_under_rules_as_a_study_does(tmp_path) -> None:
    rules, path = "debate_turns = 1\nmax_rounds = 1\n", tmp_path / "game.toml"
    digests = set()
    for text in (f"{rules}[deadlines]\nbid = 5\n", f"[rules]\n{rules}[rules.deadlines]\nbid = 5\n"):
        path.write_text(f'players = "scripted"\n{text}')
        digests.add(wolfbus.play(config=path, seed=7).digest)
    assert len(digests) == 1
    for text, fault in (
        (f"{rules}[rules]\n", "debate_turns: a rule beside"),
        ("rules = 3", "rules: input should be a"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=f"{path}: {fault}"):
            wolfbus.play("scripted", config=path)
