"""The statements to annotate, each with what everybody knew before it: never a role, a label or a private word."""

from __future__ import annotations

from collections.abc import Iterator

from analytics.rows import GameRows
from analytics.rows.talk import StatementRow
from wolfbus.knowledge.departure import departure
from wolfbus.knowledge.passage import Passage, TranscriptLine
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Dawn, Statement


def passages_of(game: GameRows, head: str) -> Iterator[Passage]:
    """Yield the statements of a game in their order.

    Args:
        game: its rows, with their words.
        head: the record's last hash.
    """
    transcript: list[TranscriptLine] = []
    living, round_ = _living(game), 0
    for row in game.statements:
        while round_ < row.round:
            transcript += _votes(game, round_)
            round_ += 1
            transcript += _dawn(game, round_)
        statement = TranscriptLine(_place(game, row), row.text or "")
        yield Passage(
            game=game.game,
            number=row.number,
            head=head,
            hash=game.seals[row.number],
            others=tuple(name for name in living[row.number] if name != row.speaker),
            statement=statement,
            before=tuple(transcript),
            thought=row.thought,
        )
        transcript.append(statement)


def _living(game: GameRows) -> dict[int, list[SeatName]]:
    """Return by statement who was still in the game, in seating order."""
    living, at_statement = list(game.seats), dict[int, list[SeatName]]()
    for step in game.course:
        if isinstance(step.event, Statement):
            at_statement[step.event.statement] = living
        elif (departed := departure(step.event)) is not None:
            living = [name for name in living if name != departed.seat]
    return at_statement


def _place(game: GameRows, row: StatementRow) -> str:
    if row.phase != "vote":
        return row.speaker
    target = next((vote.target for vote in game.votes if vote.round == row.round and vote.voter == row.speaker), None)
    return f"{row.speaker}, as the reason for {'abstaining' if target is None else f'the vote against {target}'}"


def _dawn(game: GameRows, round_: int) -> Iterator[TranscriptLine]:
    died = [seat.name for seat in game.seats.values() if seat.left_round == round_ and seat.left_by == "night"]
    # a log of another table may begin by day
    is_known = any(isinstance(step.event, Dawn) and step.event.round == round_ for step in game.course)
    night = f" {' and '.join(died) or 'Nobody'} died in the night." if is_known else ""
    yield TranscriptLine(f"Round {round_}.{night}")


def _votes(game: GameRows, round_: int) -> Iterator[TranscriptLine]:
    """Yield how the vote of a round went, and who left by it or in another way that day."""
    votes = [vote for vote in game.votes if vote.round == round_]
    if votes:
        yield TranscriptLine(
            "Votes: " + ", ".join(f"{vote.voter} against {vote.target or 'nobody'}" for vote in votes) + "."
        )
    for seat in game.seats.values():
        if seat.left_round == round_ and seat.left_by != "night":
            yield TranscriptLine(
                f"{seat.name} was voted out." if seat.left_by == "exile" else f"{seat.name} left the game."
            )
