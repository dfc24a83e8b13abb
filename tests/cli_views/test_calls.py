"""Model calls flood no view, and every word of one can be read."""

import functools
import gzip
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.cli_views.conftest import Replay
from tests.cli_views.games import HOSTILE, drawn, is_harmless, lines_of, recorded
from tests.game.driver import play
from tests.golden.running import wolfbus
from tests.llm.calls.woven import SHORT, call, game, lines, one_each, piece, weave
from tests.published_log import PUBLISHED
from wolfbus.cli.terminal.playback import pause_for
from wolfbus.messages.calls import Call
from wolfbus.messages.content import Speech
from wolfbus.record.line import Recorded

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


def first_bids(*fields: dict[str, Any]):
    """Return what makes the first bids of a game come from such calls, and nothing else from any."""
    left = iter(fields)
    return lambda answer, name: list(itertools.islice(left, 1)) if answer.kind == "bid" else []


def calls_in(records: Iterable[Recorded]) -> list[Recorded]:
    return [line for line in records if line.event.type == "model_call"]


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
    bids = [entry.event for entry in calls_in(played()) if entry.event.kind == "bid"]
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
    printed = replies_told(failing(*words))
    assert len(printed) < 32
    assert "other errors … 999 more like this" in printed[-2]
    assert "2,000 model calls without a reply: 1,976 × other errors; 1 × a;" in printed[-1]
    assert printed[-1].endswith("of other sorts")


def test_the_live_view_tells_in_its_last_line_what_was_spent():
    calls = calls_in(played())
    failed = sum(entry.event.error is not None for entry in calls)
    votes = sum(line.event.kind == "vote" for line in calls_in(played()))
    for size in ((120, 40), (80, 24), (60, 12), (200, 60)):
        assert drawn(played(), *size)[-1].startswith(f"{len(calls)} model calls ({failed} failed) · ")
    assert f"at least ${votes / 4:.4f}" in drawn(played())[-1]
    assert not any("model call" in line for line in drawn([]))
    assert not any(pause_for(line.event) for line in played() if line.event.type in {"prompt_text", "model_call"})


def test_replay_lists_calls_with_what_became_of_their_requests(replay: Replay):
    listed = json.loads(replay(played(), "--calls", "--json").out)["calls"]
    assert [entry["line"] for entry in listed] == [entry.n for entry in calls_in(played())]
    for entry in listed:
        assert entry["read"] == (["asked again"] if entry["kind"] == "vote" and not entry["reask"] else ["clean"])
    assert {"line", "time", "seat", "kind", "model", "attempts", "queue_s", "latency_s", "read"} <= listed[0].keys()
    assert "reply" not in listed[0]
    table = replay(played(), "--calls").out.splitlines()
    assert len(table) == 1 + len(listed) + 4
    assert all(is_harmless(line) for line in table)
    assert any("vote, again" in line for line in table)
    assert any(line.endswith("no reply: connection refused") for line in table)
    assert replay(played(no_calls), "--calls").out == "No model was called in this game.\n"


def test_a_call_whose_answer_is_not_there_yet_is_open(replay: Replay):
    cut = played(one_each)[: calls_in(played(one_each))[0].n]
    result = replay(cut, "--calls", "--json")
    assert result.code == 1
    assert f"line {len(cut) + 1}" in result.err
    assert [entry["read"] for entry in json.loads(result.out)["calls"]] == [[None]]


def test_a_call_for_a_request_of_no_known_form_is_listed_all_the_same(replay: Replay):
    odd = recorded([played(no_calls)[0].event, call(BID, requests=("odd",))])
    assert replay(odd, "--calls").out.splitlines()[1].split()[:3] == ["2", "0.500", "-"]


def test_hostile_prompts_and_replies_are_shown_and_not_obeyed(replay: Replay):
    words = [hostile[:2000] for hostile in HOSTILE]
    text = "\n".join([*words, "user:", "    indented\n"])
    short = dict.fromkeys(("model", "url", "served", "finish"), HOSTILE[0])
    events = play(SHORT, "1", lambda question: Speech(text=text) if question.kind == "speak" else None).events
    fields = {**short, "parameters": {"stop": words[2]}, "reply": text, "reasoning": text, "error": words[0]}
    records = recorded(weave(events, lambda answer, _: [fields] if answer.kind == "vote" else []))
    line = str(calls_in(records)[-1].n)
    page = replay(records, "--prompt", line).out.splitlines()
    assert all(is_harmless(line) for line in page)
    assert page.count("user:") == 1
    assert page.count("      indented") >= 3
    value = json.loads(replay(records, "--prompt", line, "--json").out)
    assert value["reply"] == value["call"]["reasoning"] == text
    assert any(text in message["content"] for message in value["messages"])
    assert all(is_harmless(line) for line in replay(records, "--calls").out.splitlines())


def test_a_call_without_reply_says_why_and_a_cut_one_how_much_is_missing(replay: Replay):
    records = game(
        first_bids(
            {"reply": None, "error": "the circuit is open"},
            {"reply": "abc", "reply_length": 1003},
            *({"reply": empty, "reasoning": "Hm.\nSo."} for empty in ("", " \n")),
        )
    )
    pages = [replay(records, "--prompt", str(entry.n)).out for entry in calls_in(records)]
    assert pages[0].endswith("\n\nno reply: the circuit is open\n")
    assert "1000 characters more" in pages[1]
    for page in pages[2:]:
        assert page.endswith("\n\nhidden reasoning:\n  Hm.\n  So.\n\nthe reply was empty (finish: stop)\n")


def test_a_prompt_comes_with_all_that_is_known_of_its_call(replay: Replay):
    fields = {"url": "http://here:1/v1", "served": "double-7 fp", "attempts": 2, "cost_usd": 0.25, "latency_s": 2.0}
    fields["billed_usd"] = 0.3
    records = game(first_bids({**fields, "failures": ("http://here:1/v1: 500",)}))
    (entry,) = calls_in(records)
    page = replay(records, "--prompt", str(entry.n)).out
    assert page.split("\n\n")[0].splitlines() == [
        f"call at line {entry.n}:",
        "  asked for   bid",
        f"  request     1/debate/1/bid/{entry.event.seat}",
        f"  seat        {entry.event.seat}",
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
        "  billed      $0.300000 by the server's own count",
        "  read        clean",
    ]
    value = json.loads(replay(records, "--prompt", str(entry.n), "--json").out)
    assert [message["role"] for message in value["messages"]] == ["system", "user"]
    assert value["messages"][0]["content"] == "These are the rules.\n"
    listed = value["call"]
    assert listed["read"] == ["clean"]
    assert set(Call.model_fields) <= listed.keys()
    assert (listed["line"], listed["cassette"], listed["failures"]) == (entry.n, False, ["http://here:1/v1: 500"])


def test_the_list_of_calls_says_where_in_the_game_and_about_what(replay: Replay):
    def calls(answer, name):
        judged = {"cassette": True, "failures": ("one", "two"), "attempts": 3} if answer.kind == "assess_other" else {}
        return [{"reply": "", **judged}] if judged or answer.kind == "vote" else []

    page = replay(game(calls), "--calls").out.splitlines()
    first = next(line.split() for line in page if "assess_other" in line)
    assert first[2:5] == ["r1", "debate", "1"]
    assert " ".join(first[6:]).startswith("assess_other 1 double 3 2 0.00 0.50 1000/800/50 clean from a cassette")
    vote = next(line for line in page if " vote " in line)
    assert "r1 vote" in vote
    assert vote.endswith("the reply was empty (finish: stop)")
    assert any(" from a cassette · " in line for line in page[-4:])


def test_models_whose_names_differ_at_the_end_or_in_the_middle_stay_apart(replay: Replay):
    names = [f"{'a' * 30}{n}{'b' * 40}{m}" for n in range(2) for m in range(2)]
    page = replay(game(first_bids(*({"model": name} for name in names))), "--calls").out
    assert len({line.split("bid")[1].split(" 1  ")[0] for line in page.splitlines()[1:5]}) == 4


def test_a_line_without_a_call_is_named_for_what_it_is(replay: Replay):
    kinds = {line.event.type: line for line in played(one_each) if line.event.type != "model_call"}
    assert len(kinds) > 8
    for entry in kinds.values():
        result = replay(played(one_each), "--prompt", str(entry.n))
        named = f"{entry.event.seat}'s answer to {entry.event.kind}" if entry.event.type == "answered" else ""
        assert result.code == 2
        assert f"line {entry.n} is " in result.err
        assert named in result.err
    count = len(played(one_each))
    assert f"the record has {count} readable lines" in replay(played(one_each), "--prompt", str(count + 1)).err


def test_an_edited_prompt_is_refused_with_its_line(replay: Replay):
    records = [*played(one_each)]
    at, entry = next((at, line) for at, line in enumerate(records) if line.event.type == "prompt_text")
    records[at] = entry._replace(event=piece("user", "Other rules.\n", after=7))
    result = replay(records, "--prompt", str(calls_in(records)[-1].n))
    assert result.code == 2
    assert f"line {entry.n}: " in result.err


def test_a_packed_record_lists_the_same_calls(tmp_path: Path, replay: Replay):
    (tmp_path / "game.ndjson.gz").write_bytes(gzip.compress(lines(played())))
    assert wolfbus(tmp_path, "replay", "game.ndjson.gz", "--calls").out == replay(played(), "--calls").out


@pytest.mark.published_log
def test_a_published_log_has_no_calls_and_its_replies_are_told_by_rung():
    folder, name = PUBLISHED.parent, PUBLISHED.name
    refused = wolfbus(folder, "replay", name, "--calls")
    assert refused.code == 2
    assert "--calls needs a wolfbus record" in refused.err
    rungs = "extracted 86 (94.5%), repaired 5 (5.5%), coerced 0 (0.0%), lost 0 (0.0%)"
    assert rungs in wolfbus(folder, "replay", name).out
    value = json.loads(wolfbus(folder, "replay", name, "--json").out)
    assert (value["reread"]["replies"], value["reread"]["extracted"]) == (91, {"n": 86, "share": 86 / 91})
    assert value["metrics"]["repair"]["overall"]["repaired"] == 5
