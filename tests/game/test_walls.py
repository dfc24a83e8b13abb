"""Whole games with a canary word in everything private: no inbox, view or request ever holds one it must not."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from moderator.engine.commits import Deliveries
from moderator.engine.referee import Referee
from moderator.engine.seating import deal
from moderator.rules.game import Steps
from tests.game.driver import Question, legal_answer
from wolfbus.audience import Herald
from wolfbus.bus import streams
from wolfbus.bus.protocol import Entry
from wolfbus.config import GameConfig
from wolfbus.messages.base import Part
from wolfbus.messages.codec import decode_delivery, decode_news, pack, plain
from wolfbus.messages.content import AccusationClaim, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Opened, Seat
from wolfbus.messages.requests import Ask, Delivery
from wolfbus.view import SeatView

SEED = "SEEDCANARY{}"
CANARY = re.compile(r"CANARY\|([^|]+)\|(\w+)\|(\w+)\|")


def canary(seat: str, ask: Ask, field: str) -> str:
    return f"CANARY|{seat}|{ask.kind}|{field}|{ask.round}|{ask.turn}|"


class Game:
    """A game between eight agents of one seat each, without a bus: what would stand on each stream is kept."""

    def __init__(self, config: GameConfig, seed: str) -> None:
        seats = tuple(
            Seat(name=name, role=role, agent=f"agent-of-{name}", brain="test", in_house=False)
            for name, role in deal(config, seed)
        )
        self.opened = Opened(game="walls", version="0", started=0.0, seed=seed, config=config, seats=seats)
        self.roles = {seat.name: seat.role for seat in seats}
        self.inbox: dict[str, list[bytes]] = defaultdict(list)
        self.table: list[bytes] = []
        self.events = []
        self.views = {seat.name: SeatView(me=seat.name) for seat in seats}

    def play(self) -> None:
        steps, referee = Steps(self.opened), Referee(self.opened)
        deliveries = Deliveries("h", self.opened)
        by_stream = {streams.inbox("h", f"agent-of-{seat}"): seat for seat in self.roles}
        answers = {}
        step = steps.advance()
        while True:
            self.events.extend(step.events)
            requests = [r for event in step.events if event.type == "asked" for r in referee.ask(event, set())]
            asked = []
            for stream, entry in deliveries.of_step(step.events, requests):
                if stream in by_stream:
                    seat = by_stream[stream]
                    self.inbox[seat].append(entry.body)
                    asked.extend((seat, ask) for ask in self._hear(seat, decode_delivery(entry.body)))
                else:
                    self.table.append(entry.body)
            if step.ended:
                return
            for seat, ask in asked:
                (answer,) = referee.receive(
                    f"agent-of-{seat}", Entry(self._reply(seat, ask), "reply", f"agent-of-{seat}")
                )
                assert answer.type == "answered"
                answers.setdefault(answer.batch, {})[seat] = answer
            step = steps.advance({batch: answers.pop(batch) for batch in step.waits_for})

    def _hear(self, seat: str, delivery: Delivery) -> list[Ask]:
        for fact in delivery.facts:
            self.views[seat].hear_public(fact)
        (part,) = [part for part in delivery.seats if part.seat == seat] or [None]
        assert all(part.seat == seat for part in delivery.seats)
        for fact in part.facts if part else ():
            self.views[seat].hear_private(fact)
        return list(part.asks) if part else []

    def _reply(self, seat: str, ask: Ask) -> bytes:
        content: Part = legal_answer(
            Question(ask.kind, seat, ask.round, ask.turn, ask.about, ask.legal), self.opened.seed
        )
        if isinstance(content, Speech):
            # a claim names its target in clear, so a claim that travelled would show as a target nobody else can know
            content = Speech(text=f"I am {seat}.", claims=(AccusationClaim(target=canary(seat, ask, "claim")[:32]),))
        elif isinstance(content, Label | Judgement):
            content = content.model_copy(update={"reasoning": canary(seat, ask, "reasoning")})
        elif isinstance(content, Proposal):
            content = content.model_copy(update={"word": canary(seat, ask, "word")})
        reply = {
            "v": 1,
            "type": "reply",
            "game": "walls",
            "request": ask.id,
            "seat": seat,
            "kind": ask.kind,
            "content": plain(content),
            "thought": canary(seat, ask, "thought"),
            "raw": canary(seat, ask, "raw"),
            "note": canary(seat, ask, "note"),
        }
        return pack(reply)


CONFIGS = {
    "paper": GameConfig(),
    "roles shown": GameConfig(reveal_on_death="role"),
    "strict order": GameConfig(overlap=False),
    "many": GameConfig(villagers=6, werewolves=4, seers=2, doctors=2, whispers=3),
    "cast by name": GameConfig(
        names=tuple("ABCDEFGH"),
        roles=dict(zip("ABCDEFGH", ("Seer", "Werewolf", "Doctor", "Werewolf", *["Villager"] * 4), strict=True)),
    ),
}


@pytest.fixture(
    params=[(name, seed) for name in CONFIGS for seed in range(3)], ids=lambda param: f"{param[0]}-{param[1]}"
)
def game(request):
    name, seed = request.param
    played = Game(CONFIGS[name], SEED.format(seed))
    played.play()
    return played


def test_an_inbox_holds_only_its_own_canaries_and_its_partners_words(game):
    seen = 0
    for seat, bodies in game.inbox.items():
        found = {match for body in bodies for match in CANARY.findall(body.decode("utf-8", "replace"))}
        seen += len(found)
        for author, kind, field in found:
            partners = game.roles[seat] == game.roles[author] == "Werewolf"
            assert author == seat or (partners and (kind, field) == ("whisper", "word")), (seat, author, kind, field)
            assert field not in {"raw", "note"}
    assert seen > 30


def test_the_table_holds_no_canary_at_all(game):
    assert not [match for body in game.table for match in CANARY.findall(body.decode("utf-8", "replace"))]
    assert all(decode_news(body).n == n for n, body in enumerate(game.table, 1))


def test_seed_and_roles_come_only_with_the_end(game):
    for seat, bodies in game.inbox.items():
        for body in bodies:
            delivery = decode_delivery(body)
            if any(news.fact.type == "ended" for news in delivery.facts):
                assert [news.fact.type for news in delivery.facts][-2:] == ["ended", "revealed"]
                continue
            assert b"SEEDCANARY" not in body
            for part in delivery.seats:
                for fact in part.facts:
                    if fact.fact.type == "seated":
                        assert fact.fact.seat == seat
                        assert fact.fact.config.roles is None
                        assert fact.fact.brain_seed is None
        assert b"SEEDCANARY" in bodies[-1]


def test_what_travels_says_nothing_of_what_others_received(game):
    # numbers are per public sequence and per seat; no hash, record number or clock time is in a delivery
    for bodies in game.inbox.values():
        public = [news.n for body in bodies for news in decode_delivery(body).facts]
        private = [fact.n for body in bodies for part in decode_delivery(body).seats for fact in part.facts]
        assert public == sorted(set(public))
        assert private == list(range(1, len(private) + 1))
        assert not re.search(rb"[0-9a-f]{64}", b"".join(bodies[:-1]))


def test_a_villager_receives_nothing_between_dusk_and_dawn(game):
    villagers = [seat for seat, role in game.roles.items() if role == "Villager"]
    for seat in villagers:
        for body in game.inbox[seat]:
            delivery = decode_delivery(body)
            assert all(ask.phase != "night" for part in delivery.seats for ask in part.asks)
            assert all(
                fact.fact.type not in {"whispered", "inspection"} for part in delivery.seats for fact in part.facts
            )


def test_a_view_is_the_fold_of_what_the_record_says_the_seat_may_know(game):
    herald = Herald()
    told = {seat: SeatView(me=seat) for seat in game.roles}
    for event in game.events:
        news = herald.tell(event)
        for fact in news.public:
            for view in told.values():
                view.hear_public(fact)
        for seat, fact in news.private:
            told[seat].hear_private(fact)
    for seat in game.roles:
        assert compare(told[seat], game.views[seat])


def compare(one: SeatView, two: SeatView) -> bool:
    for name in (
        "me",
        "role",
        "partners",
        "round",
        "dead",
        "public",
        "statements",
        "tallies",
        "inspections",
        "protections",
        "answers",
        "judgements",
        "revealed",
    ):
        assert getattr(one, name) == getattr(two, name), name
    assert one.suspicion.pairs() == two.suspicion.pairs()
    return True
