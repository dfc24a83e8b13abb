"""What the compose file and the image promise, as far as their text shows it."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from wolfbus.testing.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text()
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
OVERRIDES = sorted((ROOT / "docker").glob("*.override.yaml"))
PLAYERS = [f"player-{place}" for place in range(1, 9)]


def services(text: str) -> dict[str, str]:
    """Return the block of each service of a compose file that is indented by two."""
    block = re.split(r"^services:\n", text, flags=re.MULTILINE)[1]
    block = re.split(r"^\S", block, flags=re.MULTILINE)[0]
    parts = re.split(r"^  ([\w-]+):", block, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def lines_of(dockerfile: str) -> list[str]:
    """Return the instructions of a Dockerfile, each on one line."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE))
    return [line for line in joined.splitlines() if line.strip()]


def test_a_plain_up_starts_redis_a_moderator_analytics_and_eight_players_or_some_that_are_alike():
    assert sorted(services(COMPOSE)) == sorted(["redis", "moderator", "analytics", *PLAYERS, "player", "view"])
    alike = services(COMPOSE)["player"]
    assert "scale: 0\n" in alike
    assert "--name" not in alike, "two of one name are one agent"
    assert "${WOLFBUS_SEATS_EACH:-2}" in alike
    assert 'profiles: ["view"]' in services(COMPOSE)["view"], "it stays, so nobody gets it unasked"
    scaled = services((ROOT / "docker" / "scale.override.yaml").read_text())
    assert sorted(scaled) == PLAYERS, "each has a profile that nobody asks for"
    assert all(block.strip() == "*each-seat" for block in scaled.values())


def test_every_service_knows_the_machine_around_it_by_name():
    assert 'extra_hosts: ["host.docker.internal:host-gateway"]' in COMPOSE.split("services:")[0]


def test_every_player_has_its_own_name_place_and_brain():
    blocks = services(COMPOSE)
    for place, name in enumerate(PLAYERS, start=1):
        assert f'["--name", "{name}", "--place", "{place}"]' in blocks[name]
        assert f"${{WOLFBUS_BRAIN_{place}:-}}" in blocks[name]


def test_every_player_offers_a_seat_in_each_game_under_way():
    moderator = services(COMPOSE)["moderator"]
    offered = re.search(r'^x-seat:.*\n(?:  .*\n)*  WOLFBUS_PLAYER_SEATS: "(.*)"\n', COMPOSE, flags=re.MULTILINE)
    assert offered is not None
    assert f'"--at-once", "{offered[1]}"' in moderator
    assert all("--seats" not in services(COMPOSE)[name] for name in PLAYERS), "an option goes before the variable"


def test_redis_persists_says_when_it_is_ready_and_nothing_is_to_be_reached_from_outside():
    redis = services(COMPOSE)["redis"]
    assert all(words in redis for words in ('"--appendonly", "yes"', "redis:/data", "healthcheck:"))
    assert "ports:" not in redis
    assert "condition: service_healthy" in COMPOSE
    files = [ROOT / "compose.yaml", *OVERRIDES]
    published = [port for path in files for port in re.findall(r"ports: \[(.*)\]", path.read_text())]
    assert len(published) > 1
    assert all(port.startswith('"127.0.0.1:') for port in published)


def test_overrides_name_only_services_that_there_are():
    assert OVERRIDES
    for path in OVERRIDES:
        assert set(services(path.read_text())) <= set(services(COMPOSE))


def test_no_secret_stands_in_a_file_and_only_players_are_given_keys():
    for path in (ROOT / "compose.yaml", ROOT / ".env.example", *(ROOT / "docker").iterdir()):
        assert not re.search(r"(?i)(api_key|password|secret|token)\w*\s*[=:][ \t]*[^\s#]", path.read_text()), path
    assert COMPOSE.count("API_KEY") == 1
    assert re.search(r"^x-seat:.*\n(  .*\n)*  OPENAI_API_KEY:\n", COMPOSE, flags=re.MULTILINE)


def test_every_setting_that_compose_reads_is_explained():
    explained = (ROOT / ".env.example").read_text()
    read = set(re.findall(r"(?<!\$)\$\{(\w+)", COMPOSE + "".join(path.read_text() for path in OVERRIDES)))
    for name in read - {f"WOLFBUS_BRAIN_{place}" for place in range(1, 8)}:
        assert name in explained, name


def test_the_image_is_built_in_one_stage_and_runs_in_another_without_root():
    lines = lines_of(DOCKERFILE)
    bases = [place for place, line in enumerate(lines) if line.startswith("FROM ")]
    assert len(bases) == 2
    final = lines[bases[1] :]
    assert all("slim" in lines[place] for place in bases)
    assert not any(re.search(r"\b(pip|apt-get|gcc)\b", line) for line in final), "what builds stays behind"
    assert [line for line in final if line.startswith("USER ")] == ["USER wolf"]
    assert 'ENTRYPOINT ["wolfbus"]' in final
    assert "--network" not in DOCKERFILE
    assert "<<" not in DOCKERFILE, "an engine without BuildKit must do"


def test_only_named_files_are_sent_to_the_engine():
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    allowed = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    copied = {word for line in lines_of(DOCKERFILE) if line.startswith("COPY") and "--from" not in line
              for word in line.split()[1:-1]}  # fmt: skip
    assert copied == allowed


@pytest.mark.parametrize("script", ["keep", "healthy", "as-owner", "last-out"])
def test_scripts_of_the_image_are_executable_and_parse(script):
    path = ROOT / "docker" / script
    assert path.stat().st_mode & stat.S_IXUSR
    shell = path.read_text().splitlines()[0].removeprefix("#!")
    assert subprocess.run([shell, "-n", path], check=False).returncode == 0


def keep(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # without the pause between a death and the next start
    words = ["sh", "-c", "sleep() { :; }; . docker/keep", "keep", "sh", "-c", script]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **environment})  # fmt: skip


def test_a_killed_service_is_started_again_or_given_up_and_its_exit_code_is_the_container_s(tmp_path):
    mark = tmp_path / "mark"
    done = keep(f"[ -e {mark} ] && exit 1; touch {mark}; kill -9 $$")
    assert (done.returncode, done.stderr.count("starting it again")) == (1, 1)
    done = keep("echo on; kill -9 $$")
    assert (done.returncode, done.stdout.count("on")) == (137, 6)
    done = keep("echo first; exit 3", KEEP_UNTIL="echo then")
    assert (done.returncode, done.stdout.split()) == (3, ["first", "then"])
    done = keep("exit 2", KEEP_UNTIL="echo then")
    assert (done.returncode, done.stdout) == (2, ""), "a service that was called wrongly has begun nothing"


def test_redis_stops_when_the_last_one_is_out_and_not_before():
    with RedisServer() as redis, contextlib.ExitStack() as stack:
        somebody = stack.enter_context(socket.create_connection(("127.0.0.1", redis.port)))
        words = ["bash", str(ROOT / "docker" / "last-out"), "127.0.0.1", str(redis.port)]
        leaving = stack.enter_context(subprocess.Popen(words))
        calls = 0
        while f"cmdstat_info:calls={calls}," in redis.command("INFO", "commandstats").decode() or not calls:
            calls += 1  # by us: one call more stands there than we made once it has asked too
            assert leaving.poll() is None
        somebody.sendall(b"PING\r\n")
        assert somebody.recv(64) == b"+PONG\r\n"
        somebody.close()
        assert leaving.wait(60) == 0
        assert redis._process is not None
        assert redis._process.wait(60) == 0


def test_a_stop_is_passed_on_and_waited_for():
    service = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done"
    words = ["sh", ROOT / "docker" / "keep", "sh", "-c", service]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            os.kill(process.pid, 15)
            rest, _ = process.communicate(timeout=60)
        except BaseException:
            os.killpg(process.pid, 9)
            raise
    assert (rest, process.returncode) == ("bye\n", 0)
