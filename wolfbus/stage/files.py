"""What is written into files: a game for one viewer or all, a study with its games; a page with its scripts, style and
data as one HTML file that asks nobody for anything (`one_file`).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from graphlib import TopologicalSorter
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.files.printable import error_in_words
from wolfbus.record.line import Recorded
from wolfbus.stage.beats import as_json
from wolfbus.stage.document import FORMAT, GameFeed, all_viewers, proof, seats_of
from wolfbus.stage.inspector import exchanges
from wolfbus.stage.logs import ShownLog
from wolfbus.stage.viewers import EVERYTHING, Viewer, viewer_named
from wolfbus.stage.watched import encoded


def game_file(
    records: Sequence[Recorded],
    word: str = "",
    problem: str | None = None,
    *,
    prompts: bool = False,
    spoiler_free: bool = False,
    log: ShownLog | None = None,
) -> dict[str, Any]:
    """Return what a file of one game holds.

    One beat of all viewers stands together, so that compression finds what they share.

    Args:
        records: the lines that are whole.
        word: whose view the file holds: ``public`` or a seat's name; "" for everything, and then all others as well.
        problem: what is wrong with the line after them.
        prompts: whether the prompts of all model calls go with it.
        spoiler_free: whether it opens without what comes, roles, judgements and suspicion; they are shown at the end.
        log: the log of another table that they are of; None of a record.

    Raises:
        ConfigError: there is no such viewer, or prompts are asked for one who may not see them.
        RecordError: prompts are not what the record says.
    """
    names = seats_of(records)
    viewer = viewer_named(word or EVERYTHING, names)
    if prompts and viewer != EVERYTHING:
        raise ConfigError("--prompts: they hold what other seats know; give no --as")
    viewers = all_viewers(names) if viewer == EVERYTHING else (viewer,)
    feeds = [GameFeed(viewer, records) for viewer in viewers]
    data: dict[str, Any] = {
        "format": FORMAT,
        "kind": "game",
        "heads": [_head(feed, viewers, records, problem, log) for feed in feeds],
        "beats": [
            [as_json(beat) if beat is not None else None for beat in beats]
            for beats in zip_longest(*(feed.beats for feed in feeds))
        ],
    }
    data |= {"hide": True} if spoiler_free else {}
    return {**data, "prompts": _prompts(records)} if prompts else data


def _head(
    feed: GameFeed,
    viewers: Sequence[Viewer],
    records: Sequence[Recorded],
    problem: str | None,
    log: ShownLog | None,
) -> dict[str, Any]:
    head = {**feed.head(), "viewers": list(viewers), "problems": [problem] if problem is not None else []}
    if log is not None:
        head["game"] = log.game(head["game"])
    elif feed.viewer == EVERYTHING and records:
        head["proof"] = proof(records, problem)
    return head


def _prompts(records: Sequence[Recorded]) -> dict[str, Any]:
    """Return all model calls, each text of their prompts once."""
    texts: dict[tuple[str, str], int] = {}
    calls: dict[str, Any] = {}
    for line, call in exchanges(records).items():
        call["segments"] = [
            {
                "i": texts.setdefault((piece["role"], piece["text"]), len(texts)),
                "share": piece["share"],
                "new": piece["new"],
            }
            for piece in call["segments"]
        ]
        calls[str(line)] = call
    return {"segments": [{"role": role, "text": text} for role, text in texts], "calls": calls}


STATIC: Final = Path(__file__).with_name("static")
"""The page's own files."""
PAGE: Final = "page.html"
PARTS: Final = {
    "game": ("gamefile.js", ("palette.css", "page.css")),
    "prompts": ("promptsfile.js", ("palette.css", "page.css")),
    "study": ("studyfile.js", ("palette.css", "page.css", "sheets.css")),
}
"""What a file of each kind, and one of a game with its prompts, needs of the page's scripts and styles."""

_IMPORT: Final = re.compile(r'^import (?:\{(?:(?! as )[^{}])*\} from )?"\./([a-z0-9_-]+\.js)";?$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async function|function|class|const)\b)", re.MULTILINE)
_INDENT: Final = re.compile(r"^[ \t]*(?://.*)?\n?", re.MULTILINE)
_CSS_SPACE: Final = re.compile(r"/\*.*?\*/|(?<=[{};,])\s+|\s+(?=[{}])|;(?=\s*})|(?<=:)\s+", re.DOTALL)
_VIOLATION: Final = re.compile(r"^(?:import|export)\b.*$|</script|<!--", re.MULTILINE | re.IGNORECASE)
_LINKS: Final = "".join(f'<link rel="stylesheet" href="/static/{name}">\n' for name in PARTS["study"][1])
_SCRIPT: Final = '<script type="module" src="/static/page.js"></script>'
_TITLE: Final = "<title>wolfbus</title>"


def one_file(data: Any, title: str) -> str:
    """Return a page that holds its data.

    Its policy names script and style by their hashes and allows no connection, so that not even a hole could tell
    anybody of it.

    Args:
        data: plain values with their `kind`; see "A file" in docs/stage-data.md.
        title: the page's title.

    Raises:
        ConfigError: the page's own files are not what they have to be.
    """
    page = (STATIC / PAGE).read_text("utf-8")
    entry, styles = PARTS["prompts" if "prompts" in data else data["kind"]]
    script = bundled(entry)
    style = _CSS_SPACE.sub("", "".join((STATIC / name).read_text("utf-8") for name in styles))
    packed = base64.b64encode(gzip.compress(encoded(data), 9, mtime=0)).decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    data_element = f'<script type="application/gzip+base64" id="wolfbus-data">{packed}</script>'
    for mark, text in (
        (_TITLE, f"{meta}\n<title>{html.escape(title)}</title>"),
        (_LINKS, f"<style>{style}</style>"),
        (_SCRIPT, f'{data_element}\n<script type="module">{script}</script>'),
    ):
        if page.count(mark) != 1:
            raise ConfigError(f"{PAGE} must hold this once: {mark}")
        page = page.replace(mark, text)
    return page


_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PICTURE_SIZE: Final = "1200,630"
_PICTURE_S: Final = 60.0


def photographed(page: str) -> bytes:
    """Return the picture that a game's page draws of it, as PNG; a browser on this machine does it.

    Args:
        page: what `one_file` returned for a game that is over.

    Raises:
        ConfigError: there is no such browser, or it makes none.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise ConfigError(
            "--picture needs Chromium or Chrome on this machine; or open the page, and save the picture under Share"
        )
    # a browser's helpers may outlive it for a moment, and write into what is taken away
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file, picture = Path(folder, "game.html"), Path(folder, "game.png")
        file.write_text(page, "utf-8")
        # root, as in a container, has no sandbox to be put into; the page is ours, and can connect to nothing
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        words = ["--headless", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=10000", *sandbox]
        words += [f"--user-data-dir={folder}/profile", f"--window-size={_PICTURE_SIZE}", f"--screenshot={picture}"]
        try:
            subprocess.run(  # noqa: S603 - found on the path of who asks
                [browser, *words, f"{file.as_uri()}#picture"], capture_output=True, timeout=_PICTURE_S, check=True
            )
            return picture.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise ConfigError(f"--picture: {browser} made none: {error_in_words(error)}") from None


def bundled(entry: str) -> str:
    """Return a module of the page and those that it imports as one script, each behind those that it needs, without
    indentation.

    Args:
        entry: the module's file name.

    Raises:
        ConfigError: a module imports or exports in a form that cannot be put into one file, or a script would end the
            element that holds it; see "Rules for the page's files" in docs/stage-data.md.
    """
    texts: dict[str, str] = {}
    order = TopologicalSorter[str]()
    names = [entry]
    while names:
        name = names.pop()
        if name not in texts:
            texts[name] = (STATIC / name).read_text("utf-8")
            imported = _IMPORT.findall(texts[name])
            names += imported
            order.add(name, *imported)
    script = "\n".join(_INDENT.sub("", _EXPORT.sub("", _IMPORT.sub("", texts[name]))) for name in order.static_order())
    if violation := _VIOLATION.search(script):
        raise ConfigError(f"the page's scripts cannot be put into one file: {violation[0][:80]}")
    return script


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
