"""Models and endpoints as TOML names them and as players specs do."""

from __future__ import annotations

import tomllib

import pytest

from players.llm.settings import Endpoint, Model, Price, model_of, models_from_tables
from tests.llm.tables import tables
from wolfbus.errors import ConfigError

TABLES = tables(__file__)


def tables(text: str) -> dict[str, Model]:
    return models_from_tables(tomllib.loads(text), "game.toml")


def test_tables_become_models_on_their_endpoints() -> None:
    models = tables(
        """
        [endpoints.local]
        url = "http://localhost:8000/v1/"
        key_env = "MY_KEY"
        follow_redirects = "https://Example.org:443/"
        at_once = 16
        requests_per_minute = 500

        [models.mini]
        model = "gpt-4o-mini"
        temperature = 1
        price = { input = 0.15, output = 0.6 }
        timeouts = { bid = 20 }
        extra = { seed = 7 }

        [models.qwen]
        endpoint = "local"
        """
    )
    assert models["mini"].endpoint == Endpoint()
    assert models["mini"].price == Price(input=0.15, output=0.6)
    assert (models["mini"].model, models["mini"].temperature, models["mini"].timeouts.bid) == ("gpt-4o-mini", 1.0, 20.0)
    assert models["qwen"].model == "qwen"
    assert models["qwen"].endpoint == Endpoint(
        url="http://localhost:8000/v1",
        key_env="MY_KEY",
        follow_redirects="https://example.org",
        at_once=16,
        requests_per_minute=500,
    )


@pytest.mark.parametrize(("text", "line"), TABLES["what_is_wrong_is_named_by_file_table_and_field"])
def test_what_is_wrong_is_named_by_file_table_and_field(text: str, line: str) -> None:
    text = text.replace("EXTRA", ", ".join(f"x{number} = 1" for number in range(49)))
    with pytest.raises(ConfigError) as error:
        tables(text.replace("LONG", "x" * 513))
    assert str(error.value).replace("x" * 513, "LONG") == line


SECRET_URLS = ["http://me:pass@host/v1", "http://token@host/v1", "https://host/v1?key=secret", "https://host/v1#secret"]
NO_URLS = ["ftp://host", "http://host:port/v1", "http://[::1/v1", "http://a b/v1", "http:///v1"]


@pytest.mark.parametrize("url", [*SECRET_URLS, *NO_URLS])
def test_urls_that_hold_secrets_or_are_none_are_refused_without_showing_secrets(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^game.toml: \[endpoints.x\] url: ") as of_table:
        tables(f'[endpoints.x]\nurl = "{url}"')
    with pytest.raises(ConfigError, match=r"^llm:") as of_spec:
        model_of(f"tiny@{url}", {})
    said = f"{of_table.value} {of_spec.value}"
    assert not [word for word in ("#secret", "key=", "me:", "token") if word in said]


def test_words_behind_llm_name_models() -> None:
    models: dict[str, Model] = {"mini": Model(model="gpt-4o-mini", temperature=0.5)}
    assert model_of("mini", models) is models["mini"]
    assert model_of("gpt-4o", models) == Model(model="gpt-4o")
    local = Endpoint(url="http://localhost:8000/v1")
    assert model_of("qwen@http://localhost:8000/v1", models) == Model(model="qwen", endpoint=local)
    assert model_of("a@b@https://host/v1/", models) == Model(model="a@b", endpoint=Endpoint(url="https://host/v1"))
    assert model_of("org/model:7b@http://localhost:8000/v1", models).model == "org/model:7b"
    assert model_of("mini@http://localhost:8000/v1", models) == models["mini"].model_copy(update={"endpoint": local})
    own = {"own": Model(model="m", endpoint=Endpoint(url="https://host/v1", key_env="MINE", at_once=3))}
    assert model_of("own@https://host/v2", own).endpoint == Endpoint(url="https://host/v2", key_env="MINE", at_once=3)
    assert model_of("own@https://other/v1", own).endpoint == Endpoint(url="https://other/v1", at_once=3), "with no key"


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
