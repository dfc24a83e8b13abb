"""The index: which statements are in it, and which a number means."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from analytics.findings import tables_of
from analytics.report.context import Selection
from analytics.report.entries import Matching, chosen, indexed_game
from analytics.report.html import Index, selections_of
from analytics.report.report import ORDER
from tests.report import sample
from wolfbus.vocabulary import ROLES


def matches(entry, wanted):
    """Whether a statement is selected, by a look at every one of its judgements."""
    row = entry.row
    own = {
        "role": row.role, "agent": entry.agent, "said": entry.said, "kind": row.kind,
        "round": row.round, "phase": row.phase, "game": entry.game,
    }  # fmt: skip
    if any(getattr(wanted, name) not in {None, value} for name, value in own.items()):
        return False
    if wanted.truth is not None and wanted.truth != entry.truth:
        return wanted.truth == "checkable" and entry.truth != "none"
    meant = {
        "flagged": {"tp", "fp", "flag"},
        "scored": {"tp", "fp", "tn", "fn"},
        "judged": {"tp", "fp", "tn", "fn", "flag", "pass"},
    }
    codes = meant.get(wanted.judged or "judged", {wanted.judged})
    return (wanted.observer is None and wanted.by is None and wanted.judged is None) or any(
        each.judged in codes and wanted.observer in {None, each.row.observer_role} and wanted.by in {None, each.by}
        for each in entry.judgements
    )


@pytest.fixture(scope="module")
def played():
    games = sample.games(3)
    gathered = sample.gathered(games)
    codes = {agent: place for place, agent in enumerate(gathered.columns.agents)}
    made = [indexed_game(place, rows, gathered.files[place - 1], codes) for place, rows in enumerate(games, 1)]
    return gathered, [entry for game in made for entry in game.entries], made


def test_links_of_counts_mean_as_many_statements(played):
    gathered, entries, _ = played
    found = tables_of(gathered)
    wanted = [
        *((Selection(role=role), row["statements"]) for role, row in found["table1"].items() if role != "overall"),
        *((Selection(role=role, said="deceptive"), found["table1"][role]["deceptive"]) for role in ROLES),
        *((Selection(kind=kind), row["count"]) for kind, row in found["table5"].items() if kind != "overall"),
    ]
    for selection, count in wanted:
        assert sum(matches(entry, selection) for entry in entries) == count
    for role, name in itertools.product(ROLES, ("tp", "tn", "fp", "fn")):
        judgements = (each for entry in entries for each in entry.judgements)
        assert (
            sum((each.judged, each.row.observer_role) == (name, role) for each in judgements)
            == (found["table3"][role][name])
        )
    for code, agent in enumerate(gathered.columns.agents):
        assert {entry.row.agent for entry in entries if matches(entry, Selection(agent=code))} == {agent}


def test_every_link_of_the_page_means_what_a_look_at_each_statement_finds(played):
    gathered, entries, _ = played
    truths = ("true", "lie", "mistake", "none")
    entries = [replace(entry, truth=truths[place % 4]) for place, entry in enumerate(entries)]
    matching, findings, context = Matching(entries), sample.findings(), sample.context(gathered)
    linked = set(selections_of(made(findings, context) for made in ORDER))
    several = {
        Selection(role="Werewolf", said="deceptive", round=1, observer="Seer", by=0, judged="fn"),
        Selection(game=2, phase="vote", kind="omission", agent=1),
        Selection(by=1),
        Selection(observer="Doctor"),
        Selection(role="nobody"),
        Selection(),
    }
    assert Matching(()).count(Selection(judged="tp")) == 0
    assert len(linked) > 50
    for wanted in linked | several:
        found = [entry for entry in entries if matches(entry, wanted)]
        assert list(matching.find(wanted)) == found, wanted
        assert matching.count(wanted) == len(found)


def test_few_statements_are_all_there_and_of_many_the_same_whole_games(played, monkeypatch):
    gathered, entries, _ = played
    every = [note.path for note in gathered.files]
    assert chosen(gathered.columns, gathered.files) == every
    some = chosen(gathered.columns, gathered.files, len(entries) - 1)
    assert 0 < len(some) < len(every)
    assert chosen(gathered.columns, tuple(reversed(gathered.files)), len(entries) - 1) == some
    monkeypatch.setattr("analytics.report.entries.SAMPLED", len(entries) // 2)
    assert chosen(gathered.columns, gathered.files, len(entries)) == every
    assert 0 < len(chosen(gathered.columns, gathered.files, len(entries) - 1)) < 3


def test_an_index_that_grows_too_large_leaves_whole_games_out(played, monkeypatch):
    _, _, made = played
    monkeypatch.setattr("analytics.report.html.SIZE", 60_000)
    index = Index()
    kept = [index.add(game) for game in made]
    assert not all(kept)
    assert index.indexed(3, 99).games == sum(kept)


def test_a_selection_is_said_in_words():
    wanted = Selection(role="Werewolf", said="deceptive", truth="lie", round=2, observer="Seer", by=0, judged="fn")
    assert wanted.anchor == "statements?role=Werewolf&said=deceptive&truth=lie&round=2&observer=Seer&by=0&judged=fn"
    told = wanted.in_words(("llm:a",))
    assert "that are lies in round 2" in told
    assert "not flagged though labelled deceptive by a Seer of agent llm:a" in told


def test_a_hundred_talkative_games_keep_the_page_small(played):
    gathered, _, made = played
    index, context = Index(), sample.context(gathered)
    for place in range(1, 101):
        game = made[place % len(made)]
        entries = tuple(
            replace(entry, game=place, row=replace(entry.row, text="Ω & <b> " * 100)) for entry in game.entries
        )
        assert index.add(replace(game, place=place, entries=entries))
    selections = [Selection(role=role, said="deceptive") for role in ROLES]
    assert len(str(index.markup(context, selections)).encode()) < 12_000_000
