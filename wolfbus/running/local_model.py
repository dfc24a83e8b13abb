"""`with_local_model`: a config whose model `local` is served from weights of this machine while a game is played."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.game.config import Deadlines, read_toml_file
from wolfbus.running.brains import Loaded, loaded_from

ALIAS: Final = "local"
"""What the model is called among the players, as ``llm:local``."""

_PLAYERS: Final = f"llm:{ALIAS}*3,scripted*2"
_PATIENCE_S: Final = 3600.0
_MOST_SLOTS: Final = 4
"""Requests that are answered at a time at most: each keeps the beginning of a seat's prompts, and takes memory."""

_RULES: Final[dict[str, Any]] = {
    "villagers": 2,
    "werewolves": 1,
    "debate_turns": 2,
    "max_rounds": 2,
    "protocol": "compact",
    "memory": "full",
    "deadlines": dict.fromkeys(Deadlines.model_fields, _PATIENCE_S),
}
"""Of a small game, where no config says more, for a processor takes seconds a call: docs/models.md has measurements."""


@contextlib.contextmanager
def with_local_model(
    name: str, config_file: Path | None, players: str | None, expand: Callable[[str, int], tuple[str, ...]], log: Path
) -> Iterator[Loaded]:
    """Serve weights while the block runs; yields what the config file says, with the model in it.

    Args:
        name: a GGUF file, or what Ollama, LM Studio or the like call one.
        config_file: rules, players and further models; None for a small game of three seats beside two scripts.
        players: who plays, if not as the file says.
        expand: reads a spec for so many seats.
        log: what the server says.

    Raises:
        ConfigError: there are no such weights, they cannot be served, or nobody plays the model.
    """
    from players.llm.local import serving, weights

    path = weights(name)
    table = dict(_RULES) if config_file is None else read_toml_file(config_file)
    models = dict(table.get("models", {}))
    endpoints = dict(table.get("endpoints", {}))
    if ALIAS in models or ALIAS in endpoints:
        raise ConfigError(f"{config_file}: --local needs the name `{ALIAS}` for its own model and endpoint")
    # Ollama's files are called by their hashes
    model = name if path.name.startswith("sha256-") else path.stem
    models[ALIAS] = {"model": model, "endpoint": ALIAS, "max_tokens": 256, "price": {"input": 0, "output": 0}}
    if config_file is None:
        table["players"] = _PLAYERS

    def loaded(url: str, slots: int) -> Loaded:
        endpoints[ALIAS] = {"url": url, "at_once": slots}
        return loaded_from({**table, "models": models, "endpoints": endpoints})

    seats = loaded("http://127.0.0.1/v1", 1).brains(players, expand).count(f"llm:{ALIAS}")
    if not seats:
        raise ConfigError(f"--local {name}: nobody plays it; write llm:{ALIAS} among --players")
    slots = min(seats, _MOST_SLOTS)
    with serving(path, slots, log) as url:
        yield loaded(url, slots)
