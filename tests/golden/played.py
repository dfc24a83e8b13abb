"""The records in `records/`, which are unpacked and never played anew: they are records of before.

`scripted` is a study of twelve games of scripted players, of three days with three turns each. `mixed` holds two:
`short`, by the rules of that name in `digests.py`, with careless players, and `open`, with a silent one in little time.
`models` is of two models of a double whose replies are ugly in a quarter of cases.
"""

import tarfile
from pathlib import Path
from typing import Final

RECORDS: Final = Path(__file__).with_name("records")
STUDIES: Final = ("scripted", "mixed", "models")


def unpacked(name: str, folder: Path) -> Path:
    """Unpack the study of that name into `folder`, and return its own folder there."""
    with tarfile.open(RECORDS / f"{name}.tar.xz") as packed:
        # the argument of that name is newer than Python 3.11; where it is not known this says nothing
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
    return folder / name
