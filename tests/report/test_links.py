"""Numbers of the page lead to the statements behind them: what a link means, and how many statements the page holds."""

import html
import re
from dataclasses import replace
from functools import cache
from urllib.parse import parse_qsl

from analytics.gather import Gathered
from analytics.report.report import Report
from tests.analytics.script import gathered, paper_tables_of
from tests.report import sample

GAMES = sample.games(3)
READ = gathered(GAMES)
TABLES = paper_tables_of(READ)
STATEMENTS = sum(len(game.statements) for game in GAMES)


def page(read: Gathered = READ, **options) -> str:
    return Report({**sample.findings(), **TABLES}, read).html(**options)


@cache
def meant() -> dict[str, tuple[str, int]]:
    """By what is asked for: its words, and how many statements the page says that it means."""
    links = re.findall(r'<li id="statements\?([^"]+)">([^<]+): ([\d,]+) in the index', page())
    return {html.unescape(query): (words, int(count.replace(",", ""))) for query, words, count in links}


def judged_as(flag: bool | None, label: bool | None) -> set[str]:
    """All names of what a judgement is against a self-label."""
    if flag is None:
        return set()
    verdicts = {"judged", *(["flagged"] if flag else [])}
    return verdicts if label is None else verdicts | {"scored", ("tn", "fp", "fn", "tp")[2 * label + flag]}


def selected(query: str) -> int:
    """How many statements are selected, by a look at every one of its judgements."""
    query_, count = dict(parse_qsl(query)), 0
    agents = {name: str(place) for place, name in enumerate(READ.tables.agents)}
    for place, game in enumerate(GAMES, 1):
        for row in game.statements:
            label = {None: None, True: "deceptive", False: "truthful"}[row.d]
            fields = {"role": row.role, "kind": row.kind, "phase": row.phase, "round": str(row.round)}
            values = fields | {"agent": agents[row.agent], "label": label, "game": str(place)}
            truths = {row.truth, "checkable"} if row.truth else {"none"}
            judgements = [judgement for judgement in game.judgements if judgement.statement == row.number]
            count += (
                all(query_.get(name, value) == value for name, value in values.items())
                and query_.get("truth", next(iter(truths))) in truths
                and (
                    not {"observer", "by", "judged"} & set(query_)
                    or any(
                        query_.get("judged", "judged") in judged_as(judgement_.d, row.d)
                        and query_.get("observer", judgement_.observer_role) == judgement_.observer_role
                        and query_.get("by", agents[judgement_.observer_agent]) == agents[judgement_.observer_agent]
                        for judgement_ in judgements
                    )
                )
            )
    return count


def test_every_link_of_the_page_means_what_a_look_at_each_statement_finds():
    assert len(meant()) > 50
    for query, (_, count) in meant().items():
        assert count == selected(query), query


def test_links_of_counts_mean_as_many_statements_and_say_so_in_words():
    counts = {f"role={role}": row["statements"] for role, row in TABLES["table1"].items() if role != "overall"}
    counts |= {f"role={role}&label=deceptive": TABLES["table1"][role]["deceptive"] for role in ("Seer", "Werewolf")}
    counts |= {
        f"kind={kind}": row["count"] for kind, row in TABLES["table5"].items() if kind != "overall" and row["count"]
    }
    assert {query: meant()[query][1] for query in counts} == counts
    words = {
        "role=Werewolf&label=deceptive": "Statements by speakers dealt Werewolf that their speakers call deceptive",
        "observer=Seer&judged=fn": "Statements not flagged by a Seer though labelled deceptive",
        "agent=0": "Statements by agent big",
    }
    assert {query: meant()[query][0] for query in words} == words


def statements_shown(text: str) -> int:
    return len(re.findall(r'<li id="g\d+s\d+"', text))


def test_few_statements_are_all_there_and_of_many_the_same_whole_games(monkeypatch):
    every, some = page(), page(statements=STATEMENTS - 1)
    assert statements_shown(every) == STATEMENTS
    assert f"All {STATEMENTS} statements of 3 games are here." in every
    assert 0 < statements_shown(some) < STATEMENTS
    assert f"A sample: all {statements_shown(some)} statements of" in some
    assert re.findall(r'<h3 id="game-\d', page(gathered(GAMES[::-1]), statements=STATEMENTS - 1)) == re.findall(
        r'<h3 id="game-\d', some
    )
    monkeypatch.setattr("analytics.report.entries.SAMPLED", STATEMENTS // 2)
    assert 0 < statements_shown(page(statements=STATEMENTS - 1)) <= STATEMENTS // 2
    monkeypatch.setattr("analytics.report.html.SIZE", 60_000)
    assert 0 <= statements_shown(page()) < STATEMENTS


def test_a_page_of_a_hundred_talkative_games_stays_under_12_megabytes():
    talkative = [
        replace(
            row,
            game=f"g{number}",
            statements=tuple(replace(statement, text="Ω & <b> " * 100) for statement in row.statements),
        )
        for number, row in enumerate(GAMES * 34)
    ]
    text = page(gathered(talkative), statements=100_000)
    assert len(text.encode()) < 12_000_000
    assert len(re.findall(r'<h3 id="game-\d', text)) == 102
