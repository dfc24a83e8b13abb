"""Agents that share nothing with wolfbus but the protocol play whole games beside ours, and cleanly."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import msgpack
import pytest

from players.scripted import RandomBrain
from tests.agents.parts import HOUSE, served
from tests.golden.running import wolfbus
from tests.outside.smallest_agent import SmallestAgent
from wolfbus.bus import open_bus, streams

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RULES = "debate_turns = 3\nmax_rounds = 2\n"


def play_out(url: str, house: str, folder: Path, games: int = 1, rules: str = RULES) -> list[dict[str, object]]:
    """Moderate games until the house closes; returns what is told of each."""
    (folder / "rules.toml").write_text(rules)
    words = ("--bus", url, "--house", house, "--games", str(games), "--seed", "outside", "--config", "rules.toml")
    result = wolfbus(folder, "moderator", *words, "--wait", "20", "--heartbeat", "0.3", "--json")
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def record(url: str, house: str, game: str) -> list[dict[str, object]]:
    bus = open_bus(url)
    try:
        return [msgpack.unpackb(entry.body) for entry in bus.entries(streams.record(house, game), limit=100_000)]
    finally:
        bus.close()


def check(url: str, house: str, games: list[dict[str, object]], agent: str, brain: str) -> None:
    for result in games:
        assert result["error"] is None
        events = record(url, house, result["game"])
        seats = {seat["name"] for seat in events[0]["seats"] if seat["agent"] == agent}
        assert seats
        assert {seat["brain"] for seat in events[0]["seats"] if seat["agent"] == agent} == {brain}
        answered = [event for event in events if event["type"] == "answered" and event["seat"] in seats]
        assert {event.get("outcome", "accepted") for event in answered} == {"accepted"}
        assert {event["kind"] for event in answered} >= {"bid", "assess_other"}
        assert not [event for event in events if event["type"] == "rejected"]


def test_an_agent_written_from_the_document_alone_plays_two_games(redis_url: str, tmp_path: Path) -> None:
    agent = SmallestAgent(redis_url, HOUSE, "tiny", seats=3)
    thread = threading.Thread(target=agent.run, daemon=True)
    thread.start()
    with served(RandomBrain, redis_url, name="ours", seats=5):
        games = play_out(redis_url, HOUSE, tmp_path, games=2)
    thread.join(60)
    assert not thread.is_alive()  # the goodbye ended it
    assert len(games) == 2
    assert not agent.games
    check(redis_url, HOUSE, games, "tiny", "outside:smallest")


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The two packages of the JavaScript example, installed once and kept; a test without them is skipped."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not installed")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < 20:
        pytest.skip(f"node {version.strip()} is older than the redis package wants")
    package = (EXAMPLES / "package.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wolfbus"
    folder = cache / f"node-{hashlib.sha256(package).hexdigest()[:12]}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=cache))
        try:
            _install(npm, package, fresh)
            with contextlib.suppress(OSError):  # somebody else was quicker
                fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return folder / "node_modules"


def _install(npm: str, package: bytes, folder: Path) -> None:
    (folder / "package.json").write_bytes(package)
    words = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--fetch-retries=0"]
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not install redis and @msgpack/msgpack within a minute")
    if done.returncode:
        pytest.skip(f"npm could not install redis and @msgpack/msgpack: {done.stderr.strip().splitlines()[-1:]}")


def test_the_example_in_javascript_plays_a_game_and_leaves_when_the_house_closes(redis_url, node_modules, tmp_path):
    words = ["node", str(EXAMPLES / "bus_agent.js"), redis_url, HOUSE, "js", "3"]
    environment = {**os.environ, "NODE_PATH": str(node_modules)}
    with subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            with served(RandomBrain, redis_url, name="ours", seats=5):
                games = play_out(redis_url, HOUSE, tmp_path)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, err) == (0, b"")
    check(redis_url, HOUSE, games, "js", "outside:bus_agent.js")
