"""What comes from outside stays text on the page, in Markdown and in the terminal."""

from pathlib import Path

import pytest

from analytics.gather import StudySource
from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.report import sample
from wolfbus.files.document import (
    Bullets,
    Cell,
    Figure,
    Heading,
    LinkText,
    Listing,
    Row,
    Strong,
    TableBlock,
    TermList,
    columns,
    plain,
    warning,
    written,
)


@pytest.mark.parametrize(
    ("hostile", "expected"),
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
def test_what_hides_or_turns_text_around_is_made_visible(hostile: str, expected: str):
    assert written([plain(f"({hostile})")]) == f"({expected})\n"
    study = StudySource(Path("s"), {"name": f"({hostile})"})
    assert f"<h1><bdi>WOLF: ({expected})</bdi></h1>" in Report({}, gathered([], studies=(study,))).html()


def test_words_have_no_meaning_for_markdown():
    agents = ("a|b <script> `x` [l](u) *e* _u_ & \u202e\n# h", "llm:small")
    markdown = Report(sample.findings(agents), gathered(sample.games(1, agents))).markdown()
    assert r"a\|b \<script\> \`x\` \[l\](u) \*e\* \_u\_ &amp; \[U+202E\]" in markdown
    assert "\n# h" not in markdown


def test_every_block_has_a_form_in_the_terminal():
    table = TableBlock(
        *("t", "Who did what.", columns("Who", "How\u00a0much")),
        (Row(Cell("evil\x1b[2J|agent"), (Cell("47.9\u00a0%", "45.1–53.2\u00a0% · n 30", "50.0\u00a0%"),)),),
        ("A note.",),
    )
    text = written(
        [
            *(Heading("Heading", "h"), plain("Words, ", Strong("strong"), " and ", LinkText("linked", "#x"), ".")),
            *(warning("mind this."), Bullets((("one",), ("two",))), Figure("f", lambda: "<svg>", "Drawn.")),
            *(table, TableBlock("e", "Nothing", (), (), empty="There is nothing.")),
            *(Listing("  as it\n    stands"), TermList((("Term", ("what it means",)),))),
        ]
    )
    assert text == (
        "Heading\n\nWords, strong and linked.\n\nWARNING: mind this.\n\n- one\n- two\n\n"
        "Who did what.\n"
        f"  {'Who':<22}  {'How much':>39}\n"
        f"  {'─' * 63}\n"
        "  evil[U+001B][2J|agent  47.9 % (45.1–53.2 %; n 30; paper 50.0 %)\n"
        "  A note.\n\n"
        "Nothing: There is nothing.\n\n  as it\n    stands\n\nTerm: what it means\n"
    )
