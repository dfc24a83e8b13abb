"""OpenAI-compatible servers: one request over HTTP with the `openai` package, and what came of it in our own words."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from players.llm.decisions import decide
from players.llm.keys import OPENAI_URL, Keys, is_local, is_openai, quiet_client_logs, redacted, without_key
from players.llm.provider import Failed, Failure, ProviderReply, Request, Shape
from players.llm.providers.wire import (
    NotAReply,
    body_in,
    body_of,
    lack_of,
    message_of,
    read_reply,
    retry_after,
    room_in,
    usage_of,
)
from players.llm.settings import Endpoint, origin_of
from wolfbus.errors import PlayerError, reason_of
from wolfbus.files.printable import printable, storable

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, RequestOptions

logger = logging.getLogger(__name__)

MOST_REDIRECTS: Final = 5
"""Redirects in a row that one request follows."""

_KEEP_POST: Final = frozenset({301, 302, 307, 308})
"""Statuses after which the same request may be sent elsewhere; 303 asks for another one."""
_SHOWN: Final = 200
_READ: Final = 4_000
"""Characters of an error that are looked at."""

LONGEST: Final = 1 << 25
"""Bytes of a response, unpacked, beyond which it is no reply: more than any model says, also as a stream."""

CONNECT_S: Final = 10.0
"""Seconds for a connection to stand."""

SERVED_KEPT: Final = 200
"""Characters that are kept of what a server says of its model."""

_IDLE_S: Final = 4.0  # uvicorn, and with it vLLM, closes idle connections after 5 s
_PATH: Final = "/chat/completions"
_OWN_HEADERS: Final = ("Authorization", "OpenAI-Organization", "OpenAI-Project")
_VERSION: Final = re.compile(r"/v\d")
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_AUTHORITIES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_IN_CONTAINER: Final = (
    "; this is a container, where that host is the container itself: a server on the machine around it is "
    "host.docker.internal, and must listen to more than the machine's loopback"
)
_LOOPBACK: Final = ("all://localhost", "all://127.0.0.0/8", "all://[::1]")
"""What no proxy of the environment is asked for: it would be given prompts and keys, and finds itself there."""

_NEVER_CONNECTED: Final = frozenset({"ConnectError", "ClientConnectorError", "ConnectionTimeoutError", "gaierror"})

_BROKEN: Final = frozenset({"ClientPayloadError", "HttpProcessingError", "DecodingError"})
"""What is raised once a reply has begun, beside errors of h11, by which one of the transports reads; it was paid."""


class _TooLong(ValueError):  # noqa: N818 - what it is
    """A response is longer than any reply."""


class RedirectRefused(Exception):  # noqa: N818 - what happened
    """A redirect is not followed; the text says where it leads and why not, without any secret."""


def target_of(status: int, headers: Mapping[str, str], url: str, base_url: str, allowed: str | None) -> str | None:
    """Return the URL to which a response sends its request, None if it is no redirect.

    Args:
        status: of the response.
        headers: of the response.
        url: the URL that gave it.
        base_url: the endpoint's own; its origin may be redirected to at any time.
        allowed: another origin to which the endpoint may redirect; None for no other.

    Raises:
        RedirectRefused: it is a redirect that is not followed, to another origin or to nowhere.
    """
    location = headers.get("location")
    if not 300 <= status < 400 or location is None:
        return None
    try:
        target = urljoin(url, location)
    except ValueError:
        target = ""
    origin, own_origin = origin_of(target), origin_of(base_url)
    if origin is None:
        raise RedirectRefused(f"{status}: a redirect to what is no address of a server")
    if origin not in {own_origin, allowed}:
        origin = printable(origin, _SHOWN)
        raise RedirectRefused(
            f"{status}: {own_origin} redirects to another origin, {origin}, and nothing was sent there; "
            f'to let prompts go there, write follow_redirects = "{origin}" into the [endpoints] table'
        )
    if status not in _KEEP_POST:
        raise RedirectRefused(f"{status}: a redirect that a request with a prompt cannot follow")
    return target


class OpenAIProvider:
    """The `openai` client for one endpoint, without its own retries.

    Requests are sent as bytes and replies read by `wire`: building and validating the library's own objects takes half
    of its time. Its aiohttp transport is used where that package is installed: with the other one, a request takes the
    longer the more connections there are.

    Args:
        endpoint: its address, its connections at most, and another origin to which it may redirect.
        keys: where its address and key are looked up.

    Attributes:
        url: base URL.

    Raises:
        PlayerError: there is no key, or no URL.
    """

    def __init__(self, endpoint: Endpoint, keys: Keys) -> None:
        self.url = keys.url(endpoint)
        self._endpoint = endpoint
        self._keys = keys
        self._key = keys.key(endpoint)
        self._key_env = keys.name(endpoint)
        self._renewing = asyncio.Lock()
        self._headers = keys.headers(endpoint)
        self._proxy = _proxy_of(self.url)
        self._query = f"?{urlencode(query)}" if (query := keys.query(endpoint)) else ""
        self._secrets: tuple[str | None, ...] = (*keys.secrets(endpoint), self._key)
        self._aiohttp = find_spec("aiohttp") is not None
        self._opened: AsyncOpenAI | None = None

    def shape(self, _model: str) -> Shape:
        """Return what to try first: OpenAI's newer models take no max_tokens, and many other servers nothing else."""
        return Shape(tokens="max_completion_tokens" if is_openai(self.url) else "max_tokens")

    async def ask(self, request: Request, seconds: float | None) -> ProviderReply:
        """Make one request; see `Provider.ask`."""
        try:
            return await self._reply_to(request, seconds)
        except Failed as failed:
            if self._proxy is None:
                raise
            line = f"{failed.failure.line} (through the proxy {self._proxy})"
            raise Failed(replace(failed.failure, line=line)) from None

    async def _reply_to(self, request: Request, seconds: float | None) -> ProviderReply:
        body, bound, key = body_of(request), asyncio.timeout(seconds), self._key
        try:
            async with bound:
                response = await self._response(body)
                if response.status_code == 401 and await self._has_new_key(key):
                    response = await self._response(body)
        except RedirectRefused as error:
            line = f"{self.url}: {without_key(str(error), *self._secrets)}"
            raise Failed(Failure("rejected", line, again=False)) from None
        except _transport_errors(aiohttp=self._aiohttp) as error:
            if bound.expired():
                line = f"{self.url}: no reply within {seconds:.3g} s"
                raise Failed(Failure("timeout", line, again=True, charged=True)) from None
            raise Failed(self._connection_failure(error)) from None
        came = body_in(response.content)
        try:
            return self._understood(response, came, request)
        except RecursionError:
            why = f"{response.status_code}, but the reply is nested too deep to be read"
            raise Failed(self._garbage(why)) from None
        except Failed as failed:
            usage = usage_of(came)
            raise Failed(replace(failed.failure, counted=ProviderReply(None, **usage) if usage else None)) from None

    def _understood(self, response: httpx2.Response, came: Any, request: Request) -> ProviderReply:
        """Return what the body that came in a response says; raises Failed where that is no reply."""
        if response.is_success:
            return self._read(response, came, request)
        if (generated := _rejected_text(came)) is not None:
            # the server checks the model's text by itself, and returns what it rejects
            return ProviderReply(generated[0], finish=generated[1], **usage_of(came)).mapped(self._cleaned)
        raise Failed(self._failure(response.status_code, response.headers, came, request))

    async def close(self) -> None:
        """Close all connections."""
        if self._opened is not None:
            await self._opened.close()

    @property
    def _client(self) -> AsyncOpenAI:
        if self._opened is None:
            self._opened = _open(self.url, self._endpoint.at_once, aiohttp=self._aiohttp)
        return self._opened

    async def _response(self, body: bytes) -> httpx2.Response:
        """Return what the server says, whatever its status, after redirects that may be followed.

        Raises:
            RedirectRefused: a redirect may not be followed, or there are too many.
        """
        url = f"{self.url}{_PATH}{self._query}"
        for _ in range(MOST_REDIRECTS + 1):
            response = await self._one_response(body, url)
            target = target_of(response.status_code, response.headers, url, self.url, self._endpoint.follow_redirects)
            if target is None:
                return response
            url = target
        raise RedirectRefused(f"{response.status_code}: more than {MOST_REDIRECTS} redirects in a row")

    async def _one_response(self, body: bytes, url: str) -> httpx2.Response:
        import httpx2
        from openai import APIStatusError, Omit

        headers: dict[str, str | Omit] = {}
        if origin_of(url) != origin_of(self.url):
            # whoever allowed prompts to go there said nothing of the key
            headers = dict.fromkeys(_OWN_HEADERS, Omit())
        else:
            headers["Authorization"] = Omit() if self._key is None else f"Bearer {self._key}"
            headers |= self._headers
        options: RequestOptions = {"headers": headers}
        try:
            return await self._client.post(url, content=body, cast_to=httpx2.Response, options=options)
        except APIStatusError as error:
            return error.response

    async def _has_new_key(self, sent: str | None) -> bool:
        """Read the key again, unless another call has since this one was sent; returns whether it is another."""
        if self._endpoint.key_command is None and self._endpoint.key_file is None:
            return False
        async with self._renewing:
            if self._key == sent:
                try:
                    self._key = await asyncio.to_thread(self._keys.key, self._endpoint, anew=True)
                except PlayerError as error:
                    logger.warning("%s: 401, and the key cannot be read again: %s", self.url, error)
                self._secrets = (*dict.fromkeys((*self._secrets, self._key)),)
        return self._key != sent

    def _read(self, response: httpx2.Response, came: Any, request: Request) -> ProviderReply:
        try:
            reply = read_reply(came)
        except NotAReply as nothing:
            error = nothing.error
            if error is None:
                raise Failed(self._garbage(f"{response.status_code}, but {nothing}")) from None
            code = str(error.get("code")) if isinstance(error, Mapping) else ""
            named = len(code) == 3 and code.isdecimal() and code >= "400"
            failure = self._failure(int(code) if named else 500, response.headers, {"error": error}, request)
            if failure.trouble in {"server", "loading"} and (nothing.chosen or not named):
                # the server works: it is the model behind it that does not, and may be paid
                failure = replace(failure, trouble="garbage", charged=True)
            raise Failed(failure) from None
        reply = reply.mapped(self._cleaned)
        # only now: half of our key would not be found
        return replace(reply, served=None if reply.served is None else printable(reply.served, SERVED_KEPT) or None)

    def _cleaned(self, words: str) -> str:
        # a server that is not to be trusted may hand our headers back as the model's words; and a reply that was cut
        # off within a character may end in half of it, which no file or stream can hold
        return storable(without_key(words, *self._secrets))

    def _key_in_words(self) -> str:
        if self._key is not None:
            return f"the key in {self._key_env} is"
        if self._key_env is None:
            return "no key was sent (key_env in an [endpoints] table names one), and that is"
        return f"no key is in {self._key_env}, and that is"

    def _failure(self, status: int, headers: Mapping[str, str], rejection: Any, request: Request) -> Failure:
        message, codes = message_of(rejection)
        wait = retry_after(headers, rejection, message)
        failure = decide(status, " ".join((*codes, message))[:_READ], wait)
        words = redacted(message, *self._secrets)
        cause = failure.line.format(key=self._key_in_words(), model=repr(request.model.model))
        line = f"{self.url}: {status}" + "".join(f": {part}" for part in (cause, words) if part)
        if status == 404 and not _VERSION.search(urlsplit(self.url).path):
            line += f"; did you mean {self.url}/v1?"
        lacks = lack_of(request, status, message) if failure.shaped else None
        room = room_in(message) if failure.lacks == "room" else None
        return replace(failure, line=line, wait=wait, lacks=lacks or failure.lacks, room=room)

    def _garbage(self, why: str) -> Failure:
        """Return what has become of a call whose answer, which may be paid, is no reply."""
        return Failure("garbage", f"{self.url}: {why}", again=True, charged=True, fault="error")

    def _connection_failure(self, error: BaseException) -> Failure:
        causes = list(_causes(error))
        names = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
        never_connected = bool(names & _NEVER_CONNECTED)
        if any(isinstance(cause, socket.gaierror) for cause in causes):
            text = "no host of that name is known"
        elif any(isinstance(cause, ConnectionRefusedError) for cause in causes):
            text = "connection refused" + (_IN_CONTAINER if is_local(self.url) and _in_container() else "")
        elif any(isinstance(cause, ssl.SSLError) for cause in causes):
            text = redacted(f"no secure connection: {causes[-1]}", *self._secrets)
            if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
                text += f"; {authorities()}"
        elif never_connected or (
            names & {"ConnectTimeout"} and not names & {"ServerDisconnectedError", "ClientOSError"}
        ):
            never_connected = True
            text = f"no connection within {CONNECT_S:g} s" if "TimeoutError" in names else "no connection"
        elif any(isinstance(cause, _TooLong) for cause in causes):
            return self._garbage(f"the reply is longer than {LONGEST >> 20} MiB")
        elif names & _BROKEN or type(causes[-1]).__module__.startswith("h11."):
            return self._garbage("the reply broke off in its middle, or is no HTTP")
        else:
            text = "the connection broke before a reply came"
        return Failure("connection", f"{self.url}: {text}", again=True, charged=not never_connected)


def _proxy_of(url: str) -> str | None:
    """Return the proxy that the environment has for a URL, without what it may hold of a password; None for none."""
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or is_local(url) or proxy_bypass(parts.netloc):
        return None
    return printable(proxy.rpartition("@")[2].removeprefix("http://"), _SHOWN)


def trusted_context(url: str) -> ssl.SSLContext:
    """Return what trusts the authorities that the environment names, else those of the packages; raises PlayerError,
    which names the URL, where they cannot be read.
    """
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise PlayerError(f"{url}: {authorities()}, which cannot be read: {reason_of(error)}") from None


def authorities() -> str:
    """Return how to say whose certificates are trusted."""
    named = [f"{name} = {value}" for name in _AUTHORITIES if (value := os.environ.get(name))]
    if named:
        return f"trusted are the authorities of {printable(named[0], _SHOWN)}"
    return "SSL_CERT_FILE names a file of authorities to trust, SSL_CERT_DIR a folder of them"


def _in_container() -> bool:
    """Return whether this process runs in a container, by the variable that says so.

    Our image sets it, and so do some engines; a file like /.dockerenv stands also on machines that
    are containers themselves, with model servers of their own.
    """
    return bool(os.environ.get("container"))  # noqa: SIM112 - that is its name


def _open(url: str, at_once: int, *, aiohttp: bool) -> AsyncOpenAI:
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient

    quiet_client_logs()
    kind: Any = DefaultAioHttpClient if aiohttp else DefaultAsyncHttpxClient

    class Bounded(kind):  # type: ignore[misc]
        """Reads no more of a response than a reply can be."""

        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            response = await super().send(request, **{**options, "stream": True})
            read = bytearray()
            try:
                async for piece in response.aiter_bytes():
                    read += piece
                    if len(read) > LONGEST:
                        raise _TooLong
            finally:
                await response.aclose()
            # it is unpacked
            headers = [pair for pair in response.headers.multi_items() if pair[0] != "content-encoding"]
            return httpx2.Response(response.status_code, headers=headers, content=bytes(read), request=request)

    timeout = httpx2.Timeout(None, connect=CONNECT_S)
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once, keepalive_expiry=_IDLE_S)
    # a redirect would take prompts wherever the server likes: `_response` follows them, where that is allowed
    # of the environment's proxies, a server on this machine needs none to be usable
    try:
        transport = Bounded(
            timeout=timeout,
            limits=limits,
            follow_redirects=False,
            verify=trusted_context(url),
            trust_env=not is_local(url),
            mounts=dict.fromkeys(_LOOPBACK),
        )
    except httpx2.InvalidURL:
        # what is wrong with it may be of its password
        names = " or ".join(name for name in os.environ if name.upper() in _PROXIES)
        raise PlayerError(
            f"{url}: {names} is no address of a proxy (in a user or password, / ? # @ : % are written "
            "%2F %3F %23 %40 %3A %25)"
        ) from None
    # the library insists on a key; each request has its own, or none
    client = AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=timeout, http_client=transport)
    if url != OPENAI_URL:
        # they come from the environment, and are nobody else's business
        client.organization = client.project = None
    return client


def open_provider(endpoint: Endpoint, keys: Keys) -> OpenAIProvider:
    """Return the provider of an endpoint; see `players.llm.provider`."""
    provider = OpenAIProvider(endpoint, keys)
    # models are looked at before their games: imported with the first request, the library would take up to two seconds
    # of what a seat has for its answer
    import_module("openai")
    return provider


@cache
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


def _rejected_text(rejection: Any) -> tuple[str, str] | None:
    """Return the text that a server did not let through, and its code for that."""
    error = rejection.get("error") if isinstance(rejection, Mapping) else None
    text = error.get("failed_generation") if isinstance(error, Mapping) else None
    if not isinstance(error, Mapping) or not isinstance(text, str) or not text.strip():
        return None
    return text, str(error.get("code") or "failed_generation")[:64]
