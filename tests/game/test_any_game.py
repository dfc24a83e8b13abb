"""Whatever seats answer, every legal config gives a legal, finished game that re-execution confirms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.game.driver import Missing, Question, play, verify
from tests.record.synthetic import record
from wolfbus.errors import RecordError
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import draw
from wolfbus.messages.events import Ended
from wolfbus.record.digest import digest_of


@st.composite
def configs(draw_: st.DrawFn) -> GameConfig:
    wolves = draw_(st.integers(1, 6))
    first = draw_(st.booleans())
    least = max(wolves + (2 if first else 1), 5 - wolves)
    others = draw_(st.integers(least, 16 - wolves))
    seers = draw_(st.integers(0, min(3, others)))
    doctors = draw_(st.integers(0, min(3, others - seers)))
    switches = {
        name: draw_(st.booleans())
        for name in (
            "overlap", "vote_reasons", "self_vote", "doctor_self", "doctor_repeat", "kill_optional",
            "protect_optional", "inspect_optional",
        )
    }  # fmt: skip
    return GameConfig(
        villagers=others - seers - doctors,
        werewolves=wolves,
        seers=seers,
        doctors=doctors,
        first_night_kill=first,
        debate_turns=draw_(st.integers(0 if switches["vote_reasons"] else 1, 4)),
        whispers=draw_(st.integers(1, 3)),
        max_rounds=draw_(st.integers(1, 6)),
        mention_weight=draw_(st.integers(1, 3)),
        reveal_on_death=draw_(st.sampled_from(["none", "team", "role"])),
        strikes=draw_(st.integers(1, 4)),
        **switches,
    )


def sometimes_missing(share: int, seed: str):
    def answer(question: Question):
        place = f"{question.seat}|{question.kind}|{question.about}"
        if draw(seed, place, question.round, question.turn, 9) % 100 < share:
            outcome = ("timed_out", "defaulted")[draw(seed, place, question.round, question.turn, 8) % 2]
            return Missing(outcome, "illegal" if outcome == "defaulted" else None)
        return None

    return answer


@settings(max_examples=40, deadline=None)
@given(configs(), st.integers(0, 10**6), st.sampled_from([0, 10, 60, 100]))
def test_every_game_ends_legally_and_is_confirmed_by_re_execution(config, seed, missing):
    played = play(config, str(seed), sometimes_missing(missing, str(seed)))
    ended = played.ended
    living = [name for name in played.roles if name not in gone(played)]
    wolves = [name for name in living if played.roles[name] == "Werewolf"]
    if ended.winner == "villagers":
        assert not wolves
    elif ended.winner == "werewolves":
        assert len(wolves) >= len(living) - len(wolves)
    else:
        assert ended.rounds == config.max_rounds
        assert wolves
        assert len(wolves) < len(living) - len(wolves)
    verifier = verify(record(played.events))
    assert isinstance(verifier.ended, Ended)
    assert verifier.digest.hexdigest() == digest_of(played.events)


def gone(played) -> set[str]:
    left = {event.died for event in played.of("dawn")} | {event.seat for event in played.of("exile")}
    return left - {None}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 10**6), st.sampled_from(["drop", "swap", "double"]))
def test_a_resealed_record_with_another_course_is_refused(seed, place, how):
    # the hash chain is made anew, so only re-execution can find the edit
    events = list(play(GameConfig(max_rounds=2), str(seed)).events)
    at = 1 + place % (len(events) - 2)
    if how == "drop":
        del events[at]
    elif how == "double":
        events.insert(at, events[at])
    elif events[at] == events[at + 1]:
        return
    else:
        events[at], events[at + 1] = events[at + 1], events[at]
    with pytest.raises(RecordError) as caught:
        verify(record(events))
    assert caught.value.line is not None
    assert caught.value.line >= at + 1


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_a_deterministic_game_depends_on_its_seed_alone(seed):
    one, two = play(seed=str(seed)), play(seed=str(seed))
    assert one.events == two.events
    assert digest_of(play(seed=str(seed + 1)).events) != digest_of(one.events)
