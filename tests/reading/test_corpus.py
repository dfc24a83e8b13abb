from __future__ import annotations

import pytest

from tests.reading.corpus import CORPUS, Ugly
from wolfbus.reading import Question, read


@pytest.mark.parametrize("ugly", CORPUS, ids=lambda ugly: f"{ugly.kind}: {ugly.name}")
def test_an_ugly_reply_is_read_as_it_should_be(ugly: Ugly) -> None:
    got = read(ugly.text, Question(ugly.kind, legal=ugly.legal, names=ugly.names))

    assert (got.content, got.reading, got.fault) == (ugly.content, ugly.rung, ugly.fault), got.note
    if ugly.thought is not None:
        assert got.thought == ugly.thought

    # a note says in one line what is wrong, and only then
    if got.content is not None:
        assert got.note is None
    else:
        assert got.note is not None
        assert 0 < len(got.note) <= 200
        assert "\n" not in got.note
