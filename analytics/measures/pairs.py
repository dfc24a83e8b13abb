"""Over which pairs of observer and target a figure is: those who have to find out, or all.

A pair is informed if what the observer knows entails whether the target is a Werewolf: Werewolves know everybody, a
Seer whom it inspected, everybody whose role was revealed (`wolfbus.truth.entailed`). Whoever knows detects nothing, so
headlines are over uninformed pairs. The paper's own tables are over all pairs, as the paper's are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Pairs: TypeAlias = Literal["uninformed", "all"]

UNINFORMED: Final[Pairs] = "uninformed"
ALL: Final[Pairs] = "all"

OVER: Final[Mapping[Pairs, Mapping[str, str | int]]] = {
    UNINFORMED: {"pairs": UNINFORMED, "informed": 0},
    ALL: {"pairs": ALL},
}
"""What sums are kept to, by axis. Sums that can be added have an axis ``informed``; those of which every game has one
for the uninformed pairs and one for all have an axis ``pairs``."""
