"""A short game written by hand, event by event: two nights and a day, with everything a seat must not learn in it."""

from __future__ import annotations

from collections.abc import Iterable

from wolfbus.audience import Herald
from wolfbus.config import GameConfig
from wolfbus.messages.content import (
    Ballot,
    Bid,
    Choice,
    InspectionClaim,
    Judgement,
    Label,
    Proposal,
    RoleClaim,
    ScoredClaim,
    Speech,
)
from wolfbus.messages.events import (
    Absent,
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredBid,
    AnsweredInspect,
    AnsweredProtect,
    AnsweredSpeak,
    AnsweredVote,
    AnsweredWhisper,
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
from wolfbus.vocabulary import Role

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
    return [
        opened(),
        Asked(
            batch=1,
            round=1,
            phase="night",
            turn=1,
            asks=(
                Asking(kind="protect", seats=("Doc",), legal=NAMES),
                Asking(kind="inspect", seats=("Sia",), legal=("Wim", "Wes", "Doc", "Vic", "Ève")),
            ),
        ),
        Asked(
            batch=2,
            round=1,
            phase="night",
            turn=1,
            asks=(Asking(kind="whisper", seats=("Wim", "Wes"), legal=NAMES[2:]),),
        ),
        AnsweredWhisper(
            batch=2,
            seat="Wim",
            outcome="accepted",
            reading="clean",
            content=Proposal(target="Vic", word="CANARY-word"),
            thought="CANARY-wolf-thought",
        ),
        AnsweredWhisper(batch=2, seat="Wes", outcome="accepted", reading="clean", content=Proposal(target="Sia")),
        AnsweredProtect(
            batch=1, seat="Doc", outcome="accepted", reading="clean", content=Choice(target="Doc"), note="CANARY-note"
        ),
        AnsweredInspect(batch=1, seat="Sia", outcome="accepted", reading="clean", content=Choice(target="Wes")),
        NightOutcome(round=1, target="Vic", protected=("Doc",), died="Vic"),
        Dawn(round=1, died="Vic"),
        Inspection(round=1, seat="Sia", target="Wes", role="Werewolf"),
        Asked(batch=3, round=1, phase="debate", turn=1, asks=(Asking(kind="bid", seats=("Wim", "Sia")),)),
        AnsweredBid(batch=3, seat="Wim", outcome="accepted", reading="coerced", content=Bid(bid=9), raw="CANARY-raw"),
        AnsweredBid(batch=3, seat="Sia", outcome="timed_out"),
        Absent(seat="Sia"),
        Rejected(sender="intruder", reason="sender", request="g-1/1/debate/1/bid/Wim", size=17, note="CANARY-reject"),
        AnsweredSpeak(
            batch=4,
            seat="Wim",
            outcome="accepted",
            reading="clean",
            content=Speech(
                text='I am the Seer, "truly". 🐺\nWes is a Villager.',
                claims=(
                    RoleClaim(target="Wim", role="Seer"),
                    InspectionClaim(target="Wes", role="Villager", round=1),
                ),
            ),
        ),
        Statement(
            statement=1,
            round=1,
            phase="debate",
            turn=1,
            speaker="Wim",
            text='I am the Seer, "truly". 🐺\nWes is a Villager.',
        ),
        ClaimTruth(
            statement=1,
            claims=(
                ScoredClaim(claim=RoleClaim(target="Wim", role="Seer"), verdict="lie"),
                ScoredClaim(claim=InspectionClaim(target="Wes", role="Villager", round=1), verdict="lie"),
            ),
        ),
        AnsweredAssessOwn(
            batch=5,
            seat="Wim",
            about=1,
            outcome="accepted",
            reading="clean",
            content=Label(deceptive=True, confidence=0.9, kind="fabrication", reasoning="CANARY-label"),
        ),
        AnsweredAssessOther(
            batch=5,
            seat="Sia",
            about=1,
            outcome="accepted",
            reading="repaired",
            content=Judgement(deceptive=True, suspicion=0.8, confidence=1.0, kind="fabrication", reasoning="I am it."),
            thought="CANARY-seer-thought",
        ),
        AnsweredAssessOther(
            batch=5, seat="Doc", about=1, outcome="defaulted", fault="unparseable", raw="CANARY-raw", note="CANARY-note"
        ),
        AnsweredAssessOther(
            batch=5,
            seat="Ève",
            about=1,
            outcome="accepted",
            reading="clean",
            content=Judgement(deceptive=False, suspicion=0.1, confidence=0.5),
        ),
        Silence(round=1, turn=2, seat="Wes"),
        AnsweredVote(batch=6, seat="Sia", outcome="accepted", reading="clean", content=Ballot(target="Wim", reason="")),
        Tally(round=1, votes={"Wim": "Sia", "Wes": None, "Sia": "Wim", "Doc": "Wim", "Ève": "Wim"}, needed=3),
        Exile(round=1, seat="Wim"),
        Asked(
            batch=7,
            round=2,
            phase="night",
            turn=1,
            asks=(Asking(kind="protect", seats=("Doc",), legal=("Wes", "Sia", "Doc", "Ève")),),
        ),
        AnsweredProtect(batch=7, seat="Doc", outcome="accepted", reading="clean", content=Choice(target="Ève")),
        NightOutcome(round=2, target="Ève", protected=("Ève",), died=None),
        Dawn(round=2, died=None),
        Ended(winner=None, reason="max_rounds", rounds=2),
    ]


def record(events: Iterable[AnyEvent], pace: float = 0.125) -> list[bytes]:
    """Return the events as the lines of a record, each with its newline; `pace` seconds lie between two of them."""
    herald, head, lines = Herald(), "", []
    for number, event in enumerate(events, 1):
        recorded, line = seal(head, Recorded(number, pace * (number - 1), herald.audience(event), event))
        herald.tell(event)
        head = recorded.hash
        lines.append(line + b"\n")
    return lines
