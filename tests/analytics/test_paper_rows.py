"""Logs of the paper's own code, measured as they were recorded and as we read them."""

from __future__ import annotations

import pytest

from analytics.findings import metrics
from analytics.paper import rows_of_paper_log
from wolfbus.messages.content import Ballot
from wolfbus.reading import Read
from wolfbus.record.published_log import (
    PaperAction,
    PaperAnalysis,
    PaperDay,
    PaperLabel,
    PaperLog,
    PaperNight,
    PaperStatement,
    PaperVote,
)

ROLES = {"Joy": "Werewolf", "Bob": "Werewolf", "Sel": "Seer", "Ali": "Doctor", "Raj": "Villager", "Cyr": "Villager"}


EMPTY = PaperLabel(False, 0.5, 0.0, "none", reasoning="JSON parsing error")


def parsed(d, s=None, kind=None):
    """What the paper's code could parse, which our reading confirms."""
    label = PaperLabel(d, s, 0.8, kind or ("omission" if d else "none"))
    found = PaperLabel(d, s, 0.8, label.kind, reading="clean")
    return PaperAnalysis(label, False, "{}", found, None)


def filled(reread=None):
    """What it could not parse, with what our reading finds."""
    return PaperAnalysis(EMPTY, True, "```", reread, None)


def log(*statements, nights=(), days=(), winner=None, ended=False):
    return PaperLog("log", "run-1", "gpt-4o", tuple(ROLES), ROLES, statements, nights, days, winner, ended, 0)


def said(number, speaker, own, others, round_=1, phase="debate"):
    return PaperStatement(number, number, round_, phase, speaker, "words", own, others)


FENCED = PaperLabel(True, 0.9, 0.7, "fabrication", reading="extracted")


def test_as_recorded_a_filler_is_truthful_half_suspicious_and_moves_nothing():
    rows = rows_of_paper_log(log(said(1, "Joy", filled(FENCED), {"Raj": filled(FENCED)})), as_recorded=True)
    assert [(row.d, row.kind, row.outcome) for row in rows.statements] == [(False, "none", "defaulted")]
    (judgement,) = rows.judgements
    assert (judgement.d, judgement.s, judgement.c, judgement.outcome) == (False, 0.5, 0.0, "defaulted")
    assert rows.include_defaulted
    assert not rows.suspicion
    assert metrics([rows])["table3"]["overall"]["tn"] == 1
    assert metrics([rows])["labels"] == {"total": 2, "clean": 0, "repaired": 0, "defaulted": 2}


def test_read_again_a_filler_is_what_the_raw_reply_says():
    rows = rows_of_paper_log(log(said(1, "Joy", filled(FENCED), {"Raj": filled(FENCED)})), as_recorded=False)
    assert [(row.d, row.kind, row.reading) for row in rows.statements] == [(True, "fabrication", "extracted")]
    assert rows.suspicion == {("Raj", "Joy"): pytest.approx(0.7 * 0.9 + 0.3 * 0.5)}
    assert metrics([rows])["table3"]["overall"]["tp"] == 1
    assert metrics([rows])["labels"] == {"total": 2, "clean": 0, "repaired": 2, "defaulted": 0}


def test_read_again_what_is_lost_is_missing_and_what_lost_its_suspicion_is_a_flag_only():
    flag_only = PaperLabel(True, None, None, None, reading="repaired")
    no_flag = PaperLabel(None, 0.9, None, None, reading="repaired")
    others = {"Raj": filled(), "Cyr": filled(flag_only), "Sel": filled(no_flag), "Ali": parsed(False, 0.2)}
    rows = rows_of_paper_log(log(said(1, "Joy", filled(), others)), as_recorded=False)
    lost, flag, unflagged, whole = rows.judgements
    assert (lost.d, lost.s, lost.outcome) == (None, None, "defaulted")
    assert (flag.d, flag.s, flag.kind, flag.outcome) == (True, None, "unspecified", "accepted")
    assert (unflagged.d, unflagged.s, unflagged.outcome) == (None, None, "defaulted")
    assert (whole.d, whole.s, whole.reading) == (False, 0.2, "clean")
    assert set(rows.suspicion) == {("Ali", "Joy")}
    werewolf = metrics([rows])["table1"]["Werewolf"]
    assert [werewolf[name] for name in ("flagged", "flagged_n", "suspicion", "suspicion_n")] == [0.5, 1, 0.2, 1]


def test_what_the_papers_code_could_parse_is_clean_in_both_readings():
    for as_recorded in (True, False):
        rows = rows_of_paper_log(log(said(1, "Raj", parsed(True), {"Joy": parsed(False, 0.3)})), as_recorded)
        assert metrics([rows])["labels"]["clean"] == 2
        assert rows.suspicion["Joy", "Raj"] == pytest.approx(0.36)


def test_a_turn_without_an_analysis_is_a_statement_without_labels():
    rows = rows_of_paper_log(log(said(1, "Raj", None, {})), as_recorded=True)
    assert (rows.statements[0].d, rows.statements[0].outcome, rows.debate_turns) == (None, None, 1)
    assert metrics([rows])["labels"]["total"] == 0


def test_rounds_deaths_votes_and_the_end_are_copied_in_order():
    judged = {"Bob": parsed(True, 1.0), "Sel": parsed(True, 1.0)}
    played = log(
        said(1, "Joy", parsed(True), judged),
        said(2, "Joy", parsed(True), judged, phase="vote"),
        said(3, "Joy", parsed(True), {**judged, "Ali": parsed(True, 1.0)}, round_=2),
        nights=(
            PaperNight(1, (PaperAction("kill", "Joy", "Raj"), PaperAction("protect", "Ali", "Raj")), None),
            PaperNight(2, (PaperAction("kill", "Joy", "Sel"),), "Sel"),
        ),
        days=(
            PaperDay(1, (PaperVote("Joy", "Bob"), PaperVote("Sel", None), PaperVote("Ali", "Lucas")), "Bob", "Bob"),
            PaperDay(2, (PaperVote("Joy", "Bob"),), "Bob", None),
        ),
        winner="werewolves",
        ended=True,
    )
    rows = rows_of_paper_log(played, as_recorded=True)
    places = [(row.number, row.round, row.phase, row.turn) for row in rows.statements]
    assert places == [(1, 1, "debate", 1), (2, 1, "vote", 1), (3, 2, "debate", 1)]
    nights = [(night.target, night.protected, night.died) for night in rows.nights]
    assert nights == [("Raj", ("Raj",), None), ("Sel", (), "Sel")]
    assert [(death.round, death.seat, death.how) for death in rows.deaths] == [(1, "Bob", "exile"), (2, "Sel", "night")]
    assert [(vote.voter, vote.target, vote.outcome) for vote in rows.votes] == [
        ("Joy", "Bob", "accepted"),
        ("Sel", None, "defaulted"),
        ("Ali", None, "defaulted"),
        ("Joy", None, "defaulted"),
    ]
    assert set(rows.by_round[1]) == {("Bob", "Joy"), ("Sel", "Joy")}
    assert rows.suspicion["Bob", "Joy"] == rows.suspicion["Sel", "Joy"] == pytest.approx(1 - 0.5 * 0.3**2)
    assert set(rows.by_round[2]) == {("Ali", "Joy")}
    assert (rows.rounds, rows.night_count, rows.voting_rounds, rows.debate_turns) == (2, 2, 2, 2)
    assert (rows.finished, rows.winner, rows.reason) == (True, "werewolves", None)
    assert (rows.seats["Joy"].agent, rows.game) == ("gpt-4o", "run-1")


def test_a_vote_is_read_again_where_its_raw_reply_was_kept():
    named = PaperVote("Raj", None, Read(Ballot(target="Joy"), reading="extracted"))
    abstained = PaperVote("Cyr", "Lucas", Read(Ballot(target=None), reading="extracted"))
    played = log(days=(PaperDay(1, (named, abstained), None, None),))
    recorded, again = rows_of_paper_log(played, as_recorded=True), rows_of_paper_log(played, as_recorded=False)
    assert [(vote.target, vote.outcome) for vote in recorded.votes] == [(None, "defaulted")] * 2
    assert [(vote.target, vote.outcome) for vote in again.votes] == [("Joy", "accepted"), (None, "accepted")]
