"""Selections: which statements stand behind a number, as a filter of the index that an address can carry."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final
from urllib.parse import quote

INDEX: Final = "statements"
"""Anchor of the index."""

_WORDS: Final = {
    "role": "by speakers dealt {}",
    "said": "that their speakers call {}",
    "kind": "labelled {}",
    "truth": "{}",
    "round": "in round {}",
    "phase": "in the {}",
    "game": "of game {}",
}
_TRUTH: Final = {
    "true": "whose checkable claims are true",
    "mistake": "that are mistakes",
    "lie": "that are lies",
    "checkable": "with a checkable claim",
}
_JUDGED: Final = {
    "tp": "flagged, rightly",
    "fp": "flagged though labelled truthful",
    "tn": "not flagged, rightly",
    "fn": "not flagged though labelled deceptive",
    "flagged": "flagged",
    "scored": "judged, with a self-label to hold that against,",
    "judged": "judged",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Statements that match all that is given; None matches any.

    Attributes:
        role: the speaker's role.
        agent: place of the speaker's agent in the list of agents, from 0.
        said: self-label, "deceptive" or "truthful".
        kind: self-labelled kind.
        truth: "true", "mistake", "lie", or "checkable" for any of these.
        round: from 1.
        phase: "debate" or "vote".
        game: place of the game in the index, from 1.
        observer: role of an observer whose judgement is meant.
        by: place of that observer's agent.
        judged: what that judgement was: "tp", "fp", "tn", "fn" against the self-label, "scored" for any of these,
            "flagged", or "judged" for any that counts.
    """

    role: str | None = None
    agent: int | None = None
    said: str | None = None
    kind: str | None = None
    truth: str | None = None
    round: int | None = None
    phase: str | None = None
    game: int | None = None
    observer: str | None = None
    by: int | None = None
    judged: str | None = None

    @property
    def anchor(self) -> str:
        """The fragment of the address, which is also an element's id for readers without script."""
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        query = "&".join(f"{name}={quote(str(value))}" for name, value in given if value is not None)
        return f"{INDEX}?{query}" if query else INDEX

    def in_words(self, agents: tuple[str, ...]) -> str:
        """Return what is selected, in words.

        Args:
            agents: names of the agents, fit to show.
        """
        parts = ["Statements"]
        for name in ("role", "said", "kind", "truth", "round", "phase", "game"):
            value = getattr(self, name)
            if value is not None:
                parts.append(_TRUTH[value] if name == "truth" else _WORDS[name].format(value))
        if self.agent is not None:
            parts.append(f"by agent {agents[self.agent]}")
        if self.observer is not None or self.by is not None or self.judged is not None:
            who = f"a {self.observer}" if self.observer else "an observer"
            agent = "" if self.by is None else f" of agent {agents[self.by]}"
            parts.append(f"{_JUDGED[self.judged or 'judged']} by {who}{agent}")
        return " ".join(parts)
