"""How scripted players play, what they call their statements, and what those of others do to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.scripted import ScriptedBrain
from tests.game.driver import Question, ask_of, opening
from tests.llm.tables import tables
from tests.players.table import CONFIGS, Hearers, Played, answer_of, play
from wolfbus.agent import Answer
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import Judgement, Label
from wolfbus.messages.events import Dawn, Statement

GAMES = 60
NAMES = ("Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo")
SENTENCES = tables(__file__)["what_a_sentence_of_hugo_s_does"]


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(f"play {seed}", CONFIGS["paper"]) for seed in range(GAMES)]


def test_both_sides_win_their_share(games: list[Played]):
    winners = Counter(game.ended.winner for game in games)
    assert winners["villagers"] >= GAMES // 8
    assert winners["werewolves"] >= GAMES // 8


def test_werewolves_seldom_vote_for_a_partner(games: list[Played]):
    votes = Counter[bool]()
    for game in games:
        for event in game.events:
            if event.type == "tally":
                for voter, target in event.votes.items():
                    if game.roles[voter] == "Werewolf" and target is not None:
                        votes[game.roles[target] == "Werewolf"] += 1
    assert 0 < votes[True] < votes[False] / 5


def test_villagers_vote_for_werewolves_more_often_than_chance(games: list[Played]):
    hits: list[float] = []
    expected: list[float] = []
    for game in games:
        for event in game.events:
            if event.type != "tally":
                continue
            wolves = sum(game.roles[name] == "Werewolf" for name in event.votes)
            for voter, target in event.votes.items():
                if game.roles[voter] != "Werewolf" and target is not None:
                    hits.append(game.roles[target] == "Werewolf")
                    expected.append(wolves / (len(event.votes) - 1))
    assert sum(hits) > 1.1 * sum(expected)


def test_suspicion_of_werewolves_ends_above_that_of_villagers(games: list[Played]):
    suspicions: dict[str, list[float]] = {"Werewolf": [], "Villager": []}
    for game in games:
        for observer, view in game.views.items():
            for (_, target), value in view.suspicion.pairs().items():
                if game.roles[observer] != "Werewolf" and game.roles[target] in suspicions:
                    suspicions[game.roles[target]].append(value)
    assert fmean(suspicions["Werewolf"]) > fmean(suspicions["Villager"]) + 0.02


def labelled(game: Played) -> list[tuple[Statement, Label]]:
    statements = {event.statement: event for event in game.events if event.type == "statement"}
    return [
        (statements[event.about], event.content)
        for event in game.events
        if event.type == "answered" and event.kind == "assess_own" and event.about and event.content
    ]


def test_a_lie_is_always_admitted_in_private_and_one_about_oneself_or_a_vision_called_a_fabrication(
    games: list[Played],
):
    lies = Counter[str]()
    for game in games:
        labels = {statement.statement: label for statement, label in labelled(game)}
        speakers = {event.statement: event.speaker for event in game.events if event.type == "statement"}
        for event in game.events:
            for scored in event.claims if event.type == "claim_truth" else ():
                if scored.verdict == "lie":
                    assert labels[event.statement].deceptive
                    lies[scored.claim.claim] += 1
                    if scored.claim.claim == "role" and scored.claim.target == speakers[event.statement]:
                        assert labels[event.statement].kind == "fabrication"
                        lies[scored.claim.role] += 1
    assert lies.total() > GAMES
    assert lies["Seer"]
    assert lies["Villager"]


def hearing(speaker: str, *texts: str, names: Sequence[str] = NAMES) -> dict[str, SeatView]:
    """What everybody knows after a speaker's statements, the only ones of the first day."""
    table = Hearers()
    table.tell(opening(GameConfig(names=tuple(names)), "1"))
    table.tell(Dawn(round=1, died=None))
    for number, text in enumerate(texts, 1):
        table.tell(Statement(statement=number, round=1, phase="debate", turn=number, speaker=speaker, text=text))
    return table.views


def answer(view: SeatView, kind: Kind, about: int | None = None) -> Answer:
    return answer_of(ScriptedBrain(), ask_of(Question(kind, view.me, 1, 3, about, None)), view)


@pytest.mark.parametrize(("text", "accused", "named", "trusted"), SENTENCES)
def test_whoever_is_accused_answers_and_who_now_vouches_for_whom_it_accused_is_caught_at_it(
    text: str, accused: list[str], named: list[str], trusted: list[str]
):
    thoughts = {name: answer(view, "bid").thought for name, view in hearing("Hugo", text).items()}
    assert [name for name in NAMES if thoughts[name] == "Hugo accuses me; answer."] == accused
    assert [name for name in NAMES if thoughts[name] == "Hugo spoke of me."] == named
    for name in NAMES[:4]:
        view = hearing("Hugo", f"I say that {name} is a Werewolf.", text)["Greta"]
        turned = answer(view, "assess_other", 2).content.reasoning == f"Changed its tune about {name}."
        assert turned == (name in trusted)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30), st.sampled_from([*NAMES, "I am the Seer", "vote for", "\ue000", "wolf", "I saw"])
        )
    ),
    st.sampled_from([NAMES, CONFIGS["odd names"].names]),
)
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_heard(parts: list[str], names: tuple[str, ...]):
    for name, view in hearing(names[0], " ".join(parts), names=names).items():
        kind = "assess_own" if name == names[0] else "assess_other"
        assert isinstance(answer(view, kind, 1).content, Label if kind == "assess_own" else Judgement)
        assert 0 <= answer(view, "bid").content.bid <= 10
