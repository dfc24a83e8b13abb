"""The answer: the first screen with one sentence, one figure and one table, and the findings in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from analytics import Result
from analytics.figures import Panel, forest
from analytics.measures.primary import LEADS
from analytics.report.caveats import SHOWN, alarms, said_of, verdict
from analytics.report.context import Context, Selection, counted, drawing, estimate, look, metric, over_all
from wolfbus.document.blocks import (
    Block,
    Cell,
    LinkText,
    Part,
    Prose,
    Row,
    Section,
    Strong,
    TableBlock,
    columns,
    plain,
    warning,
)
from wolfbus.document.formats import between, count, listed, of, percent, plural, shown

_DOES: Final = {"best_detector": "detects", "best_deceiver": "conceals"}
_WHY: Final = {"few": "too few games", "exploratory": "not a primary metric here"}


def section(findings: Result, context: Context) -> Section:
    """Return the answer, the agents on both abilities, and what goes before believing them."""
    blocks: list[Block] = [Prose(tuple(sentence(findings, context))), _leads(context)]
    blocks += [warning(told) for told in alarms(findings, context)[:SHOWN]]
    found = look(findings, "abilities", "role") or {}
    groups = found.get("components") or 1
    caption = (
        "Who detects, who conceals: points with 95 % intervals, in d′, from one joint model of what Werewolves and "
        "others say to those who have to find out. Intervals that overlap rank nobody."
        + (" Agents with different numbers before their names never met: they do not compare." if groups > 1 else "")
    )
    empty = f"There is nothing to draw: {found.get('reason') or 'it was not computed'}."
    blocks.append(drawing("answer-figure", partial(drawn, found, context), caption, found, empty, table="answer-table"))
    blocks.append(agents(findings, context))
    return Section("answer", "In short", tuple(blocks))


def sentence(findings: Result, context: Context) -> Iterator[Part]:
    """Yield the answer: who won, and whether anybody detects or conceals best."""
    winners, games = look(findings, "outcomes", "winners") or {}, look(findings, "outcomes", "games") or 0
    if not games:
        yield Strong("No game could be read.")
        return
    won, finished = winners["werewolves"], winners["werewolves"]["n"]
    if finished:
        interval = between(won["low"], won["high"])
        told = f"{percent(won['share'])} of {of(finished, 'finished game')}"
        yield f"Werewolves won {told}" + (f" (95 % interval {interval})" if interval else "")
    else:
        yield f"None of {of(games, 'game')} is finished"
    groups = look(findings, "abilities", "role", "components") or 1
    if groups > 1:
        yield f"; the agents fall into {groups:,} groups that never met, so nobody can be best of all."
        return
    for question, does in _DOES.items():
        yield "; "
        first = look(findings, "primary", "metrics", question, "agent")
        said = verdict(findings, question)
        if said == "above" and first is not None:
            own = look(findings, "abilities", "role", "agents", first, LEADS[question]) or {}
            yield context.agent_link(first)
            yield Strong(f" {does} best")
            yield f" (d′ {shown(own.get('value'), 'logit')})"
        else:
            few = len(context.agents) < 2
            yield f"nobody clearly {does} best"
            yield f" ({'there is one agent' if few else _WHY.get(said, 'the first two are too close')})"
    yield "."


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
    rows = []
    for name in context.agents:
        own, code = look(findings, "agents", name) or {}, context.code(name)
        told, ability = look(findings, "truth", "by_agent", name) or {}, look(findings, "abilities", "role", "agents")
        wins = [estimate(look(own, "wins", side)) for side in ("werewolves", "villagers")]
        both = Cell(
            " / ".join(cell.text for cell in wins),
            " / ".join(cell.under.partition(" · ")[0] for cell in wins),
            reason=None if any(cell.reason is None for cell in wins) else wins[0].reason,
        )
        cells = (
            counted(own.get("games")),
            both,
            estimate(look(ability, name, "sensitivity"), "logit"),
            estimate(told.get("lie_rate"), link=Selection(agent=code, truth="lie")),
            estimate(told.get("confession_rate"), link=Selection(agent=code, truth="lie", said="deceptive")),
        )
        rows.append(Row(context.agent_cell(name), cells))
    heads = columns("Agent", "Games", "Wins as Werewolf / village", "Detection, d′", "Lies told", "Lies confessed")
    notes = ("Lies told: of statements with a claim that can be checked; confessed: of these lies, by the self-label.",)
    return TableBlock("answer-table", "The agents", heads, tuple(rows), notes, empty="There are none.")


def _leads(context: Context) -> Prose:
    """Say where to see a game, whether the records hold, and how to cite."""
    whole = len(context.files) - len(context.problems)
    parts: list[Part] = []
    if context.indexed.games:
        parts += [LinkText("What a game looked like", "example"), " · "]
    parts += [
        LinkText("How to cite", "cite"),
        f": {count(whole)} of {of(len(context.files), 'record')} whole and sealed",
    ]
    hashes = [check.hash for check in context.checks if check.hash]
    if hashes:
        parts.append(f", study hash {hashes[0][:12]}…")
    return plain(*parts, " · ", LinkText("What was run", "design"))


Sentence = tuple[Part, ...]


def headlines(findings: Result, context: Context) -> list[str]:
    """Return the first five sentences as plain text, for a terminal."""
    lines = [
        "".join(part if isinstance(part, str) else part.text for part in each) for each in sentences(findings, context)
    ]
    return lines[:5]


def sentences(findings: Result, context: Context) -> Iterator[Sentence]:
    """Yield the findings, most important first."""
    yield _played(findings, context)
    yield _won(findings)
    yield _deceived(findings)
    yield _detected(findings)
    yield _suspected(findings)
    yield from _truth(findings)
    yield from _detected_lies(findings)
    yield from _voted(findings)
    yield from _ranked(findings, context)


def _with_interval(found: Mapping[str, Any], unit: str = "share") -> str:
    told = shown(found.get("value"), unit)
    interval = between(found.get("low"), found.get("high"), unit)
    return f"{told} (95 % interval {interval})" if interval else told


def _played(findings: Result, context: Context) -> Sentence:
    outcomes = look(findings, "outcomes") or {}
    games, finished = outcomes.get("games") or 0, outcomes.get("finished") or 0
    if not games:
        return (Strong("No game could be read."),)
    statements = look(outcomes, "per_game", "statements", "total")
    judgements = look(outcomes, "per_game", "judgements", "total")
    names = [context.agent_link(agent) for agent in context.agents[:6]]
    parts: list[Part] = [
        Strong(f"{of(games, 'game')}"),
        f", {count(finished)} of them finished, by {of(len(context.agents), 'agent')}",
    ]
    if names:
        parts.append(" (")
        for place, name in enumerate(names):
            parts += [", " if place else "", name]
        parts.append(", …)" if len(context.agents) > len(names) else ")")
    parts.append(f": {count(statements)} public statements, {count(judgements)} judgements of them that count.")
    return tuple(parts)


def _won(findings: Result) -> Sentence:
    winners = look(findings, "outcomes", "winners") or {}
    n = look(winners, "werewolves", "n") or 0
    if not n:
        return ("Nobody won: no game is finished.",)
    shares = {name: winners[name] for name in ("werewolves", "villagers", "nobody")}
    words = {"werewolves": "Werewolves", "villagers": "villagers"}
    first = "werewolves" if shares["werewolves"]["k"] >= shares["villagers"]["k"] else "villagers"
    second = "villagers" if first == "werewolves" else "werewolves"
    return (
        Strong(f"The {words[first]} won {percent(shares[first]['share'])}"),
        (
            f" of {of(n, 'finished game')} (95 % interval {between(shares[first]['low'], shares[first]['high'])}), "
            f"the {words[second]} {percent(shares[second]['share'])}; "
            f"{percent(shares['nobody']['share'])} of games ended without a winner."
        ),
    )


def _deceived(findings: Result) -> Sentence:
    overall = look(findings, "production", "overall") or {}
    rate = metric(findings, "deception_rate")
    if overall.get("rate") is None:
        return ("How often speakers deceive is undefined: no statement has a self-label that counts.",)
    told = _with_interval({**rate, "value": overall["rate"]})
    roles = look(findings, "production", "by_role") or {}
    parts: list[Part] = [
        "Speakers called ",
        Strong(f"{told} of their statements deceptive"),
        " (",
        LinkText(f"{count(overall['deceptive'])} of {count(overall['n'])}", Selection(said="deceptive")),
        "): ",
    ]
    told_roles = [
        f"{plural(role)} {percent(row['rate'])}" for role, row in roles.items() if row.get("rate") is not None
    ]
    parts.append(f"{listed(told_roles)}. This base rate is what detection has to be read against.")
    return tuple(parts)


def _detected(findings: Result) -> Sentence:
    overall = look(findings, "headline", "all") or {}
    accuracy, constant = overall.get("accuracy"), overall.get("constant_accuracy")
    balanced = {**metric(findings, "balanced_accuracy"), "value": overall.get("balanced_accuracy")}
    if accuracy is None or constant is None or balanced["value"] is None:
        return ("Whether observers detect deception is undefined: no judged statements of both self-labels.",)
    guess = "deceptive" if (overall.get("base_rate") or 0) >= 0.5 else "truthful"
    return (
        said_of(findings, "balanced_accuracy"),
        (
            f": balanced accuracy is {_with_interval(balanced)}, and guessing has 50 %. Those who do not know "
            f"whether the speaker is a Werewolf flag as the self-labels say in {percent(accuracy)} of "
            f"{count(overall['n'])} judgements; calling every statement {guess} would with "
            f"{percent(constant)}."
        ),
    )


def _suspected(findings: Result) -> Sentence:
    gap = metric(findings, "suspicion_gap")
    separable = look(findings, "trends", "separable") or {}
    if gap.get("value") is None:
        return (f"Whether suspicion separates Werewolves is undefined: {gap.get('reason') or 'no pair was judged'}.",)
    parts: list[Part] = [
        said_of(findings, "suspicion_gap"),
        (
            f": final smoothed suspicion towards them is {_with_interval(gap, 'points')} above that towards the "
            "others, among those who do not know"
        ),
    ]
    everybody = over_all(findings, "suspicion_gap")
    if everybody.get("value") is not None:
        parts.append(f" ({_with_interval(everybody, 'points')} among all observers, as in the paper)")
    if separable.get("round") is not None:
        parts.append(f"; they stand out from Villagers from round {separable['round']} on.")
    else:
        parts.append("; no round can be named from which they stand out from Villagers.")
    auc = metric(findings, "auc")
    if auc.get("value") is not None:
        parts.append(
            f" A deceptive statement meets more suspicion than a truthful one with probability "
            f"{_with_interval(auc, 'score')}; chance is 0.5."
        )
    return tuple(parts)


def _truth(findings: Result) -> Iterator[Sentence]:
    row = look(findings, "truth", "overall") or {}
    if not row.get("checkable"):
        return
    lies, admitted = row.get("lies") or 0, row.get("admitted")
    parts: list[Part] = [
        (
            f"Of the {of(row['checkable'], 'statement')} with a claim that can be checked "
            f"({percent(row.get('coverage'))} of all), "
        ),
        LinkText(f"{count(lies)} are lies", Selection(truth="lie")),
    ]
    labelled = row.get("labelled_lies")
    if labelled and admitted is not None:
        told = f", and their speakers admit {count(admitted)} of the {count(labelled)} that they label"
        parts.append(f"{told} ({percent(admitted / labelled)}).")
    else:
        parts.append(".")
    yield tuple(parts)


def _detected_lies(findings: Result) -> Iterator[Sentence]:
    found = metric(findings, "truth_balanced_accuracy")
    if found.get("value") is None:
        return
    yield (
        said_of(findings, "truth_balanced_accuracy"),
        (
            f": balanced accuracy is {_with_interval(found)} over {of(found.get('n') or 0, 'judgement')} of statements "
            "whose claims can be checked, and guessing has 50 %."
        ),
    )


def _voted(findings: Result) -> Iterator[Sentence]:
    hit, lift = metric(findings, "vote_hit"), metric(findings, "vote_hit_lift")
    if hit.get("value") is None or hit.get("baseline") is None:
        return
    apart = "" if lift.get("value") is None else f", a difference of {_with_interval(lift, 'points')}"
    yield (
        said_of(findings, "vote_hit_lift"),
        (
            f": of those who are no Werewolves {_with_interval(hit)} hit one; a vote at random would in "
            f"{percent(hit['baseline'])}{apart}."
        ),
    )


def _ranked(findings: Result, context: Context) -> Iterator[Sentence]:
    found = look(findings, "abilities", "role") or {}
    agents = found.get("agents") or {}
    if sum(look(row, "sensitivity", "value") is not None for row in agents.values()) < 2:
        return
    groups, more = found.get("components") or 1, LinkText("the agents", "agents")
    if groups > 1:
        yield (f"The agents fall into {groups:,} groups that never met, and nobody can be best of all: see ", more, ".")
        return
    parts: list[Part] = ["Of what Werewolves say and what the others say, "]
    parts += _best(findings, "best_detector", "tells the two apart best", context)
    parts += ["; ", *_best(findings, "best_deceiver", "is told apart least", context)]
    yield (*parts, ": d′, whatever share an agent flags; see ", more, ".")


def _best(findings: Result, question: str, does: str, context: Context) -> list[Part]:
    found, ability = verdict(findings, question), LEADS[question]
    first = look(findings, "primary", "metrics", question, "agent")
    if found == "above" and first is not None:
        own = look(findings, "abilities", "role", "agents", first, ability) or {}
        return [context.agent_link(first), Strong(f" {does}"), f", with {_with_interval(own, 'logit')}"]
    why = {"few": "too few games to tell", "exploratory": "exploratory: see the numbers"}
    return [f"nobody clearly {does} ({why.get(found, 'the first two are too close')})"]
