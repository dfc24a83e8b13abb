"""Key moments of a game, derived from its beats: no model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from wolfbus.messages.base import SeatName
from wolfbus.stage.beats import Beat

MomentKind: TypeAlias = Literal[
    "false_seer_claim", "suspicion_rises", "suspicion_drops", "one_vote", "special_exiled", "kill_blocked"
]


@dataclass(frozen=True, slots=True)
class KeyMoment:
    """A place of a game that is worth a look.

    Attributes:
        beat: number of the beat.
        kind: what sort of moment it is.
        seat: whom it is about.
        words: what happens, in one sentence.
    """

    beat: int
    kind: MomentKind
    seat: SeatName
    words: str


def key_moments(beats: Sequence[Beat]) -> tuple[KeyMoment, ...]:
    """Return the key moments among `beats`, in order; those that the viewer of the beats can know.

    The first false claim to be the Seer; the largest rise and the largest drop of the mean suspicion that a Werewolf
    meets, by one statement; every exile decided by a single vote; every exile of a Seer or Doctor; every kill that a
    doctor blocked.
    """
    found = [*_false_claim(beats), *_swings(beats)]
    for beat in beats:
        found += _outcome(beat)
    return tuple(sorted(found, key=lambda moment: moment.beat))


def _false_claim(beats: Sequence[Beat]) -> Iterator[KeyMoment]:
    for beat in beats:
        if beat.spoken is None:
            continue
        speaker = beat.spoken.speaker
        for claim in beat.spoken.claims:
            if (claim.claim, claim.role, claim.target, claim.verdict) == ("role", "Seer", speaker, "lie"):
                yield KeyMoment(beat.n, "false_seer_claim", speaker, f"{speaker} falsely claims to be the Seer")
                return


def _swings(beats: Sequence[Beat]) -> Iterator[KeyMoment]:
    rises: list[tuple[float, Beat, float, float]] = []
    for earlier, beat in pairwise(beats):
        if beat.spoken is None:
            continue
        speaker = beat.spoken.speaker
        before = next((seat.suspected for seat in earlier.seats if seat.name == speaker), None)
        now = next(seat for seat in beat.seats if seat.name == speaker)
        if now.role == "Werewolf" and before is not None and now.suspected is not None:
            rises.append((now.suspected - before, beat, before, now.suspected))
    highest = max(rises, key=lambda rise: rise[0], default=None)
    lowest = min(rises, key=lambda rise: rise[0], default=None)
    if highest is not None and highest[0] > 0:
        yield _swing(highest, "suspicion_rises", "rises")
    if lowest is not None and lowest[0] < 0:
        yield _swing(lowest, "suspicion_drops", "drops")


def _swing(
    rise: tuple[float, Beat, float, float], kind: Literal["suspicion_rises", "suspicion_drops"], verb: str
) -> KeyMoment:
    _, beat, before, after = rise
    speaker = beat.spoken.speaker if beat.spoken is not None else ""
    words = f"suspicion of {speaker}, a Werewolf, {verb} from {before:.0%} to {after:.0%}"
    return KeyMoment(beat.n, kind, speaker, words)


def _outcome(beat: Beat) -> Iterator[KeyMoment]:
    if beat.exile is not None and beat.exile.seat is not None:
        gone = beat.exile.seat
        if beat.exile.votes == beat.exile.needed:
            words = f"{gone} is exiled by {beat.exile.votes} votes where {beat.exile.needed} are needed: one decides"
            yield KeyMoment(beat.n, "one_vote", gone, words)
        role = next(seat.role for seat in beat.seats if seat.name == gone)
        if role in {"Seer", "Doctor"}:
            yield KeyMoment(beat.n, "special_exiled", gone, f"{gone}, the {role}, is exiled")
    elif beat.night is not None and beat.night.blocked and beat.night.target is not None:
        saved = beat.night.target
        yield KeyMoment(beat.n, "kill_blocked", saved, f"a Doctor saves {saved} from the Werewolves")
