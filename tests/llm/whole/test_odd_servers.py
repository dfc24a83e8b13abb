"""Servers whose replies hold no text, in whole games: each reason has its words and its fault in the record, and no
question is paid more than twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm.gateway.server import ScriptedServer, Step
from tests.llm.tables import tables
from tests.llm.whole.playing import of, played

TABLES: Any = tables(__file__)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.close()


@pytest.mark.parametrize("case", TABLES["choice"], ids=lambda case: case["name"])
def test_a_reply_without_text_is_a_default_that_says_why(
    tmp_path: Path, server: ScriptedServer, case: dict[str, Any]
) -> None:
    server.plan(default=Step(json.dumps({"choices": [case["choice"]]}).encode()))
    proof = played(tmp_path, "--give-up", "0", players="llm:m*1,scripted*7", url=server.url)
    seats = {call.seat for call in of(proof, "model_call")}
    answers = [event for event in of(proof, "answered") if event.seat in seats]
    assert {(event.outcome, event.fault) for event in answers} == {("defaulted", case["fault"])}
    assert all(case["says"] in event.note for event in answers)
    # the model learns within the first of them how much room there is
    asked = Counter(body["messages"][1]["content"] for body in server.bodies)
    assert max(asked.values()) <= 2
    assert {call.reask for call in of(proof, "model_call")} == ({False, True} if case.get("asked_again") else {False})
