import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.game.driver import play
from tests.llm.tables import tables
from tests.messages import kinds, strategies
from tests.record import synthetic
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.messages.calls import ModelCall, PromptAddition
from wolfbus.messages.codec import EVENTS
from wolfbus.messages.events import (
    Answered,
    AnsweredAssessOther,
    AnsweredBid,
    AnyEvent,
    Dawn,
    Opened,
    Rejected,
    Stopped,
)
from wolfbus.record.digest import Digest, digest_of
from wolfbus.record.line import parse_line

GAME = synthetic.small_game()
DIGEST = digest_of(GAME)
LINES = synthetic.record(GAME)
few = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def with_(type_: type[Any], change: Callable[[Any], Any]) -> str:
    """The digest after changing every event of a type."""
    assert any(isinstance(event, type_) for event in GAME)
    return digest_of(change(event) if isinstance(event, type_) else event for event in GAME)


def opened_with(**fields: Any) -> str:
    return with_(Opened, lambda event: event.model_copy(update=fields))


def with_config(**fields: Any) -> str:
    return opened_with(config=synthetic.CONFIG.model_copy(update=fields))


def with_seats(change: Callable[[Any], Any]) -> str:
    return opened_with(seats=tuple(change(seat) for seat in GAME[0].seats))  # type: ignore[union-attr]


def test_the_digest_is_pinned_on_a_game_computed_by_hand() -> None:
    bid = AnsweredBid(batch=3, seat="Raj", outcome="accepted", reading="clean", content={"bid": 4}, thought="hm")
    lines = (
        '{"batch":3,"content":{"bid":4},"seat":"Raj","type":"answered"}\n'
        '{"batch":3,"outcome":"timed_out","seat":"Mia","type":"answered"}\n'
        '{"died":"Raj","round":1,"type":"dawn"}\n'
    )
    late = AnsweredBid(batch=3, seat="Mia", outcome="timed_out")
    assert digest_of([bid, late, Dawn(round=1, died="Raj")]) == hashlib.sha256(lines.encode()).hexdigest()


def test_it_is_the_same_of_events_read_back_whatever_their_times() -> None:
    for pace in (0.125, 5.0):
        assert digest_of(parse_line(line, 1).event for line in synthetic.record(GAME, pace=pace)) == DIGEST


SAME = {
    "game id": opened_with(game="another"),
    "version": opened_with(version="9.9"),
    "time of the start": opened_with(started=5.0),
    "agents": with_seats(lambda seat: seat.model_copy(update={"agent": "elsewhere"})),
    "absent grace": with_config(absent_grace=0.5),
    "memory": with_config(memory="full"),
    "deadlines": with_config(deadlines=Deadlines(bid=1.0)),
    "no rejections": digest_of(event for event in GAME if not isinstance(event, Rejected)),
    "other rejections": with_(Rejected, lambda event: event.model_copy(update={"note": "other"})),
    **{
        name: with_(Answered, lambda event, change=change: event.model_copy(update=change))
        for name, change in {
            "thoughts": {"thought": "other"},
            "raw texts": {"raw": "other"},
            "notes": {"note": "other"},
            "readings": {"reading": "reasked"},
        }.items()
    },
}


@pytest.mark.parametrize("what", SAME)
def test_what_may_differ_between_plays_does_not_count(what: str) -> None:
    assert SAME[what] == DIGEST


OTHER_RULES: dict[str, Any] = {
    "villagers": 3,
    "werewolves": 1,
    "seers": 0,
    "doctors": 2,
    "names": None,
    "roles": None,
    "max_statement": 500,
    "reveal_on_death": "role",
    "max_reply_bytes": 999,
    "strikes": 7,
    "protocol": "compact",
    "label": "both",
    "assess": "none",
}


@pytest.mark.parametrize(
    "field", sorted(set(GameConfig.model_fields) - {"deadlines", "absent_grace", "memory", "spoilt_above"})
)
def test_every_rule_counts(field: str) -> None:
    old = getattr(synthetic.CONFIG, field)
    another = {bool: lambda: not old, int: lambda: old + 1, float: lambda: old / 2}
    new = OTHER_RULES[field] if field in OTHER_RULES else another[type(old)]()
    assert with_config(**{field: new}) != DIGEST


@pytest.mark.parametrize(
    "change", [{"brain": "random"}, {"declines": ("bid",)}, {"name": "Another"}, {"role": "Villager"}], ids=str
)
def test_seats_count(change: dict[str, Any]) -> None:
    assert with_seats(lambda seat: seat.model_copy(update=change)) != DIGEST


def test_no_event_can_be_left_out_doubled_or_moved() -> None:
    for place, event in enumerate(GAME):
        aside = isinstance(event, Rejected)
        assert (digest_of(GAME[:place] + GAME[place + 1 :]) == DIGEST) is aside
        assert (digest_of([*GAME[:place], event, *GAME[place:]]) == DIGEST) is aside
        if place + 1 < len(GAME) and not aside and not isinstance(GAME[place + 1], Rejected):
            assert digest_of([*GAME[:place], GAME[place + 1], event, *GAME[place + 2 :]]) != DIGEST


@pytest.mark.parametrize(
    "fields", [{"batch": 99}, {"seat": "Nobody"}, {"outcome": "defaulted"}, {"content": None}, {"fault": "ambiguous"}],
    ids=str,
)  # fmt: skip
def test_what_became_of_an_answer_counts(fields: dict[str, Any]) -> None:
    assert with_(AnsweredAssessOther, lambda event: event.model_copy(update=fields)) != DIGEST


@pytest.mark.parametrize(
    "words", [{"suspicion": 0.81}, {"confidence": 0.2}, {"kind": "omission"}, {"reasoning": "else"}], ids=str
)
def test_every_word_of_an_answer_counts(words: dict[str, Any]) -> None:
    def changed(event: AnsweredAssessOther) -> AnsweredAssessOther:
        return event.model_copy(update={"content": event.content and event.content.model_copy(update=words)})

    assert with_(AnsweredAssessOther, changed) != DIGEST


@pytest.mark.parametrize(
    "model",
    [
        model
        for model in kinds.EVENTS
        if not issubclass(model, Answered | Rejected | PromptAddition | ModelCall | Opened | Stopped)
    ],
    ids=lambda model: model.__name__,
)
@few
@given(data=st.data())
def test_every_field_of_a_game_event_counts(model: type[AnyEvent], data: st.DataObject) -> None:
    one, other = data.draw(strategies.of(model)), data.draw(strategies.of(model))
    assert (digest_of([one]) == digest_of([other])) is (one == other)


class TestByLines:
    """The digest from the bytes of lines: it proves one that was noted."""

    @staticmethod
    def digest(lines: Iterable[bytes]) -> str:
        digest = Digest()
        for line in lines:
            event = EVENTS.validator.validate_json(line, extra="ignore")
            digest.feed_line(event, line.rstrip(b"\n"))
        return digest.hexdigest()

    @pytest.mark.parametrize("seed", ["", "a", "b", "c"])
    def test_of_lines_as_we_write_them_it_is_that_of_their_events(self, seed: str) -> None:
        events = play(seed=seed).events if seed else GAME
        assert self.digest(synthetic.record(events, pace=0.125)) == digest_of(events)

    @pytest.mark.parametrize(("old", "new"), tables(__file__)["rewritten"])
    def test_of_lines_written_otherwise_it_is_never_that_of_other_events(self, old: str, new: str) -> None:
        for number, line in enumerate(LINES[1:], 1):
            if old.encode() not in line:
                continue
            rewritten = line.replace(old.encode(), new.encode(), 1)
            lines = [*LINES[:number], rewritten, *LINES[number + 1 :]]
            try:
                events = [EVENTS.validator.validate_json(line, extra="ignore") for line in lines]
            except ValueError:
                continue
            assert self.digest(lines) != DIGEST or digest_of(events) == DIGEST
