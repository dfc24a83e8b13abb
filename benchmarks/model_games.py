"""What games of language models cost beside the models' latency, against a model double over HTTP.

    python benchmarks/model_games.py alone --latency 0.2
    python benchmarks/model_games.py many --games 50 --latency 0.2
    python benchmarks/model_games.py cpu
    python benchmarks/model_games.py ugly [--memory full]
    python benchmarks/model_games.py errors
    python benchmarks/model_games.py protocols
    python benchmarks/model_games.py prompts --games 12 [--against CHECKOUT] [--memory full] [--long]

Each prints what it measured as aligned lines, or as JSON with ``--json``. The double runs in a process of its own; on
a machine of two cores it takes a share of what the games could use, and so does it from the bare loop beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import queue
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from bare_loop import bare_loop
from double import double_process
from games import peak_memory_mb
from prompt_text import LONG_RULES, prefix_share, prompt_text

from analytics.gather import fold
from players.llm.settings import Endpoint
from players.spec import BrainContext
from wolfbus.cli import tune_garbage_collection
from wolfbus.game.config import GameConfig
from wolfbus.messages.events import AnyEvent
from wolfbus.record.prompts import PromptBook
from wolfbus.record.reader import open_lines, read_record
from wolfbus.running.house import EmbeddedHouse, Game


class Run:
    """Games played against one double, and what came of them."""

    def __init__(
        self,
        url: str,
        folder: Path,
        games: int,
        seed: int,
        at_once: int | None = None,
        config: GameConfig | None = None,
    ) -> None:
        config = config or GameConfig()
        finished: queue.SimpleQueue[Game] = queue.SimpleQueue()
        self.paths = [folder / f"{number}.ndjson" for number in range(games)]
        self.threads = 0
        brains = (f"llm:double@{url}",) * config.seats
        with BrainContext() as brain_context:
            brain_context.probe(brains)
            with EmbeddedHouse(done=finished.put, brain_context=brain_context) as house:
                began, cpu = time.perf_counter(), time.process_time()
                for number, path in enumerate(self.paths[: at_once or games]):
                    house.open(config, str(seed + number), brains, path)
                games_played: list[Game] = []
                for number in range(games):
                    games_played.append(finished.get())
                    self.threads = max(self.threads, threading.active_count())
                    behind = number + (at_once or games)
                    if behind < games:
                        house.open(config, str(seed + behind), brains, self.paths[behind])
                self.wall = time.perf_counter() - began
                self.cpu = time.process_time() - cpu
        for game in games_played:
            assert game.over is not None
            assert game.over.error is None, game.over.error
        self.rows = [fold(events_of(path)) for path in self.paths]

    @property
    def calls(self) -> int:
        """Model calls of all games."""
        return sum(sums.calls for rows in self.rows for sums in rows.calls.values())

    @property
    def attempts(self) -> int:
        """Requests over the network that they took."""
        return sum(sums.attempts for rows in self.rows for sums in rows.calls.values())

    @property
    def paths_in_calls(self) -> list[int]:
        """Critical path of each game, in calls."""
        return [rows.critical_path for rows in self.rows]

    @property
    def statements(self) -> int:
        """Statements of all games."""
        return sum(len(rows.statements) for rows in self.rows)

    def debate_turns(self) -> int:
        """Return how many turns of debate there were in all games, silent ones included."""
        return sum(
            (event.type == "statement" and event.phase == "debate") or event.type == "silence"
            for event in self.events()
        )

    def events(self) -> Iterator[AnyEvent]:
        """Yield the events of all records."""
        for path in self.paths:
            yield from events_of(path)


def events_of(path: Path) -> Iterator[AnyEvent]:
    """Yield the events of a record."""
    return (recorded.event for recorded in read_record(open_lines(path)))


def alone(latency: float, seed: int, config: GameConfig | None = None) -> dict[str, Any]:
    """One game: wall time over latency and debate turns; overhead over the critical path."""
    with double_process(latency=latency, seed=seed) as double, tempfile.TemporaryDirectory() as folder:
        run = Run(double.url, Path(folder), 1, seed, config=config)
        stats = double.stats()
        turns, path = run.debate_turns(), run.paths_in_calls[0]
        book, prompts = PromptBook(), []
        for event in run.events():
            book.feed(event)
            if event.type == "model_call":
                prompts.append("".join(text for _, text in book.messages(event)))
    return {
        "latency_s": latency,
        "wall_s": round(run.wall, 2),
        "debate_turns": turns,
        "wall_per_latency_per_turn": round(run.wall / latency / turns, 2),
        "statements": run.statements,
        "calls": run.calls,
        "peak_at_once": stats.peak,
        "critical_path_calls": path,
        "overhead": round(run.wall / (path * latency), 3),
        "cpu_s": round(run.cpu, 2),
        "cpu_ms_per_call": round(1000 * run.cpu / run.calls, 2),
        "prompt_text_that_repeats_an_earlier_prefix": round(prefix_share(prompts) or 0.0, 3),
        "prompt_tokens": stats.prompt_tokens,
    }


def many(games: int, latency: float, seed: int) -> dict[str, Any]:
    """Many games at once: wall time over the longer of the longest critical path and a bare client's time."""
    with double_process(latency=latency, seed=seed) as double, tempfile.TemporaryDirectory() as folder:
        run = Run(double.url, Path(folder), games, seed)
        stats = double.stats()
        peak = peak_memory_mb()
        bare = asyncio.run(bare_loop(double.url, min(run.calls, 4000), Endpoint().at_once, _typical(stats)))
    longest = max(run.paths_in_calls) * latency
    floor = run.calls / bare.calls_per_s
    return {
        "games": games,
        "latency_s": latency,
        "wall_s": round(run.wall, 1),
        "calls": run.calls,
        "calls_per_s": round(run.calls / run.wall),
        "peak_at_once": stats.peak,
        "longest_critical_path_s": round(longest, 1),
        "bare_calls_per_s": round(bare.calls_per_s),
        "calls_at_the_bare_rate_s": round(floor, 1),
        "wall_over_the_longer": round(run.wall / max(longest, floor), 2),
        "cpu_ms_per_call": round(1000 * run.cpu / run.calls, 2),
        "bare_cpu_ms_per_call": round(bare.cpu_ms_per_call, 2),
        "peak_memory_mb": round(peak),
        "threads": run.threads,
    }


def cpu(seed: int, repeats: int = 3) -> dict[str, Any]:
    """CPU of our process per call at latency 0, over that of a bare client loop; medians of several."""
    ours, bare, ratios = [], [], []
    for number in range(repeats):
        # a double of its own for each run, so that its prompts are all that is counted
        with double_process(seed=seed) as double, tempfile.TemporaryDirectory() as folder:
            run = Run(double.url, Path(folder), 4, seed + 10 * number)
            loop = asyncio.run(bare_loop(double.url, 1500, 8, _typical(double.stats())))
        ours.append(1000 * run.cpu / run.calls)
        bare.append(loop.cpu_ms_per_call)
        ratios.append(ours[-1] / bare[-1])
    return {
        "ours_cpu_ms_per_call": round(statistics.median(ours), 2),
        "bare_cpu_ms_per_call": round(statistics.median(bare), 2),
        "ours_over_bare": round(statistics.median(ratios), 2),
        "of_each_run": [round(ratio, 2) for ratio in ratios],
    }


def ugly(games: int, seed: int, memory: Any, share: float = 0.5) -> dict[str, Any]:
    """Show what becomes of replies when half of them are ugly."""
    config = GameConfig(memory=memory or "brief")
    with double_process(seed=seed, ugly=share) as double, tempfile.TemporaryDirectory() as folder:
        run = Run(double.url, Path(folder), games, seed, config=config)
        ugly_sorts = dict(double.stats().ugly)
        found: Counter[str] = Counter()
        for event in run.events():
            if event.type == "answered":
                found[event.reading if event.outcome == "accepted" else event.outcome] += 1
    total = found.total()
    return {
        "games": games,
        "answers": total,
        **{name: f"{100 * number / total:.1f} %" for name, number in found.most_common()},
        "ugly_replies": sum(ugly_sorts.values()),
    }


def errors(games: int, seed: int, latency: float = 0.05) -> dict[str, Any]:
    """Whether games end, and how soon, when a fifth of all requests fails, some by never being answered."""
    deadlines = GameConfig().deadlines.model_copy(update=dict.fromkeys(type(GameConfig().deadlines).model_fields, 10.0))
    config = GameConfig(deadlines=deadlines)
    with (
        double_process(seed=seed, latency=latency, errors="429=0.06,500=0.06,reset=0.06,hang=0.02") as double,
        tempfile.TemporaryDirectory() as folder,
    ):
        run = Run(double.url, Path(folder), games, seed, config=config)
        met = dict(double.stats().errors)
        found: Counter[str] = Counter(event.outcome for event in run.events() if event.type == "answered")
    return {
        "games": games,
        "wall_s": round(run.wall, 1),
        "deadline_s": 10.0,
        "errors_met": sum(met.values()),
        "calls": run.calls,
        "attempts": run.attempts,
        **{name: f"{100 * number / found.total():.2f} %" for name, number in found.most_common()},
    }


def protocols(latency: float, seed: int) -> dict[str, Any]:
    """Compare the paper's protocol with the compact one: calls per statement."""
    results = {name: alone(latency, seed, GameConfig(protocol=name)) for name in ("paper", "compact")}
    return {
        f"{name}_{key}": value
        for name, result in results.items()
        for key, value in {
            **{
                key: result[key]
                for key in ("calls", "statements", "debate_turns", "wall_s", "overhead", "prompt_tokens")
            },
            "calls_per_statement": round(result["calls"] / result["statements"], 1),
        }.items()
    }


def _rules(given: argparse.Namespace) -> str:
    """Return the study file that the measurement of prompts plays."""
    head = LONG_RULES if given.long else "[rules]\n"
    return head + (f'memory = "{given.memory}"\n' if given.memory else "")


def _typical(stats: Any) -> str:
    """Return a prompt as long as the average one of a run."""
    answered = max(1, stats.calls)
    return ("All that was said so far is no reason to trust anybody. " * 10_000)[: 4 * stats.prompt_tokens // answered]


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("alone", "many", "cpu", "ugly", "errors", "protocols", "prompts"))
    parser.add_argument("--latency", type=float, default=0.2, help="seconds a reply takes")
    parser.add_argument("--games", type=int, default=None)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--against", type=Path, help="another checkout, which plays as well (prompts)")
    parser.add_argument("--memory", choices=("brief", "full"), help="what prompts repeat (prompts, ugly)")
    parser.add_argument("--long", action="store_true", help="14 players and up to 12 rounds (prompts)")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tune_garbage_collection()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    result = {
        "alone": lambda: alone(given.latency, given.seed),
        "many": lambda: many(given.games or 50, given.latency, given.seed),
        "cpu": lambda: cpu(given.seed),
        "ugly": lambda: ugly(given.games or 10, given.seed, given.memory),
        "errors": lambda: errors(given.games or 10, given.seed),
        "protocols": lambda: protocols(given.latency, given.seed),
        "prompts": lambda: prompt_text(given.games or 12, given.seed, given.against, _rules(given)),
    }[given.what]()
    if given.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):46}{value}")


if __name__ == "__main__":
    main()
