"""The answer: the first screen with one sentence, one figure and one table, the findings in five sentences, and what a
game looked like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from analytics import Result, look
from analytics.figures.tables import Panel, forest
from analytics.metrics.abilities import DETECTION, NOT_IDENTIFIED
from analytics.metrics.primary import LEADS
from analytics.metrics.skill import SIDES
from analytics.report.caveats import (
    SHOWN,
    all_defaults,
    caveats,
    forks_among_games,
    missing_answers,
    of_servers,
    only_forks,
    spoilt_games,
    verdict,
)
from analytics.report.context import (
    Context,
    drawing,
    ends,
    estimate_cell,
    interval_in_words,
    metric,
    over_all,
    with_interval,
)
from analytics.report.entries import IndexedGame, StatementEntry
from analytics.report.forked import fork_headlines
from analytics.report.specs import phrase, specs, table
from wolfbus.files.document import (
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
from wolfbus.files.formats import count, in_unit, listed, percent
from wolfbus.files.printable import counted, words
from wolfbus.game.roles import plural_of

_DOES: Final = {"best_detector": "detects", "best_deceiver": "conceals"}
_SCALE: Final = {DETECTION: ("AUC of suspicion", "score"), "concealment": ("d′", "logit")}
_NAMED: Final = 6
"""Agents that a headline names."""


def answer(findings: Result, context: Context) -> Section:
    """Return the answer, how well agents detect and conceal, and what goes before believing them; of forks alone, what
    lies did, and no word of agents.
    """
    blocks: list[Block] = [
        Prose(tuple(sentence(findings, context))),
        _links(context),
        *map(warning, islice(caveats(findings, context), SHOWN)),
    ]
    if not only_forks(findings):
        blocks += [_abilities(findings, context), agents(findings, context)]
    return Section("answer", "In short", tuple(blocks))


def _abilities(findings: Result, context: Context) -> Block:
    abilities = look(findings, "abilities", "role") or {}
    areas = look(findings, "agents") or {}
    caption = phrase("answer/figure")
    if _groups(findings) > 1:
        caption += f" {phrase('answer/figure_apart')}"
    reasons = (look(row, "sensitivity", "reason") for row in (abilities.get("agents") or {}).values())
    if NOT_IDENTIFIED in reasons:
        caption += f" {phrase('answer/figure_not_identified')}"
    empty = phrase("answer/figure_empty", reason=abilities.get("reason") or "it was not computed")
    return drawing(
        "answer-figure",
        partial(abilities_figure, abilities, areas, context),
        caption,
        abilities,
        empty,
        table="answer-table",
    )


def sentence(findings: Result, context: Context) -> Iterator[Part]:
    """Yield the answer: who won, and whether anybody detects or conceals best; of forks alone, what lies did."""
    if forked := fork_headlines(findings):
        yield " ".join(forked)
        return
    games = look(findings, "outcomes", "games") or 0
    if not games:
        yield Strong(phrase("answer/nothing"))
        return
    won = findings["outcomes"]["winners"]["werewolves"]
    if won["n"]:
        interval = interval_in_words(won)
        finished = counted(won["n"], "finished game")
        yield phrase("answer/won", share=percent(won["share"]), games=finished, interval=interval)
    else:
        yield phrase("answer/unfinished", games=counted(games, "game"))
    if (groups := _groups(findings)) > 1:
        yield phrase("answer/apart", groups=groups)
        return
    for question, does in _DOES.items():
        yield "; "
        leader = look(findings, "primary", "metrics", question, "agent")
        result = verdict(findings, question)
        if result == "above" and leader is not None:
            where = ("agents",) if LEADS[question] == DETECTION else ("abilities", "role", "agents")
            ability = look(findings, *where, leader, LEADS[question]) or {}
            yield context.agent_link(leader)
            yield " "
            yield Strong(f"{does} best")
            scale, unit = _SCALE[LEADS[question]]
            yield f" ({scale} {in_unit(ability.get('value'), unit)})"
        else:
            why: str = result if result in {"few", "exploratory"} else "unranked" if leader is None else "close"
            reason = look(findings, "primary", "metrics", question, "difference", "reason")
            if str(reason).startswith(NOT_IDENTIFIED.partition(":")[0]):
                why = "not_identified"
            words = phrase(f"answer/{why if len(context.agents) > 1 else 'one_agent'}")
            yield phrase("answer/nobody", does=does, why=words)
    yield "."


def _groups(findings: Result) -> int:
    """Return into how many groups that never met the agents fall."""
    return look(findings, "abilities", "role", "components") or 1


def abilities_figure(abilities: Result, areas: Result, context: Context) -> str | None:
    """Return how well every agent detects and conceals as a figure.

    Args:
        abilities: of agents, on the ground of the role.
        areas: by agent, its AUC among what else it did.
        context: the report's.
    """
    rows: dict[str, Any] = abilities.get("agents") or {}
    places = {name: row.get("component") or 0 for name, row in rows.items()}
    area = {name: look(areas, name, DETECTION) for name in rows}
    ranked = sorted(rows, key=lambda name: (places[name], -((area[name] or {}).get("value") or 0.0), name))
    several = (abilities.get("components") or 1) > 1
    names = {name: f"{places[name] + 1}: {context.name(name)}" if several else context.name(name) for name in ranked}
    detection = {names[name]: area[name] for name in ranked}
    concealment = {names[name]: rows[name].get("concealment") for name in ranked}
    panels = [
        Panel("Detects", "AUC of suspicion; 0.5: chance", "score", detection, "pass", 0.5),
        Panel("Conceals", "d′; 0: the average agent", "logit", concealment, "flag"),
    ]
    return forest("abilities", "Agents by how well they detect and conceal", panels)


def agents(findings: Result, context: Context) -> TableBlock:
    """Return one line of each agent: games, wins or skill of winning, detection, lies told as a Werewolf and
    confessed. In mixed teams a side's wins are its team's, so the skill model takes their place.
    """
    truths, nothing = look(findings, "truth", "by_agent") or {}, {"value": None, "n": 0, "reason": "it said nothing"}
    silent = {"wolf_lie_rate": nothing, "confession_rate": nothing} if truths else {}
    modelled = look(findings, "abilities", "role", "agents") or {}
    skills = look(findings, "skill", "agents") or {}
    rows = {
        name: {
            "games": look(findings, "agents", name, "games"),
            "both": _both([look(findings, "agents", name, "wins", side) for side in ("werewolves", "villagers")]),
            "skill": _both([_bounded(look(skills, name, side, "skill")) for side in SIDES], "logit"),
            DETECTION: look(findings, "agents", name, DETECTION),
            "flags": _both([_bounded(look(modelled, name, what)) for what in ("sensitivity", "criterion")], "logit"),
            **truths.get(name, silent),
        }
        for name in context.agents
    }
    mixed = bool(look(findings, "outcomes", "mixed_teams"))
    without = ["Wins as Werewolf / village" if mixed else "Skill as Werewolf / village"]
    return table("answer/answer-table", findings, context, rows=rows, without=without)


def _bounded(estimate: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return an estimate, undefined where it has a value without an interval: nobody could tell how much it says."""
    if estimate is None or estimate.get("value") is None or estimate.get("low") is not None:
        return estimate
    return {**estimate, "value": None, "reason": estimate.get("interval_reason")}


def _both(estimates: Sequence[Mapping[str, Any] | None], unit: str = "share") -> Cell:
    """Return two estimates in one cell, with the interval of each."""
    cells = [estimate_cell(one, unit) for one in estimates]
    return Cell(
        " / ".join(cell.text for cell in cells),
        " / ".join(cell.under.partition(" · ")[0] for cell in cells),
        reason=None if any(cell.reason is None for cell in cells) else cells[0].reason,
    )


def _links(context: Context) -> Prose:
    """Return where to see a game, whether the records hold, and how to cite."""
    example = (LinkText("What a game looked like", "example"), " · ") if context.indexed.games else ()
    logs = sum(note.published for note in context.files)
    records, whole = len(context.files) - logs, len(context.files) - logs
    whole -= sum(not note.published for note in context.problems)
    # one over other records, or over some that are missing, would be taken for theirs; what was run names each
    hashes = [f", study hash {check.hash[:12]}…" for check in context.checks if check.hash and check.whole == records]
    extent = phrase("answer/records", whole=count(whole), records=counted(records, "record"), hash="".join(hashes[:1]))
    if logs:
        is_imported = any(note.table for note in context.files)
        unsealed = phrase("answer/logs", logs=counted(logs, "log" if is_imported else "published log"))
        extent = f"{extent}; {unsealed}" if records else f": {unsealed}"
    return plain(*example, LinkText("How to cite", "cite"), extent, " · ", LinkText("What was run", "design"))


def headlines(findings: Result, context: Context) -> list[str]:
    """Return the findings in five sentences, most important first, and of whom they say little; of forks alone, what
    lies did to those who told them.
    """
    warnings = (
        *missing_answers(findings),
        spoilt_games(context.files),
        forks_among_games(findings),
        *of_servers(findings, context.name),
    )
    sentences = fork_headlines(findings) or [
        _won(findings),
        _deceived(findings),
        _detected(findings),
        _suspected(findings),
    ]
    return [
        _played(findings, context),
        *sentences,
        *(f"WARNING: {line}" for line in warnings if line),
        *filter(None, [all_defaults(findings)]),
    ]


def _verdict_words(findings: Result, name: str) -> str:
    """Return what the test of a metric lets say; with its p where an interval seems to say more."""
    result = verdict(findings, name)
    words = specs("evidence").verdicts[name][result]
    tested = look(findings, "primary", "metrics", name) or {}
    low, high = ends(tested.get("difference"))
    if result != "unclear" or low is None or high is None or low <= 0 <= high:
        return words
    return phrase("answer/not_clear", said=words, p=in_unit(tested.get("p_adjusted"), "p"))


def _played(findings: Result, context: Context) -> str:
    outcomes = findings.get("outcomes") or {}
    if not outcomes.get("games"):
        return phrase("answer/nothing")
    names = [context.name(agent) for agent in context.agents[:_NAMED]]
    ellipsis = ", …" if len(context.agents) > _NAMED else ""
    return phrase(
        "answer/played",
        games=counted(outcomes["games"], "game"),
        finished=count(outcomes["finished"]),
        agents=counted(len(context.agents), "agent"),
        names=f" ({', '.join(names)}{ellipsis})" if names else "",
        **{name: count(look(outcomes, "per_game", name, "total")) for name in ("statements", "judgements")},
    )


def _won(findings: Result) -> str:
    winners = look(findings, "outcomes", "winners") or {}
    if not look(winners, "werewolves", "n"):
        return phrase("answer/nobody_won")
    names = {"werewolves": "Werewolves", "villagers": "villagers"}
    first, second = sorted(names, key=lambda side: -winners[side]["k"])
    return phrase(
        "answer/sides",
        games=counted(winners[first]["n"], "finished game"),
        interval=interval_in_words(winners[first]),
        nobody=percent(winners["nobody"]["share"]),
        first=names[first],
        first_share=percent(winners[first]["share"]),
        second=names[second],
        second_share=percent(winners[second]["share"]),
    )


def _deceived(findings: Result) -> str:
    overall = look(findings, "production", "overall") or {}
    if overall.get("rate") is None:
        return phrase("answer/not_deceived")
    roles = look(findings, "production", "by_role") or {}
    rates = [f"{plural_of(role)} {percent(row['rate'])}" for role, row in roles.items() if row.get("rate") is not None]
    return phrase(
        "answer/deceived",
        rate=with_interval({**metric(findings, "deception_rate"), "value": overall["rate"]}),
        deceptive=count(overall["deceptive"]),
        n=count(overall["n"]),
        roles=listed(rates),
    )


def _detected(findings: Result) -> str:
    overall = look(findings, "headline", "all") or {}
    if any(overall.get(name) is None for name in ("accuracy", "constant_accuracy", "balanced_accuracy")):
        return phrase("answer/not_detected")
    balanced = {**metric(findings, "balanced_accuracy"), "value": overall["balanced_accuracy"]}
    return phrase(
        "answer/detected",
        said=_verdict_words(findings, "balanced_accuracy"),
        balanced=with_interval(balanced),
        accuracy=percent(overall["accuracy"]),
        n=count(overall["n"]),
        guess="deceptive" if (overall.get("base_rate") or 0) >= 0.5 else "truthful",
        constant=percent(overall["constant_accuracy"]),
    )


def _suspected(findings: Result) -> str:
    gap, everybody = metric(findings, "suspicion_gap"), over_all(findings, "suspicion_gap")
    if gap.get("value") is None:
        return phrase("answer/not_suspected", reason=gap.get("reason") or "no pair was judged")
    first, auc = look(findings, "trends", "separable", "round"), metric(findings, "auc")
    is_known = everybody.get("value") is not None
    stand = phrase("answer/no_round") if first is None else phrase("answer/stand_out", round=first)
    if first is not None and verdict(findings, "suspicion_gap") != "above":
        stand += phrase("answer/not_held")
    exploratory = " (exploratory)" if verdict(findings, "auc") == "exploratory" else ""
    return phrase(
        "answer/suspected",
        said=_verdict_words(findings, "suspicion_gap"),
        gap=with_interval(gap, "points"),
        everybody=f" {phrase('answer/everybody', gap=with_interval(everybody, 'points'))}" if is_known else "",
        stand=stand,
        auc=""
        if auc.get("value") is None
        else f" {phrase('answer/auc', auc=with_interval(auc, 'score'), exploratory=exploratory)}",
    )


_PER_ROUND = 2
_ROUNDS = 2
_TEXT = 140
_SEAT = 32


def typical_game(games: Sequence[IndexedGame]) -> IndexedGame | None:
    """Return the finished game whose number of statements is the median, the first of equals; None if there is none."""
    finished = sorted((game for game in games if game.rows.finished), key=lambda game: len(game.entries))
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
        entries = [entry for entry in game.entries if entry.row.round == round_ and entry.row.text]
        suspected = sorted(entries, key=_suspicion, reverse=True)[:_PER_ROUND]
        lines += [_statement(entry) for entry in sorted(suspected, key=lambda entry: entry.row.number)]
    course = f"{counted(rows.rounds, 'round')} and {counted(len(game.entries), 'statement')}"
    suspected_by = "Most suspected by those who could not know" if any(map(_suspicion, game.entries)) else "Said first"
    ending = f"{winner} after {course}. {suspected_by}:"
    return Section(
        "example",
        "What a game looked like",
        (
            plain(f"One game of usual length, {words(rows.game, 60)}: {seats}."),
            plain(ending),
            Bullets(tuple(lines)),
            plain(LinkText("The whole game", f"game-{game.place}")),
        ),
    )


def _suspicion(entry: StatementEntry) -> float:
    """Return the mean suspicion of those who could not know the speaker's role."""
    rows = (judgement.row for judgement in entry.judgements)
    suspicions = [row.s for row in rows if row.s is not None and not row.informed]
    return sum(suspicions) / len(suspicions) if suspicions else 0.0


def _statement(entry: StatementEntry) -> tuple[Part, ...]:
    row = entry.row
    # a partner's flag, or that of a Seer who inspected the speaker, finds nothing out
    rows = (judgement.row for judgement in entry.judgements)
    judged = [row for row in rows if row.d is not None and not row.informed]
    flags = f"{sum(bool(row.d) for row in judged)} of {len(judged)} who could not know flag it"
    label = entry.label or "not labelled"
    lie = "; a lie by its claims" if entry.truth == "lie" else ""
    return (
        f"Round {row.round}, {words(row.speaker, _SEAT)} ({row.role}): ",
        LinkText(f"“{words(row.text or '', _TEXT)}”", entry.anchor),
        f" Its own label: {label}{lie}; {flags if judged else 'nobody who could not know judged it'}.",
    )
