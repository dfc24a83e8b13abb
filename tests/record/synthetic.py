"""A short game written by hand, event by event: two nights and a day, with everything a seat must not learn in it."""

from collections.abc import Iterable
from typing import Any

from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Kind, Role
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.content import (
    Ballot,
    Bid,
    Choice,
    Content,
    InspectionClaim,
    Judgement,
    Label,
    Proposal,
    RoleClaim,
    ScoredClaim,
    Speech,
)
from wolfbus.messages.events import (
    ANSWERED,
    Absent,
    AnyAnswered,
    AnyEvent,
    Asked,
    Asking,
    ClaimTruth,
    Dawn,
    Ended,
    Exile,
    Inspection,
    NightOutcome,
    Opened,
    Rejected,
    Seat,
    Silence,
    Statement,
    Tally,
)
from wolfbus.record.line import Recorded, seal

ROLES: dict[str, Role] = {
    "Wim": "Werewolf",
    "Wes": "Werewolf",
    "Sia": "Seer",
    "Doc": "Doctor",
    "Vic": "Villager",
    "Ève": "Villager",
}
NAMES = tuple(ROLES)

CONFIG = GameConfig(villagers=2, werewolves=2, seers=1, doctors=1, names=NAMES, roles=ROLES, debate_turns=2)


def opened(game: str = "g-1", config: GameConfig = CONFIG, seed: str = "CANARY-seed") -> Opened:
    """Everybody's agent is run in house but Vic's."""
    seats = tuple(
        Seat(name=name, role=role, agent=f"agent-{name}", brain="scripted", in_house=name != "Vic")
        for name, role in ROLES.items()
    )
    return Opened(game=game, version="0.1.0", started=1700000000.0, seed=seed, config=config, seats=seats)


def small_game() -> list[AnyEvent]:
    """Wolves kill Vic; the day exiles Wim; in the second night Ève is protected; then the record ends the game."""
    text = 'I am the Seer, "truly". 🐺\nWes is a Villager.'
    claims = RoleClaim(target="Wim", role="Seer"), InspectionClaim(target="Wes", role="Villager", round=1)
    label = Label(deceptive=True, confidence=0.9, kind="fabrication", reasoning="CANARY-label")
    judged = Judgement(deceptive=True, suspicion=0.8, confidence=1.0, kind="fabrication", reasoning="I am it.")
    inspect = Asking(kind="inspect", seats=("Sia",), legal=("Wim", "Wes", "Doc", "Vic", "Ève"))
    return [
        opened(),
        night(1, 1, Asking(kind="protect", seats=("Doc",), legal=NAMES), inspect),
        night(2, 1, Asking(kind="whisper", seats=("Wim", "Wes"), legal=NAMES[2:])),
        answer("whisper", 2, "Wim", Proposal(target="Vic", word="CANARY-word"), thought="CANARY-wolf-thought"),
        answer("whisper", 2, "Wes", Proposal(target="Sia")),
        answer("protect", 1, "Doc", Choice(target="Doc"), note="CANARY-note"),
        answer("inspect", 1, "Sia", Choice(target="Wes")),
        NightOutcome(round=1, target="Vic", protected=("Doc",), died="Vic"),
        Dawn(round=1, died="Vic"),
        Inspection(round=1, seat="Sia", target="Wes", role="Werewolf"),
        Asked(batch=3, round=1, phase="debate", turn=1, asks=(Asking(kind="bid", seats=("Wim", "Sia")),)),
        answer("bid", 3, "Wim", Bid(bid=9), reading="coerced", raw="CANARY-raw"),
        answer("bid", 3, "Sia", outcome="timed_out"),
        Absent(seat="Sia"),
        Rejected(sender="intruder", reason="sender", request="g-1/1/debate/1/bid/Wim", size=17, note="CANARY-reject"),
        answer("speak", 4, "Wim", Speech(text=text, claims=claims)),
        Statement(statement=1, round=1, phase="debate", turn=1, speaker="Wim", text=text),
        ClaimTruth(statement=1, claims=tuple(ScoredClaim(claim=claim, verdict="lie") for claim in claims)),
        answer("assess_own", 5, "Wim", label, about=1),
        answer("assess_other", 5, "Sia", judged, about=1, reading="repaired", thought="CANARY-seer-thought"),
        answer("assess_other", 5, "Doc", about=1, fault="unparseable", raw="CANARY-raw", note="CANARY-note"),
        answer("assess_other", 5, "Ève", Judgement(deceptive=False, suspicion=0.1, confidence=0.5), about=1),
        Silence(round=1, turn=2, seat="Wes"),
        answer("vote", 6, "Sia", Ballot(target="Wim", reason="")),
        Tally(round=1, votes={"Wim": "Sia", "Wes": None, "Sia": "Wim", "Doc": "Wim", "Ève": "Wim"}, needed=3),
        Exile(round=1, seat="Wim"),
        night(7, 2, Asking(kind="protect", seats=("Doc",), legal=("Wes", "Sia", "Doc", "Ève"))),
        answer("protect", 7, "Doc", Choice(target="Ève")),
        NightOutcome(round=2, target="Ève", protected=("Ève",), died=None),
        Dawn(round=2, died=None),
        Ended(winner=None, reason="max_rounds", rounds=2),
    ]


def night(batch: int, round_: int, *asks: Asking) -> Asked:
    return Asked(batch=batch, round=round_, phase="night", turn=1, asks=asks)


def answer(kind: Kind, batch: int, seat: str, content: Content | None = None, **more: Any) -> AnyAnswered:
    outcome = "defaulted" if content is None else "accepted"
    return ANSWERED[kind](**{"batch": batch, "seat": seat, "outcome": outcome, "content": content} | more)


def lines_of(records: Iterable[Recorded]) -> list[bytes]:
    """Return these as the sealed lines of a record, each with its newline."""
    head, lines = "", []
    for recorded in records:
        sealed, line = seal(head, recorded)
        head = sealed.hash
        lines.append(line + b"\n")
    return lines


def record(events: Iterable[AnyEvent], pace: float = 0.125) -> list[bytes]:
    """Return the events as the lines of a record; `pace` seconds lie between two of them."""
    audiences, records = AudienceFilter(), []
    for number, event in enumerate(events, 1):
        records.append(Recorded(number, pace * (number - 1), audiences.audience(event), event))
        audiences.feed(event)
    return lines_of(records)
