"""How a service is asked to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from wolfbus.service.lifecycle import Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_a_question_and_handlers_are_restored(number):
    before = signal.getsignal(number)
    with Stopping() as stopping:
        assert not stopping.wait(0)
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        assert stopping.wait(None)
        assert (stopping.asked, stopping.why) == (True, number.name)
    assert signal.getsignal(number) == before


def test_the_second_interrupt_does_not_wait_for_anything():
    with Stopping() as stopping:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.wait(10)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_command_that_is_through_ends_with_its_own_exit_code_whoever_asks_it_to_stop_by_then():
    code = (
        "import atexit, os, signal, sys, threading\n"
        "from wolfbus.service.lifecycle import Stopping\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, pid=os.getpid()): kill(pid, 15)\n"
        "sys.late = Late()\n"  # goes when Python has put back the system's own handlers
        "atexit.register(os.kill, os.getpid(), signal.SIGTERM)\n"
        "signal.signal(signal.SIGTERM, signal.default_int_handler)\n"  # as the command line does
        "with Stopping(): pass\n"
        "sys.exit(1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1


def test_a_handler_that_runs_while_its_own_thread_asks_does_not_lock_up():
    with Stopping() as stopping:
        for _ in range(200):
            os.kill(os.getpid(), signal.SIGTERM)
            stopping.ask("here")
            assert stopping.wait(0)
