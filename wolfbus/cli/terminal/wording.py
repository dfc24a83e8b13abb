"""What happens in a game, in words that the line view, the live view and the pages all use.

Everything that comes from outside (names, words, notes) leaves here fit to print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from wolfbus.claims import kind_named
from wolfbus.cli.terminal.standing import AnswerSums
from wolfbus.files.formats import listed
from wolfbus.files.printable import NOTE_SHOWN, counted, name_of, printable, shortened, with_article
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Ending, Outcome, Winner
from wolfbus.messages.base import SeatName
from wolfbus.messages.calls import Call
from wolfbus.messages.events import Opened
from wolfbus.record.usage import Usage
from wolfbus.stage.beats import (
    Beat,
    Exiled,
    NightMove,
    NightShown,
    Over,
    SeatStatus,
    ShownAssessment,
    ShownClaim,
    Spoken,
    Tallied,
)

WINNERS: Final[dict[Winner, str]] = {
    "villagers": "the villagers win",
    "werewolves": "the Werewolves win",
    None: "nobody wins",
}
ENDINGS: Final[dict[Ending, str]] = {
    "no_wolves_left": "no Werewolf is left",
    "wolves_reach_parity": "they are as many as the others",
    "max_rounds": "the last round is over",
}
_OUTCOMES: Final[tuple[Outcome, ...]] = ("accepted", "defaulted", "timed_out", "declined")


def names_of(names: Iterable[SeatName]) -> str:
    """Return names as a list in words: "Ada, Hugo and Mona"; "nobody" for none."""
    return listed([name_of(name) for name in names]) or "nobody"


def with_role(seats: Mapping[SeatName, SeatStatus], name: SeatName) -> str:
    """Return a name with its role, if that is known: "Ada (Seer)"."""
    role = seats[name].role if name in seats else None
    return f"{name_of(name)} ({role})" if role is not None else name_of(name)


def opening_lines(opened: Opened) -> list[str]:
    """Return the game's id, seed and version, and its seats with roles and brains."""
    brains: dict[str, list[SeatName]] = {}
    for seat in opened.seats:
        brains.setdefault(seat.brain, []).append(seat.name)
    played = "; ".join(
        shortened(brain, NOTE_SHOWN) + ("" if len(brains) == 1 else f": {', '.join(map(name_of, names))}")
        for brain, names in brains.items()
    )
    return [
        f"game {opened.game} · seed {printable(opened.seed, NOTE_SHOWN)} · wolfbus {printable(opened.version, 32)}",
        "players: " + ", ".join(f"{name_of(seat.name)} ({seat.role})" for seat in opened.seats),
        f"played by {played}" + (" · compact protocol" if opened.config.protocol == "compact" else ""),
    ]


def proposals_of(night: NightShown) -> dict[SeatName, NightMove]:
    """Return what each wolf proposed last, or chose alone."""
    return {move.seat: move for move in night.moves if move.kind in {"kill", "whisper"} and move.outcome is None}


def protections_of(night: NightShown) -> dict[SeatName, SeatName | None]:
    """Return whom each doctor chose to protect."""
    return {move.seat: move.target for move in night.moves if move.kind == "protect" and move.outcome is None}


def inspections_of(night: NightShown) -> list[NightMove]:
    """Return what was chosen to be learned of whom, and was."""
    return [move for move in night.moves if move.role is not None]


def night_in_words(night: NightShown, round_: int, config: GameConfig) -> str:
    """Return what really happened in a night: "the wolves go for Hugo; Kira protects Mona; Hugo died"."""
    parts = [f"the wolves go for {name_of(night.target)}"]
    if round_ == 1 and not config.first_night_kill:
        parts = ["the wolves do not kill in the first night"]
    elif night.target is None and not proposals_of(night):
        parts = ["the wolves propose nobody"]
    parts += [f"{name_of(doctor)} protects {name_of(saved)}" for doctor, saved in protections_of(night).items()]
    parts.append(f"{name_of(night.died)} died")
    return "; ".join(parts)


def inspection_in_words(move: NightMove, seats: Mapping[SeatName, SeatStatus]) -> str:
    """Return what a seat learned at night: "Ada (Seer) sees that Wim is a Werewolf"."""
    return f"{with_role(seats, move.seat)} sees that {name_of(move.target)} is {with_article(str(move.role))}"


def votes_by_target(votes: Mapping[SeatName, SeatName | None]) -> list[tuple[SeatName | None, list[SeatName]]]:
    """Return who voted for whom, the most voted first; abstentions, under None, come last. Voters stand by name.

    Args:
        votes: voter to target.
    """
    supporters: dict[SeatName | None, list[SeatName]] = {}
    for voter in sorted(votes):
        supporters.setdefault(votes[voter], []).append(voter)
    return sorted(supporters.items(), key=lambda item: (item[0] is None, -len(item[1])))


def ballots_of(tally: Tallied) -> dict[SeatName, SeatName | None]:
    """Return opened votes, voter to target."""
    return {ballot.seat: ballot.target for ballot in tally.ballots}


def tally_in_words(votes: Mapping[SeatName, SeatName | None], needed: int) -> str:
    """Return the opened votes: "Hugo 3 (Ada, Kira, Wim); Mona 1 (Hugo); 1 abstains (Mona); 3 needed"."""
    parts = []
    for target, voters in votes_by_target(votes):
        names = ", ".join(map(name_of, voters))
        if target is None:
            parts.append(f"{len(voters)} abstain{'s' if len(voters) == 1 else ''} ({names})")
        else:
            parts.append(f"{name_of(target)} {len(voters)} ({names})")
    return "; ".join([*parts, f"{needed} needed"])


def vote_of(beat: Beat) -> str:
    """Return whom the speaker of a vote's reason voted for, to stand after its name (" for Hugo"); "" in a debate."""
    if beat.spoken is None or beat.phase != "vote":
        return ""
    return f" for {name_of(beat.spoken.vote)}"


def label_in_words(label: ShownAssessment) -> str:
    """Return a self-label as "honest", "fabrication", or "deceptive" where its kind was not said; "none" for none."""
    if label.deceptive is None:
        return "none"
    if not label.deceptive:
        return "honest"
    return "deceptive" if label.kind in {"none", "unspecified", None} else label.kind


def assessment_in_words(spoken: Spoken) -> str:
    """Return how a statement was assessed: "self: honest · suspected 0.42, flagged by 2 of 4 who had to
    find out · by 1 of 2 who knew or were accused · claims: 1 true".
    """
    parts = [f"self: {'none' if spoken.label is None else label_in_words(spoken.label)}"]
    if spoken.mean is not None:
        parts.append(f"suspected {spoken.mean:.2f}, flagged by {spoken.flagged} of {spoken.judged} who had to find out")
    others = [judgement.deceptive for judgement in spoken.judgements if judgement.listener in {"accused", "knew"}]
    if flags := [flag for flag in others if flag is not None]:
        parts.append(f"by {sum(flags)} of {len(flags)} who knew or were accused")
    if missing := sum(judgement.suspicion is None for judgement in spoken.judgements):
        parts.append(f"{counted(missing, 'judgement')} missing")
    parts += filter(None, [claims_in_words(spoken)])
    return " · ".join(parts)


def claims_in_words(spoken: Spoken) -> str:
    """Return the moderator's verdicts on a statement's claims: "claims: 1 true, 2 lies"; "" where there is none."""
    plurals = {"lie": "lies", "mistake": "mistakes"}
    verdicts = Counter(claim.verdict for claim in spoken.claims if _is_told(claim))
    counts = (
        f"{number} {verdict if number == 1 else plurals.get(verdict, verdict)}"
        for verdict, number in sorted(verdicts.items())
    )
    return "claims: " + ", ".join(counts) if verdicts else ""


def _is_told(claim: ShownClaim) -> bool:
    """Return whether there is anything to tell of what a claim turned out to be: of a stance only that it is
    insincere.
    """
    return claim.verdict != "uncheckable" or kind_named(claim.claim).checkable


def exile_in_words(exile: Exiled, seats: Mapping[SeatName, SeatStatus]) -> str:
    """Return what a vote came to: "Ada (Seer) is exiled", "nobody is exiled"."""
    return f"{'nobody' if exile.seat is None else with_role(seats, exile.seat)} is exiled"


def ending_in_words(winner: Winner, reason: Ending, rounds: int) -> str:
    """Return how the game ended: "the villagers win after 3 rounds: no Werewolf is left"."""
    return f"{WINNERS[winner]} after {counted(rounds, 'round')}: {ENDINGS[reason]}"


def over_in_words(over: Over) -> str:
    """Return how the game ended, or that it was broken off and why."""
    if over.reason is None or over.rounds is None:
        return f"the game was broken off: {printable(over.stopped or '', NOTE_SHOWN) or 'nobody said why'}"
    return ending_in_words(over.winner, over.reason, over.rounds)


def answers_in_words(sums: AnswerSums) -> str:
    """Return how the requests were answered: "412 answers: 410 accepted, 2 timed out; 400 clean, 10 repaired"."""
    parts = [f"{sums.outcomes[outcome]} {outcome.replace('_', ' ')}" for outcome in _OUTCOMES if sums.outcomes[outcome]]
    text = counted(sums.outcomes.total(), "answer") + (": " + ", ".join(parts) if parts else "")
    if sums.readings:
        text += "; read " + ", ".join(f"{number} {reading}" for reading, number in sums.readings.most_common())
    if sums.faults:
        text += "; " + ", ".join(f"{number} {fault}" for fault, number in sums.faults.most_common())
    return "; ".join([text, *rejections_in_words(sums)])


def rejections_in_words(sums: AnswerSums) -> list[str]:
    """Return how many answers came after their requests were closed, and how many messages were rejected otherwise."""
    late = sums.rejected["closed"]
    rejected = sums.rejected.total() - late
    parts = [f"{counted(late, 'answer')} came too late"] if late else []
    return parts + ([f"{counted(rejected, 'message')} rejected"] if rejected else [])


def call_in_words(call: Call) -> str:
    """Return that a model call failed: "no reply of Ada's model (bid): connection refused"."""
    again = ", asked again" if call.reask else ""
    return f"no reply of {name_of(call.seat)}'s model ({call.kind}{again}): {printable(call.error or '', NOTE_SHOWN)}"


def usage_in_words(usage: Usage) -> str:
    """Return what model calls took: "412 model calls (3 failed) · 1,234,567 tokens · $0.1234"; "" without any."""
    if not usage.calls:
        return ""
    failed = f" ({usage.failed} failed)" if usage.failed else ""
    parts = [f"{counted(usage.calls, 'model call')}{failed}"]
    if usage.cassette:
        parts.append(f"{usage.cassette} from a cassette")
    if (tokens := usage.tokens("prompt_tokens", "completion_tokens")) is not None:
        without = f" (without {counted(usage.uncounted, 'uncounted call')})" if usage.uncounted else ""
        parts.append(f"{tokens:,} tokens{without}")
    if (cost := usage.cost.total()) is not None:
        parts.append(f"{'at least ' if usage.cost.missing else ''}${cost:.4f}")
    elif usage.cassette == usage.calls:
        parts.append("$0")
    return " · ".join(parts)
