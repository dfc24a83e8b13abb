"""What a report of forks alone says first: what lies did, and no rate of agents."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from analytics import Result
from analytics.report.caveats import only_forks
from analytics.report.context import with_interval
from analytics.report.specs import phrase, specs
from wolfbus.files.formats import listed
from wolfbus.files.printable import counted

OUTCOMES: Final = {
    "suspicion": "suspicion right after",
    "dusk": "smoothed suspicion at dusk",
    "votes": "share of that day's votes",
    "exiled": "exiled that day",
    "won": "its side won",
}
"""What is compared between the arms of a fork, in words."""
_NOUNS: Final = {"forks": "fork", "statements": "statement", "parents": "game", "blocks": "block"}


def sizes(forks: Result) -> dict[str, str]:
    """Return how many there are of what forks are counted in, by the name in findings: "3 forks", "1 game"."""
    return {name: counted(forks[name], noun) for name, noun in _NOUNS.items()}


def fork_headlines(findings: Result) -> list[str]:
    """Return what forks tell in sentences, one for each verdict, and what not; nothing where any game is no fork."""
    if not only_forks(findings):
        return []
    data = findings["forks"]
    verdicts, outcomes = specs("forks").verdicts["any"], defaultdict[str, list[str]](list)
    for name, row in data["effects"].items():
        effect = f" ({with_interval(row['difference'], 'points')})" if row["verdict"] in {"above", "below"} else ""
        outcomes[row["verdict"]].append(f"{OUTCOMES[name]}{effect}")
    return [
        phrase("forks/played", **sizes(data)),
        *(f"{words.format(label=listed(outcomes[name]))}." for name, words in verdicts.items() if name in outcomes),
        phrase("forks/no_sample"),
    ]
