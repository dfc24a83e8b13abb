"""Markdown says what the page says, and nobody's words become markup in it."""

from __future__ import annotations

from analytics.report.report import Report
from tests.report import sample
from wolfbus.document.writers import escaped


def test_words_have_no_meaning_for_markdown():
    assert escaped("a|b <script> `x` [l](u) *e* _u_ & \u202e") == (
        r"a\|b \<script\> \`x\` \[l\](u) \*e\* \_u\_ &amp; \[U+202E\]"
    )


def test_all_tables_of_the_page_stand_in_the_markdown():
    gathered = sample.gathered(sample.games(2))
    told = Report(sample.findings(gathered), gathered).markdown()
    for table in ("Table 1.", "Table 2.", "Table 3.", "Table 4.", "Table 5.", "Figure 1's numbers", "Trend:"):
        assert f"**{table}" in told
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    heads = [line for line in told.splitlines() if line.startswith("| :---")]
    assert len(rows) > 2 * len(heads) > 40


def test_a_hostile_agent_breaks_no_table():
    agents = ("evil|agent\n# heading", "llm:small")
    gathered = sample.gathered(sample.games(1, agents))
    told = Report(sample.findings(gathered, agents), gathered).markdown()
    assert "evil\\|agent" in told
    assert "\n# heading" not in told
