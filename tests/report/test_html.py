"""What comes from outside stays text."""

from __future__ import annotations

import pytest

from analytics.report.html import section_html
from wolfbus.document.blocks import Cell, LinkText, Listing, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import visible, words


def test_words_of_strangers_are_escaped_and_visible_wherever_they_stand():
    hostile = '"><script>\u202e'
    row = Row(Cell(hostile), (Cell(hostile, hostile, hostile, reason=hostile),))
    table = TableBlock("t", hostile, columns(hostile, hostile), (row,), (hostile,))
    made = section_html(Section("s", hostile, (plain(hostile, LinkText(hostile, hostile)), table, Listing(hostile))))
    assert "<script" not in made
    assert "\u202e" not in made
    assert made.count("&gt;&lt;script&gt;[U+202E]") == 14
    assert 'href="#&#34;&gt;' in made


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\u202eb", "a[U+202E]b"),
        ("a\x00\x1b[31m", "a[U+0000][U+001B][31m"),
        ("\u200b", "[U+200B]"),
        ("\ud800", "[U+D800]"),
        ("a\nb", "a[U+000A]b"),
        ("\u3164", "[U+3164]"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("Zoë 狼", "Zoë 狼"),
    ],
)
def test_what_hides_or_turns_text_around_is_made_visible(hostile: str, shown: str):
    assert visible(hostile) == shown


def test_lines_are_kept_where_they_are_asked_for():
    assert visible("a\n\tb\r", lines=True) == "a\n\tb[U+000D]"


def test_long_words_are_cut_and_the_rest_is_counted():
    assert words("x" * 1_500, 1_000).endswith("x… (500 more characters in the record)")
    assert words("short", 1_000) == "short"
