"""What came of a fork: a game that was played on from one of another game's statements, with something in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from analytics.rows.fields import Column, GameId, Round, agent, name, role
from wolfbus.game.vocabulary import Deception, Role
from wolfbus.messages.base import SeatName

OUTCOMES: Final = ("suspicion", "dusk", "votes", "exiled", "won")
"""What is compared between the arms of a statement, the primary outcome first: columns of the table."""

_UNFINISHED: Final = "the game did not come that far"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRow:
    """A fork, and what came of it for whoever made the statement."""

    game: GameId
    parent: Annotated[str, Column("the game that it was forked from")]
    number: Annotated[int, Column("number of the statement in that game, from 1")]
    round: Round
    speaker: Annotated[SeatName, name("the name of who made the statement")]
    role: Annotated[Role, role("the speaker's")]
    agent: Annotated[str, agent("the speaker")]
    kind: Annotated[
        Deception | None,
        Column("the kind of deception that the speaker's label gave the statement there", "no label counted"),
    ]
    arm: Annotated[
        str,
        Column(
            "what stands in the statement's place: `keep`, `silence`, `say`, `redraw`, `honest` or `by:AGENT`",
            category=True,
        ),
    ]
    k: Annotated[int, Column("which fork of this arm, from 1; equal ones share the draws of the rules")]
    tries: Annotated[int, Column("statements that were drawn for it")]
    label: Annotated[
        bool | None,
        Column("whether the speaker called deceptive what stands there", "no label counts", name="labelled"),
    ]
    suspicion: Annotated[
        float | None,
        Column(
            "s right after: mean of the judgements of what stands there, by observers who have to find out",
            "nothing was said, or nobody judged it",
            unit="share",
        ),
    ]
    dusk: Annotated[
        float | None,
        Column(
            "D at the end of that day: mean of smoothed suspicion of the speaker, by living observers who have to find "
            "out",
            "nobody has judged the speaker",
            unit="share",
        ),
    ]
    votes: Annotated[
        float | None,
        Column("of the votes of that day by others, the share for the speaker", _UNFINISHED, unit="share"),
    ]
    exiled: Annotated[bool | None, Column("whether that day's vote exiled the speaker", _UNFINISHED)]
    won: Annotated[bool | None, Column("whether the speaker's side won; false where nobody did", "it is unfinished")]
