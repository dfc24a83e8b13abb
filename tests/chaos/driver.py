"""A house of real processes on a real Redis behind a proxy, and somebody who pulls the plugs, by a seed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.proxy import Proxy
from wolfbus.bus import Entry, open_bus, streams
from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
HOUSE = "chaos"
GRACE_S = 60.0


class Child:
    """One service, started as often as it takes."""

    def __init__(self, name: str, words: list[str], log: Path) -> None:
        self.name = name
        self.starts = 0
        self._words = words
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.starts += 1
        command = [sys.executable, "-m", "tests.chaos.child", f"{self.name}-{self.starts}", *self._words]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )

    @property
    def code(self) -> int | None:
        """Exit code, None while it runs."""
        return None if self._process is None else self._process.poll()

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def wait(self, seconds: float) -> int:
        assert self._process is not None
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} does not end; its log: …{self.tail()}") from None

    def tail(self) -> str:
        return self._log.read_text(errors="replace")[-3000:]


class Chaos:
    """Plays `games` games and breaks something after every few events of the house.

    Args:
        folder: where logs and records go.
        games: how many.
        at_once: how many at a time.
        seed: decides what is broken, when, and the games.
        breaks: how often something is broken.
    """

    def __init__(self, folder: Path, games: int, at_once: int, seed: int, breaks: int) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.games = games
        self.breaks = breaks
        self.broken: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._marked: Path | None = None
        self.server = RedisServer(persist=True)
        self.server.start()
        self.proxy = Proxy(self.server.port)
        self.proxy.start()
        bus = ["--bus", f"redis://127.0.0.1:{self.proxy.port}", "--house", HOUSE, "--log", "text"]
        words = {
            "moderator": [
                "moderator", *bus, "--games", str(games), "--at-once", str(at_once), "--seed", str(seed), "--archive",
                "--lease", "1.5", "--heartbeat", "1",
            ],
            "ada": ["player", *bus, "--name", "ada", "--seats", str(4 * at_once)],
            "bruno": ["player", *bus, "--name", "bruno", "--seats", str(4 * at_once)],
            "analytics": ["analytics", *bus, "--out", str(self.runs)],
        }  # fmt: skip
        self.children = {name: Child(name, line, folder / f"{name}.log") for name, line in words.items()}
        # what happens in the house is seen past the proxy, so that watching is not broken
        self._watch = open_bus(self.server.url)

    def play(self, seconds: float) -> None:
        """Play all games; returns when every service has left by itself."""
        for child in self.children.values():
            child.start()
        until = time.monotonic() + seconds
        spacing = max(1, 2 * self.games // (self.breaks + 1))
        seen = 0
        after = "0-0"
        while self.children["moderator"].code is None or self.children["analytics"].code is None:
            self._restart_fallen()
            news = self._wait_for_news(after, until)
            if news:
                after = news[-1].id
            for _ in news:
                seen += 1
                self._forget()
                if seen % spacing == 0 and sum(self.broken.values()) < self.breaks:
                    self._break_something()
        for child in self.children.values():
            child.wait(GRACE_S)

    def _wait_for_news(self, after: str, until: float) -> list[Entry]:
        """Wait until a game opens or closes, or a moment has passed: children that fell must be started again."""
        reader = self._watch.reader()
        try:
            reader.follow(streams.games(HOUSE), after)
            news = reader.read(0.25, 1)
        except BusError:
            news = []
        finally:
            reader.close()
        assert time.monotonic() < until, "\n".join(f"--- {c.name}: …{c.tail()}" for c in self.children.values())
        return [entry for _, entries in news for entry in entries]

    def _break_something(self) -> None:
        deeds: dict[str, Callable[[], object]] = {
            "moderator": self._kill_and_start("moderator"),
            "ada": self._kill_and_start("ada"),
            "bruno": self._kill_and_start("bruno"),
            "analytics": self._kill_and_start("analytics"),
            "redis": self.server.restart,
            "memory of redis": self._mark,
            "connections": self.proxy.cut,
            "replies": lambda: self.proxy.lose_replies(3, passing=self._random.randrange(20)),
            "delay": lambda: self.proxy.delay(self._random.choice((0.0, 0.002, 0.005))),
        }
        # every kind of deed comes once before any comes again
        fewest = min(self.broken[name] for name in deeds)
        name = self._random.choice(sorted(name for name in deeds if self.broken[name] == fewest))
        self.broken[name] += 1
        deeds[name]()

    def _mark(self) -> None:
        self._marked = self.server.mark()

    def _forget(self) -> None:
        """Have Redis come back as it was a moment ago."""
        marked, self._marked = self._marked, None
        if marked is not None:
            self.server.forget_since(marked)

    def _kill_and_start(self, name: str) -> Callable[[], None]:
        def deed() -> None:
            if self.children[name].code is None:
                self.children[name].kill()
                self.children[name].start()

        return deed

    def _restart_fallen(self) -> None:
        """What a supervisor does: a service that failed is started again, a few times."""
        for child in self.children.values():
            if child.code not in {None, 0}:
                assert child.starts < self.breaks + 5, f"{child.name} fails again and again: …{child.tail()}"
                child.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.children.values():
            child.kill()
        self._watch.close()
        self.proxy.close()
        self.server.close()
