"""Where a study's folder keeps what players have said in games that are not over."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

SAID: Final = "said"
"""Name of that folder, within the study's."""


def said_path(record: Path) -> Path:
    """Return the file of what was said in a game that is not over, by that of its record."""
    return record.parent.parent / SAID / f"{record.stem}.jsonl"


def forget_said(record: Path) -> None:
    """Remove what was said in a game whose record is not gone on with any more."""
    with contextlib.suppress(OSError):
        said_path(record).unlink(missing_ok=True)


def remove_said_folder(study: Path) -> None:
    """Remove the folder if it is empty, while no game is played that might just begin to write there."""
    with contextlib.suppress(OSError):
        (study / SAID).rmdir()
