"""The records in `records/`: how they were played, once, and how they are unpacked.

They are records of before: `python -m tests.golden.played` writes those that are missing and never one that is there.
"""

import io
import json
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.golden.digests import CARELESS, VARIANTS
from tests.golden.running import wolfbus
from wolfbus.testing.model_server import ModelServer

RECORDS: Final = Path(__file__).with_name("records")
SHORT: Final = "debate_turns = 3\nmax_rounds = 3\n"
HASTY: Final = f"{VARIANTS['open']}absent_grace = 0.02\nmax_rounds = 4\n[deadlines]\n" + "".join(
    f"{kind} = 0.4\n"
    for kind in ("bid", "speak", "assess_own", "assess_other", "vote", "kill", "protect", "inspect", "whisper")
)
MODELS: Final = """
debate_turns = 2
max_rounds = 2
whispers = 1

[models.big]
model = "big-1"
endpoint = "double"
price = { input = 1.0, cached = 0.5, output = 4.0 }

[models.small]
model = "small-1"
endpoint = "double"
price = { input = 0.1, cached = 0.05, output = 0.4 }

[endpoints.double]
url = "URL"
"""


def unpacked(name: str, folder: Path) -> Path:
    """Unpack the study of that name into `folder`, and return its own folder there."""
    with tarfile.open(RECORDS / f"{name}.tar.xz") as packed:
        # the argument of that name is newer than Python 3.11; where it is not known this says nothing
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
    return folder / name


def _scripted(folder: Path) -> None:
    (folder / "rules.toml").write_text(SHORT)
    _run(folder, "scripted", "--games", "12", "--players", "scripted", "--seed", "golden", "--name", "Twelve games")


def _mixed(folder: Path) -> None:
    """Two studies of other rules in one folder."""
    (folder / "rules.toml").write_text(VARIANTS["short"])
    _run(folder, "mixed/short", "--games", "6", "--players", f"scripted*4,random*2,{CARELESS}*2", "--seed", "mixed")
    (folder / "rules.toml").write_text(HASTY)
    _run(folder, "mixed/open", "--games", "4", "--players", "scripted*4,random*3,silent", "--seed", "hasty")


def _models(folder: Path) -> None:
    with ModelServer(seed=5, ugly=0.25, errors=0.03) as double:
        (folder / "rules.toml").write_text(MODELS.replace("URL", double.url))
        _run(folder, "models", "--games", "4", "--players", "llm:big*4,llm:small*4", "--seed", "models")


def _run(folder: Path, out: str, *words: str) -> None:
    said = wolfbus(folder, "run", "--quiet", *words, "--config", "rules.toml", "--out", out)
    assert said.code == 0, said.err
    told = json.loads((folder / out / "study.json").read_text())
    assert told["complete"], told


STUDIES: Final[dict[str, Callable[[Path], None]]] = {"scripted": _scripted, "mixed": _mixed, "models": _models}


def main() -> None:
    """Play the studies whose records are missing."""
    for name, play in STUDIES.items():
        path = RECORDS / f"{name}.tar.xz"
        if path.exists():
            print(f"{path.name} is there, and stays as it is")
            continue
        with tempfile.TemporaryDirectory() as folder:
            play(Path(folder))
            found = io.BytesIO()
            with tarfile.open(fileobj=found, mode="w:xz", preset=9) as packed:
                for file in sorted((Path(folder) / name).rglob("*")):
                    if file.is_file() and file.name != ".lock":
                        packed.add(file, file.relative_to(folder).as_posix(), filter=_nobodys)
            path.write_bytes(found.getvalue())
            print(f"{path.name}: {path.stat().st_size} bytes")


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
