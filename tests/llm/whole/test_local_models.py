"""`play --local`: weights are found where this machine keeps them, served while the game is played, and named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.running import wolfbus
from tests.proving import prove
from tests.waiting import wait_until

STANDING_IN = Path(__file__).with_name("standing_in_llama.py")
GGUF = b"GGUF and so on"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which programs keep weights, each in its own way, and a package that serves them."""
    for variable in ("XDG_CACHE_HOME", "HF_HOME", "LLAMA_CACHE", "OLLAMA_MODELS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    files = {
        ".lmstudio/models/someone/tiny-GGUF/tiny-1b-q4.gguf": GGUF,
        ".lmstudio/models/someone/tiny-GGUF/mmproj-tiny-1b.gguf": GGUF,
        ".cache/huggingface/hub/models--a--b/snapshots/0/other-3b.gguf": GGUF,
        ".cache/llama.cpp/other-7b.gguf": b"GGUF broken",
        ".ollama/models/manifests/registry.ollama.ai/library/pebble/0.5b": json.dumps(
            {"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:ab12"}]}
        ).encode(),
        ".ollama/models/manifests/registry.ollama.ai/library/pebble/broken": b"{",
        ".ollama/models/blobs/sha256-ab12": GGUF,
        "packages/xllamacpp.py": STANDING_IN.read_bytes(),
        "notes.txt": b"no weights",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'packages'}:{Path(__file__).parents[3]}")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "model"),
    [("tiny", "tiny-1b-q4"), ("pebble", "pebble:0.5b"), ("OTHER-3B", "other-3b"), ("own.gguf", "own")],
)
def test_a_model_of_this_machine_plays_a_small_game_beside_scripts_by_one_command(home, name, model):
    (home / "own.gguf").write_bytes(GGUF)
    done = wolfbus(home, "play", "--local", name, "--seed", "3", "--game", "g", "--plain")
    assert done.code == 0, done.err
    proof = prove(home / "runs" / "g.ndjson")
    assert [seat.brain for seat in proof.of("opened")[0].seats].count("llm:local") == 3
    called = name if model == "pebble:0.5b" else model
    assert {call.model for call in proof.of("model_call")} == {called}
    assert {"slots": 3, "context": 3 * 8192}.items() <= json.loads((home / "runs" / "g.server.log").read_text()).items()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("other",), "other: which of other-3b, other-7b?"),
        (
            ("none",),
            "no such GGUF file, and no such name; this machine has other-3b, other-7b, pebble:0.5b, tiny-1b-q4",
        ),
        (("notes.txt",), "notes.txt: no GGUF file"),
        (("other-7b",), "other-7b.gguf: llama.cpp does not serve it: llama_model_load: error loading model"),
        (("tiny", "--players", "scripted"), "nobody plays it; write llm:local among --players"),
        (("tiny", "--config", "own.toml"), "own.toml: --local needs the name `local`"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(home, words, fault):
    (home / "own.toml").write_text('[models.local]\nmodel = "mine"\n')
    done = wolfbus(home, "play", "--local", *words)
    assert done.code != 0
    assert fault in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_without_the_package_the_command_that_installs_it_is_told(home, monkeypatch):
    (home / "packages" / "xllamacpp.py").unlink()
    monkeypatch.setattr("players.llm.local.PACKAGE", "xllamacpp_that_nobody_has")
    done = wolfbus(home, "play", "--local", "tiny")
    assert 'pip install "wolfbus[local]"' in done.err


def test_the_server_ends_with_a_player_that_is_killed(home):
    log, command = home / "runs" / "g.server.log", [sys.executable, "-m", "wolfbus", "play", "--game", "g", "--local"]
    with subprocess.Popen([*command, "tiny"], cwd=home, stderr=subprocess.DEVNULL) as player:
        wait_until(lambda: log.exists() and log.read_text().endswith("\n"))
        player.kill()
    server = json.loads(log.read_text())["pid"]
    wait_until(lambda: not _is_running(server))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # who nobody waits for may still have its place
    return not Path(f"/proc/{pid}/stat").exists() or ") Z " not in Path(f"/proc/{pid}/stat").read_text()


@pytest.mark.small_model
def test_a_real_small_model_plays_and_its_record_is_proven(tmp_path):
    done = wolfbus(tmp_path, "play", "--local", "smollm2", "--seed", "3", "--game", "g", "--plain")
    assert done.code == 0, done.err
    calls = prove(tmp_path / "runs" / "g.ndjson").of("model_call")
    assert calls
    assert {call.finish for call in calls} <= {"stop", "length"}
