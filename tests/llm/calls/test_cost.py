"""What model calls took: sums, distributions, and the calls that had to wait for one another."""

from __future__ import annotations

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.books import CallBook
from analytics.findings import Metrics, metrics
from analytics.fold import GameFold
from analytics.report.terminal import text
from analytics.rows import GameRows
from tests.analytics.script import random_game
from tests.llm.calls.woven import SHORT, call, game, one_each
from wolfbus.config import GameConfig
from wolfbus.errors import RulesError
from wolfbus.messages.content import Bid, Label, Speech
from wolfbus.messages.events import AnsweredAssessOwn, AnsweredBid, AnsweredSpeak, Asked, Asking
from wolfbus.record.line import Recorded
from wolfbus.usage import ACCURACY, Distribution, sort_of


def rows_of(records: list[Recorded]) -> GameRows:
    fold = GameFold()
    for each in records:
        fold.feed(each.event, each.time)
    return fold.rows()


def drawn(answer, name):
    """Some calls fail, some are asked again, some servers count nothing."""
    draws = random.Random(name)
    usual = {
        "latency_s": draws.expovariate(2),
        "queue_s": draws.choice([0.0, 0.1]),
        "model": draws.choice(["one", "two"]),
        "attempts": draws.randint(1, 3),
        "cost_usd": draws.choice([None, 0.001]),
    }
    if draws.random() < 0.2:
        usual |= {"error": "connection refused", "reply": None, "prompt_tokens": None, "completion_tokens": None}
    if draws.random() < 0.3:
        usual |= {"cached_tokens": None}
    return [usual, usual | {"reask": True}] if draws.random() < 0.2 else [usual]


GAMES = [rows_of(game(drawn, SHORT, str(seed))) for seed in range(4)] + [random_game(1).rows()]


def test_sums_over_a_game_are_those_of_its_calls():
    records = game(drawn)
    calls = [each.event for each in records if each.event.type == "model_call"]
    cost = metrics([rows_of(records)])["cost"]
    total = cost["total"]
    assert cost["games"] == 1
    assert total["calls"] == total["requests"] == len(calls)
    assert total["failed"] == sum(each.error is not None for each in calls)
    assert total["reasks"] == sum(each.reask for each in calls)
    assert total["attempts"] == sum(each.attempts for each in calls)
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        known = [getattr(each, name) for each in calls if getattr(each, name) is not None]
        assert total[name] == sum(known)
        assert isinstance(total[name], int)
        assert total[f"{name}_missing"] == len(calls) - len(known)
    priced = [each.cost_usd for each in calls if each.cost_usd is not None]
    assert total["cost_usd"] == math.fsum(priced)
    assert total["cost_usd_missing"] == len(calls) - len(priced)
    assert total["latency_s"]["total"] == math.fsum(each.latency_s for each in calls)
    assert total["latency_s"]["max"] == max(each.latency_s for each in calls)
    for split, key in (("by_model", "model"), ("by_kind", "kind"), ("by_seat", "seat")):
        assert {name: row["calls"] for name, row in cost[split].items()} == {
            name: sum(getattr(each, key) == name for each in calls) for name in {getattr(each, key) for each in calls}
        }
    assert sum(row["calls"] for row in cost["by_role"].values()) == len(calls)
    assert cost["wall_s"]["total"] == records[-1].time
    assert cost["per_game"]["calls"] == len(calls)
    assert cost["per_statement"]["calls"] == len(calls) / cost["statements"]


def test_games_may_be_added_in_any_order_and_partition():
    whole = metrics(GAMES)
    for seed in range(6):
        draws = random.Random(seed)
        parts = [Metrics() for _ in range(3)]
        for each in draws.sample(GAMES, len(GAMES)):
            draws.choice(parts).add(each)
        merged = Metrics()
        for part in parts:
            merged.merge(part)
        assert merged.result() == whole
    assert whole["cost"]["games"] == 4
    assert whole["cost"]["by_seat"] is None
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole


def test_a_game_without_calls_costs_nothing_and_leaves_the_seats_of_another_told_apart():
    cost = metrics([GAMES[4], GAMES[0]])["cost"]
    assert cost["games"] == 1
    assert len(cost["by_seat"]) > 4
    nothing = metrics([GAMES[4]])["cost"]
    assert (nothing["games"], nothing["total"]["calls"], nothing["total"]["cost_usd"]) == (0, 0, None)
    assert nothing["per_game"]["calls"] is None
    assert nothing["total"]["latency_s"]["median"] is None


def test_tokens_and_prices_that_nobody_told_are_null_and_counted():
    told_nothing = {"prompt_tokens": None, "cached_tokens": None, "completion_tokens": None}
    total = metrics([rows_of(game(lambda answer, name: [told_nothing]))])["cost"]["total"]
    for name in (*told_nothing, "cost_usd"):
        assert total[name] is None
        assert total[f"{name}_missing"] == total["calls"]


def test_rows_that_were_taken_do_not_change_when_the_game_goes_on():
    fold, records = GameFold(), game()
    for each in records[:100]:
        fold.feed(each.event, each.time)
    rows = fold.rows()
    before = metrics([rows])
    for each in records[100:]:
        fold.feed(each.event, each.time)
    assert metrics([rows]) == before
    assert metrics([fold.rows()])["cost"]["total"]["calls"] > before["cost"]["total"]["calls"]


def test_a_call_for_nobody_at_the_table_is_refused():
    fold = GameFold()
    fold.feed(game()[0].event)
    with pytest.raises(RulesError, match="Nemo"):
        fold.feed(call("1/debate/1/bid/Nemo"))


def test_the_critical_path_counts_each_join_that_waited_for_models_once():
    config = GameConfig(debate_turns=3, max_rounds=1, vote_reasons=False, first_night_kill=False)
    # a night at once; per turn bids and a statement, with judgements of the turn before; the last ones; the vote
    assert rows_of(game(one_each, config)).critical_path == 1 + 3 * 2 + 1 + 1
    strict = config.model_copy(update={"overlap": False})
    assert rows_of(game(one_each, strict)).critical_path == 1 + 3 * 3 + 1


def test_joins_that_wait_for_no_model_do_not_count_and_asking_again_does():
    config = GameConfig(debate_turns=3, max_rounds=1, vote_reasons=False, first_night_kill=False)

    def speaking_only(answer, name):
        return [{}] if answer.kind == "speak" else []

    def twice(answer, name):
        return [{}, {"reask": True}] if answer.kind == "speak" else []

    assert rows_of(game(speaking_only, config)).critical_path == 3
    assert rows_of(game(twice, config)).critical_path == 6
    assert rows_of(game(lambda answer, name: [], config)).critical_path == 0


def batch(number: int, turn: int, *asks: tuple[str, tuple[str, ...]], about: int | None = None) -> Asked:
    asking = tuple(Asking(kind=kind, seats=seats) for kind, seats in asks)
    return Asked(batch=number, round=1, phase="debate", turn=turn, about=about, asks=asking)


def test_a_call_that_answers_ahead_of_its_time_spares_the_wait_for_another():
    book = CallBook()
    book.ask(batch(1, 1, ("speak", ("Ada",))))
    book.call(call("1/debate/1/speak/Ada", requests=("1/debate/1/speak/Ada", "1/debate/1/assess_own/Ada/1")))
    book.answer(AnsweredSpeak(batch=1, seat="Ada", content=Speech(text="So.")))
    assert book.path == 1
    book.ask(batch(2, 1, ("assess_own", ("Ada",)), about=1))
    book.answer(
        AnsweredAssessOwn(batch=2, seat="Ada", about=1, content=Label(deceptive=False, confidence=1.0, kind="none"))
    )
    assert book.path == 1


def test_asking_again_for_what_came_ahead_waits_from_when_it_was_asked_for():
    book = CallBook()
    book.ask(batch(1, 1, ("speak", ("Ada",))))
    book.call(call("1/debate/1/speak/Ada", requests=("1/debate/1/speak/Ada", "1/debate/1/assess_own/Ada/1")))
    book.call(call("1/debate/1/speak/Ada", reask=True))
    book.answer(AnsweredSpeak(batch=1, seat="Ada", content=Speech(text="So.")))
    assert book.path == 2
    book.ask(batch(2, 1, ("assess_own", ("Ada",)), about=1))
    book.call(call("1/debate/1/assess_own/Ada/1", reask=True))
    book.answer(
        AnsweredAssessOwn(batch=2, seat="Ada", about=1, content=Label(deceptive=False, confidence=1.0, kind="none"))
    )
    assert book.path == 3


def test_a_call_that_comes_after_its_request_was_closed_holds_up_nothing():
    book = CallBook()
    book.ask(batch(1, 1, ("bid", ("Ada", "Wim"))))
    book.call(call("1/debate/1/bid/Ada"))
    book.answer(AnsweredBid(batch=1, seat="Ada", content=Bid(bid=1)))
    book.answer(AnsweredBid(batch=1, seat="Wim", outcome="timed_out"))
    book.call(call("1/debate/1/bid/Wim", error="too late"))
    book.call(call("nonsense/of/an/bid/Wim", requests=("words of an outsider", "a/b/c/d/e/f")))
    book.ask(batch(2, 1, ("speak", ("Ada",))))
    book.answer(AnsweredSpeak(batch=2, seat="Ada", content=Speech(text="So.")))
    assert book.path == 1


def test_a_call_is_named_for_all_that_it_answers():
    def named(*kinds: str, **special: object) -> str:
        requests = tuple(f"1/debate/1/{kind}/Ada/{n}" for n, kind in enumerate(kinds))
        return sort_of(call(requests[0], requests=requests, **special))

    assert named("bid") == named("bid", reask=True) == "bid"
    assert named("assess_other", "bid") == named("bid", *["assess_other"] * 6) == "bid+assess_other"
    assert named(*["assess_other"] * 6) == "assess_other+"
    assert named("speak", labels=True) == "speak+label"
    assert named("vote", labels=True) == "vote+label"
    assert named("bid", "speak", "vote", "kill", "inspect") == "bid+speak+vote+more"
    assert sort_of(call("1/debate/1/bid/Ada", requests=("words of an outsider",))) == "bid"


def test_costs_by_kind_tell_combined_calls_apart():
    def combined(answer, name):
        if answer.kind == "speak":
            return [{"labels": True}]
        return [{"requests": (name, name.replace("bid", "assess_other"))}] if answer.kind == "bid" else []

    records = game(combined)
    result = metrics([rows_of(records)])
    by_kind = result["cost"]["by_kind"]
    assert list(by_kind) == ["bid+assess_other", "speak+label"]
    assert sum(row["calls"] for row in by_kind.values()) == result["cost"]["total"]["calls"]
    assert "  bid+assess_other " in text(result)


def test_replies_from_a_cassette_are_counted_apart_and_cost_nothing():
    result = metrics([rows_of(game(lambda answer, name: [{"cassette": True, "cost_usd": 0.5}]))])
    total = result["cost"]["total"]
    assert total["cassette"] == total["calls"]
    assert (total["cost_usd"], total["cost_usd_missing"], total["attempts"]) == (0.0, 0, 0)
    assert total["prompt_tokens"] == 1000 * total["calls"]
    assert total["latency_s"]["n"] == 0
    assert f"{total['calls']} from a cassette" in text(result)
    half = metrics([rows_of(game(lambda answer, name: [{"cassette": answer.kind == "bid", "cost_usd": 0.5}]))])
    total = half["cost"]["total"]
    assert total["cost_usd"] == 0.5 * (total["calls"] - total["cassette"]) > 0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=200), st.floats(0, 1))
def test_quantiles_are_within_their_accuracy(values, q):
    distribution = Distribution()
    for value in values:
        distribution.add(value)
    exact = sorted(values)[math.floor(q * (len(values) - 1))]
    found = distribution.quantile(q)
    assert min(values) <= found <= max(values)
    assert found == pytest.approx(exact, rel=1.001 * ACCURACY, abs=1e-4)


def test_a_million_latencies_take_no_more_room_than_a_thousand():
    draws = random.Random(1)
    distribution = Distribution()
    for _ in range(1000):
        distribution.add(draws.lognormvariate(0, 2))
    for _ in range(10):
        distribution.merge(distribution)
    assert distribution.n == 1_024_000
    assert len(distribution._buckets) < 800


def test_text_tells_the_cost_of_games_with_calls_and_is_silent_otherwise():
    assert "Model calls" not in text(metrics([GAMES[4]]))
    for games in (GAMES, GAMES[:1]):
        shown = text(metrics(games))
        part = shown[shown.index("Model calls") :]
        assert max(map(len, shown.splitlines())) <= 100
        for word in ("one", "two", "assess_other", "Per game", "Per statement", "Calls in a row", "lack a price"):
            assert word in part
    assert "by seat" in text(metrics(GAMES[:1]))
    assert "by seat" not in text(metrics(GAMES))


def test_text_fits_whatever_the_sums():
    result = json.loads(json.dumps(metrics(GAMES)))
    rows = [result["cost"]["total"], *(row for split in ("model", "kind", "role") for row in
                                        result["cost"][f"by_{split}"].values())]  # fmt: skip
    for row in rows:
        row.update(calls=987_654_321, failed=98_765_432, reasks=98_765_432, cost_usd=123_456.78)
        row.update(prompt_tokens=987_654_321_000, cached_tokens=987_654_321_000, completion_tokens=987_654_321_000)
        for name in ("latency_s", "queue_s"):
            row[name].update(median=12_345.6, p95=12_345.6)
    assert max(map(len, text(result).splitlines())) <= 100
