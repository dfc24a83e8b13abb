"""A log for Inspect, read back with Inspect."""

from __future__ import annotations

import importlib
import json

import pytest

from analytics.export.inspect_log import write_inspect
from analytics.export.inspect_measures import measures
from analytics.findings import Metrics
from analytics.gather import Criteria
from tests.export.records import HOSTILE, game, with_calls, write
from tests.export.test_tables import metrics_of, tables_of
from wolfbus.errors import ConfigError

inspect_log = pytest.importorskip("inspect_ai.log")
samples_df = pytest.importorskip("inspect_ai.analysis").samples_df


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Two whole games with model calls, and one that was cut off."""
    folder = tmp_path_factory.mktemp("games")
    for name, seed in (("a", "1"), ("b", "2")):
        write(folder, with_calls(game(name, seed, brains=("llm:one", "llm:two"))))
    write(folder, game("c", "3", brains=("llm:one", "llm:two"))[:120])
    return folder


@pytest.fixture(scope="module")
def log(games, tmp_path_factory):
    exported = write_inspect([games], tmp_path_factory.mktemp("logs"))
    (path,) = exported.paths
    assert exported.counts == {path.name: 3}
    return inspect_log.read_eval_log(str(path))


def test_the_log_is_complete_and_names_task_and_models(log, games):
    assert log.status == "success"
    assert log.eval.task == "wolf"
    assert log.eval.dataset.samples == len(log.samples) == log.results.total_samples == 3
    assert log.results.completed_samples == 2
    assert log.eval.dataset.sample_ids == ["a", "b", "c"]
    assert log.eval.model == "large+small"
    assert [sample.output.model for sample in log.samples] == ["large+small", "large+small", "llm:one+llm:two"]
    assert set(log.eval.model_roles) == {"Villager", "Werewolf", "Seer", "Doctor"}
    assert log.eval.packages["wolfbus"]
    assert log.eval.created.startswith("2023-11-14T22:13:20")


def test_a_sample_is_a_game(log, games):
    rows = {row["game_id"]: row for row in tables_of(games)["games"]}
    for sample in log.samples:
        row = rows[sample.id]
        assert sample.input.startswith("Players\n- 8 players")
        for name in ("winner", "reason", "rounds", "statements", "judgements", "seed", "digest", "block", "finished"):
            assert sample.metadata[name] == row[name], name
        assert sample.target == [name for name, role in sample.metadata["roles"].items() if role == "Werewolf"]
        assert sample.total_time == row["seconds"]
    assert "win" in log.samples[0].output.completion
    assert "stops before its game ended" in log.samples[2].error.message
    assert log.samples[2].metadata["undefined"]["villagers_win"] == "the game did not come to its end"


def test_scores_of_a_game_are_its_metrics(log, games):
    from analytics.gather import each_game

    for sample, (_, rows) in zip(log.samples, each_game([games]), strict=True):
        metrics = Metrics()
        metrics.add(rows)
        result = metrics.result()
        for measure in measures():
            expected = measure.value(result)
            found = sample.scores.get(measure.name)
            assert (None if found is None else found.value) == expected
            assert (measure.name in sample.metadata["undefined"]) == (expected is None)


def test_results_hold_the_mean_over_games_and_the_pooled_figure(log, games):
    pooled = metrics_of(games)
    assert [score.name for score in log.results.scores] == [measure.name for measure in measures()]
    for score, measure in zip(log.results.scores, measures(), strict=True):
        values = [sample.scores[score.name].value for sample in log.samples if score.name in sample.scores]
        assert (score.scored_samples, score.unscored_samples) == (len(values), 3 - len(values))
        assert score.metrics["mean"].value == pytest.approx(sum(values) / len(values))
        assert score.metrics["pooled"].value == measure.value(pooled)
        assert score.metadata["n"] == measure.counted(pooled)


def test_inspect_computes_the_same_mean_and_error_anew(log):
    again = log.model_copy(deep=True)
    inspect_log.recompute_metrics(again)
    found = {score.name: score.metrics for score in again.results.scores}
    for score in log.results.scores:
        for name in ("mean", "stderr"):
            assert score.metrics[name].value == pytest.approx(found[score.name][name].value)


def test_messages_are_the_public_transcript_word_for_word_with_its_judgements(log, games):
    statements = [row for row in tables_of(games)["statements"] if row["game_id"] == "a"]
    said = [message for message in log.samples[0].messages if message.role == "assistant"]
    assert [message.id for message in said] == [row["statement_id"] for row in statements]
    for message, row in zip(said, statements, strict=True):
        assert message.text == f"{row['speaker']} ({row['role']}): {row['text']}"
        assert message.metadata["speaker"] == row["speaker"]
        label = message.metadata["self_label"]
        assert (None if label is None else label["deceptive"]) == row["self_deceptive"]
    assert {row["text"] for row in statements} & set(HOSTILE)
    judgements = {row["judgement_id"]: row for row in tables_of(games)["judgements"] if row["game_id"] == "a"}
    found = {
        f"{message.id}:{observer}": (judged or {}).get("suspicion")
        for message in said
        for observer, judged in message.metadata["judgements"].items()
    }
    assert found == {name: row["suspicion"] for name, row in judgements.items()}
    moderator = [message.text for message in log.samples[0].messages if message.role == "user"]
    assert moderator[0].startswith("Round 1. In the night ")
    assert moderator[-1].split(" after ")[0] in {"The villagers win", "The Werewolves win", "Nobody wins"}


def test_spans_of_rounds_and_phases_hold_the_events_in_order(log):
    for sample in log.samples:
        open_spans: list[str] = []
        for event in sample.events:
            if event.event == "span_begin":
                assert event.parent_id == (open_spans[-1] if open_spans else None)
                open_spans.append(event.id)
            elif event.event == "span_end":
                assert open_spans.pop() == event.id
            elif open_spans:
                assert event.span_id == open_spans[-1]
        assert not open_spans
        times = [event.timestamp for event in sample.events]
        assert times == sorted(times)
        assert len({event.uuid for event in sample.events}) == len(sample.events)
    names = [event.name for event in log.samples[0].events if event.event == "span_begin"]
    assert names[:4] == ["round 1", "night", "debate", "vote"]


def test_model_usage_is_what_the_metrics_count(log, games):
    total = metrics_of(games)["cost"]["total"]
    for usage in (log.stats.model_usage, log.stats.role_usage):
        assert (
            sum(each.input_tokens + (each.input_tokens_cache_read or 0) for each in usage.values())
            == total["prompt_tokens"]
        )
        assert sum(each.output_tokens for each in usage.values()) == total["completion_tokens"]
        assert sum(each.total_cost or 0 for each in usage.values()) == pytest.approx(total["cost_usd"])
    assert set(log.stats.model_usage) == {"small", "large"}
    assert set(log.eval.metadata["usage_by_agent"]) <= {"llm:one", "llm:two"}
    for name in ("small", "large"):
        whole = sum(sample.model_usage[name].total_tokens for sample in log.samples if name in sample.model_usage)
        assert whole == log.stats.model_usage[name].total_tokens


def test_every_model_call_is_an_event_without_words(log, games):
    calls = [row for row in tables_of(games)["calls"] if row["game_id"] == "a"]
    events = [event for event in log.samples[0].events if event.event == "model"]
    assert [event.metadata["line"] for event in events] == [row["line"] for row in calls]
    for event, row in zip(events, calls, strict=True):
        assert (event.model, event.role, event.error) == (row["model"], row["role"], row["error"])
        assert event.config.temperature == 0.7
        assert event.input == []
        assert event.output.completion == ""
    assert {event.cache for event in events} == {"read", None}


def test_prompts_and_replies_are_there_when_they_are_asked_for_and_recomputing_is_told(games, tmp_path):
    criteria = Criteria(alpha=0.5, include_defaulted=True)
    (path,) = write_inspect([games], tmp_path, criteria, prompts=True).paths
    log = inspect_log.read_eval_log(str(path), resolve_attachments=True)
    events = [event for event in log.samples[0].events if event.event == "model"]
    assert {(message.role, message.text) for event in events for message in event.input} == {
        ("system", "You are at a table. 我")
    }
    assert {event.output.completion for event in events} == {"", 'a "reply"\x00'}
    assert (log.eval.task_args["alpha"], log.eval.task_args["include_defaulted"]) == (0.5, True)


def test_a_study_makes_a_log_of_its_own(exports):
    logs = [inspect_log.read_eval_log(str(path)) for path in (exports / "logs").glob("*.eval")]
    assert sum(len(log.samples) for log in logs) == 7
    logs = [log for log in logs if log.eval.dataset.name == "study-0a1b2c3d"]
    # Inspect compares logs by their models
    assert len({log.eval.model for log in logs}) == len(logs)
    assert [sample.metadata["block"] for log in logs for sample in log.samples] == ["b1", "b1"]
    assert logs[0].eval.metadata["name"] == "trial"
    assert logs[0].eval.revision.commit == "f" * 40


def test_a_published_log_is_a_sample_as_well(records, tmp_path):
    (path,) = write_inspect([records / "paper"], tmp_path).paths
    (sample,) = inspect_log.read_eval_log(str(path)).samples
    assert sample.messages
    assert sample.error is None
    assert sample.events == []


def test_no_number_in_the_log_is_undefined(log):
    def refuse(constant):
        raise AssertionError(constant)

    json.loads(log.model_dump_json(), parse_constant=refuse)


# inspect_ai itself calls pandas in a way that pandas is about to give up
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning:")
def test_inspect_lists_the_log_and_makes_a_data_frame_of_it_and_it_is_replaced_only_by_force(games, tmp_path):
    write_inspect([games], tmp_path)
    (info,) = inspect_log.list_eval_logs(str(tmp_path))
    log = inspect_log.read_eval_log(info)
    assert (info.task, info.task_id) == ("wolf", log.eval.task_id)
    assert info.task_id.startswith("games")
    found = samples_df(str(tmp_path), quiet=True).set_index("id")
    assert list(found.index) == ["a", "b", "c"]
    for sample in log.samples:
        assert found.loc[sample.id, "score_accuracy"] == sample.scores["accuracy"].value
    with pytest.raises(ConfigError, match=r"\.eval: exists already; `wolfbus export --force`"):
        write_inspect([games], tmp_path)
    write_inspect([games], tmp_path, force=True)
    assert len(list(tmp_path.iterdir())) == 1


def test_without_inspect_one_line_says_what_to_install(games, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ConfigError, match=r'need inspect-ai: pip install "wolfbus\[inspect\]"'):
        write_inspect([games], tmp_path / "out")
    assert not (tmp_path / "out").exists()
