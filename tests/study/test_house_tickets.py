"""Studies in a house with tickets: seats go by the ticket, never by what an agent announces."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moderator.house.roster import Roster
from tests.study.houses import HOUSE, players
from tests.study.runs import ENVIRONMENT, WOLFBUS, begin, manifest, run_here, study_file
from wolfbus.messages.house import Join
from wolfbus.record.reader import open_lines, read_record
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets.holders import Holder, read_bus
from wolfbus.tickets.issuing import issue

FOLLOWER = Path(__file__).parents[2] / "examples" / "agent.py"
HOLDERS = (
    Holder(HOUSE, "moderator", "moderator"),
    Holder(HOUSE, "player", "own"),
    Holder(HOUSE, "agent", "alice"),
    Holder(HOUSE, "agent", "mallory"),
)


@pytest.fixture
def tickets(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Addresses by name; nobody has ever played in the house."""
    folder = tmp_path / "tickets"
    with RedisServer() as server:
        issue(server.url, HOLDERS, folder, revoking=False)
        yield {holder.name: read_bus(f"@{folder / holder.name}.ticket") for holder in HOLDERS}


@contextlib.contextmanager
def process(*words: str) -> Iterator[None]:
    child = subprocess.Popen([*WOLFBUS, *words], stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    try:
        yield
    finally:
        child.kill()
        child.wait()


def seats_of(out: Path) -> set[tuple[str, str, bool]]:
    """Return (agent, brain, in house) of every seat that a study's records tell of."""
    opened = [next(iter(read_record(open_lines(out / game["record"])))).event for game in manifest(out)["games"]]
    return {(seat.agent, seat.brain, seat.in_house) for event in opened for seat in event.seats}


def test_with_tickets_nobody_gets_the_seats_of_another_by_announcing_its_brain(
    tickets: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # where a ticket that was sourced has put it
    environment = {"WOLFBUS_BUS": tickets["moderator"]}
    study = study_file(tmp_path, 'games = 2\nseed = 5\nat_once = 1\nplayers = "scripted*4,outside:alice*4"')
    mallory = (
        "--bus",
        tickets["mallory"],
        "--house",
        HOUSE,
        "--name",
        "mallory",
        "--label",
        "alice",
        "--seats",
        "8",
    )
    running = begin(study, "--house", HOUSE, "--tickets", "--out", out, environment=environment)
    assert running.stderr is not None
    with process("join", *mallory, "--", sys.executable, str(FOLLOWER)):
        line = next(line for line in running.stderr if "here, but not asked for" in line)
        assert "4 seats of outside:alice, 4 seats of scripted missing" in line
        assert "here, but not asked for: outside:mallory" in line
        with (
            players(tickets["alice"], ("alice", "scripted", 8)),
            players(tickets["own"], ("own", "scripted", 8)),
        ):
            _, rest = running.communicate(timeout=60)
    assert running.returncode == 0, rest
    assert seats_of(out) == {("own", "scripted", True), ("alice", "outside:alice", False)}
    told = manifest(out)
    assert told["tickets"] is True
    assert told["agents"] == ["scripted", "outside:alice"]
    assert told["design"]["notes"][-1].startswith("Who plays is known by ticket")
    assert sum(told["design"]["roles"]["outside:alice"].values()) == 8
    # a study that goes by tickets does not go on without them
    again = run_here("--resume", "--house", HOUSE, "--bus", tickets["moderator"], "--out", out)
    assert (again.returncode, "it was begun with --tickets" in again.stderr) == (2, True)


def test_a_run_that_does_not_go_by_the_tickets_of_its_house_says_so_and_who_is_then_not_heard(
    tickets: dict[str, str], tmp_path: Path
) -> None:
    study = study_file(tmp_path, "games = 1\nseed = 5")
    at = ("--house", HOUSE, "--bus", tickets["moderator"])
    running = begin(study, "--out", tmp_path / "out", *at)
    try:
        assert running.stderr is not None
        line = next(line for line in running.stderr if "ticket" in line)
    finally:
        running.kill()
        running.communicate()
    assert line.startswith(f"wolfbus: house {HOUSE} has 3 tickets, and this run does not go by them")
    assert "is not heard" in line
    assert "--tickets goes by them" in line


def test_tickets_without_a_house_are_a_usage_error(tmp_path: Path) -> None:
    done = run_here("--tickets", "--out", tmp_path / "out")
    assert (done.returncode, "--tickets are those of a --house" in done.stderr) == (2, True)


def test_what_an_agent_announces_counts_where_nobody_asks_for_tickets_or_it_is_the_operators() -> None:
    roster = Roster(8, 5.0)
    join = Join(agent="ann", instance="1", version="1", brain="llm:big", seats=8)
    assert roster.brain(join) == "llm:big"
    roster.tickets = {"ann": "agent"}
    assert roster.brain(join) == "outside:ann"
    roster.tickets = {"ann": "player"}
    assert roster.brain(join) == "llm:big"
