"""Who wins, how long games are, how often speakers deceive (paper 5.2 and 5.3)."""

from __future__ import annotations

from functools import partial

from analytics import Result
from analytics.figures.bars import production_by_role, win_shares
from analytics.report.context import Context, Selection, counted, drawing, either, ends, interval, look, value
from wolfbus.document.blocks import Block, Cell, Heading, Row, Section, TableBlock, columns

_LENGTHS = {
    "nights": "Nights",
    "debate_turns": "Debate turns",
    "voting_rounds": "Voting rounds",
    "statements": "Statements",
    "judgements": "Judgements that count",
}
_SPLITS = {"role": "Role", "brain": "Agent", "round": "Round", "phase": "Phase"}


def section(findings: Result, context: Context) -> Section:
    """Return outcomes, lengths and production."""
    blocks: list[Block] = [
        drawing(
            "wins",
            partial(win_shares, findings),
            "Who won the finished games.",
            findings.get("outcomes"),
            "No game is finished.",
            "winners",
        ),
        _winners(findings, context),
    ]
    blocks += [
        _lengths(findings, context),
        Heading("How often speakers call their own statements deceptive", "production"),
    ]
    blocks.append(
        drawing(
            "production-figure",
            partial(production_by_role, findings),
            "Statements that their speakers call deceptive, by role.",
            findings.get("production"),
            table="production-role",
        )
    )
    blocks += [_production(findings, context, split) for split in _SPLITS]
    return Section("outcomes", "Outcomes and deception (5.2, 5.3)", tuple(blocks))


def _winners(findings: Result, context: Context) -> TableBlock:
    winners = look(findings, "outcomes", "winners") or {}
    rows = tuple(
        Row(
            Cell({"villagers": "Villagers", "werewolves": "Werewolves", "nobody": "Nobody"}[name]),
            (
                counted(row["k"], paper=context.paper("outcomes", "winners", name, "k")),
                value(
                    *(row["share"], "share"),
                    n=row["n"],
                    within=ends(row),
                    paper=context.paper("outcomes", "winners", name, "share"),
                    reason="no game is finished",
                ),
            ),
        )
        for name, row in winners.items()
    )
    caption = "Who won, of finished games, with Wilson's 95 % interval"
    return TableBlock("winners", caption, columns("Winner", "Games", "Share"), rows)


def _lengths(findings: Result, context: Context) -> TableBlock:
    lengths = look(findings, "outcomes", "per_game") or {}
    rows = tuple(
        Row(
            Cell(label),
            (
                value(
                    *(row.get("mean"), "mean"),
                    n=row.get("n"),
                    paper=context.paper("outcomes", "per_game", name, "mean"),
                    reason="no game is finished",
                ),
                value(
                    *(row.get("sd"), "mean"),
                    paper=context.paper("outcomes", "per_game", name, "sd"),
                    reason="a standard deviation needs two finished games",
                ),
                counted(row.get("total"), paper=context.paper("outcomes", "per_game", name, "total")),
            ),
        )
        for name, label in _LENGTHS.items()
        for row in (lengths.get(name) or {},)
    )
    notes = (
        "Means are over finished games, totals over all. A turn in which nothing was said is a turn but no statement.",
    )
    return TableBlock(
        "lengths", "Length of games", columns("Per game", "Mean", "Standard deviation", "Total"), rows, notes
    )


def _production(findings: Result, context: Context, split: str) -> TableBlock:
    rates = look(findings, "production", f"by_{split}") or {}
    rows = []
    for key, row in rates.items():
        metric = look(findings, "variability", "metrics", f"deception_rate/{key}") if split == "role" else None
        within = either(ends(metric), interval(findings, "production", f"by_{split}", key))
        rows.append(
            Row(
                Cell(
                    context.name(key) if split == "brain" else key.capitalize(),
                    link=_selection(split, key, context) if row["n"] else None,
                ),
                (
                    counted(row["n"]),
                    counted(row["deceptive"], link=_selection(split, key, context, "deceptive")),
                    value(
                        row["rate"],
                        within=within,
                        reason="no such statement has a self-label that counts",
                    ),
                ),
            )
        )
    overall = look(findings, "production", "overall") or {}
    if overall and rates:
        metric = look(findings, "variability", "metrics", "deception_rate") or {}
        cells = (
            counted(overall["n"]),
            counted(overall["deceptive"], link=Selection(said="deceptive")),
            value(
                overall["rate"],
                within=ends(metric),
                paper=context.paper("production", "base_rate") if split == "role" else None,
                reason="no statement has a self-label that counts",
            ),
        )
        rows.append(Row(Cell("All (base rate)"), cells, total=True))
    caption = (
        f"Self-labelled deception by the speaker's {_SPLITS[split].lower()}"
        if split in {"role", "brain"}
        else f"Self-labelled deception by {_SPLITS[split].lower()}"
    )
    return TableBlock(
        f"production-{split}",
        caption,
        columns(_SPLITS[split], "Labelled", "Deceptive", "Share"),
        tuple(rows),
    )


def _selection(split: str, key: str, context: Context, said: str | None = None) -> Selection:
    if split == "role":
        return Selection(role=key, said=said)
    if split == "brain":
        return Selection(agent=context.code(key), said=said)
    if split == "round":
        return Selection(round=int(key), said=said)
    return Selection(phase=key, said=said)
