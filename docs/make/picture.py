"""Draws docs/play.svg, the terminal at the end of a game: ``python docs/make/picture.py > docs/play.svg``."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

WIDTH: Final = 110
HEIGHT: Final = 36
"""Columns and rows of the terminal."""
COMMAND: Final = ("play", "--seed", "7", "--game", "seed-7")
_END_OF_LIVE_VIEW: Final = "\x1b[?1049l"
"""A program gives the terminal back with this; what it prints then stays."""
_MONOSPACE: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def last_frame() -> str:
    """Play the game before a terminal of our own and return what stays on it, colours included."""
    terminal, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with tempfile.TemporaryDirectory() as folder:
        game = subprocess.Popen(
            [sys.executable, "-m", "wolfbus", *COMMAND, "--out", folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=other_end,
            env=environment,
        )
        os.close(other_end)
        shown = b"".join(_read(terminal))
        os.close(terminal)
        if game.wait() != 0:
            raise SystemExit(f"the game ended with exit code {game.returncode}")
    text = shown.decode().rpartition(_END_OF_LIVE_VIEW)[2]
    # a game of scripted players is over at once; how soon differs
    return re.sub(r"\b0:0\d\b", "0:00", text.replace("\r\n", "\n"))


def _read(terminal: int) -> list[bytes]:
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            # Linux says so when nobody holds the other end any more
            return pieces
        if not piece:
            return pieces
        pieces.append(piece)


def drawing(text: str) -> str:
    """Return coloured text as an SVG that loads nothing from anywhere."""
    console = Console(width=WIDTH, record=True, file=io.StringIO(), legacy_windows=False)
    console.print(Text.from_ansi(text.rstrip()), crop=True)
    svg = console.export_svg(title="wolfbus play --seed 7", theme=MONOKAI, unique_id="play", font_aspect_ratio=0.6)
    svg = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", _MONOSPACE)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(drawing(last_frame()))
