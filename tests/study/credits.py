"""A server of models in this process, whose credits are so many replies of each model, and which lists what it
answered; any number of processes share them.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections import Counter
from pathlib import Path

from players.llm.provider import Endpoint, Failed, Failure, ProviderReply, Request, Shape
from tests.llm.whole.playing import obliging

FOLDER = "WOLFBUS_TEST_CREDITS"
"""Names the folder: a file of each model with how many replies it has in all, and none where there is no end of them;
and the file of what was answered.
"""
SPENT = "credits://here: 402: there are no credits left"

_lock = threading.Lock()


class Credits:
    """Obliges as long as a model has credits."""

    url = "credits://here"

    def shape(self, _model: str) -> Shape:
        return Shape()

    async def ask(self, request: Request, _seconds: float | None) -> ProviderReply:
        model = request.model.model
        with _lock:
            if _left(model) < 1:
                _note("turned-away", model)
                raise Failed(Failure("rejected", SPENT, again=False, halts=True))
            _note("answered", f"{model} {hashlib.sha256(repr(request.messages).encode()).hexdigest()}")
        return obliging(request)

    async def close(self) -> None: ...


def open_provider(_endpoint: Endpoint, _keys: object) -> Credits:
    return Credits()


def _left(model: str) -> float:
    limit = Path(os.environ[FOLDER], model)
    return int(limit.read_text()) - len(answered(model)) if limit.exists() else math.inf


def _note(name: str, line: str) -> None:
    with Path(os.environ[FOLDER], name).open("a") as file:
        file.write(f"{line}\n")


def answered(model: str = "") -> list[str]:
    """Return what was answered so far by a model, or by all."""
    path = Path(os.environ[FOLDER], "answered")
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line.startswith(model)]


def turned_away() -> Counter[str]:
    """Return how many requests of each model were turned away."""
    path = Path(os.environ[FOLDER], "turned-away")
    return Counter(path.read_text().split()) if path.exists() else Counter()
