"""What model calls of a study may cost: one budget, whoever spends it."""

from __future__ import annotations

import contextlib
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.llm.budget import NOTHING, Amount, SharedBudget
from players.llm.redis_budget import RedisBudget
from tests.study.runs import ENVIRONMENT, WOLFBUS, begin, manifest, run_here, wait_for, without_times
from wolfbus.testing.model_server import ModelServer

SHORT = "games = 4\nseed = 5\nat_once = 2\n[rules]\ndebate_turns = 1\nmax_rounds = 1\n"


def amount(usd: float, tokens: int = 0) -> Amount:
    return Amount(Decimal(repr(usd)), tokens)


class Answers:
    def __init__(self) -> None:
        self.given: list[tuple[int, int, bool]] = []
        self.why = ""

    def __call__(self, worker: int, key: int, refusal: str | None) -> None:
        self.given.append((worker, key, refusal is None))
        self.why = refusal or self.why


@pytest.fixture
def shared():
    """A budget of a dollar; of a hundred tokens where a test says so."""

    def shared(*limits, before=NOTHING):
        answers = Answers()
        return SharedBudget(*(limits or (1.0, None)), answers, before), answers

    return shared


def test_a_call_waits_until_it_fits_beside_those_of_other_workers_and_can_be_withdrawn(shared):
    budget, answers = shared()
    budget.reserve(1, 0, lambda: amount(0.75), "a")
    budget.reserve(2, 0, lambda: amount(0.5), "b")
    budget.reserve(1, 1, lambda: amount(0.9), "c")
    assert answers.given == [(1, 0, True)]
    budget.settle(1, 1, amount(0.0))
    budget.settle(1, 0, amount(0.25))
    assert answers.given == [(1, 0, True), (2, 0, True)]
    assert budget.spent == amount(0.25)


def test_what_could_never_fit_is_refused_and_so_is_all_that_follows(shared):
    budget, answers = shared(before=amount(0.6))
    budget.reserve(1, 0, lambda: amount(0.5), "Ada: vote, m")
    budget.reserve(2, 0, lambda: amount(0.1), "b")
    assert answers.given == [(1, 0, False), (2, 0, False)]
    assert answers.why == (
        "the budget ends here: $0.6000 of $1.0000 spent, and the next call could take up to $0.5000 (Ada: vote, m)"
    )


def test_what_a_lost_worker_had_set_aside_counts_as_spent_and_its_wishes_are_forgotten(shared):
    budget, answers = shared(None, 100)
    for worker, key, tokens in ((1, 0, 60), (1, 1, 60), (2, 0, 30)):
        budget.reserve(worker, key, lambda tokens=tokens: amount(0, tokens), "x")
    budget.lose(1)
    assert budget.spent.tokens == 60
    assert answers.given == [(1, 0, True), (2, 0, True)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(0, 30), st.booleans()), max_size=60))
def test_what_is_spent_never_exceeds_the_limit(steps):
    held: dict[tuple[int, int], int] = {}
    asked: dict[tuple[int, int], int] = {}

    def tell(worker: int, key: int, refusal: str | None) -> None:
        if refusal is None:
            held[worker, key] = asked[worker, key]

    shared = SharedBudget(None, 100, tell)
    for key, (worker, most, taken, settles) in enumerate(steps):
        asked[worker, key] = most
        shared.reserve(worker, key, lambda most=most: amount(0, most), "x")
        if settles and held:
            place = next(iter(held))
            shared.settle(*place, amount(0, min(taken, held.pop(place))))
        assert shared.spent.tokens + sum(held.values()) <= 100


@pytest.fixture(scope="module")
def server():
    with ModelServer() as server:
        yield server


def told(folder: Path, url: str, text: str = SHORT) -> Path:
    path = folder / "study.toml"
    tables = f'[endpoints.e]\nurl = "{url}"\nkey_env = "HOME"\n[models.m]\nmodel = "double"\nendpoint = "e"\n'
    path.write_text(f'players = "llm:m*2,scripted*6"\n{text}{tables}price = {{ input = 1.0, output = 2.0 }}\n')
    return path


@pytest.fixture(scope="module")
def paid(server, tmp_path_factory) -> Path:
    """A study of models with all the money that it needs."""
    folder = tmp_path_factory.mktemp("paid")
    run_here(told(folder, server.url), "--out", folder / "out", "--budget", "1000", code=0)
    return folder / "out"


def test_calls_and_their_cost_are_in_the_totals_and_the_prompts_have_a_hash(paid):
    totals = manifest(paid)["totals"]
    assert totals["calls"] > 20
    assert totals["cost_usd"] > 0
    assert len(manifest(paid)["prompts"]) == 64
    model = manifest(paid)["models"]["m"]
    assert model["price"] == {"input": 1.0, "cached": None, "output": 2.0}
    # no key, and no limits
    assert list(model["endpoint"]) == ["url"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_study_stops_at_its_budget_and_goes_on_with_a_higher_one(server, paid, tmp_path, workers):
    enough = manifest(paid)["totals"]["cost_usd"]
    out, file = tmp_path / "out", told(tmp_path, server.url)
    budget = f"{enough * 0.6:.6f}"
    done = run_here(file, "--out", out, "--workers", workers, "--budget", budget, code=1)
    last = done.stderr.strip().splitlines()[-1]
    assert "the budget ends here" in last
    assert "--budget MORE" in last
    totals = manifest(out)["totals"]
    assert totals["failed"] == totals["stopped"] == 0
    assert totals["pending"] == 4 - totals["ended"] > 0
    assert (totals["cost_usd"] or 0) <= float(budget)
    assert len(list((out / "records").iterdir())) == totals["ended"]
    if workers == "1":
        # the same budget is spent already
        again = run_here("--resume", "--out", out, code=1)
        assert "the budget ends here" in again.stderr
    run_here("--resume", "--out", out, "--workers", "1", "--budget", "1000", code=0)
    mine, its = without_times(manifest(out)), without_times(manifest(paid))
    # what a model answers does not depend on who asked before; what its server had in its cache does
    for each in (mine, its):
        del each["totals"]["cost_usd"]
        each["models"]["m"]["endpoint"] = None
    assert mine == its


@pytest.mark.parametrize("server", ["redis", "cluster"])
def test_what_a_holder_on_redis_had_set_aside_counts_as_spent_once_it_is_silent_for_too_long(request, server):
    url = request.getfixturevalue("redis_url") if server == "redis" else request.getfixturevalue("cluster").url
    with contextlib.closing(RedisBudget(url, "mine", 1.0, None, lease_s=0.1)) as kept:
        kept.open(amount(0.15))
        assert kept.reserve("c", 0, amount(0.5), "x").word == "done"
        kept.settle("c", 0, amount(0.1))
        assert kept.look().spent == amount(0.25)
        assert kept.reserve("a", 0, amount(0.5), "x").word == "done"
        assert kept.reserve("a", 0, amount(0.5), "x").word == "done"
        assert kept.reserve("b", 0, amount(0.5), "x").word == "wait"
        wait_for(lambda: kept.reserve("b", 0, amount(0.5), "Ada: vote, m").word != "wait")
        verdict = kept.look()
        assert verdict.spent == amount(0.75)
        assert verdict.why is not None
        assert verdict.why.endswith("the next call could take up to $0.5000 (Ada: vote, m)")
        # too late to give anything back, but no harm
        kept.settle("a", 0, amount(0.1))
        assert kept.look().spent == amount(0.75)
        # a run that goes on may have other limits
        assert kept.open(amount(0.0)).why is None
        kept.remove()


def test_workers_anywhere_keep_one_budget_and_go_on_with_a_higher_one(server, paid, tmp_path, redis_url):
    enough = manifest(paid)["totals"]["cost_usd"]
    out, file = tmp_path / "out", told(tmp_path, server.url)
    share = ("--bus", redis_url, "--share", "paid")
    work = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", "paid", "--at-once", "1"]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(work, env=ENVIRONMENT, stderr=subprocess.DEVNULL)

    working = [start(), start()]
    done = run_here(file, "--out", out, *share, "--budget", f"{enough * 0.6:.6f}")
    assert (done.returncode, [worker.wait(30) for worker in working]) == (1, [1, 1]), done.stderr
    assert "the budget ends here" in done.stderr.splitlines()[-1]
    totals = manifest(out)["totals"]
    assert totals["pending"] == 4 - totals["ended"] > 0
    assert (totals["cost_usd"] or 0) <= enough * 0.6
    # a worker that came before the run would find the old budget
    run, worker = begin("--resume", "--out", out, *share, "--budget", "1000"), start()
    said = run.communicate(timeout=100)[1]
    assert (run.returncode, worker.wait(30)) == (0, 0), said
    assert manifest(out)["complete"]


def test_a_budget_needs_prices_before_anything_is_played(server, tmp_path):
    done = run_here("--players", f"llm:double@{server.url}", "--budget", "1", "--out", tmp_path / "out", code=2)
    assert "needs the price of double" in done.stderr


def test_a_model_that_does_not_answer_is_told_before_anything_is_played(tmp_path):
    done = run_here("--players", "llm:m@http://127.0.0.1:9/v1", "--out", tmp_path / "out", "--workers", "2", code=1)
    assert "127.0.0.1:9" in done.stderr.strip().splitlines()[-1]
    assert not (tmp_path / "out" / "study.json").exists()
