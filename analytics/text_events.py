"""Events and votes as text for the terminal."""

from __future__ import annotations

from analytics import Result
from analytics.grid import between, grid, percent


def event_lines(result: Result) -> list[str]:
    """Return the section on the Seer's claim and the Doctor's nights; nothing where no such event happened."""
    seer, doctor = result["events"]["seer"], result["events"]["doctor"]
    rows = [
        *(_row(f"Seer, {label}", seer[name]) for name, label in (("before", "before"), ("after", "from the claim on"))),
        _row("  change within a game", seer["difference"], signed=True),
        *(_row(f"Doctor, kill {label}", doctor[name]) for name, label in (("blocked", "blocked"), ("killed", "done"))),
        _row("  blocked minus done", doctor["difference"], signed=True),
    ]
    if all(row["value"] is None for row in (*_cells(seer), *_cells(doctor))):
        return []
    return grid(
        "Events (paper 5.3). Suspicion of statements by a Seer before and from its first claim to be one, and by a "
        "Doctor on days after nights; percent, bootstrap 95 % interval",
        ["", "suspicion", "interval", "n"],
        rows,
        "no such event with a judged statement; an interval needs five games.",
    )


def vote_lines(result: Result) -> list[str]:
    """Return the section on suspicion and votes; nothing without a vote for anybody."""
    votes = result["votes"]
    counterfactual = votes["counterfactual"]
    if not votes["own_argmax"]["n"] and not votes["hits"]["n"]:
        return []
    chance = counterfactual["chance"]
    rows = [
        [*_row("votes for the voter's own first suspect", votes["own_argmax"]), percent(votes["own_argmax"]["chance"])],
        [*_row("votes by others that name a Werewolf", votes["hits"]), percent(votes["hits"]["chance"])],
        [*_row("votes that exile a Werewolf", counterfactual["real_exile"]), percent(chance)],
        [*_row("  had suspicion decided", counterfactual["suspicion_exile"]), percent(chance)],
    ]
    return grid(
        "Votes beside smoothed suspicion after the day's last debate statement, percent, bootstrap 95 % interval",
        ["", "share", "interval", "n", "chance"],
        rows,
        "no such vote; an interval needs five games.",
    )


def _cells(section: Result) -> list[Result]:
    return [cell for cell in section.values() if isinstance(cell, dict)]


def _row(label: str, cell: Result, *, signed: bool = False) -> list[str]:
    interval = between(cell["low"], cell["high"], signed)
    return [label, percent(cell["value"], signed), interval, str(cell["n"])]
