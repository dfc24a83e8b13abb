"""Studies of a house that are killed in their middle and resumed, as users do."""

from __future__ import annotations

from collections import Counter

from tests.study.houses import AGENTS, HOUSE, assert_like_of_house, players
from tests.study.runs import (
    begin,
    journal_lines,
    manifest,
    run_here,
    wait_for,
)
from wolfbus.bus import streams
from wolfbus.bus.protocol import every_entry


def test_a_run_that_is_killed_goes_on_with_the_games_under_way_and_the_agents_that_stayed(
    whole, study, at, redis_url, gate, tmp_path
):
    out = tmp_path / "out"
    with players(redis_url, *AGENTS, gate=gate) as agents:
        process = begin(study, "--out", out, *at)
        # a line is the session's
        wait_for(lambda: journal_lines(out) >= 3)
        process.kill()
        process.communicate()
        gate.touch()
        assert journal_lines(out) < 17
        begun = {each.name: each.stat().st_mtime_ns for each in (out / "records").iterdir()}
        done = run_here("--resume", "--out", out, *at)
        assert done.returncode == 0, done.stderr
        assert [agent.wait(20) for agent in agents] == [0, 0, 0]
    assert_like_of_house(whole, out)
    assert all((out / "records" / name).stat().st_mtime_ns == time for name, time in begun.items())
    assert not (out / "aside").exists()


class Stuck:
    """Which games have begun, are not over, and wait for brains behind the gate."""

    def __init__(self, bus, out):
        self.bus, self.out = bus, out
        self.seen = Counter()

    def games(self):
        begun = [game["game"] for game in manifest(self.out)["games"] if self.bus.head(HOUSE, game["game"])]
        for game in begun:
            self.seen[game, self.bus.last_id(streams.record(HOUSE, game))] += 1
        still = {game for (game, _), times in self.seen.items() if times >= 20}
        return [game for game in begun if game in still and not self.is_over(game)]

    def is_over(self, game):
        return any(entry.type == "ended" for entry in every_entry(self.bus, streams.record(HOUSE, game)))


def test_a_game_that_was_lost_fails_and_is_played_anew_under_its_own_id(
    whole, study, at, redis_url, gate, bus, tmp_path
):
    out = tmp_path / "out"
    with players(redis_url, *AGENTS, gate=gate):
        process = begin(study, "--out", out, *at)
        stuck = Stuck(bus, out)
        wait_for(lambda: journal_lines(out) >= 3 and stuck.games())
        process.kill()
        process.communicate()
        # one that is over on the bus would be taken from there as it is
        lost = stuck.games()
        gate.touch()
        bus.trim(streams.record(HOUSE, lost[0]), "3-0")
        done = run_here("--resume", "--out", out, *at)
        assert done.returncode == 1
        assert "1 of 16 games failed; try them again with: wolfbus run --resume" in done.stderr
        assert "it cannot be taken up from its record" in done.stdout
        assert manifest(out)["totals"]["failed"] == 1
    with players(redis_url, *AGENTS):
        done = run_here("--resume", "--out", out, *at)
        assert done.returncode == 0, done.stderr
    assert_like_of_house(whole, out)
