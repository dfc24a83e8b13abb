"""What a watcher is told of a service, and how the service is asked to stop."""

from __future__ import annotations

import http.client
import importlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading

import pytest

from wolfbus.cli import INTERRUPTED, run
from wolfbus.errors import ConfigError
from wolfbus.service.lifecycle import Health, Stopping, drain
from wolfbus.service.signals import Interrupts, Terminated

ANY = ("127.0.0.1", 0)
"""Any free port of this machine."""


def ask(port, path="/health", method="GET"):
    assert port is not None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_service_is_not_healthy_until_it_says_so():
    with Health(ANY) as health:
        status, body = ask(health.port)
        assert (status, json.loads(body)) == (503, {"state": "starting", "ok": False})
        health.set("playing", games=2, last=OSError("odd"))
        status, body = ask(health.port)
        assert (status, json.loads(body)) == (200, {"state": "playing", "ok": True, "games": 2, "last": "odd"})
        health.set("waiting for the bus", ok=False)
        assert ask(health.port)[0] == 503
        assert ask(health.port, "/health?probe", "HEAD") == (503, b"")
        assert ask(health.port, "/secrets")[0] == 404


def test_a_client_that_says_nothing_keeps_nobody_waiting():
    with Health(ANY) as health:
        health.set("playing")
        with socket.create_connection(("127.0.0.1", health.port)):
            assert ask(health.port)[0] == 200


def test_without_a_port_nothing_is_served_but_the_state_is_kept():
    with Health(None) as health:
        health.set("playing")
        assert (health.port, health.state, health.ok) == (None, "playing", True)


def test_a_port_in_use_is_told_in_one_line():
    with Health(ANY) as first, pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{first.port}: address already in use"):
        Health(("127.0.0.1", first.port)).__enter__()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_a_question_and_handlers_are_restored(number):
    before = signal.getsignal(number)
    with Stopping() as stopping:
        assert not stopping.wait(0)
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        assert stopping.wait(None)
        assert (stopping.requested, stopping.why) == (True, number.name)
    assert signal.getsignal(number) == before


def test_the_second_interrupt_does_not_wait_for_anything():
    with Stopping() as stopping:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.wait(60)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_wait_for_news_ends_in_time_however_many_signals_come():
    heard, over = set(), threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.add(number))
    here = threading.get_ident()

    def send() -> None:
        while not over.is_set():
            signal.pthread_kill(here, signal.SIGUSR1)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        assert [list(drain(queue.Queue(), 0.002)) for _ in range(100)] == [[]] * 100
    finally:
        over.set()
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    assert heard == {signal.SIGUSR1}


def test_what_is_held_back_is_heard_afterwards_and_so_is_whatever_comes_next():
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    through = []

    def sent_while_held(interrupts: Interrupts, *numbers: signal.Signals) -> None:
        with interrupts.held_back():
            for number in numbers:
                signal.raise_signal(number)
            through.append(numbers)

    both = (signal.SIGINT, signal.SIGTERM)
    try:
        with Interrupts() as interrupts:
            for numbers, heard in ((both, KeyboardInterrupt), ((signal.SIGTERM,), Terminated)):
                with pytest.raises(KeyboardInterrupt) as caught:
                    sent_while_held(interrupts, *numbers)
                assert caught.type is heard
            sent_while_held(interrupts)
            for number, heard in ((signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)):
                with pytest.raises(heard):
                    signal.raise_signal(number)
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert through == [both, (signal.SIGTERM,), ()]


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


def interrupted_in_a_class(_name: str) -> None:
    raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()


def interrupted_in_a_schema(_name: str) -> None:
    raise ValueError('Error building "model" validator:\n  KeyboardInterrupt: ')


@pytest.mark.parametrize("load", [interrupted_in_a_class, interrupted_in_a_schema])
def test_an_interrupt_that_comes_while_a_command_is_loaded_is_told_as_one(monkeypatch, capsys, load):
    monkeypatch.setattr(importlib, "import_module", load)
    assert run(["rules"]) == INTERRUPTED
    assert capsys.readouterr().err == "wolfbus: interrupted\n"
