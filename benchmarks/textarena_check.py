"""TextArena's own agent, which speaks to a model double, takes two seats of a game, and the game is verified.

pip install textarena && python benchmarks/textarena_check.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache

from double import double_process
from textarena.agents import OpenAIAgent

import wolfbus

_ADDRESS = "TEXTARENA_CHECK_URL"


@cache
def _agent() -> OpenAIAgent:
    return OpenAIAgent("double", api_key="none", base_url=os.environ[_ADDRESS])


def agent(observation: str) -> str:
    """Have TextArena's agent answer; it is made at the first question, when the double listens."""
    answer: str = _agent()(observation)
    return answer


def main() -> int:
    """Play and verify a game, and print how the agent's answers were read; returns 0 if all went well."""
    with double_process(seed=7) as double, tempfile.TemporaryDirectory() as out:
        os.environ[_ADDRESS] = double.url
        game = wolfbus.play("text:textarena_check:agent*2,scripted*6", seed=7, out=out)
        seats = {seat.name for seat in game.seats if seat.brain.startswith("text:")}
        answers = [recorded.event for recorded in game.events if getattr(recorded.event, "seat", None) in seats]
        read = Counter(reading for event in answers if (reading := getattr(event, "reading", None)) is not None)
        print(json.dumps({"winner": game.winner, "rounds": game.rounds, "calls": double.stats().calls, "read": read}))
        words = [sys.executable, "-m", "wolfbus", "replay", str(game.record)]
        return subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
