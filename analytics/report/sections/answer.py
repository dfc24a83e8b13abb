"""The answer: the first screen with one sentence, one figure and one table, the findings in five sentences, and what a
game looked like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from analytics import Result, look
from analytics.figures.tables import Panel, forest
from analytics.measures.primary import LEADS
from analytics.report.caveats import SHOWN, alarms, missing_answers, verdict
from analytics.report.context import Context, drawing, estimate, metric, over_all
from analytics.report.entries import IndexedGame, StatementEntry
from analytics.report.specs import specs, table, told
from wolfbus.document.blocks import (
    Block,
    Bullets,
    Cell,
    LinkText,
    Part,
    Prose,
    Section,
    Strong,
    TableBlock,
    plain,
    warning,
)
from wolfbus.document.formats import between, count, in_unit, listed, percent, quantity, words
from wolfbus.roles import FACTS

_DOES: Final = {"best_detector": "detects", "best_deceiver": "conceals"}
_NAMED: Final = 6
"""Agents that a headline names."""


def answer(findings: Result, context: Context) -> Section:
    """Return the answer, the agents on both abilities, and what goes before believing them."""
    found = look(findings, "abilities", "role") or {}
    caption = told("answer/figure")
    if _groups(findings) > 1:
        caption += f" {told('answer/figure_apart')}"
    empty = told("answer/figure_empty", reason=found.get("reason") or "it was not computed")
    blocks: list[Block] = [
        Prose(tuple(sentence(findings, context))),
        _leads(context),
        *(warning(alarm) for alarm in alarms(findings, context)[:SHOWN]),
        drawing("answer-figure", partial(drawn, found, context), caption, found, empty, table="answer-table"),
        agents(findings, context),
    ]
    return Section("answer", "In short", tuple(blocks))


def sentence(findings: Result, context: Context) -> Iterator[Part]:
    """Yield the answer: who won, and whether anybody detects or conceals best."""
    games = look(findings, "outcomes", "games") or 0
    if not games:
        yield Strong(told("answer/nothing"))
        return
    won = findings["outcomes"]["winners"]["werewolves"]
    if won["n"]:
        interval = _around(between(won["low"], won["high"]))
        finished = quantity(won["n"], "finished game")
        yield told("answer/won", share=percent(won["share"]), games=finished, interval=interval)
    else:
        yield told("answer/unfinished", games=quantity(games, "game"))
    if (groups := _groups(findings)) > 1:
        yield told("answer/apart", groups=groups)
        return
    for question, does in _DOES.items():
        yield "; "
        first = look(findings, "primary", "metrics", question, "agent")
        said = verdict(findings, question)
        if said == "above" and first is not None:
            own = look(findings, "abilities", "role", "agents", first, LEADS[question]) or {}
            yield context.agent_link(first)
            yield " "
            yield Strong(f"{does} best")
            yield f" (d′ {in_unit(own.get('value'), 'logit')})"
        else:
            why = said if said in {"few", "exploratory"} else "unranked" if first is None else "close"
            words = told(f"answer/{why if len(context.agents) > 1 else 'one_agent'}")
            yield told("answer/nobody", does=does, why=words)
    yield "."


def _groups(findings: Result) -> int:
    """Return into how many groups that never met the agents fall."""
    return look(findings, "abilities", "role", "components") or 1


def drawn(found: Result, context: Context) -> str | None:
    """Return both abilities of every agent as a figure."""
    rows: dict[str, Any] = found.get("agents") or {}
    places = {name: row.get("component") or 0 for name, row in rows.items()}
    ranked = sorted(rows, key=lambda name: (places[name], -(look(rows[name], "sensitivity", "value") or 0.0), name))
    several = (found.get("components") or 1) > 1
    names = {name: f"{places[name] + 1}: {context.name(name)}" if several else context.name(name) for name in ranked}
    panels = [
        Panel(heading, axis, "logit", {names[name]: rows[name].get(ability) for name in ranked}, ink)
        for ability, heading, axis, ink in (
            ("sensitivity", "Sensitivity (detects)", "d′; 0: tells nothing apart", "pass"),
            ("concealment", "Concealment (is not detected)", "d′; 0: the average agent", "flag"),
        )
    ]
    return forest("abilities", "Agents by sensitivity and concealment", panels)


def agents(findings: Result, context: Context) -> TableBlock:
    """Return one line of each agent: games, wins, detection, lies told and confessed."""
    said, nothing = look(findings, "truth", "by_agent") or {}, {"value": None, "n": 0, "reason": "it said nothing"}
    silent = {"lie_rate": nothing, "confession_rate": nothing} if said else {}
    rows = {
        name: {
            "games": look(findings, "agents", name, "games"),
            "both": _wins(look(findings, "agents", name, "wins") or {}),
            "sensitivity": look(findings, "abilities", "role", "agents", name, "sensitivity"),
            **said.get(name, silent),
        }
        for name in context.agents
    }
    return table("answer/answer-table", findings, context, rows=rows)


def _wins(found: Mapping[str, Any]) -> Cell:
    """Return the wins with both sides in one cell."""
    wins = [estimate(found.get(side)) for side in ("werewolves", "villagers")]
    return Cell(
        " / ".join(cell.text for cell in wins),
        " / ".join(cell.under.partition(" · ")[0] for cell in wins),
        reason=None if any(cell.reason is None for cell in wins) else wins[0].reason,
    )


def _leads(context: Context) -> Prose:
    """Say where to see a game, whether the records hold, and how to cite."""
    example = (LinkText("What a game looked like", "example"), " · ") if context.indexed.games else ()
    records, whole = len(context.files), len(context.files) - len(context.problems)
    # one that covers a part of the records would be taken for all of them; what was run names each
    hashes = [f", study hash {check.hash[:12]}…" for check in context.checks if check.hash and check.records == records]
    held = told("answer/records", whole=count(whole), records=quantity(records, "record"), hash="".join(hashes[:1]))
    return plain(*example, LinkText("How to cite", "cite"), held, " · ", LinkText("What was run", "design"))


def headlines(findings: Result, context: Context) -> list[str]:
    """Return the findings in five sentences, most important first, and of whom they say little."""
    return [
        _played(findings, context),
        _won(findings),
        _deceived(findings),
        _detected(findings),
        _suspected(findings),
        *(f"WARNING: {line}" for line in missing_answers(findings)),
    ]


def _around(interval: str) -> str:
    return f" (95 % interval {interval})" if interval else ""


def _with_interval(found: Mapping[str, Any], unit: str = "share") -> str:
    return in_unit(found.get("value"), unit) + _around(between(found.get("low"), found.get("high"), unit))


def _said_of(findings: Result, name: str) -> str:
    return specs("evidence").verdicts[name][verdict(findings, name)]


def _played(findings: Result, context: Context) -> str:
    outcomes = findings.get("outcomes") or {}
    if not outcomes.get("games"):
        return told("answer/nothing")
    names = [context.name(agent) for agent in context.agents[:_NAMED]]
    more = ", …" if len(context.agents) > _NAMED else ""
    return told(
        "answer/played",
        games=quantity(outcomes["games"], "game"),
        finished=count(outcomes["finished"]),
        agents=quantity(len(context.agents), "agent"),
        names=f" ({', '.join(names)}{more})" if names else "",
        **{name: count(look(outcomes, "per_game", name, "total")) for name in ("statements", "judgements")},
    )


def _won(findings: Result) -> str:
    winners = look(findings, "outcomes", "winners") or {}
    if not look(winners, "werewolves", "n"):
        return told("answer/nobody_won")
    names = {"werewolves": "Werewolves", "villagers": "villagers"}
    first, second = sorted(names, key=lambda side: -winners[side]["k"])
    return told(
        "answer/sides",
        games=quantity(winners[first]["n"], "finished game"),
        interval=_around(between(winners[first]["low"], winners[first]["high"])),
        nobody=percent(winners["nobody"]["share"]),
        first=names[first],
        first_share=percent(winners[first]["share"]),
        second=names[second],
        second_share=percent(winners[second]["share"]),
    )


def _deceived(findings: Result) -> str:
    overall = look(findings, "production", "overall") or {}
    if overall.get("rate") is None:
        return told("answer/not_deceived")
    roles = look(findings, "production", "by_role") or {}
    rates = [
        f"{FACTS[role].plural} {percent(row['rate'])}" for role, row in roles.items() if row.get("rate") is not None
    ]
    return told(
        "answer/deceived",
        rate=_with_interval({**metric(findings, "deception_rate"), "value": overall["rate"]}),
        deceptive=count(overall["deceptive"]),
        n=count(overall["n"]),
        roles=listed(rates),
    )


def _detected(findings: Result) -> str:
    overall = look(findings, "headline", "all") or {}
    if any(overall.get(name) is None for name in ("accuracy", "constant_accuracy", "balanced_accuracy")):
        return told("answer/not_detected")
    balanced = {**metric(findings, "balanced_accuracy"), "value": overall["balanced_accuracy"]}
    return told(
        "answer/detected",
        said=_said_of(findings, "balanced_accuracy"),
        balanced=_with_interval(balanced),
        accuracy=percent(overall["accuracy"]),
        n=count(overall["n"]),
        guess="deceptive" if (overall.get("base_rate") or 0) >= 0.5 else "truthful",
        constant=percent(overall["constant_accuracy"]),
    )


def _suspected(findings: Result) -> str:
    gap, everybody = metric(findings, "suspicion_gap"), over_all(findings, "suspicion_gap")
    if gap.get("value") is None:
        return told("answer/not_suspected", reason=gap.get("reason") or "no pair was judged")
    first, auc = look(findings, "trends", "separable", "round"), metric(findings, "auc")
    known = everybody.get("value") is not None
    return told(
        "answer/suspected",
        said=_said_of(findings, "suspicion_gap"),
        gap=_with_interval(gap, "points"),
        everybody=f" {told('answer/everybody', gap=_with_interval(everybody, 'points'))}" if known else "",
        stand=told("answer/no_round") if first is None else told("answer/stand_out", round=first),
        auc="" if auc.get("value") is None else f" {told('answer/auc', auc=_with_interval(auc, 'score'))}",
    )


_PER_ROUND = 2
_ROUNDS = 2
_TEXT = 140
_SEAT = 32


def chosen_example(games: Sequence[IndexedGame]) -> IndexedGame | None:
    """Return the finished game whose number of statements is the median, the first of equals; None if there is none."""
    finished = sorted((each for each in games if each.rows.finished), key=lambda each: len(each.entries))
    return finished[len(finished) // 2] if finished else None


def example(game: IndexedGame, context: Context) -> Section:
    """Return the seats, the most suspected statements of the first rounds, and how it ended."""
    rows = game.rows
    seats = ", ".join(
        f"{words(seat.name, _SEAT)} {seat.role} ({context.name(seat.agent)})" for seat in rows.seats.values()
    )
    winner = {"villagers": "The villagers won", "werewolves": "The Werewolves won", None: "Nobody won"}[rows.winner]
    lines: list[tuple[Part, ...]] = []
    for round_ in range(1, min(rows.rounds, _ROUNDS) + 1):
        said = [entry for entry in game.entries if entry.row.round == round_ and entry.row.text]
        heard = sorted(said, key=_suspicion, reverse=True)[:_PER_ROUND]
        lines += [_heard(entry) for entry in sorted(heard, key=lambda each: each.row.number)]
    course = f"{quantity(rows.rounds, 'round')} and {quantity(len(game.entries), 'statement')}"
    told = f"{winner} after {course}. The most suspected:"
    return Section(
        "example",
        "What a game looked like",
        (
            plain(f"One game of usual length, {words(rows.game, 60)}: {seats}."),
            plain(told),
            Bullets(tuple(lines)),
            plain(LinkText("The whole game", f"game-{game.place}")),
        ),
    )


def _suspicion(entry: StatementEntry) -> float:
    given = [each.row.s for each in entry.judgements if each.row.s is not None]
    return sum(given) / len(given) if given else 0.0


def _heard(entry: StatementEntry) -> tuple[Part, ...]:
    row = entry.row
    judged = [each for each in entry.judgements if each.row.d is not None]
    flags = sum(bool(each.row.d) for each in judged)
    label = entry.said or "not labelled"
    lie = "; a lie by its claims" if entry.truth == "lie" else ""
    return (
        f"Round {row.round}, {words(row.speaker, _SEAT)} ({row.role}): ",
        LinkText(f"“{words(row.text or '', _TEXT)}”", entry.anchor),
        f" Its own label: {label}{lie}; {flags} of {len(judged)} flag it.",
    )
