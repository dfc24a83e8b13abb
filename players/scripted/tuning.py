"""Constants of how scripted players play: they decide who wins how often and how long games are, nothing else."""

from __future__ import annotations

from typing import Final

# --- assessing others ------------------------------------------------------------

FLAG_AT: Final = 0.5
"""A statement with this suspicion or more is flagged as deceptive."""
PLAIN: Final = 0.46
"""Suspicion of a statement without any cue, by somebody about whom nothing is known."""
HABIT: Final = 0.30
"""Weight of the smoothed suspicion so far in the suspicion of a new statement."""
JUDGING_NOISE: Final = 0.08
"""Half the width of the seeded spread between observers."""
CUE_HEDGE: Final = 0.04
"""Per hedging word, three at most."""
CUE_ABSOLUTE: Final = 0.07
"""Per word of certainty, two at most."""
CUE_ACCUSES: Final = 0.05
"""Somebody is called a Werewolf without an inspection behind it."""
CUE_ACCUSES_TRUSTED: Final = 0.14
"""Somebody whom the observer trusts is called a Werewolf."""
CUE_ACCUSES_ME: Final = 0.20
"""The observer itself is called a Werewolf."""
CUE_AGREES: Final = -0.10
"""The observer's own suspect is called a Werewolf."""
CUE_DEFLECTS: Final = 0.16
"""Attention is turned elsewhere."""
CUE_PLEADS: Final = 0.05
"""The speaker defends itself."""
CUE_GROUNDED: Final = -0.05
"""Votes and nights are referred to, which all can check."""
CUE_FLIP: Final = 0.16
"""The speaker contradicts what it said of somebody before."""
CUE_LONE_CLAIM: Final = -0.16
"""The only claim to be the Seer or the Doctor so far."""
CUE_RIVAL_CLAIM: Final = 0.14
"""More claims to be the Seer than there are Seers."""

# --- believing ------------------------------------------------------------

LONE_SEER: Final = 0.85
"""Credibility of the only Seer who came forward, in [0, 1]."""
RIVAL_SEER: Final = 0.45
"""Credibility of each of several, before one's own suspicion of them counts."""
FIRST_SEER: Final = 0.15
"""What the first of several gains in credibility over those who claimed later."""
BANDWAGON: Final = 0.18
"""What the voice of a trusted player adds to the suspicion of whom it speaks against; a suspect's voice takes away."""
VOTED_FOR_INNOCENT: Final = 0.06
"""What a vote for somebody who turned out innocent adds."""
BELIEF_NOISE: Final = 0.08
"""Half the width of the seeded spread between players who know the same."""
HARD_AT: Final = 0.66
"""From this belief on, somebody is openly called a Werewolf."""
SOFT_AT: Final = 0.50
"""From this belief on, doubts are voiced."""
TRUST_AT: Final = 0.36
"""Up to this belief, somebody is defended."""

# --- revealing ------------------------------------------------------------

SEER_BOLD_FIRST_DAY: Final = 0.60
"""Share of Seers who name a Werewolf on the first day."""
SEER_BOLD_LATER: Final = 0.85
"""Share of Seers who name a Werewolf on a later day; from `SEER_REVEALS_BY` on, all do."""
SEER_REVEALS_BY: Final = 3
"""Round from which a Seer tells even that it found nobody."""
DOCTOR_CLAIMS: Final = 0.6
"""Share of Doctors who say so under pressure."""
ACCUSERS_IN_DANGER: Final = 2
"""So many accusers in a day put a player in danger."""

# --- lying ------------------------------------------------------------

WOLF_FAKES_SEER: Final = 0.30
"""Share of Werewolves bold enough to pose as the Seer of their own accord, from the second day on."""
WOLF_COUNTERCLAIMS: Final = 0.55
"""Share of Werewolves who answer a Seer's accusation with a claim of their own."""
WOLF_FRAMES: Final = 0.60
"""Share of a false Seer's reports that frame somebody; the others clear a partner."""
WOLF_BUSSES: Final = 0.65
"""Share of Werewolves who turn on a partner that is lost."""
WOLF_ATTACKS: Final = 0.45
"""Share of a Werewolf's ordinary turns spent on accusing; in the others it blends in."""
WOLF_ADMITS_OMISSION: Final = 0.45
"""Share of a Werewolf's harmless statements that it labels as omission."""

# --- voting and the night ------------------------------------------------------------

VOTE_AT: Final = 0.44
"""Nobody suspected this much: an honest player may abstain."""
JOINS: Final = 0.05
"""How much less than its own suspect a player may suspect the most accused one and still join the vote."""
ABSTAINS: Final = 0.5
"""Share of such ballots that do."""
GIVES_REASON: Final = 0.75
"""Share of ballots with a public reason."""
WOLF_ABSTAINS: Final = 0.06
"""Share of a Werewolf's ballots that abstain."""
PROTECTS_SEER: Final = 6
"""Weight of a believed Seer among those whom a Doctor may protect; an ordinary player weighs 2."""
PROTECTS_SELF: Final = 3
"""Weight of the Doctor itself."""
