"""What model calls of a study may cost: one budget, whoever spends it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import time
from decimal import Decimal
from pathlib import Path

import pytest
import redis

from players.llm.budget import Amount
from players.llm.redis_budget import RedisBudget
from tests.study.runs import (
    ENVIRONMENT,
    WOLFBUS,
    begin,
    journal,
    manifest,
    run_here,
    run_here_while,
    without_times,
)
from tests.waiting import wait_until
from wolfbus.bus import streams
from wolfbus.errors import BudgetSpent
from wolfbus.testing.model_server import ModelServer
from wolfbus.testing.redis_server import RedisServer

SHORT = "games = 4\nseed = 5\nat_once = 2\n[rules]\ndebate_turns = 1\nmax_rounds = 1\n"


def amount(usd: float, tokens: int = 0) -> Amount:
    return Amount(Decimal(repr(usd)), tokens)


@contextlib.contextmanager
def sharing(url, number, lease_s):
    """So many who share a budget of a dollar."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(contextlib.closing(RedisBudget(url, "mine", 1.0, None, lease_s=lease_s)))
            for _ in range(number)
        ]


@pytest.fixture(params=["redis", "cluster"])
def shared_budget(request):
    """A dollar, of which 15 cents are spent, and two who share it: what each does, and what tells of all."""
    with contextlib.ExitStack() as stack:
        url = (
            request.getfixturevalue("redis_url") if request.param == "redis" else request.getfixturevalue("cluster").url
        )
        one, *both = stack.enter_context(sharing(url, 3, lease_s=0.5))
        one.open(amount(0.15))
        yield both, lambda: one.look()[0]
        # a run that goes on may have other limits
        assert one.look()[1]
        one.open(amount(0.0))
        assert one.look()[1] is None
        one.remove()
        assert one.look() is None


def test_one_budget_is_kept_by_all_who_share_it_and_what_one_held_that_is_gone_counts_as_spent(shared_budget):
    (ann, bob), spent = shared_budget
    assert ann.reserve(0, amount(0.5), "x")
    assert ann.reserve(0, amount(0.5), "x"), "asked again after a lost reply, it is set aside once"
    assert not bob.reserve(0, amount(0.5), "x"), "it may fit once the other's call is through"
    ann.settle(0, amount(0.1))
    assert spent() == amount(0.25)
    assert bob.reserve(0, amount(0.5), "x")
    bob.close()
    wait_until(lambda: spent() == amount(0.75))
    ann.settle(1, amount(0.1))
    assert spent() == amount(0.75), "nothing was set aside for that"
    why = "the budget ends here: $0.7500 of $1.0000 spent, and the next call could take up to $0.5000 (vote, m)"
    for key, usd, what in ((2, 0.5, "vote, m"), (3, 0.1, "nothing goes out any more")):
        with pytest.raises(BudgetSpent, match=f"^{re.escape(why)}$"):
            ann.reserve(key, amount(usd), what)


def test_what_a_holder_on_redis_set_aside_stays_so_for_as_long_as_it_lives(redis_url):
    with sharing(redis_url, 2, lease_s=0.6) as (ann, bob):
        ann.open(amount(0.0))
        assert ann.reserve(0, amount(0.75), "a call of more than two leases")
        until = time.monotonic() + 1.3
        wait_until(lambda: bob.reserve(0, amount(0.5), "x") or time.monotonic() > until)
        assert (ann.look(), time.monotonic() > until) == ((amount(0.0), None), True)
        ann.remove()


def test_a_clock_that_was_set_back_keeps_nothing_set_aside_for_who_is_gone(redis_url):
    with sharing(redis_url, 2, lease_s=0.3) as (ann, bob), contextlib.closing(redis.Redis.from_url(redis_url)) as link:
        ann.open(amount(0.0))
        assert ann.reserve(0, amount(0.25), "x")
        assert bob.reserve(0, amount(0.75), "x")
        bob.close()
        holders = streams.house_key("mine", "agenda:holders")
        for holder in link.zrange(holders, 0, -1):
            link.zincrby(holders, 3_600_000, holder)
        wait_until(lambda: ann.look() == (amount(0.75), None))
        ann.remove()


def test_a_redis_that_is_gone_is_waited_for_and_told_once_whatever_is_still_to_be_settled(caplog):
    with RedisServer() as server:
        holder = RedisBudget(f"{server.url}?patience=1", "mine", 1.0, None)
        holder.open(amount(0.0))
        assert all(holder.reserve(key, amount(0.01), "x") for key in range(40))
    with contextlib.closing(holder):
        began = time.monotonic()
        for key in range(40):
            holder.settle(key, amount(0.01))
        # each call for itself would take 40 s
        assert 1 <= time.monotonic() - began < 30
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "cannot be reached (tried for 1 s)" in line


def test_a_budget_that_its_redis_has_lost_is_waited_for_also_by_who_was_cut_off_for_long():
    with RedisServer() as server, contextlib.closing(RedisBudget(server.url, "mine", 1.0, None, lease_s=0.5)) as ann:
        ann.open(amount(0.0))
        assert ann.reserve(0, amount(0.1), "x")
        until = time.monotonic() + 0.6
        wait_until(lambda: time.monotonic() > until)
        server.command("FLUSHALL")
        assert not ann.reserve(1, amount(0.1), "x"), "whoever runs the study opens it again"
        ann.open(amount(0.3))
        assert ann.reserve(1, amount(0.1), "x")
        assert ann.look() == (amount(0.3), None)
        server.command("FLUSHALL")
        with pytest.raises(BudgetSpent, match=r"^the budget is gone, and the agenda with it$"):
            wait_until(lambda: ann.reserve(2, amount(0.1), "x"))


@pytest.fixture(scope="module")
def server():
    with ModelServer() as server:
        yield server


def paid_study(folder: Path, url: str, text: str = SHORT) -> Path:
    path = folder / "study.toml"
    tables = f'[endpoints.e]\nurl = "{url}"\nkey_env = "HOME"\n[models.m]\nmodel = "double"\nendpoint = "e"\n'
    path.write_text(f'players = "llm:m*2,scripted*6"\n{text}{tables}price = {{ input = 1.0, output = 2.0 }}\n')
    return path


@pytest.fixture(scope="module")
def paid(server, tmp_path_factory) -> Path:
    """A study of models with all the money that it needs."""
    folder = tmp_path_factory.mktemp("paid")
    run_here(paid_study(folder, server.url), "--out", folder / "out", "--budget", "1000", code=0)
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
    out, file = tmp_path / "out", paid_study(tmp_path, server.url)
    budget = f"{enough * 0.6:.6f}"
    before = server.stats().calls
    done = run_here(file, "--out", out, "--workers", workers, "--budget", budget, code=1)
    last = done.stderr.strip().splitlines()[-1]
    assert "the budget ends here" in last
    assert "--budget MORE" in last
    # games that did not end cost, too; several workers tell only together
    told_in_all = re.search(
        r"^wolfbus: in this run, double: \d+ calls and 1 probe.*\$(\d+\.\d+)", done.stderr, re.MULTILINE
    )
    assert (told_in_all is not None) == (workers == "1")
    assert told_in_all is None or 0.9 < float(told_in_all[1]) / float(budget) <= 1
    totals = manifest(out)["totals"]
    assert totals["failed"] == totals["stopped"] == 0
    assert totals["pending"] == 4 - totals["ended"] > 0
    assert (totals["cost_usd"] or 0) <= float(budget)
    # those under way wait to be gone on with
    assert totals["ended"] < len(list((out / "records").iterdir())) <= totals["ended"] + 2
    if workers == "1":
        # the same budget is spent already
        for more in ([], ["--budget", "0"]):
            again = run_here("--resume", "--out", out, *more, code=1)
            assert re.search(
                "^wolfbus: the budget ends here: .* --resume .* --budget MORE$", again.stderr, re.MULTILINE
            )
    run_here("--resume", "--out", out, "--workers", "1", "--budget", "1000", code=0)
    resumed, whole = without_times(manifest(out)), without_times(manifest(paid))
    # what a model answers does not depend on who asked before; what its server had in its cache does
    for study in (resumed, whole):
        del study["totals"]["cost_usd"]
        study["models"]["m"]["endpoint"] = None
    assert resumed == whole
    # three small questions, and what was on its way when the budget ended
    assert server.stats().calls - before <= whole["totals"]["calls"] + 3 + 2 * 8


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_models_are_asked_before_the_games_and_after_them_counts_towards_the_budget(server, tmp_path, workers):
    def taken() -> int:
        stats = server.stats()
        return stats.prompt_tokens + stats.completion_tokens

    out, before = tmp_path / "out", taken()
    file = paid_study(tmp_path, server.url, f"canaries = true\n{SHORT}")
    run_here(file, "--out", out, "--workers", workers, "--budget-tokens", "10000000", code=0)
    assert len(manifest(out)["canaries"]) == 3
    last = [line for line in journal(out) if "spent_tokens" in line][-1]
    assert last["spent_tokens"] == taken() - before


def test_no_more_games_begin_than_the_budget_is_expected_to_carry(server, paid, tmp_path):
    enough = manifest(paid)["totals"]["cost_usd"]
    text = SHORT.replace("at_once = 2", "at_once = 4")
    budget = ("--budget", f"{enough * 0.4:.6f}")
    run_here(paid_study(tmp_path, server.url, text), "--out", tmp_path / "out", *budget, code=1)
    # of four that begin at once, none would come to its end
    assert 0 < manifest(tmp_path / "out")["totals"]["ended"] < 4


def test_workers_anywhere_keep_one_budget_and_go_on_with_a_higher_one(server, paid, tmp_path, redis_url):
    enough = manifest(paid)["totals"]["cost_usd"]
    out, file = tmp_path / "out", paid_study(tmp_path, server.url)
    share = ("--bus", redis_url, "--share", "paid")
    work = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", "paid", "--at-once", "1", "--config", str(file)]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(work, env=ENVIRONMENT, stderr=subprocess.DEVNULL)

    working = [start(), start()]
    done = run_here(file, "--out", out, *share, "--budget", f"{enough * 0.6:.6f}")
    assert (done.returncode, [worker.wait(60) for worker in working]) == (1, [1, 1]), done.stderr
    assert "the budget ends here" in done.stderr.splitlines()[-1]
    totals = manifest(out)["totals"]
    assert totals["pending"] == 4 - totals["ended"] > 0
    assert (totals["cost_usd"] or 0) <= enough * 0.6
    # a worker that came before the run would find the old budget
    done = run_here_while(lambda: working.append(start()), "--resume", "--out", out, *share, "--budget", "1000")
    assert (done.returncode, working[-1].wait(60)) == (0, 0), done.stderr
    assert manifest(out)["complete"]


def test_a_run_collects_what_workers_played_while_there_was_none_however_little_the_budget_carries(
    server, paid, tmp_path, redis_url
):
    out, file = tmp_path / "out", paid_study(tmp_path, server.url)
    share = ("--bus", redis_url, "--share", "left")
    running = begin(file, "--out", out, *share, "--budget", "1000")
    with redis.from_url(redis_url) as link:
        wait_until(lambda: link.scard("wolf:{left}:agenda:known") == 4)
        running.kill()
        running.communicate()
        work = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", "left", "--config", str(file)]
        worker = subprocess.Popen(work, env=ENVIRONMENT)
        wait_until(lambda: link.xlen("wolf:{left}:agenda:results") == 4)
    budget = str(manifest(paid)["totals"]["cost_usd"] * 1.5)
    run_here("--resume", "--out", out, *share, "--budget", budget, code=0)
    assert worker.wait(60) == 0


def test_a_run_that_was_killed_counts_what_it_spent_after_its_last_note_once_and_in_full(paid, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(paid, out)
    torn = max((out / "records").iterdir())
    lines = torn.read_bytes().splitlines(keepends=True)
    torn.write_bytes(b"".join(lines[: len(lines) // 2]))
    calls = []
    for record in (out / "records").iterdir():
        events = [json.loads(line) for line in record.read_text().splitlines()]
        calls += [(events[0]["started"] + event["time"], event) for event in events if event["type"] == "model_call"]
    at = sorted(when for when, _ in calls)[len(calls) // 2]
    after = [call for when, call in calls if when >= at]
    notes = [line for line in (out / "journal.jsonl").read_text().splitlines(keepends=True) if "00002" in line]
    notes.insert(0, json.dumps({"spent_usd": 1.0, "spent_tokens": 1000, "at": at}) + "\n")
    (out / "journal.jsonl").write_text("".join(notes))
    usd = 1 + sum(call["cost_usd"] for call in after)
    tokens = 1000 + sum(call["prompt_tokens"] + call["completion_tokens"] for call in after)
    for option, spent in (("--budget", f"${usd:.4f} of $0.0000"), ("--budget-tokens", f"{tokens:,} of 0 tokens")):
        more = ["--budget", "1000"] if option == "--budget-tokens" else []
        done = run_here("--resume", "--out", out, *more, option, "0", code=1)
        assert f"the budget ends here: {spent} spent" in done.stderr
    assert 0 < len(after) < len(calls)


def test_a_study_that_was_begun_without_a_budget_counts_all_that_it_spent_once_it_has_one(paid, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(paid, out)
    notes = (out / "journal.jsonl").read_text().splitlines(keepends=True)
    torn = max((out / "records").iterdir())
    lines = torn.read_bytes().splitlines(keepends=True)
    torn.write_bytes(b"".join(lines[: len(lines) // 2]))
    (out / "journal.jsonl").write_text("".join(line for line in notes if "spent" not in line and "00004" not in line))
    events = [json.loads(line) for record in (out / "records").iterdir() for line in record.read_text().splitlines()]
    calls = [event for event in events if event["type"] == "model_call"]
    usd = sum(call["cost_usd"] for call in calls)
    tokens = sum(call["prompt_tokens"] + call["completion_tokens"] for call in calls)
    for option, spent in (("--budget", f"${usd:.4f} of $0.0000"), ("--budget-tokens", f"{tokens:,} of 0 tokens")):
        more = ["--budget", "1000"] if option == "--budget-tokens" else []
        done = run_here("--resume", "--out", out, *more, option, "0", code=1)
        assert f"the budget ends here: {spent} spent" in done.stderr


def test_a_budget_needs_prices_before_anything_is_played(server, tmp_path):
    done = run_here("--players", f"llm:double@{server.url}", "--budget", "1", "--out", tmp_path / "out", code=2)
    assert "needs the price of double" in done.stderr
    file = paid_study(tmp_path, server.url)
    file.write_text(file.read_text().replace("price", "extra"))
    done = run_here(file, "--budget", "1", "--out", tmp_path / "out", code=2)
    assert 'needs the price of m: add  price = { input = …, output = … }  to [models."m"]' in done.stderr


def test_a_budget_of_tokens_that_no_small_question_fits_is_told_with_the_option_that_raises_it(server, tmp_path):
    done = run_here(paid_study(tmp_path, server.url), "--budget-tokens", "5", "--out", tmp_path / "out", code=1)
    assert done.stderr.startswith("wolfbus: the budget ends here: 0 of 5 tokens spent, and")
    assert done.stderr.endswith(f"wolfbus run --resume --out {tmp_path / 'out'} --budget-tokens MORE\n")
    run_here("--resume", "--out", tmp_path / "out", "--budget-tokens", "100000000", code=0)


def test_a_model_that_does_not_answer_is_told_before_anything_is_played(tmp_path):
    done = run_here("--players", "llm:m@http://127.0.0.1:9/v1", "--out", tmp_path / "out", "--workers", "2", code=1)
    assert "127.0.0.1:9" in done.stderr.strip().splitlines()[-1]
    assert not (tmp_path / "out" / "study.json").exists()
