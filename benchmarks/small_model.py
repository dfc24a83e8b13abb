"""What a small open model makes of prompts: how many answers are read, and how much it says in words of its own.

Games are played by a checkout's own `wolfbus run`, in a process of its own, so that an older checkout can play the same
seeds; what became of the model's replies is read from their records, here. The model runs behind any server that speaks
OpenAI's chat protocol, as `wolfbus[local]` has one:

    python -m players.llm.local FILE.gguf --port 8080 &
    python benchmarks/small_model.py --url http://127.0.0.1:8080/v1 --games 4 [--against CHECKOUT] [--structured text]
    python benchmarks/small_model.py --protocol compact --turns 2 --memory full
    python benchmarks/small_model.py --cells --games 2

The last plays the same games by both protocols, with one turn a debate and with two, and with both memories, and prints
a table of Markdown a row at a time: some ten minutes for each game of a cell at .5 B, on two quiet cores. The
first takes about an hour on one core with a model of 135 M.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from wolfbus.messages.calls import ModelCall
from wolfbus.messages.events import AnyAnswered
from wolfbus.reading.copies import is_copied
from wolfbus.record.prompts import PromptBook
from wolfbus.record.reader import open_lines, read_record

HERE: Final = Path(__file__).resolve().parent.parent

STUDY: Final = """\
# small, for a model takes seconds a call
[rules]
villagers = 2
werewolves = 1
seers = 1
doctors = 1
debate_turns = {turns}
protocol = "{protocol}"
memory = "{memory}"
max_rounds = 2

[rules.deadlines]
{deadlines}

[endpoints.local]
url = "{url}"
at_once = 1

[models.small]
model = "{model}"
endpoint = "local"
max_tokens = 256
structured = "{structured}"
extra = {{ seed = {seed} }}
"""

_PLACEHOLDER: Final = re.compile(r"<[^<>]*>")


@dataclass(slots=True)
class Findings:
    """What became of a model's replies, summed over games."""

    games: int = 0
    seconds: float = 0.0
    calls: int = 0
    reasks: int = 0
    attempts: int = 0
    cut: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    floors: int = 0
    statements: int = 0
    own_words: int = 0
    thoughts: int = 0
    placeholder_thoughts: int = 0

    def add(self, path: Path) -> None:
        """Add a record."""
        self.games += 1
        book = PromptBook()
        models: set[str] = set()
        prompts: dict[str, str] = {}
        for recorded in read_record(open_lines(path)):
            event = recorded.event
            book.feed(event)
            if event.type == "opened":
                models = {seat.name for seat in event.seats if seat.brain.startswith("llm:")}
            elif event.type == "model_call":
                self._add_call(event)
                prompts[event.seat] = "".join(text for _, text in book.messages(event))
            elif event.type == "answered" and event.seat in models:
                self._add_answer(event, prompts.get(event.seat, ""))

    def _add_call(self, call: ModelCall) -> None:
        self.calls += 1
        self.reasks += call.reask
        self.attempts += call.attempts
        self.cut += call.finish == "length"
        self.prompt_tokens += call.prompt_tokens or 0
        self.cached_tokens += call.cached_tokens or 0
        self.completion_tokens += call.completion_tokens or 0

    def _add_answer(self, answer: AnyAnswered, prompt: str) -> None:
        self.answers[answer.reading if answer.outcome == "accepted" else "default"] += 1
        if answer.thought:
            self.thoughts += 1
            self.placeholder_thoughts += _PLACEHOLDER.fullmatch(answer.thought.strip()) is not None
        if answer.kind == "speak":
            self.floors += 1
            text = answer.content.text if answer.content is not None else ""
            self.statements += bool(text.strip())
            self.own_words += bool(text.strip()) and not is_copied(text, prompt)

    def summary(self) -> dict[str, Any]:
        """Return the shares, and what they took."""
        answers = self.answers.total()
        return {
            "games": self.games,
            "minutes_a_game": round(self.seconds / 60 / max(1, self.games), 1),
            "calls_a_game": round(self.calls / max(1, self.games)),
            "asked_again": self.reasks,
            "requests_over_the_network": self.attempts,
            "replies_cut_at_their_bound": self.cut,
            "prompt_tokens_a_game": round(self.prompt_tokens / max(1, self.games)),
            "of_them_in_the_server_s_cache": _share(self.cached_tokens, self.prompt_tokens),
            "tokens_a_reply": round(self.completion_tokens / max(1, self.attempts)),
            "answers": answers,
            "answers_read": _share(answers - self.answers["default"], answers),
            **{f"of_them_{name}": _share(number, answers) for name, number in self.answers.most_common()},
            "times_it_had_the_floor": self.floors,
            "statements": _share(self.statements, self.floors),
            "statements_in_own_words": _share(self.own_words, self.floors),
            "thoughts": self.thoughts,
            "thoughts_that_are_a_placeholder": _share(self.placeholder_thoughts, self.thoughts),
        }


COLUMNS: Final = (
    "protocol, turns, memory",
    "calls, asked again",
    "tokens of prompts",
    "not in the cache",
    "tokens of replies",
    "minutes",
    "answers, defaults",
    "had the floor",
    "said something",
    "in own words",
)


def row(cell: tuple[str, int, str], found: Findings) -> str:
    """Return a line of a table of Markdown: what a game of a cell took on average, and what the model said in all."""
    games = max(1, found.games)
    protocol, turns, memory = cell
    values = (
        f"{protocol}, {turns}, {memory}",
        f"{found.calls / games:.0f}, {found.reasks / games:.0f}",
        f"{found.prompt_tokens / games:,.0f}",
        f"{(found.prompt_tokens - found.cached_tokens) / games:,.0f}",
        f"{found.completion_tokens / games:,.0f}",
        f"{found.seconds / 60 / games:.1f}",
        f"{found.answers.total() / games:.0f}, {found.answers['default'] / games:.1f}",
        str(found.floors),
        str(found.statements),
        str(found.own_words),
    )
    return f"| {' | '.join(values)} |"


def play_cells(given: argparse.Namespace) -> None:
    """Play the games of one seed by both protocols, one and two turns a debate and both memories; print a table."""
    print(f"| {' | '.join(COLUMNS)} |", "|" + " --- |" * len(COLUMNS), sep="\n", flush=True)
    for cell in itertools.product(("paper", "compact"), (1, 2), ("brief", "full")):
        given.protocol, given.turns, given.memory = cell
        print(row(cell, play(HERE, given)), flush=True)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def play(checkout: Path, given: argparse.Namespace) -> Findings:
    """Let a checkout play games with the model in three of five seats, and measure them."""
    kinds = ("bid", "speak", "assess_own", "assess_other", "vote", "kill", "protect", "inspect", "whisper")
    study = STUDY.format(
        deadlines="\n".join(f"{kind} = 3600.0" for kind in kinds),
        url=given.url,
        model=given.model,
        structured=given.structured,
        seed=given.seed,
        turns=given.turns,
        protocol=given.protocol,
        memory=given.memory,
    )
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "study.toml"
        out = (given.keep or Path(folder)) / f"{checkout.name}-{given.protocol}-{given.turns}-{given.memory}"
        config.write_text(study)
        command = [sys.executable, "-m", "wolfbus", "run", str(config), "--games", str(given.games)]
        command += ["--players", "llm:small*3,scripted*2", "--design", "fixed", "--seed", str(given.seed)]
        command += ["--out", str(out), "--workers", "1", "--at-once", "1", "--give-up", "0", "--no-probe", "--plain"]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        began = time.perf_counter()
        subprocess.run(command, check=True, cwd=checkout, env=environment, stdout=subprocess.DEVNULL)
        findings.seconds = time.perf_counter() - began
        for path in sorted(out.rglob("*.ndjson")):
            findings.add(path)
    return findings


def main() -> None:
    """Measure this checkout; another one too, if one is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8080/v1")
    parser.add_argument("--model", default="SmolLM2-135M-Instruct")
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--structured", choices=("auto", "schema", "object", "text"), default="auto")
    parser.add_argument("--protocol", choices=("paper", "compact"), default="paper")
    parser.add_argument("--turns", type=int, default=3, help="turns of a debate")
    parser.add_argument("--memory", choices=("brief", "full"), default="brief")
    parser.add_argument("--cells", action="store_true", help="a table of protocols, turns and memories")
    parser.add_argument("--against", type=Path, help="another checkout, which plays as well")
    parser.add_argument("--keep", type=Path, help="a folder to keep the records in, by checkout and cell")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.cells:
        if given.against or given.json:
            parser.error("--cells goes without --against and --json")
        play_cells(given)
        return
    for checkout in (HERE, *([given.against.resolve()] if given.against else [])):
        result = {"checkout": str(checkout), **play(checkout, given).summary()}
        if given.json:
            print(json.dumps(result))
        else:
            for name, value in result.items():
                print(f"{name.replace('_', ' '):34}{value}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
