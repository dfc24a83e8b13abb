"""Writes records of games by hand, event by event, for tests of what is measured in them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import norm, t

from analytics.findings import BEYOND, PAPER, SECTIONS, paper_tables, results_of
from analytics.gather import FileNote, GameRows, Gathered, StudySource, fold
from analytics.metrics.beyond import variability
from analytics.metrics.headlines import HEADLINES, headline_rows
from analytics.metrics.primary import primary as primary_metrics
from analytics.metrics.study import Study
from analytics.results import ResultRow, Results
from analytics.tables import Tables, TablesBuilder, joined
from tests.analytics.arrays import Columns, tables_from
from tests.llm.tables import tables
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import DECEPTIONS, Deception, Ending, Outcome, Phase, Reading, Role, Winner
from wolfbus.messages.content import Ballot, Judgement, Label
from wolfbus.messages.events import (
    AnsweredAssessOther,
    AnsweredAssessOwn,
    AnsweredVote,
    AnyEvent,
    Asked,
    Asking,
    Dawn,
    Ended,
    Exile,
    Opened,
    Seat,
    Silence,
    Statement,
    Tally,
)

TABLE: dict[str, Role] = {
    "Wim": "Werewolf",
    "Wes": "Werewolf",
    "Sia": "Seer",
    "Doc": "Doctor",
    "Vic": "Villager",
    "Val": "Villager",
    "Vox": "Villager",
    "Von": "Villager",
}

Verdict = tuple[bool, float] | Outcome
"""A judgement as (flag, suspicion), or why there is none."""


class Script:
    """A game's events so far; every method appends what the moderator would."""

    def __init__(
        self,
        game: str = "g1",
        table: Mapping[str, Role] = TABLE,
        brains: Mapping[str, str] | None = None,
        alpha: float = 0.7,
        prior: float = 0.5,
    ):
        self.roles = dict(table)
        self.alive = list(table)
        self.round = 0
        self.batch = 0
        self.number = 0
        self.turn = 0
        brains = brains or {}
        self.events: list[AnyEvent] = [
            Opened(
                game=game,
                version="0",
                started=1700000000.0,
                seed=f"seed of {game}",
                config=GameConfig(alpha=alpha, prior=prior),
                seats=tuple(
                    Seat(name=name, role=role, agent="house", brain=brains.get(name, "scripted"))
                    for name, role in table.items()
                ),
            )
        ]

    def rows(self, *, aware: bool = False, **options) -> GameRows:
        """Return the rows, unless `aware` as if nobody knew who anybody is: then figures are over all pairs."""
        rows = fold(self.events, **options)
        return rows if aware else unaware(rows)

    def dawn(self, died: str | None = None) -> Script:
        self.round += 1
        self.turn = 0
        self.events.append(Dawn(round=self.round, died=died))
        self._leave(died)
        return self

    def silence(self, seat: str) -> Script:
        self.turn += 1
        self.events.append(Silence(round=self.round, turn=self.turn, seat=seat))
        return self

    def say(self, speaker: str, phase: Phase = "debate", text: str = "words") -> int:
        self.number += 1
        self.turn += 1
        self.events.append(
            Statement(statement=self.number, round=self.round, phase=phase, turn=self.turn, speaker=speaker, text=text)
        )
        return self.number

    def label(
        self,
        number: int,
        speaker: str,
        d: bool | Outcome,
        kind: Deception | None = None,
        confidence: float = 0.9,
        reading: Reading = "clean",
    ) -> Script:
        self.batch += 1
        if isinstance(d, str):
            return self._answer(AnsweredAssessOwn, speaker, number, d)
        label = Label(deceptive=d, confidence=confidence, kind=kind or ("unspecified" if d else "none"))
        return self._answer(AnsweredAssessOwn, speaker, number, content=label, reading=reading)

    def judge(self, number: int, observer: str, verdict: Verdict, reading: Reading = "clean") -> Script:
        if isinstance(verdict, str):
            return self._answer(AnsweredAssessOther, observer, number, verdict)
        flag, suspicion = verdict
        kind = "unspecified" if flag else "none"
        content = Judgement(deceptive=flag, suspicion=suspicion, confidence=0.5, kind=kind)
        return self._answer(AnsweredAssessOther, observer, number, content=content, reading=reading)

    def _answer(self, kind: type, seat: str, about: int | None, outcome: Outcome = "accepted", **given) -> Script:
        of = {} if about is None else {"about": about}
        self.events.append(kind(batch=self.batch, seat=seat, outcome=outcome, **of, **given))
        return self

    def said(
        self,
        speaker: str,
        d: bool | Outcome,
        verdicts: Mapping[str, Verdict],
        kind: Deception | None = None,
        phase: Phase = "debate",
    ) -> int:
        """A statement with its label and judgements, asked for in one batch."""
        number = self.say(speaker, phase)
        asked = {"assess_own": (speaker,), "assess_other": tuple(verdicts)}
        asks = tuple(Asking(kind=each, seats=seats) for each, seats in asked.items())
        place = {"round": self.round, "phase": phase, "turn": self.turn}
        self.events.append(Asked(batch=self.batch + 1, **place, about=number, asks=asks))
        self.label(number, speaker, d, kind)
        for observer, verdict in verdicts.items():
            self.judge(number, observer, verdict)
        return number

    def vote(self, votes: Mapping[str, str | None], late: Iterable[str] = ()) -> Script:
        self.batch += 1
        for voter, target in votes.items():
            ballot = {"outcome": "timed_out"} if voter in set(late) else {"content": Ballot(target=target)}
            self._answer(AnsweredVote, voter, None, **ballot)
        self.events.append(Tally(round=self.round, votes=dict(votes), needed=len(self.alive) // 2 + 1))
        return self

    def exile(self, seat: str | None = None) -> Script:
        self.events.append(Exile(round=self.round, seat=seat))
        self._leave(seat)
        return self

    def end(self, winner: Winner = None, reason: Ending = "max_rounds") -> Script:
        self.events.append(Ended(winner=winner, reason=reason, rounds=self.round))
        return self

    def _leave(self, seat: str | None) -> None:
        if seat is not None:
            self.alive.remove(seat)


def random_game(seed: int, missing: float = 0.15, table: Mapping[str, Role] = TABLE) -> Script:
    """A game with drawn labels, judgements, omissions and deaths; the same seed draws the same."""
    rng = random.Random(seed)
    script = Script(f"g{seed}", table, {name: rng.choice(["one", "two"]) for name in table})

    def lost() -> Outcome | None:
        return rng.choice(["defaulted", "timed_out", "declined"]) if rng.random() < missing else None

    for _ in range(rng.randint(1, 4)):
        script.dawn(rng.choice(script.alive) if rng.random() < 0.5 and len(script.alive) > 3 else None)
        reasons: list[tuple[Any, ...]] = []
        for turn in range(rng.randint(1, 6)):
            speaker = rng.choice(script.alive)
            if rng.random() < 0.1:
                script.silence(speaker)
                continue
            d = rng.random() < (0.6 if script.roles[speaker] == "Werewolf" else 0.3)
            kind = rng.choice(DECEPTIONS[1:]) if d else "none"
            others = [name for name in script.alive if name != speaker]
            verdicts = {name: lost() or (rng.random() < 0.4, round(rng.random(), 2)) for name in others}
            said = speaker, lost() or d, verdicts, kind
            if turn == 5:
                reasons.append(said)
            else:
                script.said(*said)
        script.vote({name: rng.choice([*script.alive, None]) for name in script.alive})
        for said in reasons:
            script.said(*said, "vote")
        script.exile(rng.choice(script.alive) if rng.random() < 0.5 and len(script.alive) > 3 else None)
    if rng.random() < 0.9:
        script.end(rng.choice(["villagers", "werewolves", None]))
    return script


def tables_of(games: Iterable[GameRows]) -> Tables:
    """Return games as frames."""
    builder = TablesBuilder()
    for game in games:
        builder.add(game)
    return builder.tables()


def at_one_level(games: Tables, suspicion: float) -> Tables:
    """Return games in which everybody always states one suspicion."""
    stated = pl.when(pl.col("suspicion").is_not_null()).then(pl.lit(suspicion))
    return replace(games, judgements=games.judgements.with_columns(suspicion=stated))


def section(name: str):
    """A function of games: one section of their findings."""
    return lambda games: measured(name, tables_of(games))


def measured(name: str, games: Columns | Tables, primary: Sequence[str] | None = None, ground: str = "") -> dict:
    """Return one section of the findings, from the families of metrics that it rests on and no others.

    Args:
        name: of the section.
        games: the games.
        primary: of "primary", the metrics that the study declared.
        ground: of "abilities", the only ground that is asked for.
    """
    study = Study(tables_from(games))
    if name == "primary":
        return primary_metrics(study) if primary is None else primary_metrics(study, primary, declared=True)
    families = [family(f"{each}_rows") for each in _SECTIONS["families"][name].split()]
    names = _SECTIONS["headlines"].get(name, "").split()
    shown = [headline for headline in HEADLINES if headline.partition("/")[0] in names]
    if shown:
        families.append(partial(headline_rows, names=shown))
    if ground:
        families[-1] = partial(families[-1], grounds=[ground])
        return SECTIONS[name](study, results_of(study, families), grounds=[ground])[ground]
    return SECTIONS[name](study, results_of(study, families))


def family(name: str) -> Callable[..., Iterable[ResultRow]]:
    """Return what yields the rows of a family of metrics, by its name."""
    return next(each for each in (*PAPER, *BEYOND) if each.__name__ == name)


_SECTIONS = tables(__file__)
"""Of each section the families of metrics that it is a selection of, and the headline metrics that it shows."""


def paper_tables_of(gathered: Gathered) -> dict:
    """Return the paper's tables of all games that were read."""
    return paper_tables(Study(gathered.tables), gathered.ledger)


def replies_of(gathered: Gathered) -> tuple[dict, dict, dict]:
    """Return what is kept of the replies in all games that were read."""
    return gathered.ledger.settings(), gathered.ledger.repair(), gathered.ledger.cost()


def in_blocks(tables: Tables, blocks: Iterable[str]) -> Tables:
    """Return the games with each in another block."""
    return replace(tables, games=tables.games.with_columns(block=pl.Series([*blocks])))


def scored(games: Columns | Tables) -> pl.DataFrame:
    """Return the judgements whose flag counts, as does the ``label`` of the statement."""
    tables = tables_from(games)
    labels = tables.statements.select("game", pl.col("number").alias("statement"), label="self_deceptive")
    rows = tables.judgements.join(labels, on=["game", "statement"], maintain_order="left")
    return rows.drop_nulls(["flagged", "label"])


def headlines(games: Columns | Tables, *names: str) -> dict:
    """Return some headline metrics, or all."""
    study = Study(tables_from(games))
    metrics = variability(study, Results(headline_rows(study, names or None)))["metrics"]
    return {name: metrics[name] for name in names or HEADLINES}


def gathered(
    games: Iterable[GameRows], problems: tuple[FileNote, ...] = (), studies: tuple[StudySource, ...] = ()
) -> Gathered:
    """Return games as if they had been read by two processes, a file each."""
    games, parts = list(games), (TablesBuilder(), TablesBuilder())
    for at, rows in enumerate(games):
        parts[at % 3 == 1].add(rows)
    notes = tuple(FileNote(f"{rows.game}.ndjson", rows.game, 9, True, None) for rows in games)
    words = {note.path: rows for note, rows in zip(notes, games, strict=True)}
    found = Gathered(joined([part.tables() for part in parts]), (*notes, *problems), studies, games=words)
    for rows in games:
        found.ledger.add(rows)
    return found


def named(rows: GameRows, game: str) -> GameRows:
    """Return a game under another id."""
    statements, judgements = (
        tuple(replace(row, game=game) for row in table) for table in (rows.statements, rows.judgements)
    )
    return replace(rows, game=game, statements=statements, judgements=judgements)


def held_by(rows: GameRows, agents: Mapping[str, str]) -> GameRows:
    """Return a game whose seats these agents held, by the seats' names; the others stay with whom they are."""

    def of(row, **fields: str):
        told = {field: agents.get(getattr(row, seat) or "", getattr(row, field)) for field, seat in fields.items()}
        return replace(row, **told)

    pair = {"observer_agent": "observer", "target_agent": "target"}
    return replace(
        rows,
        seats={name: of(seat, agent="name") for name, seat in rows.seats.items()},
        statements=tuple(of(row, agent="speaker") for row in rows.statements),
        judgements=tuple(of(row, **pair) for row in rows.judgements),
        votes=tuple(of(row, voter_agent="voter", target_agent="target") for row in rows.votes),
    )


def tails(blocks: int) -> list[float]:
    """Return the quantiles of draws at which a 95 % interval of so many blocks ends."""
    low = norm.cdf(-math.sqrt(blocks / (blocks - 1)) * t.ppf(0.975, blocks - 1))
    return [low, 1 - low]


def unaware(rows: GameRows) -> GameRows:
    """Return a game in which nobody knows who anybody is, so that figures are over all pairs."""
    living: dict[int, list[str]] = {}
    for row in rows.votes:
        living.setdefault(row.round, []).append(row.voter)
    wolves = {name for name, seat in rows.seats.items() if seat.role == "Werewolf"}
    return replace(
        rows,
        judgements=tuple(replace(row, informed=False) for row in rows.judgements),
        votings=tuple(replace(row, exile=row.exile_of_all) for row in rows.votings),
        votes=tuple(
            replace(
                row,
                informed=False,
                unknown=len(living[row.round]) - 1,
                unknown_wolves=len(wolves & {*living[row.round]} - {row.voter}),
            )
            for row in rows.votes
        ),
    )


def drawn_blocks(blocks: int, draws: int = 2_000) -> np.ndarray:
    """Return how often each of so many blocks comes in each draw of the bootstrap."""
    picks = np.random.default_rng(20_250_810).integers(0, blocks, size=(draws, blocks), dtype=np.int32)
    return np.stack([np.bincount(pick, minlength=blocks) for pick in picks])


def leaves(tree, *path):
    """Yield every value of nested results, with its path."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for name, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(part, *path, name)
