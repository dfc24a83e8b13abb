"""Models and endpoints as TOML names them and as players specs do."""

from __future__ import annotations

from pathlib import Path

import pytest

from players.llm.provider import Endpoint, Model
from players.spec import BrainContext
from tests.golden.running import wolfbus
from tests.llm.tables import tables
from wolfbus.errors import ConfigError

TABLES = tables(__file__)


def refused(folder: Path, text: str) -> str:
    """What the command says of a file."""
    (folder / "game.toml").write_text(text, "utf-8")
    result = wolfbus(folder, "play", "--config", "game.toml")
    assert result.code != 0
    return result.err.removeprefix("wolfbus: ").removesuffix("\n")


def model_of(words: str, models: dict[str, Model]) -> Model:
    (model,) = BrainContext(models).models_of([f"llm:{words}"])
    return model


@pytest.mark.parametrize(("text", "line"), TABLES["what_is_wrong_is_named_by_file_table_and_field"])
def test_what_is_wrong_is_named_by_file_table_and_field(tmp_path: Path, text: str, line: str) -> None:
    text = text.replace("EXTRA", ", ".join(f"x{number} = 1" for number in range(49)))
    assert (
        refused(tmp_path, text.replace("LONG", "x" * 513).replace("WIDE", "x" * 5000)).replace("x" * 513, "LONG")
        == line
    )


SECRET_URLS = ["http://me:pass@host/v1", "http://token@host/v1", "https://host/v1?key=secret", "https://host/v1#secret"]
NO_URLS = ["ftp://host", "http://host:port/v1", "http://[::1/v1", "http://a b/v1", "http:///v1"]


@pytest.mark.parametrize("url", [*SECRET_URLS, *NO_URLS])
def test_urls_that_hold_secrets_or_are_none_are_refused_without_showing_secrets(tmp_path: Path, url: str) -> None:
    of_table = refused(tmp_path, f'[endpoints.x]\nurl = "{url}"')
    assert of_table.startswith("game.toml: [endpoints.x] url: ")
    with pytest.raises(ConfigError, match=r"^llm:") as of_spec:
        model_of(f"tiny@{url}", {})
    errors = f"{of_table} {of_spec.value}"
    assert not [word for word in ("#secret", "key=", "me:", "token") if word in errors]


def test_addresses_are_kept_in_one_form() -> None:
    endpoint = Endpoint(url="http://localhost:8000/v1/", follow_redirects="https://Example.org:443/")
    assert (endpoint.url, endpoint.follow_redirects) == ("http://localhost:8000/v1", "https://example.org")


def test_words_behind_llm_name_models() -> None:
    models: dict[str, Model] = {"mini": Model(model="gpt-4o-mini", temperature=0.5)}
    assert model_of("mini", models) == models["mini"]
    assert model_of("gpt-4o", models) == Model(model="gpt-4o")
    local = Endpoint(url="http://localhost:8000/v1")
    assert model_of("qwen@http://localhost:8000/v1", models) == Model(model="qwen", endpoint=local)
    assert model_of("a@b@https://host/v1/", models) == Model(model="a@b", endpoint=Endpoint(url="https://host/v1"))
    assert model_of("org/model:7b@http://localhost:8000/v1", models).model == "org/model:7b"
    assert model_of("mini@http://localhost:8000/v1", models) == models["mini"].model_copy(update={"endpoint": local})
    secrets = {"key_env": "MINE", "headers": {"api-key": "KEY"}, "query": {"code": "CODE"}}
    keyed = {"own": Model(model="m", endpoint=Endpoint(url="https://host/v1", at_once=3, **secrets))}
    assert model_of("own@https://host/v2", keyed).endpoint == Endpoint(url="https://host/v2", at_once=3, **secrets)
    assert model_of("own@https://other/v1", keyed).endpoint == Endpoint(url="https://other/v1", at_once=3), (
        "with no key"
    )


def test_a_name_that_is_nearly_an_alias_is_taken_for_a_slip() -> None:
    models: dict[str, Model] = {"mini": Model(model="gpt-4o-mini"), "gpt-4o-2": Model(model="gpt-4o")}
    with pytest.raises(ConfigError) as error:
        model_of("mni", models)
    assert str(error.value) == (
        "no model alias 'mni'; did you mean 'mini'? "
        '(a model of that very name can be given its own [models."mni"] table)'
    )
    assert model_of("mni", {}).model == "mni"
    assert model_of("mni@http://localhost:8000/v1", models).model == "mni"
    assert model_of("gpt-4o", models).model == "gpt-4o", "that is a model's own name"
    assert model_of("qwen", models).model == "qwen"
