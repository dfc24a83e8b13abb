"""BibTeX for the paper, the software, and the study."""

from __future__ import annotations

from pathlib import Path

from analytics.gather import StudySource
from analytics.report.report import Report
from tests.report import sample

MANIFEST = {
    "study": "study-0123abcd",
    "name": "Big & small {100 %}",
    "seed": "7",
    "wolfbus": "0.1.0",
    "created": "2026-11-21",
    "git": {"commit": "abc123", "dirty": True},
    "totals": {"ended": 98},
    "prompts": None,
}


def test_a_study_is_cited_with_version_commit_and_seed():
    gathered = sample.gathered(sample.games(1), studies=(StudySource(Path("s"), MANIFEST),))
    told = Report({}, gathered).bibtex()
    assert told.startswith("@misc{wolf2025,")
    assert "@misc{study-0123abcd," in told
    assert r"Big \& small \{100 \%\}" in told
    assert "98 games played to their end; seed 7; wolfbus 0.1.0; commit abc123 with changes" in told
    assert "year = {2026}" in told
    assert told.count("{") == told.count("}")


def test_games_of_no_study_are_cited_by_their_ids():
    first, second = (Report({}, sample.gathered(sample.games(n))).bibtex() for n in (1, 2))
    assert "@misc{wolfbus-games-" in first
    assert first != second
    assert "2 games of WOLF" in second


def test_entries_are_accepted_by_a_parser_of_braces_whatever_a_study_is_called():
    hostile = {**MANIFEST, "study": "}{evil, @misc{", "name": "}}@string{x}\u202e\n\\end"}
    told = Report({}, sample.gathered([], studies=(StudySource(Path("s"), hostile),))).bibtex()
    assert "@misc{--evil---misc-," in told
    assert r"\}\}@string\{x\}[U+202E][U+000A]\textbackslash{}end" in told
