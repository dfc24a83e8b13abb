"""What a game tells: its key moments, and its story in one sentence, three beats and its lies; no model is asked.

Who is said to believe, to doubt or to turn had to find out: partners of a speaker, who knew, and those whom its words
accuse are left out (`wolfbus.stage.beats.Listener`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from wolfbus.files.printable import counted
from wolfbus.game.roles import FACTS
from wolfbus.game.vocabulary import Winner
from wolfbus.messages.base import SeatName
from wolfbus.stage.beats import Beat, ShownClaim, Spoken

MomentKind: TypeAlias = Literal[
    "false_seer_claim", "suspicion_rises", "suspicion_drops", "one_vote", "special_exiled", "kill_blocked"
]

TURN: Final = 0.06
"""How far the curve goes back where it turns: so much of a gap, which lies in [-1, 1]."""
_WAYS: Final = 4
"""The farthest ways between two turns are key moments: so many."""


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


@dataclass(frozen=True, slots=True)
class ToldLie:
    """A statement of which a claim is a lie, and who of those who had to find out believed it.

    Attributes:
        beat: number of its beat.
        speaker: who lied.
        words: what was claimed: "claims to be the Seer".
        believed: who did not flag it.
        doubted: who flagged it.
    """

    beat: int
    speaker: SeatName
    words: str
    believed: tuple[SeatName, ...]
    doubted: tuple[SeatName, ...]


@dataclass(frozen=True, slots=True)
class StoryBeat:
    """A beat of the story, in a few words."""

    beat: int
    words: str


@dataclass(frozen=True, slots=True)
class Story:
    """A game that is over, as its first and its last frame tell it.

    Attributes:
        headline: the game in one sentence.
        beats: at most three beats, in order.
        lies: the lies of Werewolves, in order.
        lie: the beat from which to watch: of the lie that was believed most; None without one.
    """

    headline: str
    beats: tuple[StoryBeat, ...]
    lies: tuple[ToldLie, ...]
    lie: int | None


def key_moments(beats: Sequence[Beat]) -> tuple[KeyMoment, ...]:
    """Return the key moments among `beats`, in order; those that the viewer of the beats can know.

    The first false claim to be the Seer; on each of the farthest ways that the curve of suspicion (`Beat.gap`) goes
    between two turns, the statement that moved it most; every exile decided by a single vote; every exile of somebody
    else who acts at night; every kill that a doctor blocked.
    """
    moments = [*_false_claim(beats), *_turns(beats)]
    for beat in beats:
        moments += _outcome(beat)
    return tuple(sorted(moments, key=lambda moment: moment.beat))


def _false_claim(beats: Sequence[Beat]) -> Iterator[KeyMoment]:
    for beat in beats:
        if beat.spoken is None:
            continue
        speaker = beat.spoken.speaker
        for claim in beat.spoken.claims:
            if (claim.claim, claim.role, claim.target, claim.verdict) == ("role", "Seer", speaker, "lie"):
                yield KeyMoment(beat.n, "false_seer_claim", speaker, f"{speaker} falsely claims to be the Seer")
                return


def turning_points(values: Sequence[float]) -> list[int]:
    """Return where a curve turns, with its ends: high and low points between which it goes at least `TURN`."""
    turns, low, high = [0] if values else [], 0, 0
    for place, value in enumerate(values):
        if value > values[high]:
            high = place
        if value < values[low]:
            low = place
        if high > low and values[high] - value >= TURN:
            turns.append(high)
            low = high = place
        elif low > high and value - values[low] >= TURN:
            turns.append(low)
            low = high = place
    return [*turns, len(values) - 1] if values else []


def _turns(beats: Sequence[Beat]) -> Iterator[KeyMoment]:
    curve = [(beat, beat.gap) for beat in beats if beat.gap is not None]
    ways = list(pairwise(turning_points([gap for _, gap in curve])))
    for first, last in sorted(ways, key=lambda way: -abs(curve[way[1]][1] - curve[way[0]][1]))[:_WAYS]:
        rises = curve[last][1] > curve[first][1]
        steps = [
            (abs(after - before), beat, beat.spoken.speaker, before, after)
            for (_, before), (beat, after) in pairwise(curve[first : last + 1])
            if beat.spoken is not None and abs(after - before) >= TURN / 2 and (after > before) == rises
        ]
        if steps:
            _, beat, speaker, before, after = max(steps, key=lambda step: step[0])
            words = (
                f"{speaker} speaks, and suspicion moves {'towards' if rises else 'away from'} the Werewolves: "
                f"{_points(before)} → {_points(after)}"
            )
            yield KeyMoment(beat.n, "suspicion_rises" if rises else "suspicion_drops", speaker, words)


def _points(gap: float) -> str:
    return f"{round(gap * 100):+d}".replace("-", "−").replace("+0", "0")


def _outcome(beat: Beat) -> Iterator[KeyMoment]:
    if beat.exile is not None and beat.exile.seat is not None:
        exiled = beat.exile.seat
        # a log of another table does not tell how many are needed, which is 0
        if beat.exile.votes == beat.exile.needed > 0:
            words = f"{exiled} is exiled by {beat.exile.votes} votes where {beat.exile.needed} are needed: one decides"
            yield KeyMoment(beat.n, "one_vote", exiled, words)
        role = beat.role_of(exiled)
        if role is not None and role != "Werewolf" and role in FACTS and FACTS[role].acts:
            yield KeyMoment(beat.n, "special_exiled", exiled, f"{exiled}, the {role}, is exiled")
    elif beat.night is not None and beat.night.blocked and beat.night.target is not None:
        saved = beat.night.target
        yield KeyMoment(beat.n, "kill_blocked", saved, f"{saved} is protected from the Werewolves")


def story(beats: Sequence[Beat]) -> Story | None:
    """Return the story of a game that is over, for who sees everything; None before its end."""
    over = beats[-1].over if beats else None
    if over is None:
        return None
    end = {"werewolves": "the Werewolves win", "villagers": "the villagers win", None: "nobody wins"}[over.winner]
    if over.stopped is not None:
        end = "the game is broken off"
    lies = tuple(_lies(beats))
    best = max(lies, key=_told_well, default=None)
    outcomes = [StoryBeat(beat.n, words) for beat in beats if (words := _departs(beat))]
    after = [outcome for outcome in outcomes if best is None or outcome.beat > best.beat]
    parts = [*([] if best is None else [StoryBeat(best.beat, f"{best.speaker} {best.words}")]), *after[:1], *after[-1:]]
    # where little happens after the lie, what came before it
    parts += [outcome for outcome in reversed(outcomes) if outcome not in parts][: 3 - len(dict.fromkeys(parts))]
    ordered = tuple(sorted(dict.fromkeys(parts), key=lambda part: part.beat))
    return Story(_headline(best, end, over.winner), ordered, lies, None if best is None else best.beat)


def _told_well(lie: ToldLie) -> tuple[bool, int, int]:
    """Return what makes a lie the story's: a false claim to a role before an accusation, then how it was believed."""
    return lie.words.startswith("claims"), len(lie.believed) - len(lie.doubted), len(lie.believed)


def _headline(lie: ToldLie | None, end: str, winner: Winner) -> str:
    if lie is None:
        return f"{end[0].upper()}{end[1:]}, and no Werewolf told a lie that can be checked"
    count, doubts = len(lie.believed) + len(lie.doubted), len(lie.doubted)
    subject = f"{lie.speaker}, a Werewolf, {lie.words}"
    if not count:
        return f"{subject}; {end}"
    whom = f"of the {count} who had to find out"
    doubt = f"none {whom} doubts it" if not doubts else f"all {count} who had to find out do doubt it"
    if 0 < doubts < count:
        doubt = f"{doubts} {whom} {'doubts' if doubts == 1 else 'doubt'} it"
    if count == 1:
        doubt = f"the only one who had to find out {'doubts' if doubts else 'believes'} it"
    expected = winner is None or (winner == "werewolves") == (doubts * 2 <= count)
    return f"{subject}; {doubt}, {'and' if expected else 'yet'} {end}"


def _lies(beats: Sequence[Beat]) -> Iterator[ToldLie]:
    for beat in beats:
        spoken = beat.spoken
        if spoken is None or beat.role_of(spoken.speaker) != "Werewolf":
            continue
        claims = [claim for claim in spoken.claims if claim.verdict == "lie"]
        if claims:
            yield ToldLie(beat.n, spoken.speaker, lie_in_words(claims), *_believers(spoken))


def _believers(spoken: Spoken) -> tuple[tuple[SeatName, ...], tuple[SeatName, ...]]:
    """Return who of those who had to find out believed a statement, and who did not."""
    judged: dict[bool, list[SeatName]] = {False: [], True: []}
    for judgement in spoken.judgements:
        if judgement.listener == "finds_out" and judgement.seat is not None and judgement.deceptive is not None:
            judged[judgement.deceptive].append(judgement.seat)
    return tuple(judged[False]), tuple(judged[True])


def lie_in_words(claims: Sequence[ShownClaim]) -> str:
    """Return what a statement's lies claim: "claims to be the Seer and calls Leon a Werewolf"."""
    parts: dict[tuple[str, str], str] = {}
    for claim in claims:
        # a player is given the same role once: who reports a Werewolf also calls it one
        parts.setdefault((claim.target, claim.role or claim.says), claim.says)
    return " and ".join(parts.values())


def _departs(beat: Beat) -> str:
    """Return who leaves the game with a beat, and what it was; "" where nobody does."""
    if beat.exile is not None and beat.exile.seat is not None:
        exiled = beat.exile.seat
        return f"{exiled}, the {beat.role_of(exiled)}, is exiled by {counted(beat.exile.votes, 'vote')}"
    if beat.night is not None and beat.night.died is not None:
        return f"{beat.night.died}, the {beat.role_of(beat.night.died)}, is killed at night"
    return beat.news or "" if "death" in beat.marks else ""
