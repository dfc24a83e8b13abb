"""Vote: at once and sealed; opened together; given reasons are statements; then the exile takes effect."""

from __future__ import annotations

from collections import Counter

from moderator.rules.joining import Script, assessments, join, start
from moderator.rules.table import Answers, Table
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import Claim
from wolfbus.messages.content import Ballot
from wolfbus.messages.events import Asking, Statement, Tally
from wolfbus.truth import claim_truth


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
        judging.append((yield from start(assessments(table, statement))))
    yield from join(table, *judging)

    count = Counter(target for target in votes.values() if target is not None)
    exiled = next((name for name, voices in count.items() if voices >= needed), None)
    if exiled is not None:
        table.remove(exiled)
        table.exiled.append(exiled)
    yield table.exile(exiled)


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
