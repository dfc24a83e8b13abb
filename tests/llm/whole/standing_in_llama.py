"""Stands in for `xllamacpp`: the parts of it that are used, with a server that answers as a model would."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wolfbus.testing.model_server import ModelServer


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())


class Server:
    def __init__(self, parameters: Any) -> None:
        weights = Path(parameters.model.path)
        if weights.read_bytes() == b"GGUF broken":
            print("llama_model_load: error loading model: tensors missing", file=sys.stderr)
            sys.exit(1)
        asked = {"slots": parameters.n_parallel, "context": parameters.n_ctx, "pid": os.getpid()}
        print(json.dumps(asked), file=sys.stderr, flush=True)
        self._server = ModelServer().__enter__()
        self.listening_address = self._server.url.removesuffix("/v1")
