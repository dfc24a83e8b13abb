"""What model calls took: sums, distributions, and the calls that had to wait for one another."""

import math
import random
import re

import pytest

from analytics.findings import metrics
from analytics.gather import GameFold, GameRows
from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.llm.calls.woven import call, game, one_each, piece
from wolfbus.game.config import GameConfig
from wolfbus.messages.calls import ChainAddition, PromptAddition
from wolfbus.record.line import Recorded


def rows_of(records: list[Recorded]) -> GameRows:
    fold = GameFold()
    for recorded in records:
        fold.feed(recorded.event, recorded.time)
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


def test_what_servers_charged_by_their_own_word_stands_beside_ones_price_in_the_report():
    def billed(_answer, name):
        # some replies come without it
        return [{"model": "one", "cost_usd": 0.001, "billed_usd": 0.002 if len(name) % 2 else None}]

    records = game(billed)
    bills = [recorded.event.billed_usd for recorded in records if recorded.event.type == "model_call"]
    result = metrics([rows_of(records)])
    total = result["cost"]["by_model"]["one"]
    assert total["billed_usd"] == math.fsum(filter(None, bills)) > 0
    assert total["billed_usd_missing"] == bills.count(None) > 0
    page = Report(result, gathered([])).markdown()
    heads = re.search(r"\| Model, agent, kind \|.*", page)[0].split("|")
    values = re.search(r"\| one \|.*", page)[0].split("|")
    by_head = dict(zip(map(str.strip, heads), map(str.strip, values), strict=True))
    assert (by_head["Money"], by_head["Billed"]) == (f"${total['cost_usd']:.4f}", f"${total['billed_usd']:.4f}")
    assert f"{bills.count(None)} lack what the server charged" in page
    unbilled = metrics([rows_of(game(drawn))])
    assert "Billed" not in Report(unbilled, gathered([])).markdown()


def test_sums_over_a_game_are_those_of_its_calls():
    records = game(drawn)
    calls = [recorded.event for recorded in records if recorded.event.type == "model_call"]
    cost = metrics([rows_of(records)])["cost"]
    total = cost["total"]
    assert cost["games"] == 1
    assert total["calls"] == total["requests"] == len(calls)
    assert total["failed"] == sum(call.error is not None for call in calls)
    assert total["reasks"] == sum(call.reask for call in calls)
    assert total["attempts"] == sum(call.attempts for call in calls)
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        counts = [getattr(call, name) for call in calls if getattr(call, name) is not None]
        assert total[name] == sum(counts)
        assert isinstance(total[name], int)
        assert total[f"{name}_missing"] == len(calls) - len(counts)
    priced = [call.cost_usd for call in calls if call.cost_usd is not None]
    assert total["cost_usd"] == math.fsum(priced)
    assert total["cost_usd_missing"] == len(calls) - len(priced)
    assert total["latency_s"]["total"] == math.fsum(call.latency_s for call in calls)
    assert total["latency_s"]["max"] == max(call.latency_s for call in calls)
    for split, key in (("by_model", "model"), ("by_kind", "kind"), ("by_seat", "seat")):
        assert {name: row["calls"] for name, row in cost[split].items()} == {
            name: sum(getattr(call, key) == name for call in calls) for name in {getattr(call, key) for call in calls}
        }
    assert sum(row["calls"] for row in cost["by_role"].values()) == len(calls)
    assert cost["wall_s"]["total"] == records[-1].time
    assert cost["per_game"]["calls"] == len(calls)
    assert cost["per_statement"]["calls"] == len(calls) / cost["statements"]


def test_the_critical_path_counts_each_join_that_waited_for_models_once():
    config = GameConfig(debate_turns=3, max_rounds=1, vote_reasons=False, first_night_kill=False)
    # a night at once; per turn bids and a statement, with judgements of the turn before; the last ones; the vote
    assert rows_of(game(one_each, config)).critical_path == 1 + 3 * 2 + 1 + 1
    strict = config.model_copy(update={"overlap": False})
    assert rows_of(game(one_each, strict)).critical_path == 1 + 3 * 3 + 1


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


def test_replies_from_a_cassette_are_counted_apart_and_cost_nothing():
    result = metrics([rows_of(game(lambda answer, name: [{"cassette": True, "cost_usd": 0.5}]))])
    total = result["cost"]["total"]
    assert total["cassette"] == total["calls"]
    assert (total["cost_usd"], total["cost_usd_missing"], total["attempts"]) == (0.0, 0, 0)
    assert total["prompt_tokens"] == 1000 * total["calls"]
    assert total["latency_s"]["n"] == 0
    half = metrics([rows_of(game(lambda answer, name: [{"cassette": answer.kind == "bid", "cost_usd": 0.5}]))])
    total = half["cost"]["total"]
    assert total["cost_usd"] == 0.5 * (total["calls"] - total["cassette"]) > 0


def dropped_of(prompts, **special):
    """Return how many prompts of one agent were cut, of such as (characters, tokens read), in their order."""
    fold = GameFold()
    opened = game(one_each)[0].event
    fold.feed(opened)
    for number, (characters, tokens) in enumerate(prompts):
        fold.feed(piece("user", "x" * characters))
        name = f"1/debate/{number}/bid/{opened.seats[0].name}"
        fold.feed(call(name, prompt=(number,), prompt_tokens=tokens, **special))
    return sum(fold.rows().dropped.values())


@pytest.mark.parametrize(
    ("prompts", "dropped"),
    [
        pytest.param([(1000 * n, 250 * n) for n in range(1, 10)], 0, id="whole ones"),
        pytest.param([(4000, 1000), *[(5201, 1000)] * 3], 0, id="three may be chance"),
        pytest.param([(4000, 1000), *[(5201, 1000)] * 4], 4, id="four are none"),
        pytest.param([(4000, 1000), *[(5200, 1000)] * 4], 0, id="not longer by three tenths"),
        pytest.param([(9000, 1000), (4000, 1000), *[(5201, 1000)] * 4], 4, id="longer than the shortest"),
        pytest.param([(4000, 1000), *[(5201, 1020)] * 4], 4, id="as many up to a fiftieth"),
        pytest.param([(4000, 1000), *[(5201, 981)] * 4], 4, id="nearly as many"),
        pytest.param([(4000, 1000), *[(5201, 980)] * 4], 0, id="fewer"),
        pytest.param([(4000, 1000), *[(5201, 1000)] * 4, (8000, 2000)], 0, id="a window that was none"),
    ],
)
def test_prompts_are_counted_as_cut_where_four_much_longer_ones_have_no_more_tokens(prompts, dropped):
    assert dropped_of(prompts) == dropped
    # of several attempts nobody knows which was counted
    assert dropped_of(prompts, attempts=2) == 0


def test_a_prompt_is_as_long_as_all_of_its_chain_with_texts_that_stand_in_the_record_already():
    fold = GameFold()
    opened = game(one_each)[0].event
    fold.feed(opened)
    fold.feed(piece("system", "x" * 1000))
    fold.feed(PromptAddition(chains=(ChainAddition(after=0, texts=("y" * 200, 1)), ChainAddition(texts=("z",)))))
    for prompt in [(0,)] + [(2,)] * 4 + [(1, 3)] * 4:
        name = f"1/debate/1/bid/{opened.seats[0].name}"
        fold.feed(call(name, prompt=prompt))
    # 1,400 characters are longer by more than three tenths, 1,201 are not
    assert list(fold.rows().dropped.values()) == [4]
