"""An agent written from the document alone, on a bus that lost data."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.parts import DAWN, HOUSE, SAID, Moderator, ask, catch_up
from tests.outside.smallest_agent import SmallestAgent
from tests.outside.test_whole_games import EXAMPLES, node_modules
from wolfbus.bus import Entry, open_bus, streams
from wolfbus.messages.codec import encode
from wolfbus.messages.house import Goodbye, RollCall
from wolfbus.testing.redis_server import RedisServer

__all__ = ["node_modules"]


@pytest.fixture(params=["python", "javascript"])
def agent(request: pytest.FixtureRequest, redis_url: str) -> Iterator[str]:
    """Run an agent; return its name."""
    if request.param == "python":
        # it stays until a goodbye, and the server of the tests goes after it
        threading.Thread(target=SmallestAgent(redis_url, HOUSE, "tiny").run, daemon=True).start()
        yield "tiny"
        with contextlib.closing(open_bus(redis_url)) as bus:
            body = encode(Goodbye(reason="the test is over"))
            bus.append(streams.inbox(HOUSE, "tiny"), [Entry(body, "goodbye", "moderator", id="9999999999999-0")])
        return
    modules: Path = request.getfixturevalue("node_modules")
    words = ["node", str(EXAMPLES / "bus_agent.js"), redis_url, HOUSE, "js", "2"]
    with subprocess.Popen(words, env={**os.environ, "NODE_PATH": str(modules)}, stdin=subprocess.DEVNULL) as process:
        yield "js"
        process.kill()


def test_a_catch_up_replaces_what_it_knew_and_a_mailbox_that_went_back_makes_it_join_anew(
    agent: str, redis_url: str, redis_server: RedisServer
) -> None:
    with Moderator(redis_url) as moderator:
        first = moderator.welcome(agent, again_s=0.05)
        moderator.deliver(agent, catch_up(ask("bid"), public=[DAWN, DAWN, DAWN]))
        assert moderator.hear(agent, "reply")["request"] == ask("bid").id
        moderator.deliver(agent, catch_up(ask("bid"), ask("assess_other"), public=[DAWN, SAID]))
        kinds = [moderator.hear(agent, "reply")["kind"] for _ in range(2)]
        assert kinds == ["bid", "assess_other"]
        redis_server.command("DEL", streams.inbox(HOUSE, agent))
        moderator.tell(agent, RollCall())
        anew = moderator.hear_again(agent, first["instance"])
        assert anew["seen"] == moderator.bus.last_id(streams.inbox(HOUSE, agent))
        moderator.deliver(agent, catch_up(ask("vote")))
        assert moderator.hear(agent, "reply")["kind"] == "vote"
