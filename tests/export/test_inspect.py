"""A log for Inspect, read back with Inspect."""

import importlib
import json
import tomllib
from pathlib import Path

import pytest

from analytics.export import write_parquet
from tests.export.records import HOSTILE, figures_of, game, rows_of, with_calls, write
from tests.llm.tables import tables
from wolfbus.cli import run

MEASURES = tomllib.loads(
    (Path(__file__).parents[2] / "analytics" / "export" / "inspect_measures.toml").read_text("utf-8")
)["measures"]


@pytest.fixture(scope="module", autouse=True)
def inspect():
    """Import Inspect in the one worker that needs it: that takes a second."""
    pytest.importorskip("inspect_ai.analysis")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Two whole games with model calls, and one that was cut off."""
    folder = tmp_path_factory.mktemp("games")
    for name, seed in (("a", "1"), ("b", "2")):
        write(folder, with_calls(game(name, seed, brains=("llm:one", "llm:two"))))
    write(folder, game("c", "3", brains=("llm:one", "llm:two"))[:120])
    return folder


@pytest.fixture(scope="module")
def rows(games, tmp_path_factory):
    """What the tables say of the games."""
    folder = tmp_path_factory.mktemp("tables")
    write_parquet([games], folder, tables=["games", "statements", "judgements"])
    return {path.stem: rows_of(path) for path in folder.glob("*.parquet")}


PATHS = tables(__file__)
"""Where a score, and its number of observations, stand in the findings."""


def at(figures, path):
    if " / " in path:
        part, whole = (at(figures, part_of) for part_of in path.split(" / "))
        return part / whole if whole else None
    for name in path.split("."):
        figures = figures[name]
    return figures


def exported(sources, out, *words):
    from inspect_ai.log import read_eval_log

    assert run(["export", "inspect", str(sources), "--out", str(out), *words]) in {0, 1}
    (path,) = out.iterdir()
    return read_eval_log(str(path), resolve_attachments=True)


@pytest.fixture(scope="module")
def log(games, tmp_path_factory):
    return exported(games, tmp_path_factory.mktemp("logs"))


def test_the_log_is_complete_and_names_task_and_models(log):
    assert (log.status, log.eval.task) == ("success", "wolf")
    assert log.eval.dataset.samples == len(log.samples) == log.results.total_samples == 3
    assert log.results.completed_samples == 2
    assert log.eval.dataset.sample_ids == ["a", "b", "c"]
    assert log.eval.model == "large+small"
    assert [sample.output.model for sample in log.samples] == ["large+small", "large+small", "llm:one+llm:two"]
    assert set(log.eval.model_roles) == {"Villager", "Werewolf", "Seer", "Doctor"}
    assert log.eval.packages["wolfbus"]
    assert log.eval.created.startswith("2023-11-14T22:13:20")

    def refuse(constant):
        raise AssertionError(constant)

    # no number in it is undefined
    json.loads(log.model_dump_json(), parse_constant=refuse)


def test_a_sample_is_a_game(log, rows):
    of_games = {row["game_id"]: row for row in rows["games"]}
    for sample in log.samples:
        row = of_games[sample.id]
        assert sample.input.startswith("Players\n- 8 players")
        for name in ("winner", "reason", "rounds", "statements", "judgements", "seed", "digest", "block", "finished"):
            assert sample.metadata[name] == row[name], name
        assert sample.target == [name for name, role in sample.metadata["roles"].items() if role == "Werewolf"]
        assert sample.total_time == row["seconds"]
    assert "win" in log.samples[0].output.completion
    assert "stops before its game ended" in log.samples[2].error.message
    assert log.samples[2].metadata["undefined"]["villagers_win"] == "the game did not come to its end"


def test_scores_are_the_metrics_of_a_game_and_of_all_and_inspect_computes_the_same_mean_and_error_anew(log, games):
    from inspect_ai.log import recompute_metrics

    again = log.model_copy(deep=True)
    recompute_metrics(again)
    anew = {score.name: score.metrics for score in again.results.scores}
    for score in log.results.scores:
        values = [sample.scores[score.name].value for sample in log.samples if score.name in sample.scores]
        undefined = sum(score.name in sample.metadata["undefined"] for sample in log.samples)
        assert (score.scored_samples, score.unscored_samples) == (len(values), undefined)
        assert score.metrics["mean"].value == pytest.approx(sum(values) / len(values))
        for name in ("mean", "stderr"):
            assert score.metrics[name].value == pytest.approx(anew[score.name][name].value)
    pooled = {score.name: (score.metrics["pooled"].value, score.metadata["n"]) for score in log.results.scores}
    of_all = figures_of(games)
    assert pooled == {
        measure["name"]: (at(of_all, PATHS[measure["name"]][0]), at(of_all, PATHS[measure["name"]][1]))
        for measure in MEASURES
    }
    for sample in log.samples:
        figures = figures_of(games / f"{sample.id}.ndjson")
        defined = {
            measure["name"]: at(figures, PATHS[measure["name"]][0])
            for measure in MEASURES
            if at(figures, PATHS[measure["name"]][0]) is not None
        }
        assert {name: score.value for name, score in sample.scores.items()} == defined
        assert set(sample.metadata["undefined"]) == {measure["name"] for measure in MEASURES} - set(defined)


def test_messages_are_the_public_transcript_word_for_word_with_its_judgements(log, rows):
    statements = [row for row in rows["statements"] if row["game_id"] == "a"]
    messages = [message for message in log.samples[0].messages if message.role == "assistant"]
    assert [message.id for message in messages] == [row["statement_id"] for row in statements]
    for message, row in zip(messages, statements, strict=True):
        assert message.text == f"{row['speaker']} ({row['role']}): {row['text']}"
        assert message.metadata["speaker"] == row["speaker"]
        label = message.metadata["self_label"]
        assert (None if label is None else label["deceptive"]) == row["self_deceptive"]
    assert {row["text"] for row in statements} & set(HOSTILE)
    suspicions = {
        f"{message.id}:{observer}": (judged or {}).get("suspicion")
        for message in messages
        for observer, judged in message.metadata["judgements"].items()
    }
    assert suspicions == {row["judgement_id"]: row["suspicion"] for row in rows["judgements"] if row["game_id"] == "a"}
    moderator = [message.text for message in log.samples[0].messages if message.role == "user"]
    assert moderator[0].startswith("Round 1. In the night ")
    assert moderator[-1].split(" after ")[0] in {"The villagers win", "The Werewolves win", "Nobody wins"}


def test_that_games_were_computed_anew_is_told(games, tmp_path):
    anew = exported(games, tmp_path, "--alpha", "0.5", "--include-defaulted")
    assert (anew.eval.task_args["alpha"], anew.eval.task_args["include_defaulted"]) == (0.5, True)


def test_a_study_makes_a_log_of_its_own(inspect_logs):
    from inspect_ai.log import read_eval_log

    logs = [read_eval_log(str(path)) for path in inspect_logs.glob("*.eval")]
    assert sum(len(log.samples) for log in logs) == 8
    (published,) = [sample for log in logs for sample in log.samples if sample.id == "small-1"]
    assert published.messages
    assert published.error is None
    logs = [log for log in logs if log.eval.dataset.name == "study-0a1b2c3d"]
    # Inspect compares logs by their models
    assert len({log.eval.model for log in logs}) == len(logs)
    assert [sample.metadata["block"] for log in logs for sample in log.samples] == ["b1", "b1"]
    assert logs[0].eval.metadata["name"] == "trial"
    assert logs[0].eval.revision.commit == "f" * 40


# inspect_ai itself calls pandas in a way that pandas is about to give up
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning:")
def test_inspect_lists_the_log_and_makes_a_data_frame_of_it_and_it_is_replaced_only_by_force(games, tmp_path, capsys):
    from inspect_ai.analysis import samples_df
    from inspect_ai.log import list_eval_logs

    log = exported(games, tmp_path)
    (info,) = list_eval_logs(str(tmp_path))
    assert (info.task, info.task_id) == ("wolf", log.eval.task_id)
    assert info.task_id.startswith("games")
    frame = samples_df(str(tmp_path), quiet=True).set_index("id")
    assert list(frame.index) == ["a", "b", "c"]
    for sample in log.samples:
        assert frame.loc[sample.id, "score_accuracy"] == sample.scores["accuracy"].value
    command = ["export", "inspect", str(games), "--out", str(tmp_path)]
    capsys.readouterr()
    assert run(command) == 2
    assert ".eval: exists already; `wolfbus export … --force` replaces it" in capsys.readouterr().err
    assert run([*command, "--force"]) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_without_inspect_one_line_says_what_to_install(games, tmp_path, monkeypatch, capsys):
    imported = importlib.import_module

    def missing(name, *package):
        if name.startswith("inspect_ai"):
            raise ImportError(name=name)
        return imported(name, *package)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert run(["export", "inspect", str(games), "--out", str(tmp_path / "out")]) == 2
    assert 'need inspect-ai: pip install "wolfbus[inspect]"' in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
