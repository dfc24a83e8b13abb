"""Runs `wolfbus` in this process, and catches what it prints."""

import contextlib
import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest import mock

from wolfbus import __version__, cli

WIDTH: Final = "100"
_VERSION: Final = re.escape(__version__)


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and the code it ended with."""

    code: int
    out: str
    err: str


@contextlib.contextmanager
def _steady(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Stand in a folder, before a terminal of known width, with nothing else set that would change a command."""
    before = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("WOLFBUS_", "OPENAI_", "REDIS_", "FORCE_COLOR", "NO_COLOR")):
            del os.environ[name]
    os.environ |= {"COLUMNS": WIDTH, **environment}
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def wolfbus(folder: Path, *words: str, stdin: bytes = b"", **environment: str) -> Said:
    """Run one command where `folder` is the working folder, with nobody at the keyboard."""
    out, err = io.StringIO(), io.StringIO()
    with (
        _steady(folder, environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin))), warnings.catch_warnings(),
    ):  # fmt: skip
        warnings.simplefilter("ignore")
        code = cli.run(list(words))
    return Said(code, out.getvalue(), err.getvalue())


def shown(folder: Path, *words: str) -> str:
    """Run one command and return it with what it printed, as a person would paste it."""
    said = wolfbus(folder, *words)
    parts = [f"$ wolfbus {' '.join(words)}\n", said.out]
    if said.err:
        parts.append("--- stderr\n" + said.err)
    if said.code:
        parts.append(f"--- exit {said.code}\n")
    return plain("".join(part if part.endswith("\n") or not part else part + "\n" for part in parts))


def plain(text: str) -> str:
    """Return text without what differs between runs and machines: the version, addresses, durations."""
    text = re.sub(rf"\bwolfbus(, version)? {_VERSION}\b", r"wolfbus\1 VERSION", text)
    text = re.sub(rf'((?:"wolfbus"|"version"|version): ?"|  version = \{{){_VERSION}', r"\1VERSION", text)
    # times stand in the records that it is over
    text = re.sub(r"\b(Hash +)[0-9a-f]{64}\b", r"\1HASH", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", text)
    return re.sub(r"\b(\d+\.\d+ s|\d+ ms)\b", "N s", text)
