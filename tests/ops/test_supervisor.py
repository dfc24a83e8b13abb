"""How a set of processes on one machine is run, and what is left of it: nothing."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S, wait_until
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.supervisor import Child, OutputPrinter, Program, RunOutcome, Supervisor

WAIT_S = PATIENCE_S


def sh(name, script, *, is_leader=False, muted=False):
    return Program(name, ("sh", "-c", script), {"GREETING": "hello"}, is_leader=is_leader, muted=muted)


def leader(script):
    return sh("moderator", script, is_leader=True)


class Run:
    """A supervised run: what was said, and how it ended."""

    def __init__(self, *programs, grace_s=WAIT_S, linger_s=0.2):
        self.lines: list[tuple[str, str]] = []
        self.stopping = Stopping()
        self.supervisor = Supervisor(programs, self._tell, self.stopping, grace_s=grace_s, linger_s=linger_s)

    def _tell(self, name, line):
        self.lines.append((name, line))

    def go(self):
        return self.supervisor.run()

    def of(self, name):
        return [line for who, line in self.lines if who == name]


def has_ended(pid):
    """Tell whether a process has ended; one that nobody has buried yet counts as ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def test_a_run_is_over_when_its_leaders_are_and_every_line_has_a_name():
    run = Run(
        leader('echo "$GREETING"; echo to stderr >&2; echo "no newline" | tr -d "\\n"'),
        sh("analytics", "echo a report; echo a log line >&2", is_leader=True, muted=True),
        sh("player-1", "exit 0"),
    )
    ended = run.go()
    assert ended == RunOutcome(codes={"moderator": 0, "analytics": 0, "player-1": 0})
    assert run.of("moderator") == ["hello", "to stderr", "no newline"]
    assert run.of("analytics") == ["a log line"]


@pytest.mark.parametrize(
    ("leader_script", "player", "reason"),
    [
        ("kill -9 $$", "exec sleep 60", "moderator was killed by SIGKILL"),
        ("exec sleep 60", "exit 2", "player-1 ended with exit code 2: it cannot run like this"),
        ("exec sleep 60", "exit 1", "player-1 ended with exit code 1"),
        (
            "exec sleep 60",
            "echo 'wolfbus: no \\033[31mseat' >&2; echo bye; exit 1",
            "player-1 ended with exit code 1 (no seat)",
        ),
        (
            "exec sleep 60",
            "echo 'wolfbus: no seat' >&2; exit 2",
            "player-1 ended with exit code 2: it cannot run like this (no seat)",
        ),
    ],
)
def test_the_first_that_fails_ends_the_run(leader_script, player, reason):
    ended = Run(leader(leader_script), sh("player-1", player)).go()
    assert ended.reason == reason
    assert -signal.SIGTERM in ended.codes.values()


def test_what_fails_is_named_although_the_leader_ends_for_want_of_it_before_it_is_looked_at_again(tmp_path):
    gone = tmp_path / "gone"
    run = Run(
        sh("redis", f"until [ -e {gone} ]; do sleep 0.05; done; exit 1"),
        leader(f"until [ -e {gone} ]; do sleep 0.05; done; exit 1"),
    )
    children = run.supervisor._children.values()
    redis = next(iter(children))
    look = redis.poll

    def looked_at_for_the_last_time():
        code = look()
        if not gone.exists():
            gone.touch()
            wait_until(lambda: all(has_ended(child._process.pid) for child in children))
        return code

    redis.poll = looked_at_for_the_last_time
    ended = run.go()
    assert (ended.reason, ended.codes) == ("redis ended with exit code 1", {"redis": 1, "moderator": 1})


def test_what_a_leader_reports_is_a_result_and_the_others_leave_by_themselves():
    run = Run(leader("exit 1"), sh("analytics", "exit 0", is_leader=True), sh("player-1", "exit 0"))
    assert run.go() == RunOutcome(codes={"moderator": 1, "analytics": 0, "player-1": 0})
    assert run.of("up") == []


def test_where_analytics_failed_before_the_house_closed_the_run_does_not_go_on_without_it():
    analytics = Program("analytics", ("sh", "-c", "exit 1"), is_leader=True, is_last=True)
    run = Run(leader("exec sleep 60"), analytics)
    assert run.go() == RunOutcome({"moderator": -signal.SIGTERM, "analytics": 1}, "analytics ended with exit code 1")
    assert run.of("up") == ["analytics ended with exit code 1; stopping everything"]


def test_what_analytics_reports_of_a_house_that_has_closed_is_a_result():
    analytics = Program("analytics", ("sh", "-c", "exit 1"), is_leader=True, is_last=True)
    run = Run(leader("exit 1"), analytics, linger_s=WAIT_S)
    assert run.go() == RunOutcome({"moderator": 1, "analytics": 1})


def test_after_a_player_failed_the_moderator_has_a_moment_to_close_the_house(tmp_path):
    told = tmp_path / "told"
    run = Run(
        leader(f"until [ -e {told} ]; do sleep 0.05; done; echo closes; exit 1"),
        sh("player-1", "exit 1"),
        linger_s=WAIT_S,
    )

    def tell(name, line):
        run.lines.append((name, line))
        if name == "up":
            told.touch()

    run.supervisor._tell = tell
    ended = run.go()
    assert (ended.reason, ended.codes["moderator"]) == ("player-1 ended with exit code 1", 1)
    assert run.of("moderator") == ["closes"]


def test_when_asked_everybody_is_asked_to_stop():
    run = Run(
        sh("player-1", "trap 'echo leaves; exit 0' TERM; echo there; while :; do sleep 0.05; done"),
        leader("trap 'echo hands over; exit 0' TERM; echo ready; while :; do sleep 0.05; done"),
    )
    waiting = {"player-1", "moderator"}

    def tell(name, line):
        run.lines.append((name, line))
        waiting.discard(name)
        if not waiting and not run.stopping.requested:
            run.stopping.ask("SIGTERM")

    run.supervisor._tell = tell
    ended = run.go()
    assert ended.interrupted
    assert ended.codes == {"moderator": 0, "player-1": 0}
    assert run.of("moderator") == ["ready", "hands over"]


def test_what_does_not_stop_is_killed_with_all_that_it_started():
    stubborn = "trap '' TERM; sleep 300 & echo $!; while :; do sleep 0.05; done"
    run = Run(sh("player-1", stubborn), leader("trap 'exit 0' TERM; echo ready; sleep 300 & wait"),
              grace_s=0.2)  # fmt: skip
    waiting = {"player-1", "moderator"}

    def tell(name, line):
        run.lines.append((name, line))
        waiting.discard(name)
        if not waiting:
            run.stopping.ask("SIGINT")

    run.supervisor._tell = tell
    run.go()
    assert "player-1 did not stop in 0.2 s and will be killed" in run.of("up")
    wait_until(lambda: has_ended(int(run.of("player-1")[0])))


def test_who_stays_behind_when_the_house_has_closed_is_sent_away():
    run = Run(leader("exit 0"), sh("player-1", "exec sleep 60"))
    ended = run.go()
    assert run.of("up") == ["player-1 did not leave with the house and will be stopped"]
    assert (ended.reason, ended.codes["player-1"]) == ("", -signal.SIGTERM)


def test_an_error_within_the_supervisor_leaves_no_process_behind():
    run = Run(leader("echo $$; exec sleep 300"))
    pids: list[int] = []

    def tell(_name, line):
        pids.append(int(line))
        raise KeyboardInterrupt

    run.supervisor._tell = tell
    with pytest.raises(KeyboardInterrupt):
        run.go()
    assert has_ended(pids[0])


def test_a_program_that_is_not_there_is_told_in_one_line():
    lines: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    child = Child(Program("odd", ("no-such-program-anywhere",)), lines)
    child.start()
    assert lines.get(timeout=WAIT_S) == ("odd", "no-such-program-anywhere cannot be started: no such file or directory")
    child.kill()


def test_lines_are_told_apart_by_name_and_cannot_steer_the_terminal(capsys):
    speak = OutputPrinter()
    speak("moderator", "night falls\x1b[2J")
    speak("player-1", "  | in brain.py")
    OutputPrinter(quiet=True)("moderator", "unheard")
    OutputPrinter(plain=True)("moderator", '{"event": 1}')
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["moderator │ night falls", "player-1  │   | in brain.py", '{"event": 1}']


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
def test_a_supervisor_that_is_killed_takes_its_processes_with_it():
    code = (
        "from wolfbus.service.supervisor import Child, Program\n"
        "import queue, time\n"
        "said = queue.SimpleQueue()\n"
        "Child(Program('x', ('sh', '-c', 'echo $$; exec sleep 300')), said).start()\n"
        "print(said.get(timeout=60)[1], flush=True)\n"
        "time.sleep(300)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as supervisor:
        pid = int(re.sub(r"\D", "", supervisor.stdout.readline()))
        assert not has_ended(pid)
        os.kill(supervisor.pid, signal.SIGKILL)
    wait_until(lambda: has_ended(pid))
