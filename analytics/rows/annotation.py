"""What is said of statements afterwards, by who did not play: a reader model, a monitor of private thoughts, a person
with a blind sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from analytics.rows.fields import Column, Derived, GameId, statement_in
from wolfbus.files.canonical import canonical
from wolfbus.game.vocabulary import Deception

Sort: TypeAlias = Literal["reader", "monitor", "rater"]
"""Who annotates: a model that reads the public transcript, a model that reads the private thought beside the statement,
a person with a blind sheet."""

Stance: TypeAlias = Literal["against", "hedged against", "none", "hedged for", "for"]
"""How a statement stands to another living player: "hedged" is asked, insinuated or qualified."""

_A_MONITOR: Final = "a monitor, which is not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationRow:
    """What one annotator makes of one statement."""

    statement_id: ClassVar[Derived[str]] = statement_in("the statement")
    game: GameId
    statement: Annotated[int, Column("the statement's number within the game, from 1")]
    annotator: Annotated[str, Column("name of the annotator: of its file in `annotations/`", category=True)]
    sort: Annotated[
        Sort,
        Column(
            "`reader`: a model that read the public transcript; `monitor`: one that read the speaker's private "
            "thought; `rater`: a person with a blind sheet"
        ),
    ]
    deceptive: Annotated[
        float | None, Column("how likely it is meant to deceive; of a person 0 or 1", _A_MONITOR, unit="share")
    ] = None
    kind: Annotated[Deception | None, Column("the kind of deception that a person sees", "a model")] = None
    stances: Mapping[str, Stance] | None = field(default=None)
    stances_text: ClassVar[Derived[str | None]] = Derived(
        lambda row: None if row.stances is None else canonical(dict(row.stances)).decode(),
        Column(
            "how it stands to every other living player, as JSON: against, hedged against, none, hedged for, for",
            _A_MONITOR,
            name="stances",
        ),
    )
    werewolf: Annotated[float | None, Column("how likely the speaker is a Werewolf", "no monitor", unit="share")] = None
    werewolf_masked: Annotated[
        float | None, Column("the same with the names of roles masked", "no monitor", unit="share")
    ] = None
