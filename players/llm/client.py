"""`Client`: one request over HTTP with the `openai` package, and what came of it in our own words."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from players.llm.keys import NO_KEY, OPENAI_URL, is_here, quiet_client_logs, redacted, without_key
from players.llm.redirects import MOST_REDIRECTS, Astray, origin_of, target_of
from players.llm.retry import Failure, trouble_of, wait_wanted
from players.llm.wire import ErrorInside, NotAReply, Reply, message_of, read_reply
from wolfbus.printable import printable, storable

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, RequestOptions

CONNECT_S: Final = 10.0
"""Seconds for a connection to stand."""

SERVED_KEPT: Final = 200
"""Characters that are kept of what a server says of its model."""

_IDLE_S: Final = 4.0  # uvicorn, and with it vLLM, closes idle connections after 5 s
_PATH: Final = "/chat/completions"
_OWN_HEADERS: Final = ("Authorization", "OpenAI-Organization", "OpenAI-Project")
_VERSION: Final = re.compile(r"/v\d")
_IN_CONTAINER: Final = (
    "; this is a container, where that host is the container itself: a server on the machine around it is "
    "host.docker.internal, and must listen to more than the machine's loopback"
)
_NEVER_STOOD: Final = frozenset({"ConnectError", "ClientConnectorError", "ConnectionTimeoutError", "gaierror"})


class Failed(Exception):  # noqa: N818 - what happened
    """A request brought no reply.

    Attributes:
        failure: why.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.line)
        self.failure = failure


class Client:
    """The `openai` client for one endpoint, without its own retries. To be made and used within one event loop.

    Requests are sent as bytes and replies read by `wire`: building and validating the library's own objects takes half
    of its time. Its aiohttp transport is used where that package is installed: with the other one, a request takes the
    longer the more connections there are.

    Args:
        url: base URL.
        key: None where none is needed.
        key_env: where the key is looked up, for what is said of it; None where none is sent.
        at_once: connections at most.
        connect_s: seconds for a connection to stand.
        follow_redirects: another origin to which the server may redirect, prompts and all; the key never goes there.
        aiohttp: whether to use that transport; unless given, if it is there.
    """

    def __init__(
        self,
        url: str,
        key: str | None,
        key_env: str | None,
        at_once: int,
        *,
        connect_s: float = CONNECT_S,
        follow_redirects: str | None = None,
        aiohttp: bool | None = None,
    ) -> None:
        import httpx2

        self._url = url
        self._key = key
        self._key_env = key_env
        self._connect_s = connect_s
        self._follow_redirects = follow_redirects
        self._response_type = httpx2.Response
        aiohttp = find_spec("aiohttp") is not None if aiohttp is None else aiohttp
        self._client = _open(url, key or NO_KEY, at_once, connect_s, aiohttp=aiohttp)
        self._broken = _transport_errors(aiohttp=aiohttp)

    async def post(self, body: bytes, model: str, seconds: float | None) -> Reply:
        """Make one request.

        Args:
            body: the request.
            model: the model's name, for what is said of it.
            seconds: time for all of it; None where the caller sees to that.

        Raises:
            Failed: there is no reply.
        """
        try:
            async with asyncio.timeout(seconds) if seconds is not None else contextlib.nullcontext():
                response = await self._response(body)
        except TimeoutError:
            line = f"{self._url}: no reply within {seconds:.3g} s"
            raise Failed(Failure("timeout", line, again=True, charged=True)) from None
        except Astray as error:
            line = f"{self._url}: {without_key(str(error), self._key)}"
            raise Failed(Failure("rejected", line, again=False)) from None
        except self._broken as error:
            raise Failed(self._lost(error)) from None
        if response.is_success:
            return self._read(response, model)
        said = _json_or_text(response.content)
        if (written := _rejected_text(said)) is not None:
            # the server checks the model's text by itself, and hands over what it does not like
            return Reply(written[0], finish=written[1]).mapped(self._cleaned)
        raise Failed(self._failure(response.status_code, response.headers, said, model))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _response(self, body: bytes) -> httpx2.Response:
        """Return what the server says, whatever its status, after redirects that may be followed.

        Raises:
            Astray: a redirect may not be followed, or there are too many.
        """
        url = f"{self._url}{_PATH}"
        for _ in range(MOST_REDIRECTS + 1):
            response = await self._one_response(body, url)
            target = target_of(response.status_code, response.headers, url, self._url, self._follow_redirects)
            if target is None:
                return response
            url = target
        raise Astray(f"{response.status_code}: more than {MOST_REDIRECTS} redirects in a row")

    async def _one_response(self, body: bytes, url: str) -> httpx2.Response:
        from openai import APIStatusError, Omit

        options: RequestOptions = {}
        if origin_of(url) != origin_of(self._url):
            # whoever allowed prompts to go there said nothing of the key
            options = {"headers": dict.fromkeys(_OWN_HEADERS, Omit())}
        try:
            return await self._client.post(url, content=body, cast_to=self._response_type, options=options)
        except APIStatusError as error:
            return error.response

    def _read(self, response: httpx2.Response, model: str) -> Reply:
        try:
            reply = read_reply(response.content)
        except NotAReply as error:
            line = f"{self._url}: {response.status_code}, but {error}"
            raise Failed(Failure("garbage", line, again=True, charged=True)) from None
        except ErrorInside as error:
            code = str(error.error.get("code")) if isinstance(error.error, Mapping) else ""
            status = int(code) if len(code) == 3 and code.isdecimal() and code >= "400" else 500
            raise Failed(self._failure(status, response.headers, {"error": error.error}, model)) from None
        reply = reply.mapped(self._cleaned)
        # only now: half of our key would not be found
        return replace(reply, served=None if reply.served is None else printable(reply.served, SERVED_KEPT) or None)

    def _cleaned(self, words: str) -> str:
        # a server that is not to be trusted may hand our headers back as the model's words; and a reply that was cut
        # off within a character may end in half of it, which no file or stream can hold
        return storable(without_key(words, self._key))

    def _said_of_key(self) -> str:
        if self._key is not None:
            return f"the key in {self._key_env} is"
        if self._key_env is None:
            return "no key was sent (key_env in an [endpoints] table names one), and that is"
        return f"no key is in {self._key_env}, and that is"

    def _failure(self, status: int, headers: Mapping[str, str], said: Any, model: str) -> Failure:
        message, code = message_of(said)
        words = redacted(message, self._key)
        trouble = trouble_of(status)
        spent = "insufficient_quota" in {code, *_codes(said)}
        if spent:
            what = f"{status}: the account's quota is used up"
        elif status in {401, 403}:
            what = f"{status}: {self._said_of_key()} not accepted"
        elif status == 404:
            what = f"404: there is no model {model!r}, or the URL is wrong"
        else:
            what = str(status)
        line = f"{self._url}: {what}" + (f": {words}" if words else "")
        if status == 404 and not _VERSION.search(urlsplit(self._url).path):
            line += f"; did you mean {self._url}/v1?"
        return Failure(
            trouble,
            line,
            again=trouble != "rejected" and not spent,
            wait=wait_wanted(headers),
            status=status,
            message=message,
            code=code,
        )

    def _lost(self, error: BaseException) -> Failure:
        chain = list(_causes(error))
        names = {kind.__name__ for each in chain for kind in type(each).__mro__}
        never_stood = bool(names & _NEVER_STOOD)
        if any(isinstance(each, socket.gaierror) for each in chain):
            what = "no host of that name is known"
        elif any(isinstance(each, ConnectionRefusedError) for each in chain):
            what = "connection refused" + (_IN_CONTAINER if is_here(self._url) and _in_container() else "")
        elif any(isinstance(each, ssl.SSLError) for each in chain):
            what = redacted(f"no secure connection: {chain[-1]}", self._key)
        elif never_stood or (names & {"ConnectTimeout"} and not names & {"ServerDisconnectedError", "ClientOSError"}):
            never_stood = True
            what = f"no connection within {self._connect_s:g} s" if "TimeoutError" in names else "no connection"
        else:
            what = "the connection broke before a reply came"
        return Failure("connection", f"{self._url}: {what}", again=True, charged=not never_stood)


def _in_container() -> bool:
    """Return whether this process runs in a container, by the variable that says so.

    Our image sets it, and so do some engines; a file like /.dockerenv stands also on machines that
    are containers themselves, with model servers of their own.
    """
    return bool(os.environ.get("container"))  # noqa: SIM112 - that is its name


def _open(url: str, key: str, at_once: int, connect_s: float, *, aiohttp: bool) -> AsyncOpenAI:
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient

    quiet_client_logs()
    kind = DefaultAioHttpClient if aiohttp else DefaultAsyncHttpxClient
    timeout = httpx2.Timeout(None, connect=connect_s)
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once, keepalive_expiry=_IDLE_S)
    # a redirect would take prompts wherever the server likes: `Client` follows them, where that is allowed
    transport = kind(timeout=timeout, limits=limits, follow_redirects=False)
    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0, timeout=timeout, http_client=transport)
    if url != OPENAI_URL:
        # they come from the environment, and are nobody else's business
        client.organization = client.project = None
    return client


def _transport_errors(*, aiohttp: bool) -> tuple[type[Exception], ...]:
    from openai import APIConnectionError

    errors: tuple[type[Exception], ...] = (APIConnectionError, OSError, EOFError, ValueError, RuntimeError)
    if not aiohttp:
        return errors
    # what the library's transport does not turn into errors of its own
    from aiohttp import ClientError

    return (*errors, ClientError)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(16):
        if seen is None:
            return
        yield seen
        if isinstance(seen, BaseExceptionGroup):
            yield from seen.exceptions
        seen = seen.__cause__ or seen.__context__


def _json_or_text(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content[:4096].decode("utf-8", "replace").strip()
        return "a page of HTML" if text.startswith("<") else text


def _codes(said: Any) -> set[str]:
    error = said.get("error", said) if isinstance(said, Mapping) else None
    return {str(error.get(name)) for name in ("code", "type")} if isinstance(error, Mapping) else set()


def _rejected_text(said: Any) -> tuple[str, str] | None:
    """Return the text that a server did not let through, and its code for that."""
    error = said.get("error") if isinstance(said, Mapping) else None
    text = error.get("failed_generation") if isinstance(error, Mapping) else None
    if not isinstance(error, Mapping) or not isinstance(text, str) or not text.strip():
        return None
    return text, str(error.get("code") or "failed_generation")[:64]
