"""`forks_of`: a study of forks of another study's lies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.game.config import read_toml_file
from wolfbus.running.arguments import checked
from wolfbus.study.forks import TRIES, arms_of
from wolfbus.study.manifest import FILE, load_manifest

_OF_PARENTS: Final = ("players", "agents", "games", "design", "report", "budget", "budget_tokens", "workers", "name")
"""Settings of a study that are not those of its forks."""


@checked
def forks_of(
    folder: Path | str,
    *,
    lies: int = 100,
    times: int = 2,
    arms: Sequence[str] = (),
    tries: int = TRIES,
    seed: str | int = 1,
) -> dict[str, Any]:
    """Return a study that forks another one at its lies, as a table that `wolfbus.run_study` takes.

    A lie is a statement of a debate that its speaker labels deceptive, or that claims what its speaker knows to be
    false. Whether it is chosen depends on nothing that came after its label: all lies of all games that have ended are
    put into an order that is drawn from the seed, and the first are taken.

    Args:
        folder: of the study whose games are the parents.
        lies: how many statements are chosen at most, >= 1.
        times: forks of each arm, >= 1.
        arms: what stands in the statements' place, beside ``keep`` and ``honest``; see `wolfbus.fork`.
        tries: statements that may be drawn for one fork, >= 1.
        seed: what the order follows from.

    Raises:
        ConfigError: there is no such study, or no lie in it.
    """
    import polars as pl

    from analytics.gather import gather

    if lies < 1:
        raise ConfigError("lies: a whole number from 1")
    folder = Path(folder).resolve()
    manifest = load_manifest(folder / FILE) if (folder / FILE).is_file() else None
    if manifest is None:
        raise ConfigError(f"{folder}: no study; give the folder of one, or a record with --at")
    tables = gather([str(folder)]).tables
    statements = tables.statements.filter(phase="debate")
    is_lie = (pl.col("truth").cast(pl.String) == "lie").fill_null(value=False)
    games = tables.games["game_id"]
    ended = {row["game"]: row["brains"] for row in manifest["games"] if row["state"] == "ended"}
    rows = statements.filter(pl.col("self_deceptive").fill_null(value=False) | is_lie).select("game", "number").rows()
    places = [(games[game], number) for game, number in rows if games[game] in ended]
    if not places:
        raise ConfigError(f"{folder}: no lie to fork: no statement of a debate is labelled deceptive, or claims a lie")
    chosen = sorted(places, key=lambda one: hashlib.sha256(f"{seed}|{one[0]}|{one[1]}".encode()).digest())[:lies]
    brains = sorted({brain for game, _ in chosen for brain in ended[game]})
    others = [arm.agent for arm in arms_of(arms) if arm.agent is not None]
    table = {name: value for name, value in read_toml_file(folder / "study.toml").items() if name not in _OF_PARENTS}
    return {
        **table,
        "seed": str(seed),
        "agents": list(dict.fromkeys((*brains, *others))),
        "forks": {
            "of": str(folder),
            "statements": [f"{game}:{number}" for game, number in chosen],
            "arms": list(arms),
            "times": times,
            "tries": tries,
        },
    }
