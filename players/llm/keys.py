"""Keys of endpoints: where they are looked up, and how they are kept out of everything that is written."""

from __future__ import annotations

import io
import logging
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from players.llm.settings import Endpoint, checked_url, is_variable
from wolfbus.errors import ConfigError, PlayerError, reason_of
from wolfbus.files.environment import plain_value
from wolfbus.files.printable import printable
from wolfbus.files.whole_file import read_text_whole

OPENAI_URL: Final = "https://api.openai.com/v1"
OPENAI_KEY: Final = "OPENAI_API_KEY"
_ERROR_SHOWN: Final = 300
"""Characters that are kept of a server's message."""

_LONGEST: Final = 1 << 20
"""Bytes of a file of keys."""
_LEAST: Final = 4
_LEAST_ADDED: Final = 8
"""Characters from which on what goes along beside the key counts as secret: "true" in a header is none."""

_COMMAND_S: Final = 30.0
"""Seconds that a command may take to print a key."""
_HIDDEN: Final = "[key]"
_LIKE_A_KEY: Final = re.compile(
    r"(?i:\bbearer\s+)[^\s\"',;]+"
    # prefixes that providers give their keys, masked or not
    r"|\b(?:sk|pk|rk|gsk|csk|xai|hf|nvapi|fw|tgp|sess|pplx|key|api[-_]?key)[-_][\w*.…-]{4,}"
    r"|\bAIza[\w*.…-]{4,}|\beyJ[\w-]{8,}[\w.-]*"
    # what somebody masked with stars
    r"|[\w-]*\*{3,}[\w*-]*"
    # UUIDs, and long words that nobody speaks
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{32,}\b"
)
_HIDDEN_TWICE: Final = re.compile(r"\[key\](?:[-_*.…]*\[key\])+")
_WORD: Final = re.compile(r"[\w-]{6,}")


class Keys:
    """Looks keys and addresses up in the environment, then in ``.env`` of the current folder.

    What ``.env`` holds never gets into `os.environ`: child processes have no business with it.

    Args:
        environment: read instead of `os.environ`.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment: Mapping[str, str] = os.environ if environment is None else environment
        self._file: Mapping[str, str | None] | None = None
        self._read: dict[str, str] = {}

    def url(self, endpoint: Endpoint) -> str:
        """Return an endpoint's base URL.

        Raises:
            PlayerError: OPENAI_BASE_URL is no URL, or ``.env`` cannot be read.
        """
        if endpoint.url is not None:
            return endpoint.url
        url = self._find("OPENAI_BASE_URL")
        try:
            return checked_url(url) if url else OPENAI_URL
        except ValueError as error:
            raise PlayerError(f"OPENAI_BASE_URL: {error}") from None

    def key(self, endpoint: Endpoint, *, anew: bool = False) -> str | None:
        """Return an endpoint's key; None where there is none and the server may need none.

        Args:
            endpoint: its settings.
            anew: whether to run its key_command, or to read its key_file, again; else that is done once.

        Raises:
            PlayerError: OpenAI's own server, or one elsewhere for which the settings name a variable, needs a key and
                there is none; or it cannot be one, or it or ``.env`` cannot be read.
        """
        name, source = self.name(endpoint), endpoint.key_command or endpoint.key_file
        if name is None or source is None:
            key = (self._find(name) or "") if name is not None else ""
        elif anew or source not in self._read:
            key = self._read[source] = _printed_by(source) if endpoint.key_command else _content_of(source)
        else:
            key = self._read[source]
        key = key.strip()
        if not key:
            url = self.url(endpoint)
            if source is not None:
                raise PlayerError(f"no key for {url}: {name} is empty")
            if is_openai(url) or (endpoint.key_env is not None and not is_local(url)):
                raise PlayerError(f"no key for {url}: set the environment variable {name}, or put it into .env here")
            return None
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise PlayerError(f"{name} holds no key: it has blanks or characters that no key has")
        return key

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """Return the further headers of an endpoint's requests; raises PlayerError where a value is missing or none."""
        # the one that the key's header, which it stands for, is known by
        names = {name: "Authorization" if name.lower() == "authorization" else name for name in endpoint.headers}
        return {names[name]: self._value(variable, endpoint) for name, variable in endpoint.headers.items()}

    def query(self, endpoint: Endpoint) -> dict[str, str]:
        """Return what stands in the query of requests to an endpoint; raises PlayerError likewise."""
        return {
            name: self._value(value, endpoint) if is_variable(value) else value
            for name, value in endpoint.query.items()
        }

    def secrets(self, endpoint: Endpoint) -> tuple[str, ...]:
        """Return what must not be shown beside the key, in the forms that a server may show; raises likewise."""
        values = [self._value(variable, endpoint) for variable in endpoint.variables]
        forms = {form for value in values for form in (value, quote(value), quote(value, safe=""), *value.split())}
        return tuple(form for form in forms if len(form) >= _LEAST_ADDED)

    def _value(self, variable: str, endpoint: Endpoint) -> str:
        value = (self._find(variable) or "").strip()
        if not value:
            url = self.url(endpoint)
            raise PlayerError(f"{url}: set the environment variable {variable}, or put it into .env here")
        if not (value.isascii() and value.isprintable()):
            raise PlayerError(f"{variable}: it has characters that no header and no query has")
        return value

    def name(self, endpoint: Endpoint) -> str | None:
        """Return what holds an endpoint's key, a variable, a file or a command's output; None if it gets none.

        A key goes to nobody whom it was not meant for: a server elsewhere gets one only if the settings name it.
        """
        if endpoint.key_command is not None:
            return "the output of key_command"
        if (name := endpoint.key_env or endpoint.key_file) is not None:
            return name
        url = self.url(endpoint)
        meant = endpoint.url is None or is_openai(url) or is_local(url)
        return OPENAI_KEY if meant else None

    def _find(self, name: str) -> str | None:
        if value := plain_value(self._environment.get(name)):
            return value
        if self._file is None:
            self._file = _dotenv()
        return self._file.get(name)


def is_openai(url: str) -> bool:
    """Return whether a URL is of OpenAI's own servers."""
    host = urlsplit(url).hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")


def is_local(url: str) -> bool:
    """Return whether a URL is of this machine, by its loopback."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        # a name may begin like an address: 127.0.0.1.example.org
        return host == "localhost"


def _dotenv() -> Mapping[str, str | None]:
    path = Path.cwd() / ".env"
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return dotenv_values(stream=io.StringIO(read_text_whole(path, _LONGEST)))
    except ConfigError as error:
        raise PlayerError(str(error)) from None


def _content_of(path: str) -> str:
    try:
        return read_text_whole(Path(path).expanduser(), _LONGEST)
    except (ConfigError, RuntimeError) as error:
        raise PlayerError(f"key_file: {error}") from None


def _printed_by(command: str) -> str:
    try:
        ran = subprocess.run(  # noqa: S603 - whoever made the config names the command
            shlex.split(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMMAND_S, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        if isinstance(error, subprocess.TimeoutExpired):
            why = f"no key within {_COMMAND_S:g} s"
        else:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
    else:
        if ran.returncode == 0:
            return ran.stdout.decode("utf-8", "replace")
        why = f"exit status {ran.returncode}: {redacted(ran.stderr.decode('utf-8', 'replace'))}"
    raise PlayerError(f"key_command {shlex.join(command.split()[:1])}: {why}")


def redacted(text: str, *secrets: str | None) -> str:
    """Return a server's message on one line, cut, with whatever is a key, a part of ours, or looks like one taken out.

    Args:
        text: what the server said; servers quote keys, in parts or masked.
        secrets: our key and what else is secret of a request; None for none.
    """
    text = without_key(text[: 8 * _ERROR_SHOWN + 64], *secrets)
    whole = " ".join(filter(None, secrets))
    text = _WORD.sub(lambda match: _HIDDEN if match[0] in whole else match[0], text)
    # a key that was masked in its middle is found in parts
    return printable(_HIDDEN_TWICE.sub(_HIDDEN, _LIKE_A_KEY.sub(_HIDDEN, text)), _ERROR_SHOWN)


def without_key(text: str, *secrets: str | None) -> str:
    """Return a model's text with our key and other secrets taken out, should a server have put them there."""
    # one that holds another goes first
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        if len(secret) >= _LEAST:
            text = text.replace(secret, _HIDDEN)
    return text


def quiet_client_logs() -> None:
    """Keep the client library's loggers from writing requests and headers, whatever level the process logs at."""
    for name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore", "aiohttp.client", "aiohttp.internal"):
        logging.getLogger(name).setLevel(logging.WARNING)
