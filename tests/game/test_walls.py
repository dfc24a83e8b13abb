"""Whole games with a canary word in everything private: no inbox, view or request ever holds one it must not."""

import re
from dataclasses import dataclass

import pytest

from moderator.rules.game import deal
from tests.game.driver import Question, legal_answer
from tests.isolation.outside import Outside, Plan, play
from tests.players.table import Hearers
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.codec import decode_mail, decode_news
from wolfbus.messages.content import AccusationClaim, Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Opened, Seat
from wolfbus.messages.requests import Ask
from wolfbus.record.line import parse_flat

SEED = "SEEDCANARY{}"
CANARY = re.compile(r"CANARY\|([^|]+)\|(\w+)\|(\w+)\|")


def canary(seat: str, ask: Ask, field: str) -> str:
    return f"CANARY|{seat}|{ask.kind}|{field}|{ask.round}|{ask.turn}|"


@dataclass(frozen=True)
class Canaries(Plan):
    """Agents that answer legally, from a seed, with a canary in every private word."""

    seed: str = ""

    def answer(self, seat: str, ask: Ask) -> Content:
        content = legal_answer(Question(ask.kind, seat, ask.round, ask.turn, ask.about, ask.legal), self.seed)
        if isinstance(content, Speech):
            # a claim names its target in clear, so a claim that travelled would show as a target nobody else can know
            return Speech(text=f"I am {seat}.", claims=(AccusationClaim(target=canary(seat, ask, "claim")[:32]),))
        if isinstance(content, Label | Judgement):
            return content.model_copy(update={"reasoning": canary(seat, ask, "reasoning")})
        if isinstance(content, Proposal):
            return content.model_copy(update={"word": canary(seat, ask, "word")})
        return content

    def beside(self, seat: str, ask: Ask) -> dict[str, object]:
        return {field: canary(seat, ask, field) for field in ("thought", "raw", "note")}


class Game(Outside):
    """A game between eight agents of one seat each, and all that stands on each stream."""

    def __init__(self, config: GameConfig, seed: str, game: str = "walls") -> None:
        seats = tuple(
            Seat(name=name, role=role, agent=f"{game}-{name}", brain="test", in_house=False)
            for name, role in deal(config, seed)
        )
        opened = Opened(game=game, version="0", started=0.0, seed=seed, config=config, seats=seats)
        super().__init__(opened, Canaries(seed=seed))

    @property
    def inbox(self) -> dict[str, list[bytes]]:
        return {
            seat: [entry.body for entry in mailbox.entries if entry.type != "welcome"]
            for seat, mailbox in self.mailboxes.items()
        }

    def play(self) -> None:
        play([self])


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


@pytest.fixture(scope="module")
def games() -> dict[str, Game]:
    played = {
        f"{name}-{seed}": Game(config, SEED.format(seed), f"walls-{place}-{seed}")
        for place, (name, config) in enumerate(CONFIGS.items())
        for seed in range(3)
    }
    play(tuple(played.values()))
    return played


@pytest.fixture(params=[f"{name}-{seed}" for name in CONFIGS for seed in range(3)])
def game(request: pytest.FixtureRequest, games: dict[str, Game]) -> Game:
    return games[request.param]


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
    assert not [match for entry in game.news for match in CANARY.findall(entry.body.decode("utf-8", "replace"))]
    assert [decode_news(entry.body).n for entry in game.news] == list(range(1, len(game.news) + 1))
    assert len(game.news) > 10


def test_seed_and_roles_come_only_with_the_end(game):
    for seat, bodies in game.inbox.items():
        for body in bodies:
            delivery = decode_mail(body)
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
        public = [news.n for body in bodies for news in decode_mail(body).facts]
        private = [fact.n for body in bodies for part in decode_mail(body).seats for fact in part.facts]
        assert public == sorted(set(public))
        assert private == list(range(1, len(private) + 1))
        assert not re.search(rb"[0-9a-f]{64}", b"".join(bodies[:-1]))


def test_a_villager_receives_nothing_between_dusk_and_dawn(game):
    villagers = [seat for seat, role in game.roles.items() if role == "Villager"]
    for seat in villagers:
        for body in game.inbox[seat]:
            delivery = decode_mail(body)
            assert all(ask.phase != "night" for part in delivery.seats for ask in part.asks)
            assert all(
                fact.fact.type not in {"whispered", "inspection"} for part in delivery.seats for fact in part.facts
            )


def test_a_view_is_the_fold_of_what_the_record_says_the_seat_may_know(game):
    table = Hearers()
    for number, members in enumerate(game.record, 1):
        table.tell(parse_flat(members, number).event)
    for seat, bodies in game.inbox.items():
        view = SeatView(me=seat)
        for delivery in map(decode_mail, bodies):
            view.hear_public(*delivery.facts)
            for fact in (fact for part in delivery.seats for fact in part.facts):
                view.hear_private(fact)
        assert view == table.views[seat]
        assert view.suspicion.pairs() == table.views[seat].suspicion.pairs()
