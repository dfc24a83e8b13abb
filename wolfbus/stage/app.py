"""`StageApp`: the routes of a server of pages, and of a person who plays (`SeatRoutes`); docs/stage-data.md says what
each answers.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web

from wolfbus.errors import ConfigError, WolfError
from wolfbus.stage import connections
from wolfbus.stage.answers import HEADERS, Guard, RequestRefused, answer, event, last_line, saved_as, stream
from wolfbus.stage.document import FORMAT, learning
from wolfbus.stage.files import PAGE, STATIC, game_file, one_file
from wolfbus.stage.inspector import exchanges
from wolfbus.stage.library import GameFilter, Library, StudyReader, pairs, study_data, study_summary
from wolfbus.stage.people import People, PersonSeat
from wolfbus.stage.sources import GameSource, open_game
from wolfbus.stage.viewers import EVERYTHING, PUBLIC
from wolfbus.stage.watched import WatchedGame, encoded

_COOKIE: Final = "wolfbus-seat-"
_DAYS_S: Final = 7 * 86_400
_NO_SEAT: Final = "this link leads to no seat: its game is over, or it is of another one"
_USED: Final = (
    "this link was used already, and is good for one browser; who runs the game has a fresh one now, so ask them for it"
)
_TAKEN_OVER: Final = "this seat was taken up in another browser, by a fresh link"
_NOT_YOURS: Final = "this seat is not yours, or its game is long over; open your link again"
_BROKEN_OFF: Final = "the game was broken off"
_NOT_YET: Final = "you may look at that when you are out of the game, or when it is over"


class SeatRoutes:
    """What the page of a person who plays asks for, and its answers.

    Args:
        people: who plays here.
        games: where games come from, for ghosts.
    """

    def __init__(self, people: People, games: Sequence[GameSource]) -> None:
        self._people = people
        self._games = games

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_post("/seat/sit", self._sit)
        app.router.add_get("/seat/{seat}/data.json", self._data)
        app.router.add_get("/seat/{seat}/events", self._events)
        app.router.add_post("/seat/{seat}/answer", self._answer)

    async def _sit(self, request: web.Request) -> web.StreamResponse:
        message = await _json(request)
        token, consent = message.get("token"), self._people.consent.words
        if not isinstance(token, str):
            raise RequestRefused(403, _NO_SEAT)
        invited = self._people.invited(token)
        if invited is None:
            raise RequestRefused(403, _USED if self._people.reissue(token) is not None else _NO_SEAT)
        if message.get("agreed") != consent:
            return answer({"consent": consent, "me": invited.seat, "game": invited.game})
        seat = self._people.redeem(token)
        if seat is None:
            raise RequestRefused(403, _NO_SEAT)
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

    def _seat(self, request: web.Request) -> PersonSeat:
        name = request.match_info["seat"]
        seat = self._people.seat(name, request.cookies.get(f"{_COOKIE}{name}", ""))
        if seat is None:
            raise RequestRefused(403, _NOT_YOURS)
        if request.query.get("as", "") not in {"", *seat.viewers()}:
            raise RequestRefused(403, _NOT_YET)
        return seat

    async def _data(self, request: web.Request) -> web.StreamResponse:
        seat = self._seat(request)
        viewer = request.query.get("as", "")
        if not viewer:
            return answer(seat.page())
        if viewer == PUBLIC:
            return answer({**seat.table.page(), "viewers": [PUBLIC], "problems": [], **seat.status()})
        game = await open_game(self._games, seat.game)
        if game is None:
            raise RequestRefused(404, "this server does not have the record of the game")
        return answer({**game.page(game.viewer(viewer)), **seat.status()})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        seat = self._seat(request)
        with seat.streaming():
            return await stream(request, self._steps(seat, last_line(request), table=bool(request.query.get("as"))))

    async def _steps(self, seat: PersonSeat, after: int, *, table: bool) -> AsyncGenerator[bytes, None]:
        version, secret = -1, seat.secret
        while True:
            if seat.secret != secret:
                yield event("gone", encoded({"words": _TAKEN_OVER}))
                return
            feed = seat.table if table else seat.feed
            if after > feed.line:
                yield event("reload", b"{}")
                return
            if seat.version != version:
                version = seat.version
                step = encoded({**feed.step(after), **seat.status()})
                after = feed.line
                yield event("step", step, after)
            if feed.over:
                return
            if seat.closed:
                yield event("gone", encoded({"words": _BROKEN_OFF}))
                return
            if not await seat.change(_QUIET_S):
                yield _KEEP_ALIVE

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        seat = self._seat(request)
        message = await _json(request)
        name, content, thought = message.get("id"), message.get("content"), message.get("thought")
        if not isinstance(name, str) or not isinstance(content, dict | None) or not isinstance(thought, str | None):
            raise RequestRefused(422, "an answer has an id, a content and perhaps a thought")
        status, why = seat.answer(name, content, thought)
        if why:
            raise RequestRefused(status, why)
        return answer({"taken": True})


async def _json(request: web.Request) -> dict[str, Any]:
    """Return what a page sent.

    Raises:
        ConfigError: it is no JSON object.
        RequestRefused: it does not come.
    """
    if request.content_type != "application/json":
        raise ConfigError("an answer is JSON")
    try:
        async with asyncio.timeout(connections.SENDING_S):
            value = json.loads(await request.read())
        # NaN and halves of characters can be read, but neither kept nor sent on
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except TimeoutError:
        raise RequestRefused(408, "the answer did not come in time") from None
    except (ValueError, RecursionError, web.RequestPayloadError):
        raise ConfigError("an answer is JSON") from None
    if not isinstance(value, dict):
        raise ConfigError("an answer is a JSON object")
    return value


_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
_KEEP_ALIVE: Final = b": still here\n\n"
_QUIET_S: Final = 15.0
"""Seconds without news after which a comment keeps a stream of events open."""
_BATCH_S: Final = 0.05
"""Seconds in which what comes goes out as one event."""
_PROGRESS_S: Final = 0.4
"""Seconds after which who waits for a study's numbers is told how far they are."""
_COLLECTED_S: Final = 10.0
"""Seconds in which who waits for a study's numbers asks for them once more."""
_NO_GAME: Final = "there is no game of that name here"
_NO_STUDY: Final = "there is no study of that name here"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StageApp:
    """The routes of a server of pages.

    Args:
        games: where games come from; one that several have is that of the first.
        library: what there is.
        guard: who may ask.
        studies: computes what pages show of studies; None to show none.
        people: who plays at these pages; None for nobody.
    """

    def __init__(
        self,
        games: Sequence[GameSource],
        library: Library,
        guard: Guard,
        studies: StudyReader | None = None,
        people: People | None = None,
    ) -> None:
        # a link to a seat is answered where nobody plays any more, too
        self._people = people or People(lambda _seat, _path: None)
        self._games = games
        self._studies = studies
        self._library = library
        self._guard = guard
        self._measuring: dict[Path, _Measuring] = {}

    def app(self) -> web.Application:
        """Return the application, to be run on this loop."""
        app = web.Application(middlewares=[self._guard_requests], client_max_size=1 << 20)
        app.router.add_get("/static/{name}", self._static)
        app.router.add_get("/library.json", self._library_data)
        app.router.add_get("/learn.json", self._learn)
        app.router.add_get("/g/{game}/data.json", self._data)
        app.router.add_get("/g/{game}/events", self._events)
        app.router.add_get("/g/{game}/call/{line:[0-9]{1,15}}.json", self._call)
        app.router.add_get("/g/{game}/record.ndjson", self._record)
        app.router.add_get("/g/{game}/page.html", self._file)
        app.router.add_get("/s/{study}.json", self._study)
        app.router.add_get("/s/{study}/measured.json", self._measured)
        app.router.add_get("/s/{study}/report.html", self._report)
        app.router.add_get("/c.json", self._compare)
        SeatRoutes(self._people, self._games).add_to(app)
        # behind the data, whose addresses they match as well
        for address in (
            *("/", "/g/{game}", "/f/{game}", "/g/{game}/call/{line:[0-9]{1,15}}", "/s/{study}", "/c", "/learn"),
            *("/seat", "/seat/{seat}"),
        ):
            app.router.add_get(address, self._page)
        return app

    @web.middleware
    async def _guard_requests(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._guard.check(request.method, request.headers)
            response = await handler(request)
        except _NotFound as error:
            response = answer({"error": str(error), **await self._library.names()}, error.status)
        except RequestRefused as error:
            response = answer({"error": str(error)}, error.status)
        except web.HTTPException as error:
            response = answer({"error": error.reason.lower()}, error.status)
        except WolfError as error:
            response = answer({"error": str(error)}, 400 if isinstance(error, ConfigError) else 500)
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
        return response

    async def _static(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        path = STATIC / name
        if path.suffix not in _TYPES or path not in STATIC.iterdir():
            raise RequestRefused(404, "there is no such file")
        return web.Response(body=path.read_bytes(), content_type=_TYPES[path.suffix], charset="utf-8")

    async def _page(self, request: web.Request) -> web.StreamResponse:
        status = 200
        if "game" in request.match_info and await open_game(self._games, request.match_info["game"]) is None:
            status = 404
        return web.Response(body=(STATIC / PAGE).read_bytes(), status=status, content_type="text/html", charset="utf-8")

    async def _library_data(self, request: web.Request) -> web.StreamResponse:
        return answer(await self._library.listing(GameFilter.of(request.query), _seconds(request)))

    async def _learn(self, _request: web.Request) -> web.StreamResponse:
        return answer(await asyncio.to_thread(learning))

    async def _game(self, request: web.Request, part: str = "") -> WatchedGame:
        """Return the game asked for; `part` names what is to be had of it only where all may be seen."""
        game = await open_game(self._games, request.match_info["game"])
        if game is None:
            raise _NotFound(404, _NO_GAME)
        if part and game.shielded:
            raise RequestRefused(403, game.refusal(part))
        return game

    async def _data(self, request: web.Request) -> web.StreamResponse:
        game = await self._game(request)
        if game.empty:
            why = game.problem or "there is no whole line in its record yet"
            raise RequestRefused(404, f"nothing can be shown of this game: {why}")
        viewer = game.viewer(request.query.get("as", ""))
        page = game.page(viewer)
        if not game.shielded:
            address = f"/g/{quote(game.game)}"
            page["links"] = {
                **({} if game.feed(EVERYTHING).private else {"record": f"{address}/record.ndjson"}),
                "page": f"{address}/page.html?as={quote(viewer)}",
                "prompts": any(recorded.event.type == "model_call" for recorded in game.records),
            }
        return answer(page)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        game = await self._game(request)
        viewer = game.viewer(request.query.get("as", ""))
        with game.watched():
            return await stream(request, self._steps(game, viewer, last_line(request)))

    async def _steps(self, game: WatchedGame, viewer: str, after: int) -> AsyncGenerator[bytes, None]:
        shielded = game.shielded
        if after > game.feed(viewer).line:
            # a game that was played anew under the same name
            yield event("reload", b"{}")
            return
        # whoever comes back may have been told that nothing comes
        stalled: str | None = ""
        while True:
            feed = game.feed(viewer)
            if feed.line > after or game.stalled != stalled:
                stalled = game.stalled
                step, after = game.step(viewer, after), feed.line
                yield event("step", step, after)
            if game.over and shielded and not game.shielded:
                yield event("reload", b"{}")
                return
            if feed.over:
                return
            if game.closed or game.over:
                words = game.problem or _BROKEN_OFF
                yield event("gone", encoded({"words": words}))
                return
            if await game.change(_QUIET_S):
                await asyncio.sleep(_BATCH_S)
            else:
                yield _KEEP_ALIVE

    async def _call(self, request: web.Request) -> web.StreamResponse:
        game = await self._game(request, "a prompt")
        calls = await asyncio.to_thread(exchanges, game.records)
        call = calls.get(int(request.match_info["line"]))
        if call is None:
            raise RequestRefused(404, "there is no model call at that line")
        return answer(call)

    async def _record(self, request: web.Request) -> web.StreamResponse:
        game = await self._game(request, "the record")
        if game.feed(EVERYTHING).private:
            raise RequestRefused(403, "its record holds thoughts that are for nobody else to see; ask who ran the game")
        path = await asyncio.to_thread(self._library.path_of, game.game)
        if path is None:
            raise RequestRefused(404, "this game's record is in no file here")
        return web.FileResponse(path, headers=saved_as(path.name))

    async def _file(self, request: web.Request) -> web.StreamResponse:
        game = await self._game(request)
        viewer = game.viewer(request.query.get("as", ""))
        word = "" if viewer == EVERYTHING else viewer
        if game.shielded and not game.records:
            raise RequestRefused(403, game.refusal("a file"))
        # all viewers' parts are to end at one line, however the game goes on meanwhile
        records, title = tuple(game.records), f"{game.game} · wolfbus"
        text = await asyncio.to_thread(lambda: one_file(game_file(records, word, game.problem, log=game.log), title))
        return web.Response(text=text, content_type="text/html", headers=saved_as(f"{game.game}.html"))

    async def _folder(self, study: str) -> tuple[StudyReader, Path, Path]:
        """Return who computes, a study's folder, and the folder that all is below."""
        root = self._library.root
        folder = await asyncio.to_thread(self._library.study_folder, study)
        if self._studies is None or root is None or folder is None:
            raise _NotFound(404, _NO_STUDY)
        if await asyncio.to_thread(self._library.shielded, folder):
            raise RequestRefused(403, "a study can be seen when all its games have ended")
        return self._studies, folder, root

    async def _study(self, request: web.Request) -> web.StreamResponse:
        study = request.match_info["study"]
        _, folder, _ = await self._folder(study)
        seconds = _seconds(request)
        data = await asyncio.to_thread(lambda: study_data(study, folder, self._library.games(seconds)))
        return answer({**data, "report": f"/s/{quote(study)}/report.html"})

    async def _measured(self, request: web.Request) -> web.StreamResponse:
        reader, folder, _ = await self._folder(request.match_info["study"])
        measuring = self._measuring.get(folder)
        if measuring is None or measuring.is_old:
            measuring = self._measuring[folder] = _Measuring(reader, folder)
        # whoever asks may be gone before it is done; it goes on, for who asks next
        done, _ = await asyncio.wait({measuring.task}, timeout=_PROGRESS_S)
        if not done:
            return answer({"read": measuring.read, "of": measuring.of}, 202)
        self._measuring.pop(folder, None)
        return answer(measuring.task.result())

    async def _report(self, request: web.Request) -> web.StreamResponse:
        reader, folder, _ = await self._folder(request.match_info["study"])
        text = await asyncio.to_thread(reader.report, folder)
        # the report has a policy of its own, in itself
        headers = {"Content-Security-Policy": "frame-ancestors 'none'"}
        return web.Response(text=text, content_type="text/html", headers=headers)

    async def _compare(self, request: web.Request) -> web.StreamResponse:
        names = request.query.get("a", ""), request.query.get("b", "")
        reader, a, root = await self._folder(names[0])
        _, b, _ = await self._folder(names[1])
        comparison = await asyncio.to_thread(reader.comparison, a, b)
        matched = await asyncio.to_thread(pairs, a, b, root)
        study_a, study_b = (
            {"id": name, "name": study_summary(name, folder)["name"]}
            for name, folder in zip(names, (a, b), strict=True)
        )
        return answer({"format": FORMAT, "a": study_a, "b": study_b, "comparison": comparison, "pairs": matched})


def _seconds(request: web.Request) -> float:
    """Return for how long records may be read that were not read before."""
    try:
        return float(request.query.get("seconds", "inf"))
    except ValueError:
        raise ConfigError("seconds: a number") from None


class _Measuring:
    """A study that is measured in a thread, for everybody who asks meanwhile.

    Attributes:
        task: gives what was measured.
        read: bytes of records read so far.
        of: bytes of all; 0 before that is known.
    """

    def __init__(self, reader: StudyReader, folder: Path) -> None:
        self.read, self.of = 0, 0
        self.task = asyncio.create_task(asyncio.to_thread(reader.measured, folder, self._tell))
        self._over_at = math.inf
        self.task.add_done_callback(self._end)

    @property
    def is_old(self) -> bool:
        """Whether it was measured so long ago that whoever asked is gone, and the study may have grown since."""
        return time.monotonic() > self._over_at + _COLLECTED_S

    def _end(self, task: asyncio.Task[dict[str, Any]]) -> None:
        self._over_at = time.monotonic()
        # where nobody comes back for it, its error is nobody's either
        if not task.cancelled():
            task.exception()

    def _tell(self, read: int, of: int) -> None:
        self.read, self.of = read, of


class _NotFound(RequestRefused):
    """There is no such game or study; the answer says what there is."""
