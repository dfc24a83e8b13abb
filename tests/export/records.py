"""Records on disk for tests of exports: whole games, hostile words, model calls, damage."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from analytics.findings import Metrics
from analytics.gather import each_game
from tests.game.driver import Given, Missing, Question, play
from tests.llm.tables import tables
from tests.record import synthetic
from wolfbus.game.config import GameConfig
from wolfbus.messages.calls import ChainAddition, ModelCall, PromptAddition
from wolfbus.messages.content import AccusationClaim, Ballot, InspectionClaim, Judgement, Label, RoleClaim, Speech
from wolfbus.messages.events import AnyEvent, Asked, Fork, Opened, Statement
from wolfbus.record.line import Recorded

HOSTILE = tuple(tables(__file__)["hostile"])


def lines_of(events: Iterable[AnyEvent]) -> list[bytes]:
    """Seal events, a tenth of a second apart."""
    return synthetic.lines_of(Recorded(n, n / 10, "researchers", event) for n, event in enumerate(events, 1))


def write(folder: Path, events: Sequence[AnyEvent], name: str | None = None) -> Path:
    """Write a record, named after its game unless told."""
    opened = events[0]
    assert isinstance(opened, Opened)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or opened.game}.ndjson"
    path.write_bytes(b"".join(lines_of(events)))
    return path


@cache
def game(
    name: str, seed: str = "1", brains: tuple[str, ...] = ("one", "two"), words: tuple[str, ...] = HOSTILE
) -> tuple[AnyEvent, ...]:
    """A whole game with claims, hostile words wherever words can be, missing answers, abstentions and thoughts."""
    numbers = iter(range(10**6))

    def answer(question: Question) -> Given | None:
        n = next(numbers)
        text = words[n % len(words)]
        if n % 11 == 7:
            return Missing("timed_out")
        if question.kind == "speak" and text.strip():
            claims = (
                RoleClaim(target=question.seat, role="Seer"),
                InspectionClaim(target=question.seat, role="Villager", round=1),
                AccusationClaim(target=question.seat),
            )
            return Speech(text=text, claims=claims[: n % 4])
        if question.kind == "assess_own":
            return Label(
                deceptive=n % 3 == 0, confidence=0.1, kind="omission" if n % 3 == 0 else "none", reasoning=text
            )
        if question.kind == "assess_other":
            flag = n % 2 == 0
            suspicion = n % 97 / 97
            return Judgement(
                deceptive=flag,
                suspicion=suspicion,
                confidence=1 / 3,
                kind="distortion" if flag else "none",
                reasoning=text,
            )
        if question.kind == "vote" and text.strip():
            target = None if n % 5 == 0 else (question.legal or (None,))[0]
            return Ballot(target=target, reason=text if n % 2 else None)
        return None

    events = play(GameConfig(max_rounds=2), seed, answer).events
    opened = events[0]
    assert isinstance(opened, Opened)
    seats = tuple(seat.model_copy(update={"brain": brains[at % len(brains)]}) for at, seat in enumerate(opened.seats))
    events_: list[AnyEvent] = [opened.model_copy(update={"game": name, "started": 1.7e9 + 0.125, "seats": seats})]
    for event in events[1:]:
        thinks = event.type == "answered" and event.outcome == "accepted"
        events_.append(event.model_copy(update={"thought": "hm, =1+1\nIt is day 1."}) if thinks else event)
    return tuple(events_)


def with_calls(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """Add a model call behind every third batch: paid ones, one of a cassette, one without tokens, failed ones."""
    first = PromptAddition(chains=(ChainAddition(role="system", texts=("You are at a table. 我",)),))
    with_calls_: list[AnyEvent] = [events[0], first]
    calls = 0
    for event in events[1:]:
        with_calls_.append(event)
        if not isinstance(event, Asked) or event.batch % 3:
            continue
        asking = event.asks[0]
        about = "" if event.about is None else f"/{event.about}"
        calls += 1
        kind = calls % 4
        with_calls_.append(
            ModelCall(
                requests=(f"{event.round}/{event.phase}/{event.turn}/{asking.kind}/{asking.seats[0]}{about}",),
                seat=asking.seats[0],
                kind=asking.kind,
                model="small" if calls % 2 else "large",
                url="http://user:secret@example.invalid",
                cassette=kind == 1,
                parameters={"temperature": 0.7, "max_tokens": 100, "response_format": "json"},
                prompt=(0,),
                attempts=0 if kind == 1 else 2,
                failures=() if kind == 1 else ("429",),
                queue_s=0.25,
                latency_s=0.1 * calls,
                prompt_tokens=None if kind == 2 else 100 + calls,
                cached_tokens=None if kind == 2 else 40,
                completion_tokens=None if kind == 2 else calls,
                cost_usd=None if kind == 2 else 0.1 * calls,
                finish=None if kind == 2 else "stop",
                error="no reply, at all" if kind == 2 else None,
                reply=None if kind == 2 else 'a "reply"\x00',
            )
        )
    return with_calls_


def study(folder: Path, names: Sequence[str], block: str = "b1") -> None:
    """Write the manifest of a study whose records are there."""
    manifest = {
        "format": "wolfbus-study",
        "version": 1,
        "study": "study-0a1b2c3d",
        "name": "trial",
        "seed": "9",
        "git": {"commit": "f" * 40, "dirty": False},
        "games": [
            {"number": number, "game": name, "block": block, "record": f"records/{name}.ndjson"}
            for number, name in enumerate(names, 1)
        ],
    }
    (folder / "study.json").write_text(json.dumps(manifest), encoding="utf-8")


def annotate(record: Path) -> None:
    """Have a reader model say something of every statement of a record of a study."""
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    spoken = [line for line in lines if line["type"] == "statement"]
    said = [
        {"game": record.stem, "statement": number, "head": lines[-1]["hash"], "hash": line["hash"], "deceptive": 0.25}
        for number, line in enumerate(spoken, 1)
    ]
    said[0] |= {"kind": "omission", "stances": {spoken[0]["speaker"]: "for"}}
    said[-1] |= {"werewolf": 0.5, "werewolf_masked": 0.125}
    header = {"format": "wolfbus-annotations", "version": 1, "sort": "reader", "created": "", "wolfbus": "0.1.0"}
    folder = record.parents[1] / "annotations"
    folder.mkdir()
    text = "".join(json.dumps(line) + "\n" for line in (header, *said))
    (folder / "small.jsonl").write_text(text, encoding="utf-8")


def believe(record: Path) -> None:
    """Have a model say what a seat of a record of a study believed, before a vote and before a statement."""
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    names = [seat["name"] for seat in lines[0]["seats"]]
    prompt = {"version": 1, "sha256": ""}
    header = {"format": "wolfbus-beliefs", "version": 1, "created": "", "wolfbus": "0.1.0", "prompt": prompt}
    belief = {"game": record.stem, "round": 1, "seat": names[0], "head": lines[-1]["hash"], "hash": lines[0]["hash"]}
    likely = {"werewolf": {names[1]: 0.5, names[2]: 0.125}}
    text = "".join(
        json.dumps(line) + "\n"
        for line in (
            {**header, "models": {}},
            {**belief, **likely, "when": "dusk"},
            {**belief, **likely, "when": "before", "statement": 1, "vote": names[1]},
        )
    )
    (record.parents[1] / "beliefs.jsonl").write_text(text, encoding="utf-8")


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file by column."""
    return pq.read_table(file).to_pylist()


def figures_of(folder: Path) -> dict[str, Any]:
    """What is measured of the games of a folder."""
    metrics = Metrics()
    for _, rows in each_game([folder]):
        if rows is not None:
            metrics.add(rows)
    return metrics.result()


def forked(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """Return a game as if it had been forked at its first statement, whose draws were the same."""
    opened = events[0]
    first = next(event for event in events if isinstance(event, Statement))
    assert isinstance(opened, Opened)
    fork = Fork(
        parent="plain",
        event=9,
        head="0" * 64,
        statement=first.statement,
        seat=first.speaker,
        round=first.round,
        kind="omission",
        batch=9999,
        arm="keep",
        k=1,
        seed="s",
    )
    return [opened.model_copy(update={"fork": fork}), *events[1:]]
