"""What comes from outside stays text."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from analytics.report.html import joined, tag
from wolfbus.document.visible import visible, words


def test_children_and_attributes_are_escaped():
    made = tag("a", "<script>", Markup("<b>ours</b>"), href='"><img onerror=alert(1)>')
    assert str(made) == '<a href="&#34;&gt;&lt;img onerror=alert(1)&gt;">&lt;script&gt;<b>ours</b></a>'


def test_attributes_may_be_left_out_or_stand_alone():
    assert str(tag("input", hidden=True, value="", checked=None, data_x=0)) == '<input hidden value="" data-x="0">'


def test_nothing_is_joined_from_none():
    assert str(joined(["a", None, "<"], "&")) == "a&amp;&lt;"


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
