"""The question at the end of a prompt: the moment, one's own suspicion, the task; all that is volatile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from players.llm.prompts.forms import LABEL, part_name
from wolfbus.messages.base import SeatName
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

# not where a statement is judged: the smoothing already carries the past, and should not be fed its own result
_WEIGHS_SUSPICION: Final[frozenset[Kind]] = frozenset({"vote", "kill", "protect", "inspect", "whisper"})


def question_text(asks: Sequence[Ask], view: SeatView, *, with_label: bool = False) -> str:
    """Return what stands before the form at the end of a prompt.

    Args:
        asks: what is asked, in the order of the form.
        view: what the seat knows.
        with_label: whether the statement that the reply makes is to be labelled in it, too.
    """
    together = with_label or len(asks) > 1
    when = "night" if asks[0].phase == "night" else "day"
    lines = ["", f"QUESTION, {when} {asks[0].round}"]
    if not _WEIGHS_SUSPICION.isdisjoint(ask.kind for ask in asks):
        lines.append(_suspicion(view))
    if together:
        lines.append("Several things are asked for at once; the reply has a member for each:")
    lines += (_named(ask, view) if together else _task(ask, view) for ask in asks)
    if with_label:
        lines.append(f"{LABEL}: {_label_along(asks[0].kind)}")
    return "\n".join([*lines, ""])


def _suspicion(view: SeatView) -> str:
    """Return the seat's own smoothed suspicion of each living player (paper, section 4.1)."""
    levels = ", ".join(_level(view, name) for name in view.others)
    return f"Your suspicion so far, smoothed over your judgements (0 full trust, 1 certainty of deception): {levels}."


def _level(view: SeatView, name: SeatName) -> str:
    unknown = "" if view.suspicion.judged(view.me, name) else " (not judged yet)"
    return f"{name} {view.suspicion.of(view.me, name):.2f}{unknown}"


def _named(ask: Ask, view: SeatView) -> str:
    return f"{part_name(ask.kind, ask.about)}: {_task(ask, view)}"


def _task(ask: Ask, view: SeatView) -> str:
    turns = f"turn {ask.turn} of {view.config.debate_turns} of the debate"
    if ask.kind == "bid":
        most = view.config.bid_max
        return f"Bid for the floor in {turns}: a whole number from 0 (no wish to speak) to {most} (most urgent)."
    if ask.kind == "speak":
        return f"You have the floor in {turns}. Make one public statement; an empty text is silence."
    if ask.kind == "assess_own":
        return f"Label your own statement {_statement(ask, view)}"
    if ask.kind == "assess_other":
        return f"Judge the statement {_statement(ask, view)}"
    return _choice(ask, view)


def _choice(ask: Ask, view: SeatView) -> str:
    nobody = ask.legal is None or None in ask.legal
    if ask.kind == "vote":
        needed = len(view.living) // 2 + 1
        reason = " Your reason, if you give one, is published with the vote." if view.config.vote_reasons else ""
        return f"Vote for a player to exile, or null to abstain; {needed} votes exile.{reason}"
    if ask.kind == "whisper":
        turn = f"This is proposal {ask.turn} of {view.config.whispers} tonight."
        null = ", or null for nobody" if nobody else ""
        return f"{turn}{_proposed(view)} Propose a victim{null}, with a word to {_partners(view)}."
    null = ", or null for nobody" if nobody else ""
    if ask.kind == "kill":
        return f"Choose whom to kill tonight{null}; no other Werewolf lives."
    if ask.kind == "protect":
        return f"Choose whom to protect tonight{null}."
    return f"Choose whose role to learn{null}."


def _statement(ask: Ask, view: SeatView) -> str:
    """Return the number of the statement to assess, and whose it is; its text stands above."""
    if ask.about is None:
        raise ValueError(f"{ask.id}: a request to assess a statement names none")
    statement = view.statements[ask.about]
    by = "" if statement.speaker == view.me else f" by {statement.speaker}"
    if statement.phase == "debate":
        return f"[{ask.about}]{by}."
    target = view.tallies.get(statement.round, {}).get(statement.speaker)
    vote = "abstaining" if target is None else f"a vote for {target}"
    return f"[{ask.about}]{by}, the reason for {vote}."


def _proposed(view: SeatView) -> str:
    proposals = view.proposals()
    if not proposals:
        return ""
    made = ", ".join(
        f"{'you' if wolf == view.me else wolf} for {proposal.target or 'nobody'}"
        for wolf, proposal in sorted(proposals.items())
    )
    return f" Latest proposals: {made}."


def _partners(view: SeatView) -> str:
    return ", ".join(name for name in view.partners if name not in view.dead) or "your partners"


def _label_along(kind: Kind) -> str:
    if kind == "speak":
        return "Label the statement that you make in this reply; silence is not deceptive."
    return "Label the reason that you give in this reply; to give none is not deceptive."
