"""What the client library alone costs: a bare `AsyncOpenAI` loop against the model double in a process of its own.

Run it as ``python benchmarks/bare_loop.py --calls 2000 --at-once 64``. Other benchmarks use `bare_loop` to set what
wolfbus adds beside what it stands on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from double import double_process
from openai import AsyncOpenAI
from openai.types.shared_params import ResponseFormatJSONSchema

JUDGEMENT: Final[ResponseFormatJSONSchema] = {
    "type": "json_schema",
    "json_schema": {
        "name": "assess_other",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "thought": {"type": "string"},
                "deceptive": {"type": "boolean"},
                "suspicion": {"type": "number"},
                "confidence": {"type": "number"},
                "kind": {"type": "string", "enum": ["none", "omission", "distortion", "misdirection", "fabrication"]},
                "reasoning": {"type": "string"},
            },
            "required": ["thought", "deceptive", "suspicion", "confidence", "kind", "reasoning"],
            "additionalProperties": False,
        },
    },
}
"""The most frequent call of a game: an observer's judgement."""


@dataclass(frozen=True, slots=True)
class BareResult:
    """What a bare loop measured.

    Attributes:
        calls: calls made, all of them answered.
        at_once: how many of them at a time.
        wall_s: seconds they took in all.
        calls_per_s: calls ÷ wall_s.
        cpu_ms_per_call: processor milliseconds of this process, all its threads, for one call.
    """

    calls: int
    at_once: int
    wall_s: float
    calls_per_s: float
    cpu_ms_per_call: float


async def bare_loop(url: str, calls: int, at_once: int, prompt: str) -> BareResult:
    """Make calls as fast as the client allows, without retries, limits, prompts or readings of ours.

    Args:
        url: base URL of the server.
        calls: how many calls to measure, >= 1; a tenth as many go before them, so that connections stand.
        at_once: how many of them at a time, >= 1.
        prompt: text of the one message of each; a number is put behind it.
    """
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=60) as client:

        async def work(numbers: Iterator[int]) -> None:
            for number in numbers:
                await client.chat.completions.create(
                    model="bare",
                    messages=[{"role": "user", "content": f"{prompt}\n{number}"}],
                    response_format=JUDGEMENT,
                )

        await _together(work, iter(range(-max(calls // 10, at_once), 0)), at_once)
        began, cpu = time.perf_counter(), time.process_time()
        await _together(work, iter(range(calls)), at_once)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return BareResult(calls, at_once, wall, calls / wall, 1000 * cpu / calls)


async def _together(
    work: Callable[[Iterator[int]], Coroutine[None, None, None]], numbers: Iterator[int], at_once: int
) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work(numbers))


def typical_prompt(characters: int) -> str:
    """Return a prompt of about that many characters, in the shape of a game's."""
    lines = [f'[{number}] Ada: "I would rather hear from Raj before we all agree."' for number in range(characters)]
    end = "\nYou are Bo, a Villager.\nLiving players: Ada, Raj, Bo, Chioma.\nJudge the last statement.\n"
    text = "\n".join(lines[: 1 + characters // len(lines[10])])
    return text[: max(characters - len(end), 0)] + end


def main() -> None:
    """Measure, and print the result with what the double counted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--characters", type=int, default=6000, help="length of a prompt")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds until the double answers")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with double_process(latency=given.latency) as double:
        result = asyncio.run(bare_loop(double.url, given.calls, given.at_once, typical_prompt(given.characters)))
        stats = double.stats()
    told = {**asdict(result), "peak": stats.peak}
    if given.json:
        print(json.dumps(told))
        return
    for name, value in told.items():
        print(f"{name.replace('_', ' '):26}{value:.3f}" if isinstance(value, float) else f"{name:26}{value}")


if __name__ == "__main__":
    main()
