"""The way to a server: proxies of the environment, certificates, addresses without a scheme, and nothing for naught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from players.llm.provider import Endpoint, Model
from players.spec import BrainContext
from tests.golden.running import wolfbus
from wolfbus.errors import ConfigError

from .conftest import Asking, model_at, question
from .server import ScriptedServer, refuse

REMOTE = "http://model.invalid/v1"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.lower, PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def through(proxy: ScriptedServer, monkeypatch: pytest.MonkeyPatch, name: str = "HTTP_PROXY") -> str:
    """Have the environment name a proxy, with a password; returns its host and port."""
    place = proxy.url.removeprefix("http://").removesuffix("/v1")
    monkeypatch.setenv(name, f"http://me:planted@{place}")
    return place


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY", "http_proxy"])
def test_a_server_on_this_machine_is_never_asked_through_a_proxy(
    asking: Asking, server: ScriptedServer, other: ScriptedServer, monkeypatch: pytest.MonkeyPatch, host: str, name: str
) -> None:
    through(other, monkeypatch, name)
    model = Model(model="m", endpoint=Endpoint(url=server.url.replace("127.0.0.1", host)))
    assert asking.one(question(model)).text
    assert (len(server.paths), other.paths) == (1, [])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of how the client library names a password
def test_a_proxy_takes_questions_to_others_and_is_named_without_its_password_where_that_fails(
    asking: Asking, other: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = through(other, monkeypatch)
    model = Model(model="m", endpoint=Endpoint(url=REMOTE, attempts=1))
    assert asking.one(question(model)).text
    other.plan(refuse(403, "not from here"))
    refused = asking.one(question(model)).error
    other.close()
    unreached = asking.one(question(model)).error
    for error in (refused, unreached):
        assert str(error).startswith(f"{REMOTE}: ")
        assert str(error).endswith(f" (through the proxy {place})")
        assert "planted" not in str(error)
    assert "not from here" in str(refused)


def test_hosts_that_the_environment_excepts_are_asked_directly_and_no_proxy_is_named(
    asking: Asking, other: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    through(other, monkeypatch)
    monkeypatch.setenv("NO_PROXY", "model.invalid")
    error = asking.one(question(Model(model="m", endpoint=Endpoint(url=REMOTE, attempts=1)))).error
    assert error == f"{REMOTE}: no host of that name is known"
    assert other.paths == []


def test_a_proxy_whose_address_cannot_be_read_is_named_by_its_variable_without_its_password(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:pla/nted@proxy:80")
    error = asking.one(question(Model(model="m", endpoint=Endpoint(url=REMOTE, attempts=1)))).error
    assert str(error).startswith(f"{REMOTE}: HTTP_PROXY is no address of a proxy")
    assert "pla" not in str(error)


@pytest.fixture
def secure_server(tls_files: tuple[Path, Path, Path]) -> Iterator[ScriptedServer]:
    server = ScriptedServer(tls_files[:2])
    yield server
    server.close()


def test_a_certificate_that_is_not_trusted_names_what_says_who_is(
    secure_server: ScriptedServer,
    asking: Asking,
    tls_files: tuple[Path, Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def error(name: str) -> str:
        return str(asking.one(question(model_at(secure_server, endpoint={"attempts": 1, "at_once": len(name)}))).error)

    assert "SSL_CERT_FILE names a file of authorities to trust, SSL_CERT_DIR a folder of them" in error("x")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "empty"))
    assert f"trusted are the authorities of SSL_CERT_DIR = {tmp_path}/empty" in error("xx")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    assert error("xxx") == (
        f"{secure_server.url}: trusted are the authorities of SSL_CERT_FILE = {tmp_path}/none.pem, which cannot be "
        "read: no such file or directory"
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(tls_files[2]))
    assert error("xxxx") == "None"


@pytest.mark.parametrize(
    ("words", "meant"),
    {
        "x@127.0.0.1:8000/v1": "x@http://127.0.0.1:8000/v1",
        "org/x:7b@localhost/v1": "org/x:7b@http://localhost/v1",
        "x@[::1]:8000/v1": "x@http://[::1]:8000/v1",
        "x@gpu1:8000": "x@http://gpu1:8000",
        "x@api.example.org/openai": "x@https://api.example.org/openai",
        "x@gateway/v1": "x@https://gateway/v1",
    }.items(),
)
def test_an_address_without_its_scheme_is_asked_back_and_no_model_of_that_name_is_asked(words: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=" is no URL: write llm:") as error:
        BrainContext({}).models_of([f"llm:{words}"])
    assert str(error.value).endswith(f"write llm:{meant}")


@pytest.mark.parametrize("name", ["claude-3-5@20240620", "a@b", "org/x@refs/pr/1", "x@v1.5", "x@main"])
def test_a_model_may_have_a_version_behind_an_at(name: str) -> None:
    assert BrainContext({}).models_of([f"llm:{name}"])[0].model == name


def test_no_model_is_asked_anything_for_a_record_that_is_there_already(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "g.ndjson").write_text("a record")
    result = wolfbus(tmp_path, "play", "--players", f"llm:m@{server.url}*8", "--game", "g", "--out", ".")
    assert (result.code, result.err) == (2, "wolfbus: g.ndjson: exists already; no record is ever overwritten\n")
    assert server.paths == []
