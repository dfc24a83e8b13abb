"""`HttpBrain`: an agent at an address takes a seat; spec ``http://…`` or ``https://…``.

One POST of JSON a request, with all that the seat knows, and the answer as JSON in its response: what the line protocol
says in lines. Requests of a seat are sent again after a fault, with the same id, until their deadline.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from players.llm.keys import quiet_client_logs, without_key
from players.llm.providers.openai import MOST_REDIRECTS, RedirectRefused, authorities, target_of, trusted_context
from players.llm.settings import USUAL_PORTS, checked_url, origin_of
from players.program.protocol import LONGEST, ask_message, failed, read_reply, unusable
from wolfbus.actors import Timers
from wolfbus.actors.closable import Closable
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.agent.answer import worth_until
from wolfbus.errors import ConfigError, PlayerError, reason_of
from wolfbus.files.printable import printable
from wolfbus.game.config import rules_text
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask
from wolfbus.patience import Backoff, Patience

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

HEADERS: Final = "WOLFBUS_HTTP_HEADERS"
"""Environment variable: headers for agents at addresses, a JSON object of origin to headers, as in
``{"https://agents.example": {"Authorization": "Bearer …"}}``. They go to that origin alone."""
AT_ONCE: Final = "WOLFBUS_HTTP_AT_ONCE"
"""Environment variable: requests under way at one address at a time; 64 unless given."""

_HEADERS: Final = TypeAdapter(dict[str, dict[str, str]])
_NAME: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_VALUE: Final = re.compile(r"([!-~]([ -~]*[!-~])?)?")
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
"""Names of headers that say where a request ends; the client sets them."""
_AT_ONCE: Final = 64
_CONNECT_S: Final = 10.0
_OVERDUE_S: Final = 0.5
"""Seconds after which a request that nobody waits for any more is broken off, if it has not ended by itself."""
_PAUSES: Final = Backoff(first=0.2, longest=5.0)
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may be different next time."""
_SHOWN: Final = 120


def check_address(url: str) -> str:
    """Return the address of an agent as it is; raises ConfigError where it is none, or holds what may be a secret."""
    try:
        checked_url(url)
    except ValueError as error:
        raise ConfigError(f"players: {printable(url.partition('?')[0], _SHOWN)}: {error}") from None
    return url


class AddressedAgent(Closable):
    """One address, and the connections to it, which all its seats in this process share. Safe from any thread.

    Args:
        url: the address; it holds no secret.

    Raises:
        ConfigError: it is no address, or a variable of the environment cannot be understood.
        PlayerError: the authorities to trust cannot be read.
    """

    def __init__(self, url: str) -> None:
        self.url = check_address(url)
        self._trusted = trusted_context(self.url) if urlsplit(self.url).scheme == "https" else None
        self._headers = _headers_for(self.url)
        self._at_once = _read_at_once()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._timers = Timers("http-agent")
        self._client: httpx2.Client | None = None
        self._faults: set[int | type[Exception]] = set()

    def reach(self, seconds: float) -> None:
        """See that somebody listens at the address, and is who it should be; nothing is asked.

        Args:
            seconds: how long this is tried.

        Raises:
            PlayerError: nobody does; one clear line.
        """
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port or USUAL_PORTS[parts.scheme]
        patience = Patience(seconds, _PAUSES, begun=True)
        while True:
            try:
                with socket.create_connection((host, port), timeout=max(patience.left_s(), 1.0)) as connection:
                    if self._trusted is not None:
                        self._trusted.wrap_socket(connection, server_hostname=host).close()
            except ssl.SSLError as error:
                raise PlayerError(f"{self.url}: no secure connection: {error}; {authorities()}") from None
            except OSError as error:
                if (pause := patience.pause_s()) is None:
                    raise PlayerError(f"{self.url}: {reason_of(error)}; start the agent first") from None
                self._closed.wait(pause)
            else:
                return

    def post(self, body: bytes, until: float) -> bytes | str:
        """Send a request until it is answered; returns the body of the answer, or in words why there is none.

        Args:
            body: JSON.
            until: monotonic time after which nobody waits for it any more.
        """
        # whatever trickles in, such as one 102 after another, is in time for the client
        try:
            overdue = self._timers.after(until - time.monotonic() + _OVERDUE_S, self._hang_up)
        except RuntimeError:
            return "its connections are closed"
        try:
            return self._post(body, until)
        finally:
            overdue.cancel()

    def _post(self, body: bytes, until: float) -> bytes | str:
        import httpx2

        why = "it was not reached in time"
        patience = Patience(until - time.monotonic(), _PAUSES, begun=True)
        while (left := patience.left_s()) > 0 and not self._closed.is_set():
            try:
                outcome = self._post_once(body, left)
            except httpx2.TimeoutException:
                why = "it did not answer in time"
                continue
            except (httpx2.HTTPError, RuntimeError) as error:
                # a client that is closed meanwhile says so by a RuntimeError
                why = f"it cannot be reached: {self._printable(str(error)) or type(error).__name__}"
                fault: int | type[Exception] = type(error)
            except RedirectRefused:
                return "it redirects elsewhere, where nothing is sent"
            except httpx2.InvalidURL as error:
                return f"it leads to what is no address: {self._printable(str(error))}"
            else:
                if isinstance(outcome, bytes):
                    return outcome
                fault, why = outcome
                if fault not in _AGAIN:
                    return why
            self._tell(fault, why)
            self._closed.wait(patience.pause_s() or 0.0)
        return why

    def _tell(self, fault: int | type[Exception], why: str) -> None:
        """Say why a request is sent again, each kind of fault once: until its deadline nothing else can be seen."""
        with self._lock:
            is_new = fault not in self._faults and not self._closed.is_set()
            self._faults.add(fault)
        if is_new:
            logger.warning("%s: %s; the request is sent again until its deadline", self.url, why)

    def close(self) -> None:
        """Close all connections; requests under way are given up."""
        self._closed.set()
        self._timers.close()
        self._hang_up()

    def _hang_up(self) -> None:
        """Close all connections; requests under way whose time lasts are sent again over others."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _post_once(self, body: bytes, seconds: float) -> bytes | tuple[int, str]:
        """Send a request once; returns the answer's body, or the status that came instead, and what is wrong."""
        url = self.url
        for _ in range(MOST_REDIRECTS + 1):
            until = time.monotonic() + seconds
            with self._connected().stream(
                "POST",
                url,
                content=body,
                headers={**self._headers, "Content-Type": "application/json"},
                timeout=seconds,
            ) as response:
                target = target_of(response.status_code, response.headers, url, self.url, None)
                if target is not None:
                    url = target
                    continue
                read = bytearray()
                for piece in response.iter_bytes():
                    read += piece
                    if len(read) > LONGEST or time.monotonic() > until:
                        break
                if response.is_success:
                    return bytes(read)
                text = self._printable(bytes(read[:_SHOWN]).decode("utf-8", "replace"))
                why = f"it answers with status {response.status_code}{f': {text}' if text else ''}"
                return response.status_code, why
        return response.status_code, f"it redirects more than {MOST_REDIRECTS} times"

    def _printable(self, text: str) -> str:
        return printable(without_key(text, *self._headers.values()), _SHOWN)

    def _connected(self) -> httpx2.Client:
        with self._lock:
            if self._client is None:
                import httpx2

                quiet_client_logs()
                limits = httpx2.Limits(max_connections=self._at_once, max_keepalive_connections=self._at_once)
                timeout = httpx2.Timeout(None, connect=_CONNECT_S)
                self._client = httpx2.Client(
                    limits=limits,
                    timeout=timeout,
                    follow_redirects=False,
                    trust_env=False,
                    verify=self._trusted or True,
                    # seats share the connections, and nothing that one of them was told may come back with another
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                )
            return self._client


def _headers_for(url: str) -> dict[str, str]:
    """Return the headers that the environment has for an address; raises ConfigError."""
    text = os.environ.get(HEADERS)
    if not text:
        return {}
    try:
        by_origin = _HEADERS.validate_json(text)
    except ValidationError:
        # what it holds is secret, so it is not shown
        raise ConfigError(f"{HEADERS} is no JSON object of origin to headers") from None
    for number, origin in enumerate(by_origin, 1):
        if origin_of(origin) is None:
            raise ConfigError(f"{HEADERS}: name {number} of its members is no origin, such as https://agents.example")
        for place, (name, value) in enumerate(by_origin[origin].items(), 1):
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value) or name.lower() in _FRAMING:
                raise ConfigError(f"{HEADERS}: header {place} of member {number} has a name or value that is not sent")
    return next((headers for origin, headers in by_origin.items() if origin_of(origin) == origin_of(url)), {})


def _read_at_once() -> int:
    text = os.environ.get(AT_ONCE) or str(_AT_ONCE)
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise ConfigError(f"{AT_ONCE}: {printable(text, 20)} is no number of requests from 1 to 10000")
    return int(text)


class HttpBrain(Agent):
    """Asks the agent at an address; see docs/http-agents.md.

    Args:
        agent: the address.
        note: told of each answer, with the game's id.
    """

    def __init__(self, agent: AddressedAgent, note: Callable[[str, Answer], None]) -> None:
        self._agent = agent
        self._note = note

    def answer(self, ask: Ask, view: SeatView, /) -> Answer:
        """Put one request to the address, and wait for its answer until the deadline."""
        until = worth_until(ask, view)
        answer = self._ask(ask, view, until)
        self._note(self.game, answer)
        # nobody waits any more
        return NO_ANSWER if answer.fault == "failed" and time.monotonic() >= until else answer

    def _ask(self, ask: Ask, view: SeatView, until: float) -> Answer:
        reply = self._agent.post(_body(self.game, ask, view), until)
        if isinstance(reply, str):
            return failed(f"{self._agent.url}: {reply}")
        if not reply.strip():
            return unusable(None, "the response has no body")
        return read_reply(reply, ask, view)


def _body(game: str, ask: Ask, view: SeatView) -> bytes:
    message: Mapping[str, Any] = {**ask_message(ask, view), "game": game, "rules_text": rules_text(view.config)}
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
