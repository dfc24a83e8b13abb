"""Servers whose replies hold no text, in whole games: each reason has its words and its fault in the record, and no
question is paid more than twice.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.golden.running import wolfbus
from tests.llm.gateway.server import ScriptedServer, Step
from tests.llm.tables import tables
from tests.llm.whole.playing import obliging, play, played, scripted

TABLES: Any = tables(__file__)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.close()


@pytest.mark.parametrize("case", TABLES["choice"], ids=lambda case: case["name"])
def test_a_reply_without_text_is_a_default_that_says_why(tmp_path: Path, server: ScriptedServer, case: dict[str, Any]):
    server.plan(default=Step(json.dumps({"choices": [case["choice"]]}).encode()))
    spoilt = case["fault"] == "error"
    proof = played(tmp_path, "--give-up", "0", players="llm:m*1,scripted*7", url=server.url, spoilt=spoilt)
    seats = {call.seat for call in proof.of("model_call")}
    answers = [event for event in proof.of("answered") if event.seat in seats]
    assert {(event.outcome, event.fault) for event in answers} == {("defaulted", case["fault"])}
    assert all(case["says"] in event.note for event in answers)
    # the model learns within the first of them how much room there is
    asked = Counter(body["messages"][1]["content"] for body in server.bodies)
    assert max(asked.values()) <= 2
    assert {call.reask for call in proof.of("model_call")} == ({False, True} if case.get("asked_again") else {False})


def test_a_report_counts_the_prompts_whose_beginnings_a_server_dropped(tmp_path: Path) -> None:
    window, beyond = 1_300, 0

    def script(request: Any) -> Any:
        nonlocal beyond
        tokens = sum(len(message.content) for message in request.messages) // 4
        came = obliging(request)
        wordy = replace(came, text=(came.text or "").replace("word", "word " * 60), prompt_tokens=tokens)
        if request.model.model == "whole":
            return wordy
        beyond += tokens > window
        return replace(wordy, prompt_tokens=min(tokens, window))

    with scripted(script):
        done, record = play(
            tmp_path,
            players="llm:m*4,llm:whole*4",
            model='model = "m"\n[models.whole]\nendpoint = "here"',
            debate_turns=4,
        )
    assert done.code == 0, done.err
    cost = json.loads(wolfbus(tmp_path, "report", str(record), "--json").out)["cost"]
    ((agent, dropped),) = cost["dropped"].items()
    assert (agent, 4 <= dropped < beyond) == ("llm:m", True)
    line = f"WARNING: at least {dropped} of {cost['by_brain']['llm:m']['calls']} prompts of m lost their beginnings"
    assert line in wolfbus(tmp_path, "report", str(record)).out
