"""The double as a process of its own, and as a command."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import openai
import pytest
from click.testing import CliRunner

from tests.llm.double.parts import ask
from tests.llm.tables import tables
from wolfbus.cli.fake_model import fake_model
from wolfbus.errors import ConfigError
from wolfbus.testing.model_server import ModelProcess, ModelServer

TABLES = tables(__file__)

COMMAND = "from wolfbus.cli.fake_model import fake_model; fake_model()"


@contextmanager
def command(*options: str) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", COMMAND, "--port", "0", "--latency", "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_its_counts_are_asked_for_from_outside() -> None:
    with ModelProcess(errors={"500": 1.0}, key="sk-1") as process:
        with pytest.raises(openai.InternalServerError):
            ask(process.url, key="sk-1")
        stats = process.stats()
        assert (stats.calls, stats.errors) == (1, {"500": 1})
        assert stats.cpu_s > 0
        process.reset()
        assert process.stats().calls == 0


def test_a_process_that_cannot_listen_says_why() -> None:
    with (
        ModelServer() as server,
        pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{server.port}"),
        ModelProcess(port=server.port),
    ):
        pass


def test_its_key_is_not_on_its_command_line() -> None:
    with ModelProcess(key="sk-planted") as process:
        child = process.pid
        shown = subprocess.run(["ps", "-o", "args=", "-p", str(child)], capture_output=True, text=True, check=True)
    assert "model_server" in shown.stdout
    assert "sk-planted" not in shown.stdout


def test_it_ends_with_its_parent() -> None:
    words = (
        "import os, sys; from wolfbus.testing.model_server import ModelProcess; "
        "process = ModelProcess().__enter__(); print(process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    # the child has our pipe for its errors too, so this comes back once both are gone
    parent = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=30, check=False)
    assert parent.returncode == -signal.SIGKILL
    assert int(parent.stdout) > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_tells_its_url_and_ends_with_its_totals(number: signal.Signals) -> None:
    with command("--ugly", "fence=1.0", "--errors", "500=0.0", "--seed", "7") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("fake model: listening at http://127.0.0.1:")
        assert (ask(line.split()[-1]).choices[0].message.content or "").startswith("```")
        process.send_signal(number)
        said, complained = process.communicate(timeout=20)
        assert process.returncode == 0
    assert said.startswith("fake model: 1 calls, at most 1 at once; 0 met errors, 1 replies were ugly; ")
    assert complained == ""


def test_the_command_takes_every_switch() -> None:
    switches = ["--no-schema", "--no-json-mode", "--no-system", "--no-temperature", "--needs", "max_completion_tokens"]
    names = ["--model", "one", "--model", "two", "--reasoning", "--key", "sk-2", "--hangs", "0"]
    with command(*switches, *names, "--jitter", "0.001", "--host", "localhost") as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        with pytest.raises(openai.BadRequestError, match="does not support 'system'"):
            ask(url, key="sk-2", model="two")


@pytest.mark.parametrize(
    ("options", "why"),
    TABLES["options_that_make_no_sense_are_refused"],
)
def test_options_that_make_no_sense_are_refused(options: list[str], why: str) -> None:
    result = CliRunner().invoke(fake_model, options)
    assert result.exit_code == 2
    assert why in result.output
