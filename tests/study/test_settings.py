"""What a study's file may say, the line that tells what is wrong with it, and what its folder says of it."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

from tests.study.runs import SHORT, manifest, run_here

EXAMPLE = Path(__file__).parents[2] / "examples" / "study.toml"
REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))


@pytest.fixture
def played(tmp_path, out):
    """Play a study of this text; returns its manifest and the study that its folder tells."""

    def played(text, *options):
        path = tmp_path / "study.toml"
        path.write_text(text)
        run_here(path, "--out", out, *options, code=0)
        return manifest(out), tomllib.loads((out / "study.toml").read_text("utf-8"))

    return played


@pytest.mark.parametrize(("text", "words"), [(text, words) for text, *words in REFUSED["settings"]])
def test_a_mistake_is_one_line_that_names_the_file_and_the_field(tmp_path, out, text, words):
    path = tmp_path / "study.toml"
    path.write_text(text.replace("{digits}", "f" * 4000))
    done = run_here(path, "--out", out)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert all(word in line for word in words)
    assert "wizard" in text or line.startswith(f"wolfbus: {path}")
    assert not out.exists()


def test_options_come_before_the_file(played):
    options = ("--games", "1", "--players", "scripted*6,random*2")
    study, _ = played(f'games = 7\nseed = 3\nagents = ["random"]\n{SHORT}', *options)
    assert (len(study["games"]), study["seed_sha256"]) == (1, hashlib.sha256(b"3").hexdigest())
    assert study["seats"] == ["scripted"] * 6 + ["random"] * 2


def test_margins_may_be_declared_alone_and_the_usual_metrics_are_primary(played):
    study, again = played(f"games = 1\n[report]\nmargins = {{ suspicion_gap = 0.03 }}\n{SHORT}")
    assert (study["primary"], study["margins"]) == (None, {"suspicion_gap": 0.03})
    assert again["report"] == {"margins": {"suspicion_gap": 0.03}}


def test_players_by_name_sit_where_their_names_do(played):
    names = ["A", "B", "C", "D", "E", "F", "G", "H"]
    study, _ = played(f'games = 2\n[players]\nC = "random"\ndefault = "scripted"\n{SHORT}names = {names}')
    assert study["design"]["kind"] == "fixed"
    assert {tuple(game["brains"]) for game in study["games"]} == {("scripted", "scripted", "random", *["scripted"] * 5)}


def test_a_config_file_of_play_gives_rules_players_and_models(played, tmp_path):
    config = tmp_path / "play.toml"
    config.write_text('debate_turns = 2\nmax_rounds = 2\nplayers = "random"\n[models.mini]\nmodel = "m"')
    study, again = played("games = 1", "--config", config)
    assert (study["config"]["debate_turns"], study["seats"]) == (2, ["random"] * 8)
    assert again["models"] == {"mini": {"model": "m"}}


def test_a_study_goes_on_with_the_servers_of_a_config_file_and_is_held_to_its_rules(played, out, tmp_path):
    text = 'games = 1\nseed = 3\nplayers = "scripted*4,random*4"\n[models.m]\nmodel = "m"\n'
    played(text + SHORT)
    config = tmp_path / "other.toml"
    config.write_text('[models.m]\nmodel = "m"\nendpoint = "e"\n[endpoints.e]\nat_once = 3\n')
    run_here("--resume", "--out", out, "--config", config, code=0)
    assert tomllib.loads((out / "study.toml").read_text("utf-8"))["endpoints"] == {"e": {"at_once": 3}}
    for rule in ("max_rounds = 3", "debate_turns = 6"):
        config.write_text(f"{rule}\n")
        done = run_here("--resume", "--out", out, "--config", config, code=2)
        assert "config.debate_turns: 6 is told, and the folder's study has 2" in done.stderr


def test_a_study_goes_on_with_a_price_that_its_models_lacked_and_never_with_another(played, out, tmp_path):
    model = '[endpoints.here]\nprovider = "mock"\n[models.m]\nendpoint = "here"\n'
    played(f'games = 1\nseed = 3\nplayers = "llm:m*8"\n{model}{SHORT}')
    config = tmp_path / "priced.toml"
    again = ("--resume", "--out", out, "--games", "2", "--budget", "9")
    assert 'add  price = { input = …, output = … }  to [models."m"]' in run_here(*again, code=2).stderr
    config.write_text(f"{model}price = {{ input = 1, output = 2 }}\n")
    run_here(*again, "--config", config, code=0)
    assert manifest(out)["models"]["m"]["price"] == {"input": 1.0, "cached": None, "output": 2.0}
    config.write_text(f"{model}price = {{ input = 1, output = 3 }}\n")
    done = run_here(*again, "--config", config, code=2)
    assert "models.m.price.output: 3.0 is told, and the folder's study has 2.0" in done.stderr


def test_the_folders_own_files_say_the_same_study(played, out):
    text = f"""
    name = "Größe \\"x\\""
    games = 1
    budget = 1.5
    agents = ["scripted", "random"]
    {SHORT}
    names = ["A", "B", "C", "D", "E", "F", "G", "H"]
    [rules.deadlines]
    bid = 5.0
    [endpoints.here]
    url = "http://localhost:8000/v1"
    [models.mini]
    model = "m"
    endpoint = "here"
    price = {{ input = 0.1, output = 0.2 }}
    """
    study, again = played(text)
    # a seed that nobody gave is drawn once
    assert len(again["seed"]) == 32
    # what `wolfbus play` takes
    rules = out.with_name("rules")
    run_here("--config", out / "rules.toml", "--games", "1", "--out", rules, code=0)
    assert manifest(rules)["config"] == study["config"]
    assert tomllib.loads((rules / "study.toml").read_text("utf-8"))["models"] == again["models"]
    other = out.with_name("other")
    run_here(out / "study.toml", "--out", other, code=0)
    assert tomllib.loads((other / "study.toml").read_text("utf-8")) == again
    members = ("study", "name", "seed_sha256", "config", "agents", "design", "budget_usd")
    assert [manifest(other)[name] for name in members] == [study[name] for name in members]


def test_the_example_is_two_cycles_of_its_design(out):
    run_here(EXAMPLE, "--games", "1", "--out", out, code=0)
    assert tomllib.loads(EXAMPLE.read_text("utf-8"))["games"] == 2 * manifest(out)["design"]["cycle"]


def test_any_name_and_any_number_is_written_so_that_it_reads_back_the_same(played):
    # every character that TOML or JSON treat in a way of their own, and one that takes two of UTF-16
    strange = "".join(map(chr, range(0xA1))) + "é\u2028\ufeff\U0001f43a"
    literal = "".join(f"\\U{ord(character):08x}" for character in strange)
    text = f"""
    games = 1
    name = "{literal}"
    budget = 1e-7
    budget_tokens = {2**53}
    {SHORT}
    [models.m]
    model = "m"
    price = {{ input = 0, output = 1e9 }}
    extra = {{ "{literal}" = "{literal}", "" = "", plain = true, half = -0.5, minus = -7, large = 1e22 }}
    """
    study, again = played(text)
    assert (study["name"], again["name"], again["budget"], again["budget_tokens"]) == (strange, strange, 1e-7, 2**53)
    assert again["models"] == tomllib.loads(text)["models"]
