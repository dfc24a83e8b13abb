"""What a watcher is told of a service."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from wolfbus.errors import ConfigError
from wolfbus.service.lifecycle import Health


def ask(port, path="/health", method="GET"):
    assert port is not None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_service_is_not_healthy_until_it_says_so():
    with Health(0) as health:
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
    with Health(("127.0.0.1", 0)) as health:
        health.set("playing")
        with socket.create_connection(("127.0.0.1", health.port)):
            assert ask(health.port)[0] == 200


def test_without_a_port_nothing_is_served_but_the_state_is_kept():
    with Health(None) as health:
        health.set("playing")
        assert (health.port, health.state, health.ok) == (None, "playing", True)


def test_a_port_in_use_is_told_in_one_line():
    with Health(0) as first, pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{first.port}: address already in use"):
        Health(first.port).__enter__()
