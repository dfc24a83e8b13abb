"""How a set of processes on one machine is kept going, and what is left of it: nothing."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from wolfbus.service.lifecycle import Stopping
from wolfbus.service.supervisor import Child, OutputPrinter, Program, RunOutcome, Supervisor

WAIT_S = 10


def sh(name, script, *, is_leader=False, is_base=False, muted=False):
    return Program(name, ("sh", "-c", script), {"GREETING": "hello"}, is_leader=is_leader, is_base=is_base, muted=muted)


def leader(script):
    return sh("moderator", script, is_leader=True)


class Run:
    """A supervised run: what was said, and how it ended."""

    def __init__(self, *programs, done=True, grace_s=WAIT_S, pause_s=0.0):
        self.lines: list[tuple[str, str]] = []
        self.stopping = Stopping()
        self.done = done
        self.ask_after: str | None = None
        self.supervisor = Supervisor(
            programs, self._tell, self.stopping, lambda: self.done, (pause_s, 0.0), grace_s=grace_s, linger_s=0.2
        )

    def _tell(self, name, line):
        self.lines.append((name, line))
        if line == self.ask_after:
            self.stopping.ask("SIGTERM")

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


def wait_until_gone(pid):
    """Wait for a process that is no child of ours."""
    ended = threading.Event()
    for _ in range(WAIT_S * 100):
        if has_ended(pid):
            return
        ended.wait(0.01)
    pytest.fail(f"process {pid} is still there")


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


def test_what_dies_before_its_work_is_done_is_started_again(tmp_path):
    mark = tmp_path / "mark"
    run = Run(leader(f"if [ -e {mark} ]; then echo on; exit 0; fi; touch {mark}; kill -9 $$"), done=False)
    run.supervisor._finished = lambda: "on" in run.of("moderator")
    assert run.go() == RunOutcome(codes={"moderator": 0}, restarts={"moderator": 1})
    assert run.of("up") == ["moderator was killed by SIGKILL; starting it again in 0 s"]
    # even an exit without a fault is no end while the house is open
    run = Run(leader("echo here"), done=False)
    run.supervisor._finished = lambda: len(run.of("moderator")) == 2
    assert run.go().restarts == {"moderator": 1}
    # a failed game is the end of the work and no accident
    assert Run(leader("exit 1")).go() == RunOutcome(codes={"moderator": 1})


def test_what_the_others_rest_on_is_started_again_before_it_is_asked_whether_they_were_to_end(tmp_path):
    was_running: list[bool] = []
    run = Run(
        sh("redis", f"echo $$ > {tmp_path}/pid; exec sleep 60", is_base=True),
        leader(f"until [ -s {tmp_path}/pid ]; do :; done; kill -9 $(cat {tmp_path}/pid)"),
        pause_s=0.2,
    )
    run.supervisor._finished = lambda: was_running.append(run.supervisor._children["redis"].running) or True
    assert run.go() == RunOutcome(codes={"moderator": 0}, restarts={"redis": 1})
    assert was_running == [True]


@pytest.mark.parametrize(
    ("leader_script", "player", "reason", "restarts"),
    [
        ("exit 1", "exec sleep 60", "moderator ended with exit code 1; it was started 3 times and is given up", True),
        ("exec sleep 60", "exit 2", "player-1 ended with exit code 2: it cannot run like this", False),
    ],
)
def test_what_dies_again_and_again_or_was_started_wrongly_is_given_up_and_takes_all_with_it(
    leader_script, player, reason, restarts
):
    ended = Run(leader(leader_script), sh("player-1", player), done=False).go()
    assert ended.reason == reason
    assert bool(ended.restarts) == restarts
    assert -signal.SIGTERM in ended.codes.values()


def test_when_asked_everybody_is_asked_to_stop_and_what_the_others_rest_on_goes_last():
    run = Run(
        sh("redis", "trap 'echo redis stops; exit 0' TERM; while :; do sleep 0.05; done", is_base=True),
        leader("trap 'echo hands over; exit 0' TERM; echo ready; while :; do sleep 0.05; done"),
    )
    run.ask_after = "ready"
    ended = run.go()
    assert ended.interrupted
    assert ended.codes == {"moderator": 0}
    assert run.of("moderator") == ["ready", "hands over"]
    assert run.of("redis") == [], "it has nothing to finish, and its data go away"


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
    wait_until_gone(int(run.of("player-1")[0]))


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
        "print(said.get(timeout=10)[1], flush=True)\n"
        "time.sleep(300)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as supervisor:
        pid = int(re.sub(r"\D", "", supervisor.stdout.readline()))
        assert not has_ended(pid)
        os.kill(supervisor.pid, signal.SIGKILL)
    wait_until_gone(pid)
