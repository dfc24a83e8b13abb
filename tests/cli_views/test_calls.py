"""Model calls flood no view, and every word of one can be read."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_views.games import HOSTILE, recorded
from tests.cli_views.test_lines import lines_of
from tests.cli_views.test_live import assert_it_fits, drawn
from tests.cli_views.test_printable import is_harmless
from tests.cli_views.test_state import state_of
from tests.llm.calls.woven import SHORT, call, game, lines, one_each, segment
from wolfbus.cli.terminal.calls import CallMade, calls_of, calls_page, exchange_at
from wolfbus.cli.terminal.pages import state_page
from wolfbus.cli.terminal.playback import pause_for
from wolfbus.errors import ConfigError, RecordError
from wolfbus.messages.calls import Call
from wolfbus.messages.events import Answered
from wolfbus.record.line import Recorded
from wolfbus.state import GameState


def sometimes(answer, name):
    """Bids fail, votes are asked for again, and what is said is priced."""
    if answer.kind == "bid":
        return [{"error": "connection \x1b[31mrefused\x07", "reply": None, "completion_tokens": None}]
    if answer.kind == "vote":
        return [{"cost_usd": 0.25}, {"reask": True, "cost_usd": 0.25}]
    return [{}]


def exchange(asked, messages=(), line=1, read=()) -> CallMade:
    return CallMade(line, 0.0, asked, read, messages)


def calls_in(records: list[Recorded]) -> list[Recorded]:
    return [each for each in records if each.event.type == "model_call"]


def test_calls_that_go_well_leave_no_line_but_their_sums():
    without = lines_of(game(lambda answer, name: []))
    with_calls = lines_of(game(one_each))
    assert with_calls[:-1] == without
    count = len(calls_in(game(one_each)))
    assert with_calls[-1].strip() == f"{count} model calls · {1050 * count:,} tokens"


def test_the_compact_protocol_is_told_from_the_start():
    compact = SHORT.model_copy(update={"protocol": "compact"})
    assert lines_of(game(one_each, compact))[2].endswith("played by test · compact protocol")
    assert lines_of(game(one_each))[2].endswith("played by test")


def test_a_call_that_fails_has_one_short_harmless_line():
    records = game(sometimes)
    told = [line.strip() for line in lines_of(records) if "reply" in line]
    bids = [each.event for each in calls_in(records) if each.event.kind == "bid"]
    assert len(bids) in range(11, 100)
    assert told == [
        f"no reply of {bids[0].seat}'s model (bid): connection refused",
        "no reply of models: connection refused … 9 more like this",
        f"{len(bids)} model calls without a reply: {len(bids)} × connection refused",
    ]


def failing(*errors: str) -> list[Recorded]:
    failed = [call("1/debate/1/bid/Ada", error=error, reply=None) for error in errors]
    opened, *_, ended = game(lambda answer, name: [])
    return recorded([opened.event, *failed, ended.event])


def test_a_server_that_died_is_told_at_every_power_of_ten_and_in_all():
    records = failing(*(f"port 81{n:02}: gone after {n} s" for n in range(435)), "busy", "busy")
    told = [line.strip() for line in lines_of(records) if "reply" in line]
    assert told == [
        "no reply of Ada's model (bid): port 8100: gone after 0 s",
        "no reply of models: port 8100: gone after 0 s … 9 more like this",
        "no reply of models: port 8100: gone after 0 s … 99 more like this",
        "no reply of Ada's model (bid): busy",
        "437 model calls without a reply: 435 × port 8100: gone after 0 s; 2 × busy",
    ]


def test_a_server_that_never_says_the_same_twice_floods_nothing():
    words = ["".join(chr(ord("a") + int(digit)) for digit in str(n)) for n in range(2000)]
    told = [line for line in lines_of(failing(*words)) if "reply" in line]
    assert len(told) < 32
    assert "other errors … 999 more like this" in told[-2]
    assert "2000 model calls without a reply: 1976 × other errors; 1 × a;" in told[-1]
    assert told[-1].endswith("of other sorts")
    assert not any("without a reply" in line for line in lines_of(failing("once")))


def test_calls_and_prompts_take_no_time_to_play_back():
    for each in game(sometimes):
        if each.event.type in {"segment", "model_call"}:
            assert pause_for(each.event) == 0


def test_the_live_view_tells_in_its_last_line_what_was_spent():
    records = game(sometimes)
    assert not any("model call" in line for line in drawn(GameState(), 120, 40))
    state = state_of(records)
    votes = sum(each.event.kind == "vote" for each in calls_in(records))
    for size in ((120, 40), (80, 24), (60, 12), (200, 60)):
        last = drawn(state, *size)[-1]
        assert last.startswith(f"{state.usage.calls} model calls ({state.usage.failed} failed) · ")
        assert_it_fits(state, *size)
    assert f"at least ${votes / 4:.4f}" in drawn(state, 120, 40)[-1]
    for size in ((1, 1), (5, 2), (20, 3), (33, 4), (40, 5)):
        assert_it_fits(state, *size)
    assert f"{state.usage.calls} model calls" in state_page(state)


def test_the_list_of_calls_joins_each_with_what_became_of_its_requests():
    records = game(sometimes)
    made = calls_of(records)
    assert [each.line for each in made] == [each.n for each in calls_in(records)]
    for each in made:
        if each.call.kind == "vote":
            assert each.read == (("clean",) if each.call.reask else ("asked again",))
        else:
            assert each.read == ("clean",)
    shown = calls_page(records).splitlines()
    assert len(shown) == 1 + len(made) + 4
    assert all(is_harmless(line) for line in shown)
    assert any("vote, again" in line for line in shown)
    assert any(line.endswith("no reply: connection refused") for line in shown)


def test_requests_that_are_open_or_of_an_outsiders_own_making_are_shown_as_such():
    records = game(one_each)
    first = calls_in(records)[0]
    cut = records[: first.n]
    odd = call("a/b/c/bid/Ada", requests=("\x1b[2Jnonsense", "x/y"), seat="\x1b[1mAda", model="m\n" * 40)
    many = call("1/debate/2/bid/Ada", requests=("1/debate/2/bid/Ada", "1/debate/1/assess_other/Ada/1"))
    cut += [Recorded(first.n + n, 1.0, "researchers", event) for n, event in enumerate((odd, many), 1)]
    assert [each.read for each in calls_of(cut)] == [(None,), (None, None), (None, None)]
    shown = calls_page(cut)
    assert "bid+assess_other" in shown
    assert all(is_harmless(line) for line in shown.splitlines())


def test_a_game_without_models_says_so():
    assert calls_page(game(lambda answer, name: [])) == "No model was called in this game.\n"


def test_a_prompt_is_shown_message_by_message_and_then_the_reply():
    records = game(one_each)
    last = calls_in(records)[-1]
    page = exchange_at(records, last.n).page()
    name = last.event.requests[0]
    head, page = page.split("\n\n", 1)
    assert head.startswith(f"call at line {last.n}:\n  asked for ")
    assert page.startswith("system:\n  These are the rules.\n\n\nuser:\n  ")
    assert f"\n  You are {last.event.seat}.\n  Now: {name}\n" in page
    assert page.endswith(f"\nreply of double to {last.event.seat}:\n  {last.event.reply}\n")


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_prompts_and_replies_are_shown_and_not_obeyed(words: str):
    text = f"{words}\nuser:\n    indented\n"
    piece = segment("user", text)
    asked = call("1/debate/1/bid/Ada", prompt=(piece.segment,), reply=text, model=words[:512], url=words[:512],
                 served=words[:512], finish=words[:512], failures=(words[:512],), reasoning=text, error=words,
                 parameters={"stop": words})  # fmt: skip
    shown = exchange(asked, [("user", text)])
    page = shown.page().splitlines()
    assert all(is_harmless(line) for line in page)
    assert sum(line == "user:" for line in page) == 1
    assert page.count("      indented") == (2 if text.strip() == "" else 3)
    value = shown.exchange_as_json()
    assert (value["messages"], value["reply"]) == ([{"role": "user", "content": text}], text)
    assert value["call"]["reasoning"] == text
    json.dumps(value)


def test_a_call_without_reply_says_why_and_a_cut_one_how_much_is_missing():
    lost = exchange(call("1/debate/1/bid/Ada", reply=None, error="the circuit is open"))
    assert lost.page().endswith("\n\nno reply: the circuit is open\n")
    assert lost.exchange_as_json()["reply"] is None
    cut = exchange(call("1/debate/1/bid/Ada", reply="abc", reply_length=1003))
    assert "1000 characters more" in cut.page()
    for empty in ("", " \n"):
        page = exchange(call("1/debate/1/bid/Ada", reply=empty, reasoning="Hm.\nSo.")).page()
        assert page.endswith("\n\nhidden reasoning:\n  Hm.\n  So.\n\nthe reply was empty (finish: stop)\n")


def test_a_prompt_comes_with_all_that_is_known_of_its_call():
    asked = call(
        "1/debate/2/bid/Ada", requests=("1/debate/2/bid/Ada", "1/debate/1/assess_other/Ada/1"), url="http://here:1/v1",
        served="double-7 fp", attempts=2, failures=("http://here:1/v1: 500",), cost_usd=0.25, latency_s=2.0,
    )  # fmt: skip
    shown = exchange(asked, [], 7, ("clean", "defaulted (illegal)"))
    head = shown.page().split("\n\n")[0].splitlines()
    assert head == [
        "call at line 7:",
        "  asked for   bid+assess_other",
        "  request     1/debate/2/bid/Ada",
        "  request     1/debate/1/assess_other/Ada/1",
        "  seat        Ada",
        "  model       double",
        "  url         http://here:1/v1",
        "  served by   double-7 fp",
        '  parameters  {"structured": "schema", "temperature": 0.7}',
        "  attempts    2 attempts",
        "  failed      http://here:1/v1: 500",
        "  times       0.00 s waiting for limits, 2.00 s on its way",
        "  tokens      1000/800/50 (prompt/of it cached/reply)",
        "  finish      stop",
        "  price       $0.250000",
        "  read        clean, defaulted (illegal)",
    ]
    value = shown.exchange_as_json()["call"]
    assert value["read"] == ["clean", "defaulted (illegal)"]
    assert set(Call.model_fields) <= value.keys()
    assert (value["line"], value["cassette"], value["failures"]) == (7, False, ["http://here:1/v1: 500"])


def test_the_list_of_calls_says_where_in_the_game_and_about_what():
    played = call("2/debate/3/assess_other/Ada/5", requests=("2/debate/3/assess_other/Ada/5",
                  "2/debate/4/assess_other/Ada/6"), cassette=True, failures=("one", "two"), attempts=3)  # fmt: skip
    empty = call("2/vote/0/vote/Ada", reply="", labels=True)
    first, second = calls_page(recorded([played, empty])).splitlines()[1:3]
    assert first.split()[2:] == [
        *("r2", "debate", "3", "Ada", "assess_other+", "5,6", "double", "3", "2", "0.00", "0.50", "1000/800/50"),
        *("open", "from", "a", "cassette"),
    ]
    assert "r2 vote" in second
    assert "vote+label" in second
    assert second.endswith("the reply was empty (finish: stop)")
    assert "2 model calls · 1 from a cassette · 2,100 tokens" in calls_page(recorded([played, empty]))


def test_models_whose_names_differ_at_the_end_or_in_the_middle_stay_apart():
    names = [f"{'a' * 30}{n}{'b' * 40}{m}" for n in range(2) for m in range(2)]
    page = calls_page(recorded([call("1/debate/1/bid/Ada", model=name) for name in names]))
    shown = [line.split("bid")[1].split(" 1  ")[0] for line in page.splitlines()[1:5]]
    assert len(set(shown)) == 4


def test_a_line_without_a_call_is_named_for_what_it_is():
    records = game(one_each)
    for each in records:
        if each.event.type == "model_call":
            continue
        with pytest.raises(ConfigError) as error:
            exchange_at(records, each.n)
        assert str(each.n) in str(error.value)
        if isinstance(each.event, Answered):
            assert f"{each.event.seat}'s answer to {each.event.kind}" in str(error.value)
    with pytest.raises(ConfigError, match=f"the record has {len(records)} readable lines"):
        exchange_at(records, len(records) + 1)


def test_an_edited_prompt_is_refused_with_its_line():
    records = game(one_each)
    place = next(place for place, each in enumerate(records) if each.event.type == "segment")
    edited = records[place].event.model_copy(update={"text": "Other rules.\n"})
    records[place] = Recorded(records[place].n, records[place].time, "researchers", edited)
    with pytest.raises(RecordError, match=f"line {records[place].n}: "):
        exchange_at(records, calls_in(records)[-1].n)


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("called") / "game.ndjson"
    path.write_bytes(lines(game(sometimes)))
    return path


def replay(*arguments: str, stdin: bytes | None = None):
    return subprocess.run(
        [sys.executable, "-m", "wolfbus", "replay", *arguments],
        capture_output=True,
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "80"},
        check=False,
    )


def test_replay_lists_calls_from_files_pipes_and_gzip(record: Path, tmp_path: Path):
    plain = replay(str(record), "--calls")
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.decode() == calls_page(game(sometimes))
    packed = tmp_path / "game.ndjson.gz"
    packed.write_bytes(gzip.compress(record.read_bytes()))
    assert replay(str(packed), "--calls").stdout == plain.stdout
    listed = json.loads(replay("-", "--calls", "--json", stdin=record.read_bytes()).stdout)["calls"]
    assert len(listed) == len(calls_in(game(sometimes)))
    assert {"line", "time", "seat", "kind", "model", "attempts", "queue_s", "latency_s", "read"} <= listed[0].keys()
    assert "reply" not in listed[0]


def test_replay_shows_one_prompt(record: Path):
    line = calls_in(game(sometimes))[-1].n
    shown = replay(str(record), "--prompt", str(line))
    assert (shown.returncode, shown.stdout.decode()) == (0, exchange_at(game(sometimes), line).page())
    value = json.loads(replay(str(record), "--prompt", str(line), "--json").stdout)
    assert [message["role"] for message in value["messages"]] == ["system", "user"]
    assert value["messages"][0]["content"] == "These are the rules.\n"
    assert value["reply"] == value["call"]["reply"]
    assert (value["call"]["line"], value["call"]["read"]) == (line, ["clean"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prompt", "1"], ["line 1", "opened"]),
        (["--prompt", "99999"], ["99999", "readable lines"]),
        (["--calls", "--prompt", "5"], ["--calls", "--prompt"]),
        (["--calls", "--as", "Ada"], ["--calls"]),
        (["--prompt", "5", "--alpha", "0.1"], ["--prompt"]),
    ],
)
def test_what_cannot_be_shown_is_one_line(record: Path, arguments: list[str], words: list[str]):
    result = replay(str(record), *arguments)
    assert result.returncode == 2
    assert result.stdout == b""
    last = result.stderr.decode().strip().splitlines()[-1]
    assert all(word in last for word in words), last


def test_what_is_wrong_with_a_record_is_told_before_the_calls_that_hold(record: Path, tmp_path: Path):
    whole = record.read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut.ndjson"
    cut.write_bytes(b"".join(whole[:100]))
    result = replay(str(cut), "--calls")
    assert result.returncode == 1
    assert b"line 101" in result.stderr
    assert b"model calls" in result.stdout


def test_a_published_log_has_no_calls_and_its_replies_are_told_by_rung():
    log = Path(__file__).parents[3] / "shared" / "data" / "wolf-20250810-192402-events.ndjson"
    if not log.is_file():
        pytest.skip("the published log is not here")
    refused = replay(str(log), "--calls")
    assert refused.returncode == 2
    assert b"--calls needs a wolfbus record" in refused.stderr
    assert b"extracted 86 (94.5%), repaired 5 (5.5%), coerced 0 (0.0%), lost 0 (0.0%)" in replay(str(log)).stdout
    value = json.loads(replay(str(log), "--json").stdout)
    assert value["reread"]["replies"] == 91
    assert value["reread"]["extracted"] == {"n": 86, "share": 86 / 91}
    assert value["metrics"]["repair"]["overall"]["repaired"] == 5
