from __future__ import annotations

import pytest

from tests.reading.corpus import CORPUS, Ugly
from wolfbus.reading import Question, Read, read


@pytest.mark.parametrize("ugly", CORPUS, ids=lambda ugly: f"{ugly.kind}: {ugly.name}")
def test_an_ugly_reply_is_read_as_it_should_be(ugly: Ugly) -> None:
    got = read(ugly.text, Question(ugly.kind, legal=ugly.legal, names=ugly.names))

    assert (got.content, got.reading, got.fault) == (ugly.content, ugly.rung, ugly.fault), got.note
    if ugly.thought is not None:
        assert got.thought == ugly.thought


@pytest.mark.parametrize("ugly", CORPUS, ids=lambda ugly: f"{ugly.kind}: {ugly.name}")
def test_a_note_says_in_one_line_what_is_wrong_and_only_then(ugly: Ugly) -> None:
    got = read(ugly.text, Question(ugly.kind, legal=ugly.legal, names=ugly.names))

    if got.content is not None:
        assert got.note is None
    else:
        assert got.note is not None
        assert 0 < len(got.note) <= 200
        assert "\n" not in got.note


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(CORPUS) >= 150
    assert len({(ugly.kind, ugly.name) for ugly in CORPUS}) == len(CORPUS)


def test_a_note_can_be_sent_back_to_the_model() -> None:
    assert read('{"bid": 12}', Question("bid")) == Read(fault="illegal", note='"bid" 12 is outside 0 to 10')
    assert read('{"bid": 12}', Question("bid", bid_max=20)).reading == "clean"
    assert read('{"deceptive": 1', Question("assess_own")).note == 'the reply was cut off in "deceptive"'
