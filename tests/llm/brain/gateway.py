"""A gateway without a network: replies come from a function, on a loop of its own as in the real one."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from players.context import BrainContext
from players.llm.accounts import Accounts
from players.llm.provider import Completion, ModelQuestion

Script = Callable[[ModelQuestion], Completion]


class ScriptedGateway:
    """Stands in for `players.llm.gateway.Gateway`; keeps every question."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.questions: list[ModelQuestion] = []
        self.accounts = Accounts()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self, jobs: Sequence[Coroutine[Any, Any, None]]) -> list[Any]:
        return [asyncio.run_coroutine_threadsafe(job, self._loop) for job in jobs]

    async def complete(self, question: ModelQuestion) -> Completion:
        self.questions.append(question)
        await asyncio.sleep(0)
        completion = self.script(question)
        self.accounts.add(question.model.model, question.purpose, completion)
        return completion

    def heard(self, question: ModelQuestion, completion: Completion, why: str | None) -> None:
        pass

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class ScriptedContext(BrainContext):
    """A context of brains whose gateway is a script."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._gateway = ScriptedGateway(script)  # type: ignore[assignment] # same methods

    @property
    def questions(self) -> list[ModelQuestion]:
        return self._gateway.questions  # type: ignore[union-attr]


def filled(schema: Any, rng: random.Random, word: str = "word") -> Any:
    """Some value that meets the JSON Schema of a form; strings hold `word`."""
    if "anyOf" in schema:
        return filled(rng.choice(schema["anyOf"]), rng, word)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        # a vote's reason may be left out; given, it is a statement
        kind = "string" if "string" in kind else rng.choice(kind)
    if kind == "object":
        return {name: filled(part, rng, f"{word}-{name}") for name, part in schema["properties"].items()}
    if kind == "array":
        return []
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "integer":
        return rng.randint(schema.get("minimum", 0), schema.get("maximum", 10))
    if kind == "number":
        return round(rng.random(), 2)
    return None if kind == "null" else word


def obliging(question: ModelQuestion, word: str = "word") -> Completion:
    """A reply in the form that was asked for, always the same to the same prompt."""
    rng = random.Random(repr(question.messages))
    text = json.dumps(filled(question.form.schema, rng, word))
    return Completion(text=text, finish="stop", attempts=1, prompt_tokens=10, completion_tokens=5)
