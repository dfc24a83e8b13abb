"""A study of scripted games, and a model that keeps what it is asked."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.golden.running import Said, wolfbus
from wolfbus.testing.model_server import ModelServer

SPY = """
import json
from pathlib import Path
from players.llm.provider import ProviderReply, Shape

class Spy:
    url = "spy"
    def shape(self, model): return Shape()
    async def close(self): pass
    async def ask(self, request, seconds):
        with Path("asked.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([message.content for message in request.messages]) + "\\n")
        reply = json.dumps(self.reply(request.form.schema["properties"]))
        return ProviderReply(reply, finish="stop", prompt_tokens=9, completion_tokens=9, served="spy fp-1")
    def reply(self, properties):
        names = properties.get("stances", {"properties": {}})["properties"]
        return {key: 0.25 for key in properties if key != "stances"} | {"stances": dict.fromkeys(names, "hedged for")}

def open_provider(endpoint, keys): return Spy()
"""


class Place(NamedTuple):
    """A folder with a study in ``study`` and models in ``models.toml``."""

    folder: Path

    def annotate(self, *words: str) -> Said:
        return wolfbus(self.folder, "annotate", "study", *words)

    def read(self, model: str = "spy", *words: str) -> Said:
        return self.annotate("--reader", f"llm:{model}", "--config", "models.toml", "--yes", *words)

    def file(self, name: str = "spy") -> Path:
        return self.folder / "study" / "annotations" / f"{name}.jsonl"

    def lines(self, name: str = "spy") -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file(name).read_text("utf-8").splitlines()]

    @property
    def asked(self) -> list[list[str]]:
        path = self.folder / "asked.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def events(self, *types: str) -> Iterator[dict[str, Any]]:
        """The lines of all records of these types, each with its game."""
        for path in sorted((self.folder / "study" / "records").glob("*.ndjson")):
            for line in path.read_text("utf-8").splitlines():
                event = json.loads(line)
                if event["type"] in types:
                    yield {"game": path.stem, **event}

    @property
    def statements(self) -> list[dict[str, Any]]:
        return list(self.events("statement"))


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotated")
    (folder / "short.toml").write_text("debate_turns = 3\nmax_rounds = 2\n", "utf-8")
    words = "run --config short.toml --players scripted --seed 3 --games 6 --out study --quiet"
    said = wolfbus(folder, *words.split())
    assert said.code == 0, said.err
    return folder


@pytest.fixture
def place(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    shutil.copytree(played / "study", tmp_path / "study")
    (tmp_path / "spy.py").write_text(SPY, "utf-8")
    (tmp_path / "models.toml").write_text(
        '[endpoints.s]\nprovider = "spy"\n[models.spy]\nendpoint = "s"\nprice = { input = 1.0, output = 1.0 }\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return Place(tmp_path)


@pytest.fixture
def served(place: Place) -> Iterator[Callable[..., ModelServer]]:
    """Starts a double that behaves as asked, as model ``double`` of the place."""
    servers: list[ModelServer] = []

    def start(**traits: Any) -> ModelServer:
        server = ModelServer(**traits)
        server.__enter__()
        servers.append(server)
        (place.folder / "models.toml").write_text(
            f'[endpoints.d]\nurl = "{server.url}"\nat_once = 4\n[models.double]\nendpoint = "d"\n'
            "price = { input = 1.0, output = 1.0 }\n"
        )
        return server

    yield start
    for server in servers:
        server.close()
