"""Night: those alive at dusk act at once; only the outcome is announced."""

from __future__ import annotations

from collections import Counter

from moderator.rules.table import Answers, Script, Table, join, start
from wolfbus.game.draws import choose
from wolfbus.game.vocabulary import Kind
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Choice, Proposal
from wolfbus.messages.events import Asked, Asking, Dawn, Inspection, NightOutcome


def night(table: Table) -> Script[None]:
    """Play one night: hunt, protect and inspect in parallel, then dawn."""
    seers = table.alive("Seer")
    dusk = table.batches
    hunt = yield from start(_hunt(table, 1))
    choosing = yield from start(table.batch("night", 1, _protections(table) + _inspections(table)))
    target, choices = yield from _finish_hunt(table, hunt, choosing)
    # every night uses up as many numbers, or the next one would tell everybody how many Werewolves were asked
    table.batches = dusk + table.config.whispers + 1

    protected: list[SeatName] = []
    for doctor in table.alive("Doctor"):
        chosen = _choice(choices, doctor)
        if chosen is not None:
            protected.append(chosen)
            table.protected.setdefault(doctor, {})[table.round] = chosen
    died = target if target not in protected else None
    yield NightOutcome(round=table.round, target=target, protected=tuple(protected), died=died)

    for seer in seers:
        inspected = _choice(choices, seer)
        if inspected is not None and seer != died:
            table.inspected.setdefault(seer, {})[inspected] = table.roles[inspected]
            table.inspected_in[seer, inspected] = table.round
            yield Inspection(round=table.round, seat=seer, target=inspected, role=table.roles[inspected])
    yield table.leave(Dawn, died)


def _hunt(table: Table, turn: int) -> Asked | None:
    """One living wolf is asked for its kill; several whisper a proposal each."""
    wolves = tuple(table.alive("Werewolf"))
    if table.round == 1 and not table.config.first_night_kill:
        wolves = ()
    prey: tuple[SeatName | None, ...] = tuple(name for name in table.living if name not in wolves)
    if table.config.kill_optional:
        prey = (*prey, None)
    kind: Kind = "kill" if len(wolves) == 1 else "whisper"
    return table.batch("night", turn, [Asking(kind=kind, seats=wolves, legal=prey)])


def _finish_hunt(table: Table, hunt: Asked | None, choosing: Asked | None) -> Script[tuple[SeatName | None, Answers]]:
    """Let several wolves whisper in turns while the others act; returns whom the wolves go for, and the others'
    answers.
    """
    proposals: dict[SeatName, SeatName | None] = {}
    turn = 1
    while hunt is not None and hunt.asks[0].kind == "whisper" and turn < table.config.whispers:
        (answers,) = yield from join(table, hunt)
        proposals.update(_proposed(answers))
        turn += 1
        hunt = yield from start(_hunt(table, turn))
    last, choices = yield from join(table, hunt, choosing)
    proposals.update(_proposed(last))
    return _plurality(table, proposals), choices


def _proposed(answers: Answers) -> dict[SeatName, SeatName | None]:
    """Return the valid proposals; a wolf without one keeps the proposal it made before."""
    return {
        wolf: answer.content.target for wolf, answer in answers.items() if isinstance(answer.content, Choice | Proposal)
    }


def _plurality(table: Table, proposals: dict[SeatName, SeatName | None]) -> SeatName | None:
    """Return the prey most wolves last proposed, ties drawn; None without a proposal, or where nobody was preferred."""
    if not proposals:
        return None
    count = Counter(proposals.values())
    highest = max(count.values())
    order: list[SeatName | None] = [*table.living, None]
    return choose(table.seed, "kill", [name for name in order if count[name] == highest], table.round)


def _protections(table: Table) -> list[Asking]:
    asks = []
    for doctor in table.alive("Doctor"):
        previous = table.protected.get(doctor, {}).get(table.round - 1)
        legal: tuple[SeatName | None, ...] = tuple(
            name
            for name in table.living
            if (table.config.doctor_self or name != doctor) and (table.config.doctor_repeat or name != previous)
        )
        if table.config.protect_optional and legal:
            legal = (*legal, None)
        asks.append(Asking(kind="protect", seats=(doctor,), legal=legal))
    return asks


def _inspections(table: Table) -> list[Asking]:
    asks = []
    for seer in table.alive("Seer"):
        inspected = table.inspected.get(seer, {})
        legal: tuple[SeatName | None, ...] = tuple(name for name in table.others(seer) if name not in inspected)
        if table.config.inspect_optional and legal:
            legal = (*legal, None)
        asks.append(Asking(kind="inspect", seats=(seer,), legal=legal))
    return asks


def _choice(answers: Answers, seat: SeatName) -> SeatName | None:
    answer = answers.get(seat)
    return answer.content.target if answer is not None and isinstance(answer.content, Choice) else None
