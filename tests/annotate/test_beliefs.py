"""Seats' own models are asked after the games what the seats believed: what they are asked, what is kept, what comes of
it against known truth.
"""

import csv
import json
import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

from tests.annotate.conftest import SPY
from tests.golden.running import Said, wolfbus
from tests.study.forged import forge
from wolfbus.record.prompts import PromptBook
from wolfbus.record.reader import open_lines, read_record
from wolfbus.testing.model_server import ModelServer

RULES = 'memory = "{memory}"\nmax_rounds = 2\ndebate_turns = 2\n'
MODELS = '[endpoints.d]\nurl = "{url}"\nat_once = 8\n[models.double]\nendpoint = "d"\n'
LISTENING = """
import spy

class Listening(spy.Spy):
    def reply(self, properties):
        names = list(properties["werewolf"]["properties"])
        return {"werewolf": dict.fromkeys(names[LEAVES_OUT:], 0.5) | ALSO, "vote": None}

def open_provider(endpoint, keys): return Listening()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(seed=5) as server:
        yield server


def study(folder: Path, server: ModelServer, memory: str) -> Path:
    text = RULES.format(memory=memory) + MODELS.format(url=server.url)
    (folder / "rules.toml").write_text(text, "utf-8")
    options = ("--players", "llm:double*6,scripted*2", "--seed", "4", "--games", "2", "--quiet", "--no-probe")
    said = wolfbus(folder, "run", "--config", "rules.toml", "--out", "study", *options)
    assert said.code == 0, said.err
    return folder


@pytest.fixture(scope="module")
def played(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study(tmp_path_factory.mktemp("believed"), server, "full")


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    shutil.copytree(played / "study", tmp_path / "study")
    shutil.copy(played / "rules.toml", tmp_path)
    return tmp_path


def ask(folder: Path, *words: str, config: str = "rules.toml") -> Said:
    return wolfbus(folder, "beliefs", "study", "--config", config, "--yes", "--no-probe", *words)


def hear(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str, leaves_out: int = 0, also: str = "{}"
) -> tuple[Said, list[Any]]:
    """Ask with a model that keeps what it is asked, one question at a time; returns that, too."""
    module = f"listening{leaves_out}_{len(also)}"
    (folder / "spy.py").write_text(SPY, "utf-8")
    (folder / f"{module}.py").write_text(
        LISTENING.replace("LEAVES_OUT", str(leaves_out)).replace("ALSO", also), "utf-8"
    )
    monkeypatch.syspath_prepend(str(folder))
    models = f'[endpoints.d]\nprovider = "{module}"\nat_once = 1\n[models.double]\nendpoint = "d"\n'
    (folder / "listening.toml").write_text(models, "utf-8")
    said = ask(folder, *words, config="listening.toml")
    return said, [json.loads(line) for line in (folder / "asked.jsonl").read_text("utf-8").splitlines()]


def file_of(folder: Path) -> Path:
    return folder / "study/beliefs.jsonl"


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file_of(folder).read_text("utf-8").splitlines()[1:]]


def events(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for path in sorted((folder / "study/records").glob("*.ndjson")):
        yield path.stem, [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def statements(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    return {
        (game, event["statement"]): event
        for game, lines in events(folder)
        for event in lines
        if event["type"] == "statement"
    }


def test_every_model_is_asked_on_every_day_that_it_lives_to_see_before_its_debate_and_before_its_vote(folder):
    said = ask(folder)
    assert said.code == 0, said.err
    assert "scripted: no language models; they are not asked" in said.err
    expected: Counter[tuple[str, int, str]] = Counter()
    for game, lines in events(folder):
        living = {seat["name"] for seat in lines[0]["seats"] if seat["brain"] == "llm:double"}
        days = {event["round"] for event in lines if event["type"] == "asked" and event["phase"] != "night"}
        for event in lines:
            if event["type"] in {"dawn", "exile"}:
                living.discard(event.get("died" if event["type"] == "dawn" else "seat"))
            if event["type"] == "dawn" and event["round"] in days:
                expected[game, event["round"], "dawn"] = expected[game, event["round"], "dusk"] = len(living)
    lines = lines_of(folder)
    assert Counter((line["game"], line["round"], line["when"]) for line in lines) == expected
    again = json.loads(ask(folder, "--json").out)
    assert (again["written"], again["before"]) == (0, len(lines))


@pytest.mark.parametrize("memory", ["full", "brief"])
def test_a_seat_is_told_what_its_prompts_told_it_before_the_vote(memory, server, folder, tmp_path, monkeypatch):
    if memory != "full":
        shutil.rmtree(folder / "study")
        study(tmp_path, server, memory)
    said, asked = hear(folder, monkeypatch, "--at", "dusk")
    assert said.code == 0, said.err
    believed = {
        (line["game"], line["seat"], line["round"]): messages
        for line, messages in zip(lines_of(folder), asked, strict=True)
    }
    compared = 0
    for path in sorted((folder / "study/records").glob("*.ndjson")):
        book, records = PromptBook(), list(read_record(open_lines(path)))
        for recorded in records:
            book.feed(recorded.event, recorded.n)
        calls = [event for _, _, _, event, _ in records if event.type == "model_call" and event.kind == "vote"]
        votes = {call.requests[0]: call for call in reversed(calls)}
        for name, call in votes.items():
            day = int(name.split("/")[0])
            system, prompt = believed[path.stem, call.seat, day]
            (_, told_system), (_, told) = book.messages(call)[:2]
            story, _, question = prompt.partition("\nQUESTION to ")
            assert system == told_system
            assert told.startswith(story)
            assert question.startswith(f"{call.seat}, day {day}\n")
            compared += 1
    assert compared > 10


def test_listeners_are_asked_twice_before_a_statement_and_once_when_they_have_heard_it(folder, monkeypatch):
    said, asked = hear(folder, monkeypatch, "--at", "neither", "--statements", "1")
    assert said.code == 0, said.err
    spoken = statements(folder)
    times: dict[tuple[str, int], Counter[str]] = {}
    for line, (_, prompt) in zip(lines_of(folder), asked, strict=True):
        statement = spoken[line["game"], line["statement"]]
        assert line["seat"] != statement["speaker"]
        assert (json.dumps(statement["text"], ensure_ascii=False) in prompt) == (line["when"] == "after")
        times.setdefault((line["game"], line["statement"]), Counter())[line["when"]] += 1
    assert set(times) == {key for key, statement in spoken.items() if statement["phase"] == "debate"}
    assert all(len(counts) == 3 and len(set(counts.values())) == 1 for counts in times.values())
    # so that no cassette takes the second answer for the first
    assert len({json.dumps(messages) for messages in asked}) == len(asked)


def test_the_same_seed_draws_the_same_statements_and_a_larger_share_has_them_too(folder):
    def drawn(share: str) -> set[tuple[str, int]]:
        file_of(folder).unlink(missing_ok=True)
        assert ask(folder, "--at", "neither", "--statements", share).code == 0
        return {(line["game"], line["statement"]) for line in lines_of(folder)}

    few = drawn("0.4")
    assert few == drawn("0.4")
    assert few < drawn("1")


def test_a_reply_that_leaves_somebody_out_is_asked_for_once_more_and_then_told_as_unread(folder, monkeypatch):
    said, asked = hear(folder, monkeypatch, "--at", "dawn", "--give-up", "0", leaves_out=1)
    assert said.code == 1
    assert "nothing could be read, the first" in said.err
    assert "not null" in said.err
    assert len(asked) == 2 * len({json.dumps(messages[:2]) for messages in asked})
    assert not file_of(folder).exists()


def test_one_in_a_list_of_percentages_is_not_taken_for_certainty(folder, monkeypatch):
    said, _ = hear(folder, monkeypatch, "--at", "dawn", "--give-up", "0", also="{names[0]: 80, names[1]: 1}")
    assert said.code == 1
    assert "could be 1 %" in said.err
    assert not file_of(folder).exists()


def test_beliefs_of_another_record_or_another_model_are_refused_in_one_line(folder):
    assert ask(folder, "--at", "dusk").code == 0
    kept = file_of(folder).read_bytes()
    file_of(folder).write_bytes(kept.replace(json.loads(kept.splitlines()[1])["head"].encode(), b"0" * 64))
    said = wolfbus(folder, "report", "study", "--json")
    assert said.code == 2
    assert "is not what was asked about" in said.err
    file_of(folder).write_bytes(kept.replace(b'"round":1', b'"round":1' + b"0" * 30, 1))
    said = wolfbus(folder, "report", "study", "--json")
    assert said.code == 2
    assert "no belief of wolfbus: round: " in said.err
    file_of(folder).write_bytes(kept)
    (folder / "rules.toml").write_text((folder / "rules.toml").read_text("utf-8") + "temperature = 0.5\n", "utf-8")
    said = ask(folder)
    assert said.code == 2
    assert "made with other settings of llm:double" in said.err
    assert file_of(folder).read_bytes() == kept
    # as a kill leaves a file
    file_of(folder).write_bytes(kept + b'{"half a line')
    assert wolfbus(folder, "report", "study", "--json").code == 0


def test_nobody_is_asked_about_a_game_that_may_be_gone_on_with(folder):
    first, second = sorted((folder / "study/records").glob("*.ndjson"))
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[: len(lines) // 2]))
    # else it would differ from what the study noted of it
    (folder / "study/study.json").unlink()
    said = ask(folder, "--at", "dawn")
    assert "1 game not ended: nobody is asked about them" in said.err
    # told once, and nothing is wrong with it
    assert (said.code, first.name in said.err) == (0, False)
    assert {line["game"] for line in lines_of(folder)} == {second.stem}


def believe(folder: Path, changed: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Put what a rule says in the place of what was said."""
    header = file_of(folder).read_text("utf-8").splitlines()[0]
    lines = [json.dumps({**line, **changed(line)}) for line in lines_of(folder)]
    file_of(folder).write_text("".join(f"{line}\n" for line in [header, *lines]), "utf-8")


def findings(folder: Path) -> Any:
    said = wolfbus(folder, "report", "study", "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)["beliefs"]


def pairs(folder: Path, when: str) -> list[dict[str, Any]]:
    """What was believed of those of whom nobody could be certain, by the exported tables."""
    shutil.rmtree(folder / "tables", ignore_errors=True)
    said = wolfbus(folder, "export", "csv", "study", "--out", "tables", "--tables", "knowable,beliefs")
    assert said.code == 0, said.err

    def rows(name: str) -> list[dict[str, str]]:
        with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    key = ("observer_id", "target_id", "round")
    known = {tuple(row[name] for name in key): row for row in rows("knowable")}
    return [
        {**known[place], **row, "wolf": float(row["target_role"] == "Werewolf")}
        for row in rows("beliefs")
        if row["when"] == when and (place := tuple(row[name] for name in key)) in known
    ]


def test_scores_sums_and_votes_are_what_the_exported_tables_give_by_hand(folder):
    assert ask(folder).code == 0
    # somebody is certain of the first, and of the second that it is none
    believe(folder, lambda line: {"werewolf": line["werewolf"] | dict(zip(line["werewolf"], (1.0, 0.0), strict=False))})
    told = findings(folder)
    for moment in ("dawn", "dusk"):
        rows = [row for row in pairs(folder, moment) if moment == "dawn" or row["suspicion"]]
        by_hand = np.mean([(float(row["belief"]) - row["wolf"]) ** 2 for row in rows])
        assert told["scores"][moment]["belief"]["brier"]["value"] == pytest.approx(by_hand)
        assert told["scores"][moment]["belief"]["brier"]["n"] == len(rows)
    apart, sums, projected = [], [], []
    for moment in ("dawn", "dusk"):
        views: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in pairs(folder, moment):
            views.setdefault((row["observer_id"], row["round"]), []).append(row)
        for view in views.values():
            likely = np.array([float(row["belief"]) for row in view])
            facts = np.array([float(row["facts"]) for row in view])
            sums.append(likely.sum())
            apart.append(abs(likely.sum() - facts.sum()))
            odds, expected = logit(np.clip(likely, 0.01, 0.99)), facts.sum()
            shift = brentq(
                lambda c, odds=odds, expected=expected: expit(odds + c).sum() - expected, -60, 60, xtol=1e-14
            )
            if moment == "dawn":
                projected += [(p - row["wolf"]) ** 2 for p, row in zip(expit(odds + shift), view, strict=True)]
    assert told["overall"]["belief_sum"]["value"] == pytest.approx(np.mean(sums))
    assert told["overall"]["incoherence"]["value"] == pytest.approx(np.mean(apart))
    assert told["scores"]["dawn"]["projected"]["brier"]["value"] == pytest.approx(np.mean(projected))


def test_votes_follow_beliefs_where_everybody_believes_what_it_voted_and_by_chance_where_nobody_tells_apart(folder):
    assert ask(folder, "--at", "dusk").code == 0
    votes = {
        (game, event["round"], voter): target
        for game, lines in events(folder)
        for event in lines
        if event["type"] == "tally"
        for voter, target in event["votes"].items()
    }

    def by_vote(line: dict[str, Any]) -> Mapping[str, Any]:
        target = votes[line["game"], line["round"], line["seat"]]
        return {"werewolf": {name: 0.9 if name == target else 0.1 for name in line["werewolf"]}}

    believe(folder, by_vote)
    follows = findings(folder)["overall"]["vote_follows_belief"]
    assert follows["n"] > 5
    assert follows["value"] == 1
    assert follows["baseline"] < 0.5
    believe(folder, lambda line: {"werewolf": dict.fromkeys(line["werewolf"], 0.4)})
    follows = findings(folder)["overall"]["vote_follows_belief"]
    assert follows["value"] == pytest.approx(follows["baseline"])


def test_whoever_believes_the_truth_loses_what_its_caution_costs(folder):
    assert ask(folder, "--at", "dawn").code == 0
    roles = {game: {seat["name"]: seat["role"] for seat in lines[0]["seats"]} for game, lines in events(folder)}

    def truth(line: dict[str, Any]) -> Mapping[str, Any]:
        return {"werewolf": {n: 0.8 if roles[line["game"]][n] == "Werewolf" else 0.1 for n in line["werewolf"]}}

    believe(folder, truth)
    rows = pairs(folder, "dawn")
    wolves = sum(row["wolf"] for row in rows)
    others = len(rows) - wolves
    scores = findings(folder)["scores"]["dawn"]["belief"]
    assert scores["brier"]["value"] == pytest.approx((0.04 * wolves + 0.01 * others) / len(rows))
    assert scores["log"]["value"] == pytest.approx(-(wolves * math.log(0.8) + others * math.log(0.9)) / len(rows))
    assert scores["auc"]["value"] == 1


def test_a_statement_moves_what_it_is_made_to_move_and_asking_again_is_told_beside_it(folder):
    assert ask(folder, "--at", "neither", "--statements", "1").code == 0
    spoken = statements(folder)

    def moved(line: dict[str, Any]) -> Mapping[str, Any]:
        speaker = spoken[line["game"], line["statement"]]["speaker"]
        likely = {"before": 0.3, "again": 0.4, "after": 0.7}[line["when"]]
        vote = speaker if line["when"] == "after" else None
        return {"werewolf": {n: likely if n == speaker else 0.2 for n in line["werewolf"]}, "vote": vote}

    believe(folder, moved)
    swings = findings(folder)["swings"]["overall"]
    told = {name: (swings[name]["value"], swings[name]["baseline"]) for name in swings}
    assert told["belief_moved"] == pytest.approx((0.4, 0.1))
    assert told["vote_swing"] == (1, 0)
    assert told["votes_moved"] == (1, 0)
    page = wolfbus(folder, "report", "study", "--md", "page.md")
    assert page.code == 0
    assert "What statements do to listeners' beliefs and silent votes" in (folder / "page.md").read_text("utf-8")


def test_an_address_that_only_a_record_names_is_asked_nothing(folder, server):
    for name in ("study.json", "journal.jsonl", ".trusted"):
        (folder / "study" / name).unlink()

    def elsewhere(event):
        if event.type != "opened":
            return event
        return event.model_copy(
            update={"seats": tuple(seat.model_copy(update={"brain": f"llm:m@{server.url}"}) for seat in event.seats)}
        )

    for record in (folder / "study" / "records").iterdir():
        forge(record, elsewhere)
    (folder / "none.toml").write_text("")
    before = server.stats().calls
    said = ask(folder, config="none.toml")
    assert (said.code, said.err.splitlines()[-1][:33]) == (2, "wolfbus: study: it asks m at http")
    assert server.stats().calls == before
