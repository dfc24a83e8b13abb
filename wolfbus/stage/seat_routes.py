"""`SeatRoutes`: what the page of a person who plays asks for, and its answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, Final

from aiohttp import web

from wolfbus.errors import ConfigError
from wolfbus.stage.answers import answer, event, problem, whole
from wolfbus.stage.eyes import PUBLIC
from wolfbus.stage.guard import HEADERS
from wolfbus.stage.people import People, PersonSeat
from wolfbus.stage.sources import GameSource
from wolfbus.stage.watched import encoded

_COOKIE: Final = "wolfbus-seat-"
_DAYS_S: Final = 7 * 86_400
_QUIET_S: Final = 15.0
_NO_SEAT: Final = "this link leads to no seat: it was used already, or is of another game"
_NOT_HERE: Final = "this seat is not yours, or its game is long over; open your link again"


class SeatRoutes:
    """What the page of a person who plays asks for, and its answers.

    Args:
        people: who plays here.
        games: where games come from, for ghosts.
    """

    def __init__(self, people: People, games: GameSource) -> None:
        self._people = people
        self._games = games
        self._closing = asyncio.Event()

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.on_shutdown.append(self._end)
        app.router.add_post("/seat/sit", self._sit)
        app.router.add_get("/seat/{seat}/data.json", self._data)
        app.router.add_get("/seat/{seat}/events", self._events)
        app.router.add_post("/seat/{seat}/answer", self._answer)

    async def _end(self, _app: web.Application) -> None:
        self._closing.set()

    async def _sit(self, request: web.Request) -> web.StreamResponse:
        told = await _json(request)
        token = told.get("token")
        seat = self._people.take(token) if isinstance(token, str) else None
        if seat is None:
            return problem(403, _NO_SEAT)
        response = answer({"seat": seat.id})
        response.set_cookie(
            f"{_COOKIE}{seat.id}",
            seat.secret,
            path=f"/seat/{seat.id}",
            max_age=_DAYS_S,
            httponly=True,
            samesite="Strict",
        )
        return response

    def _seat(self, request: web.Request) -> PersonSeat | None:
        name = request.match_info["seat"]
        return self._people.seat(name, request.cookies.get(f"{_COOKIE}{name}", ""))

    async def _data(self, request: web.Request) -> web.StreamResponse:
        seat = self._seat(request)
        if seat is None:
            return problem(403, _NOT_HERE)
        word = request.query.get("as", "")
        if not word:
            return answer(seat.page())
        if word not in seat.watch():
            return problem(403, "you may look at that when you are out of the game, or when it is over")
        if word == PUBLIC:
            return answer({**seat.table.page(), "viewers": [PUBLIC], "problems": []})
        game = await self._games.open(seat.game)
        if game is None:
            return problem(404, "this server does not have the record of the game")
        return answer(game.page(game.viewer(word)))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        seat = self._seat(request)
        if seat is None:
            return problem(403, _NOT_HERE)
        word = request.query.get("as", "")
        if word not in {"", *seat.watch()}:
            return problem(403, "you may look at that when you are out of the game, or when it is over")
        after = whole(request.headers.get("Last-Event-ID") or request.query.get("after") or "0")
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionResetError):
            await self._stream(response, seat, after, table=bool(word))
        return response

    async def _stream(self, response: web.StreamResponse, seat: PersonSeat, after: int, *, table: bool) -> None:
        version = -1
        while not self._closing.is_set():
            feed = seat.table if table else seat.feed
            if after > feed.line:
                await response.write(event("reload", b"{}"))
                return
            if seat.version != version:
                version = seat.version
                step = encoded({**feed.step(after), **seat.beside()})
                after = feed.line
                await response.write(event("step", step, after))
            if feed.over:
                return
            if not await seat.change(_QUIET_S):
                await response.write(b": still here\n\n")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        seat = self._seat(request)
        if seat is None:
            return problem(403, _NOT_HERE)
        told = await _json(request)
        name, content, thought = told.get("id"), told.get("content"), told.get("thought")
        if not isinstance(name, str) or not isinstance(content, dict | None) or not isinstance(thought, str | None):
            return problem(422, "an answer has an id, a content and perhaps a thought")
        status, why = seat.answer(name, content, thought)
        return problem(status, why) if why else answer({"taken": True})


async def _json(request: web.Request) -> dict[str, Any]:
    """Return what a page sent.

    Raises:
        ConfigError: it is no JSON object.
    """
    if request.content_type != "application/json":
        raise ConfigError("an answer is JSON")
    try:
        told = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise ConfigError("an answer is JSON") from None
    if not isinstance(told, dict):
        raise ConfigError("an answer is a JSON object")
    return told
