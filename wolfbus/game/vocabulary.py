"""The words of the game and of the measurement, as closed sets; every message is built from these.

`Literal` strings rather than enums: they are what stands on the wire and in the record, in every language.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

Role: TypeAlias = Literal["Villager", "Werewolf", "Seer", "Doctor"]
"""What a seat is dealt (paper, section 3); what each role is stands in `wolfbus.game.roles`."""

Team: TypeAlias = Literal["villagers", "werewolves"]
"""The two sides; Seer and Doctor belong to the villagers."""

Phase: TypeAlias = Literal["night", "debate", "vote"]
"""Parts of a round, in order."""

Kind: TypeAlias = Literal["bid", "speak", "assess_own", "assess_other", "vote", "kill", "protect", "inspect", "whisper"]
"""Kinds of request that a seat may be asked; what is asked at night belongs to a role, and stands last."""

Reading: TypeAlias = Literal["clean", "extracted", "repaired", "coerced", "reasked", "copied"]
"""How much work it took to read a reply, set by whoever parsed the model's text.

clean: it parsed as it stood · extracted: JSON taken out of a fence or prose · repaired: broken or cut-off JSON mended ·
coerced: a value brought into its type or range · reasked: the brain had to ask its model a second time ·
copied: all words of a statement, or nearly all, stand in the prompt that asked for it, and stood there again when it
was asked once more.
"""

Outcome: TypeAlias = Literal["accepted", "defaulted", "timed_out", "declined"]
"""What became of a request; the moderator alone decides."""

Fault: TypeAlias = Literal["unparseable", "illegal", "ambiguous", "refused", "failed", "filtered", "cut", "error"]
"""Why there is no usable answer: it could not be read, it is not legal, it can be read in two ways, the model or the
person refused; there was nothing to read, because the model could not be reached or the brain itself failed; a content
filter kept it back, it was cut off at the bound on its length before any answer, or the model's server gave an error
instead."""

Deception: TypeAlias = Literal["none", "omission", "distortion", "misdirection", "fabrication", "unspecified"]
"""Taxonomy of section 4.2; "unspecified" is ours, for a statement called deceptive without a kind."""

Verdict: TypeAlias = Literal["true", "lie", "mistake", "uncheckable", "insincere"]
"""What a claim turns out to be: a lie when the speaker's own view entails that it is false, a mistake when not; of what
leaves open what somebody is, insincere when the speaker's own view entails the contrary."""

Winner: TypeAlias = Team | None

Ending: TypeAlias = Literal["no_wolves_left", "wolves_reach_parity", "max_rounds"]
"""Why a game is over."""

Reveal: TypeAlias = Literal["none", "team", "role"]
"""What everybody learns of a player who leaves the game."""

Protocol: TypeAlias = Literal["paper", "compact"]
"""How many requests a model's reply may answer: one, or several of its seat."""

LabelTime: TypeAlias = Literal["after", "with", "both"]
"""When speakers are asked to label their words: afterwards, in the reply that holds the words, or both."""

AssessmentTime: TypeAlias = Literal["live", "after", "none"]
"""When labels and judgements are asked for: as statements are made, when the game is over, or never."""

SCRIPTS: Final = frozenset({"scripted", "bayes", "random", "silent"})
"""Brains of ours without a model, a person or a program: they answer at once, and know nothing of time."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
DECEPTIONS: Final[tuple[Deception, ...]] = get_args(Deception)
PROTOCOLS: Final[tuple[Protocol, ...]] = get_args(Protocol)
LABEL_TIMES: Final[tuple[LabelTime, ...]] = get_args(LabelTime)
ASSESSMENT_TIMES: Final[tuple[AssessmentTime, ...]] = get_args(AssessmentTime)
