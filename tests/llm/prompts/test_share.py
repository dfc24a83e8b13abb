"""The share of prompt text that a prefix cache could serve."""

from __future__ import annotations

from benchmarks.prompt_text import prefix_share
from tests.llm.prompts.calls import Calls, whole
from tests.llm.prompts.games import play


def test_most_of_a_games_prompt_text_has_been_sent_before():
    calls = Calls()
    play(calls, missing=0)
    share = prefix_share(map(whole, calls.prompts))
    assert share is not None
    assert share > 0.91
