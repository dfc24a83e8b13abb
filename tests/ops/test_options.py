"""The options that services share."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from wolfbus.service.options import service_options


def given(*words, **environment):
    """Return what a service's command is called with, or what the user is told."""
    seen: dict[str, object] = {}

    @click.command()
    @service_options
    def serve(**options):
        seen.update(options)

    empty = {"REDIS_URL": None, "WOLFBUS_BUS": None, "WOLFBUS_HOUSE": None, "WOLFBUS_HEALTH": None, "WOLFBUS_LOG": None}
    result = CliRunner().invoke(serve, list(words), env={**empty, **environment})
    return seen if result.exit_code == 0 else result.output


def test_a_service_needs_no_option_on_a_machine_with_redis():
    assert given() == {"url": "redis://127.0.0.1:6379", "house": "main", "health": None, "log": "auto"}


def test_what_services_share_comes_from_the_environment_too():
    assert given(REDIS_URL="redis://redis", WOLFBUS_HOUSE="h2", WOLFBUS_HEALTH="0.0.0.0:8080", WOLFBUS_LOG="json") == {
        "url": "redis://redis",
        "house": "h2",
        "health": ("0.0.0.0", 8080),
        "log": "json",
    }


@pytest.mark.parametrize(
    ("text", "place"), [("8080", ("127.0.0.1", 8080)), ("[::1]:80", ("::1", 80)), ("box.lan:1", ("box.lan", 1))]
)
def test_health_is_a_port_of_this_machine_unless_a_host_is_given(text, place):
    options = given("--health", text)
    assert isinstance(options, dict)
    assert options["health"] == place


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--bus", "memory://"), "memory:// ends where its process ends"),
        (("--house", "a b"), "1 to 64 letters, digits"),
        (("--house", "a:b\n"), "1 to 64 letters, digits"),
        (("--health", "localhost"), "is no [HOST:]PORT"),
        (("--health", "70000"), "is no [HOST:]PORT"),
        (("--health", ":80"), "is no [HOST:]PORT"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(words, told):
    output = given(*words)
    assert isinstance(output, str)
    assert told in output
