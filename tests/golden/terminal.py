"""What commands print about the records of before, and about themselves."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Final

from tests.golden.digests import VARIANTS
from tests.golden.played import unpacked
from tests.golden.running import shown

ROOT: Final = Path(__file__).parents[2]
SCRIPTED: Final = "scripted/records/study-bb220112-00001.ndjson"
OTHER: Final = "scripted/records/study-bb220112-00002.ndjson"
HASTY: Final = "mixed/open/records/study-f9bc9cf7-00001.ndjson"
MODELS: Final = "models/records/study-46860ef6-00001.ndjson"
PUBLISHED: Final = ROOT / "tests/paper_log/data"
COMPARED: Final = ("--metric", "accuracy", "--metric", "auc", "--metric", "vote_hit", "--permutations", "200")


def values(folder: Path) -> dict[str, str]:
    """Run every command where it makes sense."""
    for name in ("scripted", "mixed", "models"):
        unpacked(name, folder)
    for path in filter(Path.is_file, PUBLISHED.iterdir()):
        shutil.copy(path, folder)
    shutil.copy(ROOT / "examples/agent.py", folder)
    seat = next(seat["name"] for seat in _opened(folder / HASTY)["seats"])
    call = next(number for number, line in _lines(folder / MODELS) if line["type"] == "model_call")
    _damage(folder)
    told = {
        "replay": ("replay", SCRIPTED),
        "replay-hasty": ("replay", HASTY),
        "replay-models": ("replay", MODELS),
        "replay-models-json": ("replay", MODELS, "--json"),
        "replay-criteria": ("replay", HASTY, "--alpha", "0.5", "--prior", "0.4", "--include-defaulted"),
        "replay-speed": ("replay", HASTY, "--speed", "1000000", "--plain"),
        "replay-until": ("replay", HASTY, "--until", "120"),
        "replay-until-as": ("replay", HASTY, "--until", "120", "--as", seat),
        "replay-as": ("replay", HASTY, "--as", seat),
        "replay-calls": ("replay", MODELS, "--calls"),
        "replay-prompt": ("replay", MODELS, "--prompt", str(call)),
        "replay-torn": ("replay", "torn.ndjson"),
        "replay-forged": ("replay", "forged.ndjson"),
        "replay-published": ("replay", "small-events.ndjson"),
        "replay-published-as-recorded": ("replay", "small-events.ndjson", "--as-recorded", "--json"),
        "compare": ("compare", "scripted", "mixed", "--workers", "1", *COMPARED),
        "compare-json": ("compare", "scripted", "mixed", "--json", "--workers", "1", *COMPARED),
        "compare-csv": ("compare", SCRIPTED, HASTY, "--csv", "--permutations", "100"),
        "compare-agents": ("compare", "models", "--agents", "llm:big", "llm:small", "--workers", "1", *COMPARED),
        "report-bibtex": ("report", "scripted", "--bibtex"),
        "export-csv": ("export", "csv", "mixed", "torn.ndjson", "--out", "tables"),
        "export-parquet": ("export", "parquet", "mixed", "--out", "parquet", "--tables", "games,seats"),
        "rules": ("rules",),
        "rules-open": ("rules", "--config", "open.toml"),
        "rules-large": ("rules", "--config", "large.toml"),
        "rules-toml": ("rules", "--toml"),
        "schema": ("schema",),
        "schema-list": ("schema", "--list"),
        "schema-delivery": ("schema", "Delivery"),
        "check-agent": ("check-agent", "--", sys.executable, "agent.py"),
        "play": ("play", "--seed", "7", "--plain", "--game", "seven", "--out", "runs"),
        "run": ("run", "--games", "3", "--players", "scripted*6,random*2", "--seed", "3", "--out", "three", "--plain"),
        "version": ("--version",),
    }
    return {f"terminal/{name}.txt": _shown(folder, words) for name, words in told.items()}


def _shown(folder: Path, words: tuple[str, ...]) -> str:
    text = shown(folder, *words).replace(sys.executable, "python3").replace(str(folder), "FOLDER")
    if words[0] == "check-agent":
        # whether an agent is in time is a matter of the machine
        lines = text.splitlines(keepends=True)
        text = "".join(line for line in lines if not re.search("heartbeat|tight deadline|^[0-9]+ checks|^---", line))
    return text


def _lines(path: Path) -> list[tuple[int, dict]]:
    return [(number, json.loads(line)) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)]


def _opened(path: Path) -> dict:
    return _lines(path)[0][1]


def _damage(folder: Path) -> None:
    """Write a record that breaks off within a line, one with another winner, and rules."""
    whole = (folder / SCRIPTED).read_bytes()
    (folder / "torn.ndjson").write_bytes(whole[: len(whole) * 2 // 3])
    forged = (folder / OTHER).read_text("utf-8").replace('"winner":"villagers"', '"winner":"werewolves"')
    (folder / "forged.ndjson").write_text(forged, "utf-8")
    for name, text in VARIANTS.items():
        (folder / f"{name}.toml").write_text(text)
