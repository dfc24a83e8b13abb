"""What a study's file may say, and the line that tells what is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wolfbus.cli.studying.loading import load_study
from wolfbus.errors import ConfigError
from wolfbus.study.settings import toml_text

REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))


def load(folder, text, **options):
    path = folder / "study.toml"
    path.write_text(text)
    return load_study(path, None, options)


@pytest.mark.parametrize(("text", "words"), [(text, words) for text, *words in REFUSED["settings"]])
def test_a_mistake_is_one_line_that_names_the_file_and_the_field(tmp_path, text, words):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line
    if "wizard" not in text:
        assert line.startswith(str(tmp_path / "study.toml"))


def test_options_come_before_the_file(tmp_path):
    study = load(tmp_path, 'games = 7\nseed = 3\nagents = ["random"]', games=9, players="scripted*6,random*2")
    assert (study.settings.games, study.seed) == (9, "3")
    assert study.seats == ("scripted",) * 6 + ("random",) * 2


def test_players_by_name_sit_where_their_names_do(tmp_path):
    names = ["A", "B", "C", "D", "E", "F", "G", "H"]
    study = load(tmp_path, f'[players]\nC = "random"\ndefault = "scripted"\n[rules]\nnames = {names}')
    assert study.settings.kind == "fixed"
    assert study.seats == ("scripted", "scripted", "random", *["scripted"] * 5)
    assert study.plan().game(3).brains == study.seats


def test_a_config_file_of_play_gives_rules_players_and_models(tmp_path):
    (tmp_path / "play.toml").write_text('debate_turns = 2\nplayers = "random"\n[models.mini]\nmodel = "m"')
    study = load_study(None, tmp_path / "play.toml", {})
    assert (study.config.debate_turns, study.seats, list(study.models)) == (2, ("random",) * 8, ["mini"])


def test_the_folders_own_file_says_the_same_study(tmp_path):
    text = """
    name = "Größe \\"x\\""
    games = 12
    seed = 5
    budget = 1.5
    agents = ["llm:mini", "random"]
    [rules]
    debate_turns = 2
    names = ["A", "B", "C", "D", "E", "F", "G", "H"]
    [rules.deadlines]
    bid = 5.0
    [endpoints.here]
    url = "http://localhost:8000/v1"
    [models.mini]
    model = "m"
    endpoint = "here"
    price = { input = 0.1, output = 0.2 }
    """
    study = load(tmp_path, text)
    again = load(tmp_path, study.text())
    assert again.settings == study.settings.model_copy(update={"design": "balanced"})
    assert (again.config, again.models, again.plan().study) == (study.config, study.models, study.plan().study)
    from wolfbus.cli.options import load_config

    (tmp_path / "rules.toml").write_text(study.rules_text())
    played = load_config(tmp_path / "rules.toml")
    assert (played.config, played.models) == (study.config, study.models)


def test_the_example_is_two_cycles_of_its_design():
    study = load_study(Path(__file__).parents[2] / "examples" / "study.toml", None, {})
    plan = study.plan()
    balance = plan.balance(study.settings.games)
    assert study.settings.games == 2 * (plan.design.cycle or 0)
    assert balance["roles_equal"]
    assert balance["meetings_equal"]


def test_a_fresh_seed_is_kept_in_the_folders_file(tmp_path):
    study = load(tmp_path, "games = 3")
    assert load(tmp_path, study.text()).seed == study.seed
    assert len(study.seed) == 32


def test_the_models_of_a_manifest_hold_no_key_and_no_limits(tmp_path):
    text = '[models.mini]\nmodel = "m"\nendpoint = "e"\n[endpoints.e]\nurl = "http://h/v1"\nkey_env = "SECRET_NAME"'
    study = load(tmp_path, text, players="llm:mini")
    assert study.used_models(("llm:mini",))["mini"]["endpoint"] == {"url": "http://h/v1"}


_VALUES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)
_TABLES = st.recursive(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), _VALUES | st.lists(_VALUES)),
    lambda inner: st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), inner | _VALUES),
    max_leaves=6,
)


@given(_TABLES)
def test_what_is_written_as_toml_reads_back_the_same(table):
    assert tomllib.loads(toml_text(table)) == table
