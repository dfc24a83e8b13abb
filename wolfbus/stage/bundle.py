"""`one_file`: a page, its scripts, its style and its data as one HTML file that asks nobody for anything."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import re
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.stage.watched import encoded

STATIC: Final = Path(__file__).with_name("static")
PAGE: Final = "page.html"
ENTRY: Final = "page.js"
PARTS: Final = {"game": ("gamefile.js", ("page.css",)), "study": ("studyfile.js", ("page.css", "sheets.css"))}
"""What a file of each kind needs of the page's scripts and styles."""

_IMPORT: Final = re.compile(r'^import (?:\{[^{}]*\} from )?"\./([a-z0-9_-]+\.js)";?$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async function|function|class|const)\b)", re.MULTILINE)
_INDENT: Final = re.compile(r"^[ \t]*(?://.*)?\n?", re.MULTILINE)
_LEFT: Final = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_LINKS: Final = "".join(f'<link rel="stylesheet" href="/static/{name}">\n' for name in PARTS["study"][1])
_SCRIPT: Final = f'<script type="module" src="/static/{ENTRY}"></script>'
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
    entry, styles = PARTS[data["kind"]]
    script = bundled(STATIC, entry)
    style = "".join((STATIC / name).read_text("utf-8") for name in styles)
    packed = base64.b64encode(gzip.compress(encoded(data), 9, mtime=0)).decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    held = f'<script type="application/gzip+base64" id="wolfbus-data">{packed}</script>'
    for mark, text in (
        (_TITLE, f"{meta}\n<title>{html.escape(title)}</title>"),
        (_LINKS, f"<style>{style}</style>"),
        (_SCRIPT, f'{held}\n<script type="module">{script}</script>'),
    ):
        if page.count(mark) != 1:
            raise ConfigError(f"{PAGE} must hold this once: {mark}")
        page = page.replace(mark, text)
    return page


def bundled(folder: Path, entry: str = ENTRY) -> str:
    """Return a module and those that it imports as one script, each behind those that it needs, without indentation.

    Args:
        folder: where they are.
        entry: the module's file name.

    Raises:
        ConfigError: a module is missing, imports in another form than ``import { a } from "./name.js"``, or imports run
            in a circle.
    """
    done: dict[str, str] = {}
    _add(folder, entry, done, ())
    script = "\n".join(done.values())
    if "</script" in script.lower() or "<!--" in script:
        raise ConfigError("the page's scripts hold what would end them: </script or <!--")
    return script


def _add(folder: Path, name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise ConfigError(f"the page's modules import each other in a circle: {' → '.join((*above, name))}")
    try:
        text = (folder / name).read_text("utf-8")
    except OSError:
        raise ConfigError(f"{above[-1] if above else PAGE} imports {name}, which is not there") from None
    for needed in _IMPORT.findall(text):
        _add(folder, needed, done, (*above, name))
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    if left := _LEFT.search(body):
        raise ConfigError(f"{name}: a form that cannot be put into one file: {left[0][:80]}")
    done[name] = _INDENT.sub("", body)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
