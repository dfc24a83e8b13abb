"""A day. Debate: before each turn the living bid for the floor; the winner makes one public statement; everybody
assesses it. Vote: at once and sealed; opened together; given reasons are statements; then the exile takes effect.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

from moderator.rules.table import Answers, Script, Table, assess, join, start
from wolfbus.claims import claim_truth
from wolfbus.game.draws import choose_weighted
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Ballot, Bid, Claim, Speech
from wolfbus.messages.events import Asked, Asking, Exile, Silence, Statement, Tally


def debate(table: Table) -> Script[None]:
    """Play one day's debate.

    With `overlap`, the next bids go out before the judgements of the last statement, and those judgements are joined
    with the next statement; without it, a statement is judged before anybody bids again.
    """
    overbids: Counter[SeatName] = Counter()
    last_speaker: SeatName | None = None
    previous = ""
    bids: Asked | None = None
    judging: Asked | None = None
    for turn in range(1, table.config.debate_turns + 1):
        if bids is None:
            bids = yield from start(_bidding(table, turn, last_speaker))
        (offers,) = yield from join(table, bids)
        bids = None
        speaker = _floor(table, turn, offers, overbids, previous)
        floor = yield from start(table.batch("debate", turn, [Asking(kind="speak", seats=(speaker,))]))
        _, spoken = yield from join(table, judging, floor)
        answer = spoken[speaker].content
        judging = None
        last_speaker = speaker

        if not isinstance(answer, Speech):
            previous = ""
            yield Silence(round=table.round, turn=turn, seat=speaker)
            continue
        table.statements += 1
        statement = Statement(
            statement=table.statements, round=table.round, phase="debate", turn=turn, speaker=speaker, text=answer.text
        )
        yield statement
        if answer.claims:
            yield claim_truth(table, statement, answer.claims)
        previous = answer.text
        if table.config.overlap and turn < table.config.debate_turns:
            bids = yield from start(_bidding(table, turn + 1, speaker))
        judging = yield from assess(table, statement)
        if not table.config.overlap:
            yield from join(table, judging)
            judging = None
    yield from join(table, judging)


def _bidding(table: Table, turn: int, last_speaker: SeatName | None) -> Asked | None:
    bidders = tuple(name for name in table.living if name != last_speaker)
    return table.batch("debate", turn, [Asking(kind="bid", seats=bidders)])


def _floor(table: Table, turn: int, offers: Answers, overbids: Counter[SeatName], previous: str) -> SeatName:
    """Return who speaks: the highest effective bid, compared exactly; ties drawn, with more weight for those just
    named.
    """
    factor = table.config.exact_overbid_factor
    effective: dict[SeatName, Fraction | int] = {}
    for seat, answer in offers.items():
        bid = answer.content.bid if isinstance(answer.content, Bid) else 0
        effective[seat] = bid * factor ** overbids[seat] if overbids[seat] else bid
        if bid >= table.config.overbid_at:
            overbids[seat] += 1
    highest = max(effective.values())
    tied = [
        (seat, table.config.mention_weight if mentions(previous, seat) else 1)
        for seat, bid in effective.items()
        if bid == highest
    ]
    return choose_weighted(table.seed, "floor", tied, table.round, turn)


def mentions(text: str, name: SeatName) -> bool:
    """Return whether `text` mentions `name` as a whole word; case counts, for "Hope" is not "hope"."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def vote(table: Table) -> Script[None]:
    """Play one vote, from the sealed ballots to the exile of whom a strict majority of the living names."""
    ballots = yield from start(table.batch("vote", 1, [_ballot_paper(table, name) for name in table.living]))
    (cast,) = yield from join(table, ballots)
    # by name, as the record sorts them: whoever reads it finds the order that the players saw
    votes = {name: _target(cast, name) for name in sorted(table.living)}
    needed = len(table.living) // 2 + 1
    yield Tally(round=table.round, votes=votes, needed=needed)

    statements = _reasons(table, cast) if table.config.vote_reasons else []
    for statement, claims in statements:
        yield statement
        if claims:
            yield claim_truth(table, statement, claims)
    judging = []
    for statement, _ in statements:
        judging.append((yield from assess(table, statement)))
    yield from join(table, *judging)

    count = Counter(target for target in votes.values() if target is not None)
    exiled = next((name for name, voices in count.items() if voices >= needed), None)
    yield table.leave(Exile, exiled)


def _ballot_paper(table: Table, voter: SeatName) -> Asking:
    candidates = tuple(table.living) if table.config.self_vote else table.others(voter)
    return Asking(kind="vote", seats=(voter,), legal=(*candidates, None))


def _target(cast: Answers, voter: SeatName) -> SeatName | None:
    content = cast[voter].content
    return content.target if isinstance(content, Ballot) else None


def _reasons(table: Table, cast: Answers) -> list[tuple[Statement, tuple[Claim, ...]]]:
    """Return the given reasons as statements, in seating order; all were written before any was read."""
    statements: list[tuple[Statement, tuple[Claim, ...]]] = []
    for voter in table.living:
        content = cast[voter].content
        if not isinstance(content, Ballot) or not (content.reason or "").strip():
            continue
        table.statements += 1
        statement = Statement(
            statement=table.statements,
            round=table.round,
            phase="vote",
            turn=len(statements) + 1,
            speaker=voter,
            text=(content.reason or "").strip(),
        )
        statements.append((statement, content.claims))
    return statements
