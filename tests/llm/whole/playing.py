"""Plays games of language models by the command, and a provider that answers them in this process by a function."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from players.llm.provider import Failure, ProviderReply, Request
from tests.golden.running import Said, wolfbus
from tests.llm.scripted import ScriptedProvider
from tests.proving import Proof, prove
from wolfbus.cli import SPOILT

Script = Callable[[Request], ProviderReply | Failure | float]
"""What comes of a request; a number is seconds that pass before an obliging reply."""

SHORT = {"debate_turns": 2, "max_rounds": 1}
_open: list[ScriptedProvider] = []


def open_provider(_endpoint: object, _keys: object) -> ScriptedProvider:
    return _open[-1]


@contextmanager
def scripted(script: Script) -> Iterator[ScriptedProvider]:
    """Let endpoints with this module as their provider answer by a script."""

    async def answer(request: Request) -> ProviderReply | Failure:
        came = script(request)
        if isinstance(came, ProviderReply | Failure):
            return came
        await asyncio.sleep(came)
        return obliging(request)

    _open.append(ScriptedProvider(answer))
    yield _open[-1]
    _open.pop()


def play(
    folder: Path,
    *words: str,
    players: str = "llm:m",
    game: str = "g",
    url: str = "",
    provider: str = __name__,
    **more: Any,
) -> tuple[Said, Path]:
    """Play a game of model ``m``; return what was said and the record.

    Args:
        folder: where.
        words: further options.
        players: who plays.
        game: its name.
        url: where the model is.
        provider: what answers where there is no URL; a script of ours unless given.
        more: further lines for tables, ``model`` and ``endpoint``, and rules by their names.
    """
    model, endpoint, rules = more.pop("model", ""), more.pop("endpoint", ""), SHORT | more
    lines = [f"{name} = {json.dumps(value)}" for name, value in rules.items() if not isinstance(value, dict)]
    tables = [(name, value) for name, value in rules.items() if isinstance(value, dict)]
    lines += [f"{name}.{key} = {json.dumps(value)}" for name, table in tables for key, value in table.items()]
    where = f'provider = "{provider}"' if not url else f'url = "{url}"'
    lines += ["[endpoints.here]", where, endpoint, "[models.m]", 'endpoint = "here"', model]
    (folder / "game.toml").write_text("\n".join(lines))
    names = ["--players", players, "--seed", "5", "--game", game, "--out", str(folder)]
    result = wolfbus(folder, "play", "--config", "game.toml", *names, "--quiet", "--no-probe", *words)
    return result, folder / f"{game}.ndjson"


def proven(record: Path) -> Proof:
    proof = prove(record)
    assert proof.verified, proof.problems
    return proof


def played(folder: Path, *words: str, spoilt: bool = False, **more: Any) -> Proof:
    """Play a game to its end, spoilt or not, and prove its record."""
    result, record = play(folder, *words, **more)
    assert result.code == (SPOILT if spoilt else 0), result.err
    return proven(record)


def readings(proof: Proof) -> Counter[str]:
    return Counter(event.reading if event.outcome == "accepted" else event.outcome for event in proof.of("answered"))


def filled(schema: Any, rng: random.Random) -> Any:
    """Some value that meets the JSON Schema of a form."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        return {name: filled(part, rng) for name, part in schema["properties"].items()}
    if kind == "boolean":
        return rng.random() < 0.5
    # a vote's reason may be left out; given, it is a statement
    return round(rng.random(), 2) if kind == "number" else "word"


def obliging(request: Request) -> ProviderReply:
    """A reply in the form that was asked for, always the same to the same prompt."""
    value = filled(request.form.schema, random.Random(repr(request.messages)))
    return ProviderReply(json.dumps(value), finish="stop", prompt_tokens=10, completion_tokens=5)
