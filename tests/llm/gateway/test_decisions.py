"""What follows from an error of a server, over real HTTP: what an answer counts as, whether it is tried again, whether
its model halts; and how bodies and resets are written.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.llm.tables import tables
from wolfbus.errors import PlayerError

from .conftest import Asking, MakeGateway, model_at, question
from .server import ScriptedServer, Step, refuse, reply

TABLES: Any = tables(__file__)


def step_of(case: dict[str, Any]) -> Step:
    return Step(json.dumps(case["body"]).encode(), case.get("status", 200), case.get("headers", {}))


@pytest.mark.parametrize("case", TABLES["error"], ids=lambda case: case["name"])
def test_an_error_means_what_its_status_codes_and_words_say(
    make_gateway: MakeGateway, server: ScriptedServer, case: dict[str, Any]
) -> None:
    halted: list[Any] = []
    asking = make_gateway(fatal=halted.append)
    server.plan(default=step_of(case))
    came = asking.one(
        question(
            model_at(server, max_tokens=64, endpoint={"attempts": case.get("limit", 2)}), seconds=case.get("seconds", 5)
        )
    )
    assert (came.text or None, came.fault, came.halts) == (None, case["fault"], case.get("halts", False))
    assert (came.attempts, len(halted)) == (case.get("attempts", 1), came.halts)
    assert case["says"] in str(came.error)
    assert "key" not in str(came.error) or case.get("key", False)


def test_an_error_in_a_choice_is_tried_again_and_the_same_twice_is_enough(
    asking: Asking, server: ScriptedServer
) -> None:
    failed = {"choices": [{"error": {"code": 502, "message": "upstream"}, "message": {"content": ""}}]}
    unsaid = reply("", finish="error")
    server.plan(Step(json.dumps(failed).encode()), Step(), Step(unsaid), Step(unsaid))
    mended = asking.one(question(model_at(server), "a"))
    given_up = asking.one(question(model_at(server), "b"))
    assert (mended.text, mended.attempts) == ('{"bid": 1}', 2)
    assert (given_up.text, given_up.attempts, given_up.fault) == (None, 2, "error")
    assert "finish_reason error" in str(given_up.error)


def test_what_was_said_before_a_finish_of_error_is_no_reply(asking: Asking, server: ScriptedServer) -> None:
    half = Step(reply('{"bid": 7}', finish="error"))
    server.plan(half, Step(), half, half)
    mended = asking.one(question(model_at(server), "a"))
    given_up = asking.one(question(model_at(server), "b"))
    assert (mended.text, mended.attempts) == ('{"bid": 1}', 2)
    assert (given_up.text, given_up.attempts, given_up.fault) == (None, 2, "error")


def test_a_stream_that_an_error_breaks_off_is_no_whole_reply(asking: Asking, server: ScriptedServer) -> None:
    begun = 'data: {"choices": [{"delta": {"content": "{\\"bid\\": 1"}}]}\n\n'
    broken = begun + 'data: {"error": {"code": 502, "message": "upstream died"}}\n\ndata: [DONE]\n\n'
    server.plan(Step(broken.encode()), Step(), Step(broken.encode()), Step(broken.encode()))
    mended = asking.one(question(model_at(server), "a"))
    given_up = asking.one(question(model_at(server), "b"))
    assert (mended.text, mended.attempts) == ('{"bid": 1}', 2)
    assert (given_up.text, given_up.fault) == (None, "error")
    assert "502: upstream died" in str(given_up.error)


@pytest.mark.parametrize(("message", "bounds"), TABLES["room"]["said"])
def test_the_room_that_a_context_leaves_is_read_from_its_servers_words_or_tried(
    asking: Asking, server: ScriptedServer, message: str, bounds: list[int]
) -> None:
    server.plan(*[refuse(400, message)] * len(bounds))
    assert asking.one(question(model_at(server))).text
    assert [body["max_tokens"] for body in server.bodies] == [1024, *bounds]


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have this process's clock show the time of another zone than UTC."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
@pytest.mark.parametrize("case", TABLES["wait"], ids=lambda case: case["name"])
def test_a_server_is_left_alone_for_as_long_as_it_says_in_whatever_form(
    asking: Asking, server: ScriptedServer, case: dict[str, Any]
) -> None:
    epoch = time.time() + 100
    iso = (datetime.now(UTC) + timedelta(seconds=100)).isoformat()
    written = {"ISO": iso, "EPOCH": f"{epoch:.0f}", "EPOCH_MS": f"{1000 * epoch:.0f}"}
    written |= {"ISO_BARE": iso.removesuffix("+00:00"), "ASCTIME": time.asctime(time.gmtime(epoch))}
    headers = {name: written.get(value, value) for name, value in case.get("headers", {}).items()}
    server.plan(default=Step(json.dumps(case.get("body", {})).encode(), 429, headers))
    # too little time to wait that long, and enough for a reply from a busy machine
    error = str(asking.one(question(model_at(server), seconds=0.8 * case["seconds"])).error)
    seconds = float(error.partition("asks to wait for ")[2].partition(" s")[0])
    assert case["seconds"] - 2 <= seconds <= case["seconds"] + 0.1


@pytest.mark.parametrize("body", TABLES["streamed"], ids=lambda case: case["name"])
def test_bodies_that_stream_or_hold_invalid_bytes_are_read(
    asking: Asking, server: ScriptedServer, body: dict[str, Any]
) -> None:
    server.plan(Step(body["text"].encode("latin-1")))
    came = asking.one(question(model_at(server)))
    assert (came.text, came.attempts, came.error) == (body.get("reply", '{"bid": 7}'), 1, None)
    assert (came.finish, came.prompt_tokens, came.thought) == ("stop", body.get("tokens"), body.get("thought"))
    assert server.bodies[0]["stream"] is False


def test_a_probe_takes_nothing_empty_for_an_answer_and_waits_for_a_model_to_load(
    make_gateway: MakeGateway, server: ScriptedServer, other: ScriptedServer
) -> None:
    server.plan(default=Step(reply("")))
    with pytest.raises(PlayerError, match=r"does not answer: .*the reply is empty \(finish_reason stop\)"):
        make_gateway().gateway.probe([model_at(server)])
    assert len(server.bodies) == 2
    # a load that outlasts what is waited for is told with the setting
    other.plan(default=refuse(503, "Loading model"))
    waiting = model_at(other, timeouts={"probe": 0.2}, endpoint={"patience": 0.3})
    with pytest.raises(PlayerError, match=r"Loading model.* waited (?:0\.[5-9]|[1-9])[\d.]* s: a longer patience"):
        make_gateway().gateway.probe([waiting])
    # how often within that depends on the machine
    assert len(other.bodies) > 1
    # as the game's own requests wait, so does the first
    other.plan(*[refuse(503, "Loading model")] * len(other.bodies) * 2, Step(reply('{"mark": "kept"}')))
    make_gateway().gateway.probe([waiting], 30.0)


@pytest.mark.parametrize(
    ("timings", "speed"),
    [
        ({"prompt_per_second": 37.5, "predicted_per_second": 6, "prompt_n": 12}, (37.5, 6)),
        ({"prompt_per_second": "37.5", "predicted_per_second": 6}, None),
        ({"prompt_per_second": 0, "predicted_per_second": 6}, None),
        ({"prompt_per_second": 10**400, "predicted_per_second": 6}, None),
        ([37.5, 6], None),
    ],
)
def test_how_fast_a_server_says_that_it_is_is_known_from_the_first_small_question(
    make_gateway: MakeGateway, server: ScriptedServer, timings: Any, speed: Any
) -> None:
    server.plan(default=Step(json.dumps({**json.loads(reply('{"mark": "kept"}')), "timings": timings}).encode()))
    gateway, model = make_gateway().gateway, model_at(server)
    assert gateway.speed(model) is None
    gateway.probe([model])
    assert gateway.speed(model) == speed


def test_a_server_that_is_silent_with_a_form_is_asked_without(
    make_gateway: MakeGateway, server: ScriptedServer
) -> None:
    server.plan(Step(hang=True))
    asking = make_gateway()
    # the reply that comes has to be in time, however busy the machine is
    asking.gateway.probe([model_at(server, timeouts={"probe": 3.0}, endpoint={"patience": 0.1})])
    assert ["response_format" in body for body in server.bodies] == [True, False]
