"""The share of prompt text that a prefix cache could serve."""

from __future__ import annotations

from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.prompt_text import prefix_share
from tests.llm.prompts.calls import Calls, whole
from tests.llm.prompts.games import play


def test_the_share_counts_beginnings_seen_before():
    assert prefix_share(["abcd", "abxy", "abxz", "q"]) == pytest.approx((2 + 3) / 13)
    assert prefix_share(["same", "same"]) == 0.5
    assert prefix_share([]) is None
    assert prefix_share(["", ""]) is None


@given(st.lists(st.text(alphabet="ab", max_size=8), max_size=12))
def test_the_share_is_that_of_comparing_with_every_earlier_prompt(prompts):
    cached = sum(
        max((common(prompt, other) for other in prompts[:place]), default=0) for place, prompt in enumerate(prompts)
    )
    total = sum(map(len, prompts))
    assert prefix_share(prompts) == (cached / total if total else None)


def common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def test_most_of_a_games_prompt_text_has_been_sent_before():
    calls = Calls()
    play(calls, missing=0)
    share = prefix_share(map(whole, calls.prompts))
    assert share is not None
    assert share > 0.91
