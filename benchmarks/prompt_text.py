"""How much text model seats are sent, how much of it a server has seen before, and what a record keeps of it.

Games are played by a checkout's own `wolfbus run`, in a process of its own, so that an older checkout can play beside
this one; what they sent is read from their records, here.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from wolfbus.record.prompts import PromptBook
from wolfbus.record.reader import open_lines, read_record

HERE: Final = Path(__file__).resolve().parent.parent

LONG_RULES: Final = """\
[rules]
villagers = 9
werewolves = 2
seers = 1
doctors = 2
debate_turns = 3
max_rounds = 12
"""
"""Rules under which games last eight rounds and more."""


def prefix_share(prompts: Iterable[str]) -> float | None:
    """Return the share of all characters that stand in the longest beginning which a prompt shares with an earlier one.

    It is what a cache without limits of size, time or block would serve. All prompts are kept while it is computed.

    Args:
        prompts: whole prompts in the order they are sent, the messages of each joined.

    Returns:
        A share from 0 to 1; None without any text.
    """
    earlier: list[str] = []
    total = cached = 0
    for prompt in prompts:
        place = bisect_left(earlier, prompt)
        # the longest common beginning with any string is the one with a neighbour in their order
        neighbours = earlier[max(place - 1, 0) : place + 1]
        cached += max((_common(prompt, other) for other in neighbours), default=0)
        total += len(prompt)
        earlier.insert(place, prompt)
    return cached / total if total else None


def _common(one: str, other: str) -> int:
    """Return how many characters two strings have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class GameText:
    """What one game's prompts and record come to, in characters and bytes."""

    rounds: int
    statements: int
    calls: int
    sent: int
    new: float
    record: int


def game_text(path: Path) -> GameText:
    """Measure the prompts of a record."""
    book, prompts, rounds, statements = PromptBook(), [], 0, 0
    for recorded in read_record(open_lines(path)):
        event = recorded.event
        book.feed(event)
        if event.type == "model_call":
            prompts.append("".join(text for _, text in book.messages(event)))
        elif event.type == "statement":
            statements += 1
        elif event.type == "ended":
            rounds = event.rounds
    sent = sum(map(len, prompts))
    new = sent * (1 - (prefix_share(prompts) or 0.0))
    return GameText(rounds, statements, len(prompts), sent, new, path.stat().st_size)


def play(checkout: Path, games: int, seed: int, rules: str, folder: Path) -> list[GameText]:
    """Let a checkout play games against a double of its own kind, and measure them."""
    # here, for tests import this file from elsewhere
    from double import double_process

    config = folder / "rules.toml"
    config.write_text(rules)
    with double_process(seed=seed) as double:
        players = f"llm:double@{double.url}*{14 if 'villagers' in rules else 8}"
        command = [sys.executable, "-m", "wolfbus", "run", str(config), "--games", str(games), "--players", players]
        command += ["--seed", str(seed), "--out", str(folder / "study"), "--workers", "1", "--no-probe"]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        subprocess.run(command, check=True, cwd=checkout, env=environment, stdout=subprocess.DEVNULL)
    return [game_text(path) for path in sorted((folder / "study").rglob("*.ndjson"))]


def exponent(games: list[GameText]) -> float | None:
    """Return x of text = c · rounds^x, by least squares over the logarithms; None if all are of one length."""
    points = [(math.log(game.rounds), math.log(game.sent)) for game in games if game.rounds]
    if len({x for x, _ in points}) < 2:
        return None
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope


def summary(games: list[GameText]) -> dict[str, Any]:
    """Return what games sent and kept, a statement."""
    statements = sum(game.statements for game in games)
    sent, new = sum(game.sent for game in games), sum(game.new for game in games)
    per_game = [round(game.sent / game.statements) for game in games]
    growth = exponent(games)
    return {
        "games": len(games),
        "rounds": " ".join(str(game.rounds) for game in games),
        "calls_per_statement": round(sum(game.calls for game in games) / statements, 1),
        "characters_sent_per_statement": round(sent / statements),
        "least_and_most_of_a_game": f"{min(per_game)} {max(per_game)}",
        "new_characters_per_statement": round(new / statements),
        "new_share": round(new / sent, 4),
        "growth_over_rounds": None if growth is None else round(growth, 2),
        "record_bytes_per_statement": round(sum(game.record for game in games) / statements),
    }


def prompt_text(games: int, seed: int, against: Path | None, rules: str = "") -> dict[str, Any]:
    """Measure this checkout's prompts and records; beside another's, with the ratios, if one is given."""
    found: dict[str, Any] = {}
    for name, checkout in (("now", HERE), ("against", against)):
        if checkout is not None:
            with tempfile.TemporaryDirectory() as folder:
                measured = play(checkout.resolve(), games, seed, rules, Path(folder))
            found |= {f"{name}_{key}": value for key, value in summary(measured).items()}
    if against is not None:
        for key in ("characters_sent", "new_characters", "record_bytes"):
            ratio = found[f"now_{key}_per_statement"] / found[f"against_{key}_per_statement"]
            found[f"{key}_ratio"] = round(ratio, 3)
    return found
