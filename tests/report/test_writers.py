"""What comes from outside stays text on the page, in Markdown and in the terminal."""

from __future__ import annotations

import pytest

from analytics.report.html import section_html
from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.report import sample
from wolfbus.document.blocks import (
    Bullets,
    Cell,
    Figure,
    Heading,
    LinkText,
    Listing,
    Row,
    Section,
    Strong,
    TableBlock,
    TermList,
    columns,
    plain,
    warning,
)
from wolfbus.document.writers import escaped, written


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
    assert written([plain(f"({hostile})")]) == f"({shown})\n"
    assert f"({shown})" in section_html(Section("s", "S", (plain(f"({hostile})"),)))


def test_words_have_no_meaning_for_markdown():
    assert escaped("a|b <script> `x` [l](u) *e* _u_ & \u202e") == (
        r"a\|b \<script\> \`x\` \[l\](u) \*e\* \_u\_ &amp; \[U+202E\]"
    )
    agents = ("evil|agent\n# heading", "llm:small")
    told = Report(sample.findings(agents), gathered(sample.games(1, agents))).markdown()
    assert "evil\\|agent" in told
    assert "\n# heading" not in told


def test_every_block_has_a_form_in_the_terminal():
    table = TableBlock(
        *("t", "Who did what.", columns("Who", "How\u00a0much")),
        (Row(Cell("evil\x1b[2J|agent"), (Cell("47.9\u00a0%", "45.1–53.2\u00a0% · n 30", "50.0\u00a0%"),)),),
        ("A note.",),
    )
    shown = written(
        [
            *(Heading("Heading", "h"), plain("Words, ", Strong("strong"), " and ", LinkText("linked", "#x"), ".")),
            *(warning("mind this."), Bullets((("one",), ("two",))), Figure("f", lambda: "<svg>", "Drawn.")),
            *(table, TableBlock("e", "Nothing", (), (), empty="There is nothing.")),
            *(Listing("  as it\n    stands"), TermList((("Term", ("what it means",)),))),
        ]
    )
    assert shown == (
        "Heading\n\nWords, strong and linked.\n\nWARNING: mind this.\n\n- one\n- two\n\n"
        "Who did what.\n"
        f"  {'Who':<22}  {'How much':>39}\n"
        f"  {'─' * 63}\n"
        "  evil[U+001B][2J|agent  47.9 % (45.1–53.2 %; n 30; paper 50.0 %)\n"
        "  A note.\n\n"
        "Nothing: There is nothing.\n\n  as it\n    stands\n\nTerm: what it means\n"
    )
