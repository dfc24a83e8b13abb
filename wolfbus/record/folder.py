"""The folder that records go to, tried before anything is played for them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from wolfbus.errors import RecordError


def prepare_folder(folder: Path) -> None:
    """Create a folder if need be, and see that files can be written in it.

    Raises:
        RecordError: one line that names the folder and the reason.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"records")
    except OSError as error:
        reason = "that is no folder" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
        raise RecordError(f"{folder}: records cannot be kept there: {str(reason).lower()}") from None
