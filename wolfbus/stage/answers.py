"""How a server of pages answers: JSON, refusals, events."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from wolfbus.stage.guard import HEADERS
from wolfbus.stage.watched import encoded


def answer(value: Any, status: int = 200) -> web.Response:
    """Return plain values as JSON."""
    response = web.Response(body=encoded(value), status=status, content_type="application/json", charset="utf-8")
    response.enable_compression()
    return response


def problem(status: int, words: str) -> web.Response:
    """Return a refusal: one sentence."""
    response = answer({"error": words}, status)
    response.headers.update(HEADERS)
    return response


def event(name: str, data: bytes, line: int | None = None) -> bytes:
    """Return a server-sent event; JSON as `encoded` writes it has no line ends."""
    head = f"event: {name}\n" + (f"id: {line}\n" if line is not None else "")
    return head.encode() + b"data: " + data + b"\n\n"


def whole(word: str) -> int:
    """Return a number of a line that a browser tells, 0 for anything else."""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 16 else 0
