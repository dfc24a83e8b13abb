"""`wolfbus.agent.Agent`: one's own player, served to a house."""

import asyncio
import copy
import runpy
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.agents.parts import (
    DAWN,
    ENDED,
    GAME,
    HOUSE,
    NAMES,
    SAID,
    SOON_S,
    Aside,
    Bidder,
    Moderator,
    Serve,
    ask,
    catch_up,
    grown,
    step,
)
from wolfbus.agent import Agent, Answer, serve
from wolfbus.errors import ConfigError
from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.knowledge.view import Memory, PublicKnowledge, SeatView
from wolfbus.messages.codec import plain
from wolfbus.messages.content import Choice, Judgement
from wolfbus.messages.house import Dropped, RollCall
from wolfbus.messages.requests import Ask, PublicFact

EXAMPLE = Path(__file__).parents[2] / "examples" / "bus_agent.py"


class Unspeakable(Exception):  # noqa: N818 - what it is
    def __str__(self) -> str:
        raise RecursionError


class Terse(Agent):
    """Plays in the shortest words there are; a plain function, a coroutine, failures wherever one may fail."""

    name = "terse"
    version = "3.1"

    def received(self, facts: object, private: object, /) -> None:
        raise LookupError("no ear")

    def close(self) -> None:
        raise SystemExit(3)

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        return 3

    async def vote(self, ask: Ask, view: SeatView, /) -> Answer:
        await asyncio.sleep(0)
        return Answer("Chloe", thought="I never liked her.")

    def speak(self, ask: Ask, view: SeatView, /) -> str:
        raise LookupError("no words")

    def inspect(self, ask: Ask, view: SeatView, /) -> Any:
        return 5

    def protect(self, ask: Ask, view: SeatView, /) -> str:
        return "\ud800"

    def kill(self, ask: Ask, view: SeatView, /) -> str:
        raise Unspeakable


def test_what_a_class_does_not_implement_it_declines(moderator: Moderator, serve: Serve) -> None:
    ann = serve(Terse, seats=4)
    join = moderator.welcome("ann")
    assert set(KINDS) - set(join["declines"]) == {"bid", "vote", "speak", "inspect", "protect", "kill"}
    assert (join["brain"], join["version"], join["seats"]) == ("outside:terse", "terse 3.1", 4)
    assert join["in_house"] is False
    moderator.goodbye("ann")
    assert ann.end() == "all games are played"


def test_plain_functions_and_coroutines_answer_and_failures_close_their_request_alone(moderator, serve, caplog):
    serve(Terse)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(*map(ask, ("speak", "bid", "inspect", "protect", "kill", "vote"))))
    spoke, bid, inspected, protected, killed, voted = (moderator.hear("ann", "reply") for _ in range(6))
    assert (spoke["fault"], spoke["note"]) == ("failed", "the brain failed: LookupError: no words")
    assert bid["content"] == {"bid": 3}
    assert inspected["fault"] == "failed"
    assert "inspect is answered with a name" in inspected["note"]
    assert protected["note"].startswith("the brain failed: ValueError: protect: target: Input should be a valid string")
    assert killed["note"] == "the brain failed: Unspeakable"
    assert (voted["content"], voted["thought"]) == ({"target": "Chloe"}, "I never liked her.")
    assert "the brain failed on speak: LookupError: no words" in caplog.text


class Scribbling(Agent):
    """Writes over whatever it is handed."""

    def bid(self, _ask: Ask, view: SeatView, /) -> int:
        view.statements.clear()  # type: ignore[attr-defined]
        return 1

    def speak(self, _ask: Ask, view: SeatView, /) -> str:
        return view.statements[1].text

    def vote(self, _ask: Ask, view: SeatView, /) -> None:
        view.private = None  # type: ignore[assignment]


def test_what_everybody_was_told_no_agent_can_change_but_in_a_copy(moderator, serve, caplog):
    serve(Scribbling)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid"), ask("speak")))
    bid = moderator.hear("ann", "reply")
    spoke = moderator.hear("ann", "reply")
    assert "TypeError: what everybody was told cannot be changed" in bid["note"]
    assert spoke["content"] == {"text": SAID.text}
    told = SeatView("Ada", knowledge=PublicKnowledge().after([SAID]))
    copied = copy.deepcopy(told)
    assert copied == told
    copied.statements.clear()
    assert told.statements == {1: SAID}


def test_an_agent_that_writes_over_its_view_keeps_nobody_waiting(moderator, serve, caplog):
    serve(Scribbling)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("vote")))
    assert moderator.hear("ann", "reply")["content"] == {}
    moderator.deliver("ann", step(ask("bid", 2)), step(ask("bid", 3)))
    for _ in range(2):
        assert "its view cannot be kept up, as where it is written over" in moderator.hear("ann", "reply")["note"]
    assert caplog.text.count("its view cannot be kept up") == 1


class Aborting(Agent):
    """Waits for work of its own, which is cancelled."""

    async def seated(self, view: SeatView, /) -> None:
        await self.vote(ask("vote"), view)

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        work: Future[int] = Future()
        work.cancel()
        return work.result()

    async def vote(self, ask: Ask, view: SeatView, /) -> None:
        work = asyncio.ensure_future(asyncio.sleep(SOON_S))
        work.cancel()
        await work


def test_an_agent_whose_own_work_is_cancelled_fails_on_those_requests_and_is_told(moderator, serve, caplog):
    serve(Aborting)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid"), ask("vote")))
    bid, vote = (moderator.hear("ann", "reply") for _ in range(2))
    assert [(reply["request"], reply["fault"]) for reply in (bid, vote)] == [
        (ask("bid").id, "failed"),
        (ask("vote").id, "failed"),
    ]
    assert bid["note"] == vote["note"] == "the brain failed: CancelledError"
    assert "the brain failed in seated" in caplog.text


class Bare(Agent):
    """Has nothing of what is looked for by these names: not even looking goes well."""

    lacks = frozenset({"bid", "vote", "heard"})

    def __getattribute__(self, name: str) -> Any:
        if name in type(self).lacks:
            raise LookupError(f"no {name} here")
        return super().__getattribute__(name)

    def heard(self, _news: Any, _view: SeatView, /) -> None:
        pass

    def speak(self, _ask: Ask, _view: SeatView, /) -> str:
        return "I am here."


def test_an_agent_whose_methods_cannot_be_looked_up_fails_on_those_requests_alone_and_is_told(moderator, serve, caplog):
    serve(Bare)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid"), ask("vote"), ask("speak")))
    bid, vote, spoke = (moderator.hear("ann", "reply") for _ in range(3))
    assert [(reply["fault"], reply["note"]) for reply in (bid, vote)] == [
        ("failed", "the brain failed: LookupError: no bid here"),
        ("failed", "the brain failed: LookupError: no vote here"),
    ]
    assert spoke["content"] == {"text": "I am here."}
    assert caplog.text.count("the brain failed on bid: LookupError: no bid here") == 1
    assert "the brain failed in heard" in caplog.text


def test_the_example_answers_every_kind_of_request_and_copes_with_an_empty_table(moderator: Moderator, serve: Serve):
    assert len(EXAMPLE.read_text().splitlines()) <= 60
    serve(runpy.run_path(str(EXAMPLE))["Follower"])
    assert not moderator.welcome("ann").get("declines")
    alone = [DAWN.model_copy(update={"round": number, "died": name}) for number, name in enumerate(NAMES[1:], 1)]
    asks = [ask(kind) for kind in KINDS]
    nobody = [request.model_copy(update={"legal": (None,)}) for request in asks if request.legal]
    # two games are two seats, and neither waits for the other
    for delivery, game in ((catch_up(*asks), GAME), (catch_up(*nobody, public=alone, game="g2"), "g2")):
        moderator.deliver("ann", delivery)
        for request in delivery.seats[0].asks:
            reply = moderator.hear("ann", "reply")
            assert (reply["game"], reply["kind"], reply.get("fault")) == (game, request.kind, None), reply
            assert game == GAME or reply["content"].get("target") is None


class Diary(Agent):
    """Writes down what happens to it."""

    pages: ClassVar[list[tuple[str, object]]] = []
    turned: ClassVar[threading.Condition] = threading.Condition()
    quick = True

    def write(self, what: str, of: object) -> None:
        with self.turned:
            self.pages.append((f"{self.game} {self.seat} {what}", of))
            self.turned.notify_all()

    def seated(self, view: SeatView, /) -> None:
        self.write("seated", view.role)

    async def heard(self, news: Sequence[PublicFact | Memory], view: SeatView, /) -> None:
        self.write("heard", [getattr(fact, "type", "") for fact in news])

    def ended(self, view: SeatView, /) -> None:
        self.write("ended", view.ended and view.ended.winner)

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        self.write("bid", len(view.public))
        return 1


def test_an_agent_hears_who_it_is_what_happens_and_how_it_ends(moderator: Moderator, serve: Serve) -> None:
    Diary.pages.clear()
    ann = serve(Diary, seats=2)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid")))
    # what waits when a catch-up comes is not heard apart from it
    moderator.hear("ann", "reply")
    moderator.deliver("ann", catch_up(public=[DAWN, SAID, ENDED]), catch_up(seat="Bruno", game="g2"))
    with Diary.turned:
        assert Diary.turned.wait_for(lambda: len(Diary.pages) == 7, SOON_S)
    ann.stopping.ask("one game is under way")
    ann.end()
    of = {who: [(what, of) for key, of in Diary.pages for *_, what in [key.split()] if key.startswith(who)]
          for who in ("game-1 Ada", "g2 Bruno")}  # fmt: skip
    assert of["game-1 Ada"] == [
        ("seated", "Villager"),
        ("heard", ["dawn", "statement"]),
        ("bid", 2),
        ("heard", ["ended"]),
        ("ended", "villagers"),
    ]
    assert of["g2 Bruno"] == [("seated", "Villager"), ("heard", ["dawn", "statement"]), ("ended", None)]


def test_an_agent_hears_that_its_game_was_dropped_as_an_end_without_a_winner(moderator, serve, caplog):
    Diary.pages.clear()
    ann = serve(Diary)
    first = moderator.welcome("ann")
    moderator.tell("ann", grown(plain(catch_up(ask("bid")))), GAME)
    moderator.tell("ann", Dropped(game=GAME, reason="the moderator failed"))
    moderator.deliver("ann", step(ask("bid", 2)))
    moderator.tell("ann", RollCall())
    assert moderator.hear("ann", "join")["instance"] == first["instance"]
    with Diary.turned:
        assert Diary.turned.wait_for(lambda: len(Diary.pages) == 4, SOON_S)
    moderator.goodbye("ann")
    ann.end()
    assert [page for page in Diary.pages if "heard" not in page[0]] == [
        ("game-1 Ada seated", "Villager"),
        ("game-1 Ada bid", 2),
        ("game-1 Ada ended", None),
    ]


def test_where_and_as_whom_it_plays_may_come_from_a_ticket(moderator, redis_url, monkeypatch):
    for name, value in (("BUS", redis_url), ("HOUSE", HOUSE), ("NAME", "ticket-holder")):
        monkeypatch.setenv(f"WOLFBUS_{name}", value)
    with Aside(lambda stopping: serve(Terse, stopping=stopping)) as agent:
        assert moderator.welcome("ticket-holder")["agent"] == "ticket-holder"
        moderator.goodbye("ticket-holder")
        assert agent.end() == "all games are played"


def test_nobody_waits_on_a_bus_that_no_other_process_can_be_on() -> None:
    with pytest.raises(ConfigError, match="memory:// ends where its process ends"):
        serve(Terse, "memory://")


class Unmade(Agent):
    def __init__(self) -> None:
        raise FileNotFoundError("weights.bin")

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        return 1


class Taken(Bidder):
    """Has a use of its own for a name that every agent's seat is told under."""

    game = property(lambda self: "chess")  # type: ignore[assignment]


class Undecided(Bare):
    """Does not even say whether it is quick."""

    lacks = frozenset({"quick"})


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (Unmade, "FileNotFoundError: weights.bin"),
        (Taken, "AttributeError: property 'game'"),
        (Undecided, "LookupError: no quick here"),
    ],
)
def test_an_agent_that_cannot_be_made_keeps_nobody_waiting(moderator, serve, caplog, agent, why):
    serve(agent)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid")))
    assert moderator.hear("ann", "reply")["note"].startswith(f"the brain could not be made: {why}")
    assert "the brain of Ada could not be made" in caplog.text


ANSWERS: list[tuple[Kind, Any, dict[str, Any] | str]] = [
    ("bid", 4, {"bid": 4}),
    ("bid", True, "bid is answered with a whole number"),
    ("bid", None, "not None"),
    ("speak", "Good morning.", {"text": "Good morning."}),
    ("speak", None, {"text": ""}),
    (
        "speak",
        {"text": "It was Hugo.", "claims": [{"claim": "accusation", "target": "Hugo"}]},
        {"text": "It was Hugo.", "claims": ({"claim": "accusation", "target": "Hugo"},)},
    ),
    ("speak", 7, "speak is answered with a string"),
    ("speak", "long " * 20_000, r"the limit is 65536"),
    ("vote", "Chloe", {"target": "Chloe"}),
    ("vote", None, {}),
    ("vote", {"target": "Chloe", "reason": "She smiles."}, {"target": "Chloe", "reason": "She smiles."}),
    ("vote", Choice(target="Chloe"), "vote is answered with"),
    ("kill", "Chloe", {"target": "Chloe"}),
    ("protect", None, {}),
    ("whisper", "Chloe", {"target": "Chloe", "word": ""}),
    ("assess_own", {"deceptive": True, "confidence": 1}, {"deceptive": True, "confidence": 1.0}),
    ("assess_own", None, "the agent gave no assessment"),
    (
        "assess_other",
        Judgement(deceptive=False, suspicion=0.2, confidence=0.5),
        {"deceptive": False, "suspicion": 0.2, "confidence": 0.5},
    ),
    ("assess_other", 0.7, "assess_other is answered with a dict"),
    ("assess_other", {"deceptive": True, "suspicion": 2, "confidence": 1}, "suspicion: Input should be less"),
]
"""What an agent returns to a kind of request, and the content that is sent, or what the note says instead."""


class Table(Agent):
    """Answers from the table."""

    quick = True

    def answer(self, ask: Ask, view: SeatView, /) -> Any:
        return ANSWERS[ask.turn][1]


def test_simple_values_stand_for_content_and_what_stands_for_nothing_is_said_to_its_author(moderator, serve):
    serve(Table)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(*[ask(kind, turn) for turn, (kind, *_) in enumerate(ANSWERS)]))
    for kind, returned, expected in ANSWERS:
        reply = moderator.hear("ann", "reply")
        if isinstance(expected, str):
            assert "content" not in reply, (kind, returned)
            assert expected in reply["note"], (kind, returned)
        else:
            assert reply["content"] == expected, (kind, returned)
