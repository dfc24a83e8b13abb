"""What a model wrote is shown as words and obeyed as nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli_views.games import HOSTILE
from wolfbus.printable import printable, spoken


def is_harmless(text: str) -> bool:
    return all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_becomes_one_short_harmless_line(text: str):
    shown = printable(text, 600)
    assert is_harmless(shown)
    assert len(shown) <= 600


@given(st.text(st.characters(), max_size=400), st.integers(2, 100))
def test_any_text_becomes_one_short_harmless_line(text: str, limit: int):
    shown = printable(text, limit)
    assert is_harmless(shown)
    assert len(shown) <= limit


def test_whole_escape_sequences_go_and_not_only_their_first_character():
    assert printable("a\x1b[31mb\x1b[0m \x1b]0;title\x07c \x1b]8;;http://h\x1b\\d\x1b(0e\x9b1mf") == "ab c def"


def test_ordinary_words_of_any_language_stay_as_they_are():
    for words in ("Zoë said: “no” – why?", "漢字 and кириллица", "e\u0301 ở tiếng Việt", "2 < 3 & [not markup]"):
        assert printable(words) == words


def test_lines_and_tabs_become_single_blanks():
    assert printable("one\r\n\ttwo\u2028three") == "one two three"


def test_what_is_cut_off_ends_in_an_ellipsis():
    assert printable("x" * 50_000, 10) == "x" * 9 + "…"
    assert printable("x" * 10, 10) == "x" * 10


def test_a_statement_of_nothing_visible_says_so():
    assert spoken("\u200b\x1b[2J") == "(nothing that can be printed)"
