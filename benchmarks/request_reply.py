"""What a house of processes costs on one Redis, beside a bare request-reply loop of redis-py on the same machine.

    python benchmarks/request_reply.py bare                  one process asks, another answers
    python benchmarks/request_reply.py round-trips           one game at a time, seen by a third process
    python benchmarks/request_reply.py answers               one agent's process, asked as the bare loop asks
    python benchmarks/request_reply.py house --games 100     games per second, messages and CPU of a whole house
    python benchmarks/request_reply.py memory --games 50     what a game leaves in Redis, before and after housekeeping

Each starts a private redis-server. ``--json`` prints one object. Two noisy cores share the server, the moderator and
the agents: compare the lines of one run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import msgpack
import redis
from redis import Redis

from wolfbus.bus import streams
from wolfbus.testing.redis_server import RedisServer

AGENTS = ("ada", "bruno")


BLOCK_MS = 1000
"""Longest time that one read blocks: a client waits for its socket no longer than a few seconds."""

SILENCE_S = 120.0
"""Seconds without a word on any stream after which nothing more will come."""

LEAVING_S = 20.0
"""Seconds that a service gets to leave after it was asked to."""


class Silent(Exception):  # noqa: N818
    """Nothing is said any more, or whoever should say it has ended."""


def _read(client: Redis, after: dict[Any, Any], alive: Callable[[], bool]) -> list[Any]:
    """Return what is new on streams, as soon as there is anything; raises Silent."""
    until = time.monotonic() + SILENCE_S
    while time.monotonic() < until:
        if found := client.xread(after, block=BLOCK_MS):
            return list(found)
        if not alive():
            break
    raise Silent("nothing came any more from " + ", ".join(map(str, after)))


def _answer(url: str, count: int) -> None:
    client = redis.Redis.from_url(url)
    after = b"0-0"
    answered = 0
    while answered < count:
        for _, entries in _read(client, {"asks": after}, lambda: True):
            for entry_id, fields in entries:
                after = entry_id
                client.xadd("replies", {"body": fields[b"body"]})
                answered += 1


def bare(url: str, count: int) -> dict[str, float]:
    """Ask and wait, one question at a time, as plainly as redis-py can."""
    child = multiprocessing.get_context("spawn").Process(target=_answer, args=(url, count))
    child.start()
    try:
        return _ask(url, count, child.is_alive)
    finally:
        child.terminate()
        child.join()


def _ask(url: str, count: int, alive: Callable[[], bool]) -> dict[str, float]:
    client = redis.Redis.from_url(url)
    body = msgpack.packb({"v": 1, "type": "ask", "text": "x" * 300})
    times: list[float] = []
    after = b"0-0"
    cpu = time.process_time()
    for number in range(count):
        began = time.perf_counter()
        client.xadd("asks", {"body": body})
        ((_, entries),) = _read(client, {"replies": after}, alive)
        after = entries[-1][0]
        # the first ones wait for the other process to start
        if number >= count // 10:
            times.append(time.perf_counter() - began)
    cpu = time.process_time() - cpu
    return {**_quantiles(times), "asker_cpu_us_per_round": round(cpu / count * 1e6, 1)}


def _quantiles(times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=100)
    return {"p50_ms": round(cuts[49] * 1e3, 3), "p99_ms": round(cuts[98] * 1e3, 3), "round_trips": len(times)}


class House:
    """The services of one house, each a process of its own, until the moderator has closed it.

    None outlives the context.
    """

    def __init__(self, url: str, games: int, at_once: int, folder: Path | None, keep: int = 3600) -> None:
        bus = ["--bus", url, "--house", "bench", "--log", "json"]
        moderator = ["moderator", *bus, "--games", str(games), "--at-once", str(at_once), "--seed", "1", "--json"]
        moderator += ["--keep", str(keep)] + (["--archive"] if folder else [])
        words = [moderator, *(["player", *bus, "--name", name, "--seats", str(4 * at_once)] for name in AGENTS)]
        if folder is not None:
            words.append(["analytics", *bus, "--out", str(folder)])
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for line in words:
                self._processes.append(_start(line))
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def alive(self) -> bool:
        """Return whether all of them run still."""
        return all(process.poll() is None for process in self._processes)

    def stop(self) -> None:
        """End whatever of them still runs."""
        running = [process for process in self._processes if process.poll() is None]
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(LEAVING_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def wait(self) -> list[float]:
        """Wait until all have left; returns the CPU seconds of each, the moderator first."""
        spent = []
        for process in self._processes:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"{process.args!r} failed with {process.returncode}")
            spent.append(usage.ru_utime + usage.ru_stime)
        return spent


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "wolfbus", *words], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )


def house(url: str, games: int, at_once: int) -> dict[str, float]:
    """Play games between processes; count what travels, and what it costs the moderator and the agents."""
    client = redis.Redis.from_url(url)
    with House(url, games, at_once, None) as services:
        began, ended = _watch(client, games, services.alive)
        cpu = services.wait()
    server = client.info("cpu")
    moved = _messages(client)
    total = sum(moved.values())
    return {
        "games_per_s": round(games / (ended - began), 2),
        **{f"{sort}_messages_per_game": round(count / games) for sort, count in moved.items()},
        "messages_per_s": round(total / (ended - began)),
        "moderator_cpu_us_per_message": round(cpu[0] / total * 1e6, 1),
        "agents_cpu_us_per_message": round(sum(cpu[1:]) / total * 1e6, 1),
        "redis_cpu_us_per_message": round((server["used_cpu_user"] + server["used_cpu_sys"]) / total * 1e6, 1),
    }


def _watch(client: Redis, games: int, alive: Callable[[], bool]) -> tuple[float, float]:
    """Return when the first game was opened and when the last one was closed."""
    after, began, closed = "0-0", 0.0, 0
    while closed < games:
        for _, entries in _read(client, {streams.games("bench"): after}, alive):
            for after, fields in entries:  # noqa: B007 - where to go on
                began = began or time.perf_counter()
                closed += fields[b"type"] == b"game_closed"
    return began, time.perf_counter()


def _messages(client: Redis) -> dict[str, int]:
    """Return how many entries were ever added, by sort of stream; the first join of an agent starts each mailbox."""
    moved = {"in": 0, "out": 0, "record": 0, "table": 0}
    for key in client.scan_iter(streams.house_key("bench", "*"), count=1000):
        sort = key.decode().split(":")[2]
        if sort in moved:
            moved[sort] += client.xinfo_stream(key)["entries-added"]
    return moved


def round_trips(url: str, games: int) -> dict[str, float]:
    """Measure, as somebody who reads both streams, how long requests stand in a mailbox until the reply is out."""
    with House(url, games, 1, None) as services:
        times = _listen(redis.Redis.from_url(url), services.alive)
        services.wait()
    return _quantiles(times)


def _listen(client: Redis, alive: Callable[[], bool]) -> list[float]:
    """Return the seconds between requests and replies, until every agent was told goodbye."""
    asked: dict[str, float] = {}
    times: list[float] = []
    after: dict[Any, Any] = {
        stream("bench", name): "0-0" for name in AGENTS for stream in (streams.inbox, streams.outbox)
    }
    gone = 0
    while gone < len(AGENTS):
        for key, entries in _read(client, after, alive):
            now = time.perf_counter()
            after[key.decode()] = entries[-1][0]
            for _, fields in entries:
                message = msgpack.unpackb(fields[b"body"])
                gone += message["type"] == "goodbye"
                for part in message.get("seats", ()) if message["type"] == "delivery" else ():
                    asked.update(dict.fromkeys((ask["id"] for ask in part.get("asks", ())), now))
                # of a long mailbox a read returns the first part only, and perhaps the reply before the request
                if message["type"] == "reply" and message["request"] in asked:
                    times.append(now - asked.pop(message["request"]))
    return times


def answers(url: str, games: int) -> dict[str, float]:
    """Tell one agent's process games over again that were played before, one delivery after the other, and measure how
    long each of its replies takes: no moderator and no other agent run beside it, as beside the bare loop.
    """
    client = redis.Redis.from_url(url)
    inbox, out = (stream("bench", AGENTS[0]) for stream in (streams.inbox, streams.outbox))
    with House(url, games, 1, None) as services:
        deliveries = _overhear(client, inbox, services.alive)
        services.wait()
    client.flushall()
    player = _start(["player", "--bus", url, "--house", "bench", "--name", AGENTS[0], "--log", "json"])
    try:
        return _quantiles(_replay(client, inbox, out, deliveries, lambda: player.poll() is None))
    finally:
        player.terminate()
        player.wait(LEAVING_S)


def _overhear(client: Redis, inbox: str, alive: Callable[[], bool]) -> list[dict[bytes, bytes]]:
    """Return the deliveries of a mailbox, up to the house's goodbye."""
    heard: list[dict[bytes, bytes]] = []
    after: Any = "0-0"
    while True:
        for _, entries in _read(client, {inbox: after}, alive):
            for after, fields in entries:  # noqa: B007 - where to go on
                if fields[b"type"] == b"goodbye":
                    return heard
                if fields[b"type"] == b"delivery":
                    heard.append(fields)


def _replay(
    client: Redis, inbox: str, out: str, deliveries: list[dict[Any, Any]], alive: Callable[[], bool]
) -> list[float]:
    """Return the seconds from each delivery to each of its replies."""
    # it says join as soon as it reads its mailbox
    ((_, entries),) = _read(client, {out: "0-0"}, alive)
    after = entries[-1][0]
    times: list[float] = []
    for fields in deliveries:
        wanted = sum(len(part.get("asks", ())) for part in msgpack.unpackb(fields[b"body"])["seats"])
        began = time.perf_counter()
        client.xadd(inbox, fields)
        while wanted > 0:
            ((_, entries),) = _read(client, {out: after}, alive)
            after = entries[-1][0]
            replies = sum(entry[b"type"] == b"reply" for _, entry in entries)
            times += [time.perf_counter() - began] * replies
            wanted -= replies
    return times


def memory(url: str, games: int) -> dict[str, float]:
    """Return what a game leaves in Redis: kept, and after it was archived and let go."""
    client = redis.Redis.from_url(url)
    left = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, keep in (("kept", 3600), ("let_go", 0)):
            client.flushall()
            before = client.info("memory")["used_memory"]
            with House(url, games, 16, Path(folder) / name, keep) as services:
                services.wait()
            left[f"kb_per_game_{name}"] = round((client.info("memory")["used_memory"] - before) / games / 1024, 1)
    return left


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("bare", "house", "round-trips", "answers", "memory"))
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # whoever ends it by a signal leaves no service behind either
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with RedisServer() as server:
            result = {
                "bare": lambda: bare(server.url, options.count),
                "house": lambda: house(server.url, options.games, options.at_once),
                "round-trips": lambda: round_trips(server.url, min(options.games, 10)),
                "answers": lambda: answers(server.url, min(options.games, 10)),
                "memory": lambda: memory(server.url, options.games),
            }[options.what]()
    except KeyboardInterrupt:
        sys.exit(130)
    except (Silent, redis.RedisError) as error:
        sys.exit(f"request_reply: {error}")
    print(json.dumps(result) if options.json else "\n".join(f"{name:30} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
