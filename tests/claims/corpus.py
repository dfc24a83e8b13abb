"""What players say in public, with the claims in it: a file of `styles/` for each way of talking.

Written without sight of the patterns that find claims in words; the patterns were since written with sight of
them. Labels are what the words assert, once each, without denials, hedges and stances:

- "Hugo is a Werewolf", of another, is an accusation, also where it is addressed to Hugo or
  concluded from an argument; "I am a Werewolf" claims a role.
- What was seen at night is an inspection, not also an accusation or a role; so is a vision, told
  as a result.
- `round` stands only where the words give the night's number.
- Nothing is claimed by suspicion, hedges, questions, conditions, wishes, plans, denials, irony,
  talk of other games, or other people's claims, unless the speaker makes them its own.
- What careful readers would label differently is left out: "I think Hugo is a Werewolf", "Hugo is
  clear", "we Villagers".
"""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim, StanceClaim

CLAIMS: Final[TypeAdapter[tuple[Claim, ...]]] = TypeAdapter(tuple[Claim, ...])


@dataclass(frozen=True)
class LabelledSentence:
    """A public statement of a few sentences at most, and every claim in it."""

    style: str
    names: tuple[str, ...]
    by: str
    text: str
    claims: tuple[Claim, ...]
    split: str
    """Which half of its style it was first in. Patterns were written with an eye on both: neither measures them."""
    note: str | None = None


def implied(claims: Iterable[Claim], by: str) -> set[Claim]:
    """Return what follows from `claims` of `by`, and is not itself among them.

    Whoever inspects is the Seer, whoever protects the Doctor, whoever is seen to be a Werewolf is
    called one, and whoever is called one is said to have that role. Finding such a claim is neither
    right nor wrong: it counts neither for precision nor for recall.
    """
    asserted = set(claims)
    following: set[Claim] = set()
    for claim in asserted:
        match claim:
            case InspectionClaim():
                following.add(RoleClaim(target=by, role="Seer"))
                following.add(RoleClaim(target=claim.target, role=claim.role))
                if claim.role == "Werewolf":
                    following.add(AccusationClaim(target=claim.target))
            case ProtectionClaim():
                following.add(RoleClaim(target=by, role="Doctor"))
            case AccusationClaim():
                following.add(RoleClaim(target=claim.target, role="Werewolf"))
            case RoleClaim() | StanceClaim():
                pass
    return following - asserted


def _styles() -> list[LabelledSentence]:
    sentences = []
    for path in sorted(Path(__file__).with_name("styles").glob("*.toml")):
        style = tomllib.loads(path.read_text("utf-8"))
        names = tuple(style["names"])
        for row in style["sentence"]:
            claims = CLAIMS.validate_json(json.dumps(row.pop("claims")))
            sentences.append(LabelledSentence(style=path.stem, names=names, claims=claims, **row))
    return sentences


SENTENCES: Final[list[LabelledSentence]] = _styles()
