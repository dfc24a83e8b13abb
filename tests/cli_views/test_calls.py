"""Model calls flood no view, and every word of one can be read."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

import pytest

from tests.cli_views.games import HOSTILE, drawn, is_harmless, lines_of, recorded, state_of
from tests.golden.running import wolfbus
from tests.llm.calls.woven import SHORT, call, game, lines, one_each, segment
from wolfbus.cli.terminal.calls import CallMade, calls_of, calls_page, exchange_at
from wolfbus.cli.terminal.pages import state_page
from wolfbus.cli.terminal.playback import pause_for
from wolfbus.errors import ConfigError, RecordError
from wolfbus.messages.calls import Call
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

BID = "1/debate/1/bid/Ada"


def sometimes(answer, name):
    """Bids fail, votes are asked for again, and what is said is priced."""
    if answer.kind == "bid":
        return [{"error": "connection \x1b[31mrefused\x07", "reply": None, "completion_tokens": None}]
    if answer.kind == "vote":
        return [{"cost_usd": 0.25}, {"reask": True, "cost_usd": 0.25}]
    return [{}]


@functools.cache
def played(calls=sometimes, config=SHORT) -> tuple[Recorded, ...]:
    return tuple(game(calls, config))


def no_calls(answer, name):
    return []


def calls_in(records) -> list[Recorded]:
    return [each for each in records if each.event.type == "model_call"]


def exchange(asked, messages=(), line=1, read=()) -> CallMade:
    return CallMade(line, 0.0, asked, read, messages)


def replies_told(records) -> list[str]:
    return [line.strip() for line in lines_of(records) if "reply" in line]


def failing(*errors: str) -> list[Recorded]:
    failed = [call(BID, error=error, reply=None) for error in errors]
    opened, *_, ended = played(no_calls)
    return recorded([opened.event, *failed, ended.event])


def test_calls_that_go_well_leave_no_line_but_their_sums():
    *with_calls, sums = lines_of(played(one_each))
    assert with_calls == lines_of(played(no_calls))
    count = len(calls_in(played(one_each)))
    assert sums.strip() == f"{count} model calls · {1050 * count:,} tokens"
    assert with_calls[2].endswith("played by test")
    compact = SHORT.model_copy(update={"protocol": "compact"})
    assert lines_of(game(one_each, compact))[2].endswith("played by test · compact protocol")


def test_a_call_that_fails_has_one_short_harmless_line():
    bids = [each.event for each in calls_in(played()) if each.event.kind == "bid"]
    assert len(bids) in range(11, 100)
    assert replies_told(played()) == [
        f"no reply of {bids[0].seat}'s model (bid): connection refused",
        "no reply of models: connection refused … 9 more like this",
        f"{len(bids)} model calls without a reply: {len(bids)} × connection refused",
    ]


def test_a_server_that_died_is_told_at_every_power_of_ten_and_in_all():
    assert replies_told(failing(*(f"port 81{n:02}: gone after {n} s" for n in range(435)), "busy", "busy")) == [
        "no reply of Ada's model (bid): port 8100: gone after 0 s",
        "no reply of models: port 8100: gone after 0 s … 9 more like this",
        "no reply of models: port 8100: gone after 0 s … 99 more like this",
        "no reply of Ada's model (bid): busy",
        "437 model calls without a reply: 435 × port 8100: gone after 0 s; 2 × busy",
    ]
    assert not any("without a reply" in line for line in lines_of(failing("once")))


def test_a_server_that_never_says_the_same_twice_floods_nothing():
    words = ["".join(chr(ord("a") + int(digit)) for digit in str(n)) for n in range(2000)]
    told = replies_told(failing(*words))
    assert len(told) < 32
    assert "other errors … 999 more like this" in told[-2]
    assert "2000 model calls without a reply: 1976 × other errors; 1 × a;" in told[-1]
    assert told[-1].endswith("of other sorts")


def test_the_live_view_tells_in_its_last_line_what_was_spent():
    state = state_of(played())
    votes = sum(each.event.kind == "vote" for each in calls_in(played()))
    for size in ((120, 40), (80, 24), (60, 12), (200, 60)):
        assert drawn(state, *size)[-1].startswith(f"{state.usage.calls} model calls ({state.usage.failed} failed) · ")
    assert f"at least ${votes / 4:.4f}" in drawn(state)[-1]
    for size in ((1, 1), (5, 2), (20, 3), (33, 4), (40, 5)):
        drawn(state, *size)
    assert f"{state.usage.calls} model calls" in state_page(state)
    assert not any("model call" in line for line in drawn(GameState()))
    assert not any(pause_for(each.event) for each in played() if each.event.type in {"segment", "model_call"})


def test_the_list_of_calls_joins_each_with_what_became_of_its_requests():
    made = calls_of(played())
    assert [each.line for each in made] == [each.n for each in calls_in(played())]
    for each in made:
        asked_again = each.call.kind == "vote" and not each.call.reask
        assert each.read == (("asked again",) if asked_again else ("clean",))
    shown = calls_page(played()).splitlines()
    assert len(shown) == 1 + len(made) + 4
    assert all(is_harmless(line) for line in shown)
    assert any("vote, again" in line for line in shown)
    assert any(line.endswith("no reply: connection refused") for line in shown)
    assert calls_page(played(no_calls)) == "No model was called in this game.\n"


def test_requests_that_are_open_or_of_an_outsiders_own_making_are_shown_as_such():
    first = calls_in(played(one_each))[0]
    odd = call("a/b/c/bid/Ada", requests=("\x1b[2Jnonsense", "x/y"), seat="\x1b[1mAda", model="m\n" * 40)
    many = call("1/debate/2/bid/Ada", requests=("1/debate/2/bid/Ada", "1/debate/1/assess_other/Ada/1"))
    cut = [*played(one_each)[: first.n]]
    cut += [Recorded(first.n + n, 1.0, "researchers", event) for n, event in enumerate((odd, many), 1)]
    assert [each.read for each in calls_of(cut)] == [(None,), (None, None), (None, None)]
    shown = calls_page(cut)
    assert "bid+assess_other" in shown
    assert all(is_harmless(line) for line in shown.splitlines())


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_prompts_and_replies_are_shown_and_not_obeyed(words: str):
    text = f"{words}\nuser:\n    indented\n"
    short = dict.fromkeys(("model", "url", "served", "finish"), words[:512])
    asked = call(
        BID, prompt=(segment("user", text).segment,), reply=text, failures=(words[:512],), reasoning=text, error=words,
        parameters={"stop": words}, **short,
    )  # fmt: skip
    shown = exchange(asked, [("user", text)])
    page = shown.page().splitlines()
    assert all(is_harmless(line) for line in page)
    assert page.count("user:") == 1
    assert page.count("      indented") == (2 if text.strip() == "" else 3)
    value = shown.exchange_as_json()
    assert (value["messages"], value["reply"]) == ([{"role": "user", "content": text}], text)
    assert value["call"]["reasoning"] == text
    json.dumps(value)


def test_a_call_without_reply_says_why_and_a_cut_one_how_much_is_missing():
    lost = exchange(call(BID, reply=None, error="the circuit is open"))
    assert lost.page().endswith("\n\nno reply: the circuit is open\n")
    assert lost.exchange_as_json()["reply"] is None
    assert "1000 characters more" in exchange(call(BID, reply="abc", reply_length=1003)).page()
    for empty in ("", " \n"):
        page = exchange(call(BID, reply=empty, reasoning="Hm.\nSo.")).page()
        assert page.endswith("\n\nhidden reasoning:\n  Hm.\n  So.\n\nthe reply was empty (finish: stop)\n")


def test_a_prompt_comes_with_all_that_is_known_of_its_call():
    asked = call(
        "1/debate/2/bid/Ada", requests=("1/debate/2/bid/Ada", "1/debate/1/assess_other/Ada/1"), url="http://here:1/v1",
        served="double-7 fp", attempts=2, failures=("http://here:1/v1: 500",), cost_usd=0.25, latency_s=2.0,
    )  # fmt: skip
    shown = exchange(asked, [], 7, ("clean", "defaulted (illegal)"))
    assert shown.page().split("\n\n")[0].splitlines() == [
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
    asked = call("2/debate/3/assess_other/Ada/5", requests=("2/debate/3/assess_other/Ada/5",
                 "2/debate/4/assess_other/Ada/6"), cassette=True, failures=("one", "two"), attempts=3)  # fmt: skip
    page = calls_page(recorded([asked, call("2/vote/0/vote/Ada", reply="", labels=True)]))
    first, second = page.splitlines()[1:3]
    columns = "r2 debate 3 Ada assess_other+ 5,6 double 3 2 0.00 0.50 1000/800/50 open from a cassette"
    assert first.split()[2:] == columns.split()
    assert "r2 vote" in second
    assert "vote+label" in second
    assert second.endswith("the reply was empty (finish: stop)")
    assert "2 model calls · 1 from a cassette · 2,100 tokens" in page


def test_models_whose_names_differ_at_the_end_or_in_the_middle_stay_apart():
    names = [f"{'a' * 30}{n}{'b' * 40}{m}" for n in range(2) for m in range(2)]
    page = calls_page(recorded([call(BID, model=name) for name in names]))
    assert len({line.split("bid")[1].split(" 1  ")[0] for line in page.splitlines()[1:5]}) == 4


def test_a_line_without_a_call_is_named_for_what_it_is():
    for each in played(one_each):
        if each.event.type != "model_call":
            named = f"{each.event.seat}'s answer to {each.event.kind}" if each.event.type == "answered" else ""
            with pytest.raises(ConfigError, match=rf"{each.n}.*{named}"):
                exchange_at(played(one_each), each.n)
    count = len(played(one_each))
    with pytest.raises(ConfigError, match=f"the record has {count} readable lines"):
        exchange_at(played(one_each), count + 1)


def test_an_edited_prompt_is_refused_with_its_line():
    records = [*played(one_each)]
    at, kept = next((at, each) for at, each in enumerate(records) if each.event.type == "segment")
    records[at] = kept._replace(event=kept.event.model_copy(update={"text": "Other rules.\n"}))
    with pytest.raises(RecordError, match=f"line {kept.n}: "):
        exchange_at(records, calls_in(records)[-1].n)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the record of a game with calls, whole, packed and cut."""
    folder = tmp_path_factory.mktemp("called")
    whole = lines(played())
    (folder / "game.ndjson").write_bytes(whole)
    (folder / "game.ndjson.gz").write_bytes(gzip.compress(whole))
    (folder / "cut.ndjson").write_bytes(b"".join(whole.splitlines(keepends=True)[:100]))
    return folder


def test_replay_lists_calls_and_shows_one_prompt(folder: Path):
    for name in ("game.ndjson", "game.ndjson.gz"):
        assert wolfbus(folder, "replay", name, "--calls").out == calls_page(played())
    listed = json.loads(wolfbus(folder, "replay", "game.ndjson", "--calls", "--json").out)["calls"]
    assert len(listed) == len(calls_in(played()))
    assert {"line", "time", "seat", "kind", "model", "attempts", "queue_s", "latency_s", "read"} <= listed[0].keys()
    assert "reply" not in listed[0]
    line = calls_in(played())[-1].n
    prompt = ("replay", "game.ndjson", "--prompt", str(line))
    assert wolfbus(folder, *prompt).out == exchange_at(played(), line).page()
    value = json.loads(wolfbus(folder, *prompt, "--json").out)
    assert [message["role"] for message in value["messages"]] == ["system", "user"]
    assert value["messages"][0]["content"] == "These are the rules.\n"
    assert value["reply"] == value["call"]["reply"]
    assert (value["call"]["line"], value["call"]["read"]) == (line, ["clean"])


def test_what_is_wrong_with_a_record_is_told_before_the_calls_that_hold(folder: Path):
    said = wolfbus(folder, "replay", "cut.ndjson", "--calls")
    assert said.code == 1
    assert "line 101" in said.err
    assert "model calls" in said.out


def test_a_published_log_has_no_calls_and_its_replies_are_told_by_rung():
    log = Path(__file__).parents[3] / "shared" / "data" / "wolf-20250810-192402-events.ndjson"
    if not log.is_file():
        pytest.skip("the published log is not here")
    refused = wolfbus(log.parent, "replay", log.name, "--calls")
    assert refused.code == 2
    assert "--calls needs a wolfbus record" in refused.err
    rungs = "extracted 86 (94.5%), repaired 5 (5.5%), coerced 0 (0.0%), lost 0 (0.0%)"
    assert rungs in wolfbus(log.parent, "replay", log.name).out
    value = json.loads(wolfbus(log.parent, "replay", log.name, "--json").out)
    assert (value["reread"]["replies"], value["reread"]["extracted"]) == (91, {"n": 86, "share": 86 / 91})
    assert value["metrics"]["repair"]["overall"]["repaired"] == 5
