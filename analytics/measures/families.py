"""What is summed of every game: the families.

A new figure that needs other sums than these adds a family here, and its entries in
`analytics.measures.summing`; see `analytics.measures.headlines` for the figure.
"""

from __future__ import annotations

from typing import Final

from analytics.measures.frames import Family

FAMILIES: Final = {
    family.name: family
    for family in (
        Family("game", "protocol state"),
        Family("ending", "reason"),
        Family("length", "what finished"),
        Family("square", "what"),
        Family("plays", "agent"),
        Family("seat", "agent role result"),
        Family("said", "agent role label truth"),
        Family("spoken", "round phase process label"),
        Family("received", "role kind part"),
        Family("claims", "source claim verdict"),
        Family("labels", "how"),
        Family("judged", "agent"),
        Family("flags", "informed agent role label flag"),
        Family("heard", "informed target label flag"),
        Family("truths", "informed agent role wolf label truth flag"),
        Family("sides", "informed agent role wolf flag"),
        Family("round_flags", "informed round flag"),
        Family("clean_flags", "informed label flag"),
        Family("scores", "informed clean label score", pooled=True),
        Family("towards", "informed agent wolf part"),
        Family("raw_towards", "informed agent wolf part"),
        Family("suspected", "informed target wolf part"),
        Family("cell", "role target_role part"),
        Family("line", "pairs target_role round"),
        Family("raw_line", "pairs target_role round"),
        Family("moved", "pairs target_role round what"),
        Family("slope", "pairs target_role"),
        Family("difference", "pairs round"),
        Family("night", "night"),
        Family("seers", "claimed"),
        Family("event", "condition part"),
        Family("change", "part"),
        Family("hits", "pairs agent round part"),
        Family("follows", "pairs agent part"),
        Family("exile", "pairs part"),
        Family("error", "informed score agent role part"),
        Family("bins", "pairs score agent bin part"),
    )
}
"""By name. ``part`` tells the sums of one quotient apart: ``sum`` and ``n``, and what stands beside
them.

``game``: its protocol, and who won (or ``unfinished``). ``length``: numbers of nights, statements
…, of finished games and of others; ``square``: their squares, of finished ones. ``seat``: how it
ended for an agent in a role. ``said``: statements by self-label (-1: none counts) and truth.
``received``: per statement the mean over observers of suspicion and of flags. ``flags``: an agent's
flags against self-labels, ``heard``: those on its own statements, ``truths``: against claims,
``sides``: against who speaks, a Werewolf or not.
``scores``: suspicion in ten-thousandths. ``towards``: final D by observer, ``suspected`` by target.
``cell``: of Table 2, a game's mean. ``line``: D by the end of a round, a game's mean; ``slope`` of
these; ``difference`` between Werewolves and Villagers; ``raw_line``: suspicion as it was given,
``moved``: how D changed from the round before, ``within`` pairs that were there then and by who
the pairs are (``makeup``). ``raw_towards``: suspicion as it was given, by observer.
``informed`` and ``pairs``: see `analytics.measures.pairs`. ``event``: suspicion of a Seer before and
after its claim, of a Doctor after nights. ``error``: squared errors of a score, ``bins``: sums by
calibration bin; both only where there are `Study`s.
"""

LENGTHS: Final = ("nights", "debate_turns", "voting_rounds", "statements", "judgements")
"""What is counted in every game."""
SOURCES: Final = ("given", "unheard", "extracted")
"""Where claims come from: attached and heard in the words, attached only, found in the words only."""
MOVED: Final = ("within", "makeup")
"""What a change of mean suspicion from a round to the next is made of."""
DECIMALS: Final = 4
"""Suspicion is pooled to so many decimals, which bounds what is kept; models give two."""
HEADLINES: Final = (
    "game",
    "seat",
    "said",
    "flags",
    "error",
    "bins",
    "towards",
    "raw_towards",
    "hits",
    "follows",
    "truths",
)
"""What the headline metrics are sums of."""
