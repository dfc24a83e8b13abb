"""Providers that the settings name: our own, one of somebody else's, one that is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from players.llm.provider import Endpoint, Model
from tests.llm.whole.playing import played, readings
from wolfbus.errors import PlayerError

from .conftest import MakeGateway, question


def test_a_provider_is_one_file_and_its_name_in_the_settings(make_gateway: MakeGateway) -> None:
    asking = make_gateway(environment={})
    model = Model(model="polly", endpoint=Endpoint(provider="tests.llm.gateway.toy"))
    asking.gateway.probe([model])
    came = asking.one(question(model, "Pretty bird!"))
    assert (came.text, came.url, came.prompt_tokens, came.attempts) == ("Pretty bird!", "toy://parrot", 3, 1)
    assert came.parameters["structured"] == "text"
    failed = asking.one(question(model, ""))
    assert (failed.text, failed.error, failed.attempts) == (None, "toy://parrot: there is nothing to repeat", 1)


@pytest.mark.parametrize("name", ["nothing", "tests.llm.gateway.nothing", "nothing.at.all"])
def test_a_provider_that_is_not_there_is_named(make_gateway: MakeGateway, name: str) -> None:
    gateway = make_gateway(environment={}).gateway
    with pytest.raises(PlayerError, match=f'^there is no provider "{name}": no such module is installed, or in /.*$'):
        gateway.check([Model(model="x", endpoint=Endpoint(provider=name))])


@pytest.mark.parametrize("name", ["lone_parrot", "parrots.lone"])
def test_a_provider_is_found_in_the_current_directory_with_a_package_or_without(
    make_gateway: MakeGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / f"{name.replace('.', '/')}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text("from tests.llm.gateway.toy import open_provider\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for module in ("lone_parrot", "parrots", "parrots.lone"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    gateway = make_gateway(environment={}).gateway
    gateway.check([Model(model="x", endpoint=Endpoint(provider=name))])


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import absent_parrot", "importing parrots.mine failed: ModuleNotFoundError: No module named 'absent_parrot'"),
        ("1 / 0", "importing parrots.mine failed: ZeroDivisionError: division by zero"),
        ("raise SystemExit('no key')", "importing parrots.mine failed: SystemExit: no key"),
        (
            "def open_provider(endpoint, keys): raise KeyError('region')",
            "open_provider of parrots.mine failed: KeyError: 'region'",
        ),
        ("open_provider = None", r"parrots.mine has no function open_provider\(endpoint, keys\)"),
        (
            "def open_provider(endpoint, keys): return __import__('io').StringIO()",
            "what open_provider of parrots.mine returns has no url, shape, ask",
        ),
    ],
)
def test_a_provider_that_cannot_be_used_is_named_with_the_reason(
    make_gateway: MakeGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, why: str
) -> None:
    (tmp_path / "parrots").mkdir()
    (tmp_path / "parrots" / "mine.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("parrots", "parrots.mine"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    gateway = make_gateway(environment={}).gateway
    with pytest.raises(PlayerError, match=f'^provider "parrots.mine": {why}$'):
        gateway.check([Model(model="x", endpoint=Endpoint(provider="parrots.mine"))])


def test_a_game_of_models_is_played_without_a_server_as_their_tables_say(tmp_path: Path) -> None:
    table = "temperature = 1\nprice = { input = 0.15, output = 0.6 }\ntimeouts = { bid = 20 }\n"
    table += "extra = { seed = 7, reasoning = { effort = 'low' } }"
    proof = played(tmp_path, provider="mock", model=table)
    assert set(readings(proof)) == {"clean"}
    first = proof.of("model_call")[0]
    assert (first.model, first.parameters["temperature"], first.parameters["seed"]) == ("m", 1.0, 7)
    assert first.parameters["reasoning"] == '{"effort":"low"}'
    assert first.cost_usd == pytest.approx((first.prompt_tokens * 0.15 + first.completion_tokens * 0.6) / 1e6)
