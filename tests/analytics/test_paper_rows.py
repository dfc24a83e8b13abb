"""A log of the paper's own code, measured as it was recorded and as we read it again."""

import json
import shutil
from pathlib import Path

import pytest

from analytics.findings import metrics
from analytics.gather import Criteria, GameRows, each_game

DATA = Path(__file__).parents[1] / "paper_log" / "data"


def read(log: Path, *, as_recorded: bool) -> GameRows:
    ((note, rows),) = each_game([log], Criteria(as_recorded=as_recorded))
    assert (note.problem, note.published) == (None, True)
    assert rows is not None
    return rows


@pytest.fixture(scope="module")
def both() -> tuple[GameRows, GameRows]:
    """The small log as recorded, and read again."""
    return read(DATA / "small-events.ndjson", as_recorded=True), read(DATA / "small-events.ndjson", as_recorded=False)


FILLER = (False, 0.5, 0.0, "none", "defaulted", None)


@pytest.mark.parametrize(
    ("at", "recorded", "again"),
    [
        (0, FILLER, (False, 0.2, 0.8, "none", "accepted", "extracted")),
        # cut off behind its flag: it counts where flags are counted, and nowhere else
        (1, FILLER, (True, None, 0.65, "misdirection", "accepted", "repaired")),
        # lost, and a refusal
        (2, FILLER, (None, None, None, None, "defaulted", None)),
        (3, FILLER, (None, None, None, None, "defaulted", None)),
        # what the paper's code could parse is clean in both readings
        (7, (True, 0.8, 0.7, "fabrication", "accepted", "clean"), (True, 0.8, 0.7, "fabrication", "accepted", "clean")),
    ],
)
def test_a_judgement_is_what_was_stored_or_what_the_raw_reply_says(both, at, recorded, again):
    for rows, expected in zip(both, (recorded, again), strict=True):
        row = rows.judgements[at]
        assert (row.d, row.s, row.c, row.kind, row.outcome, row.reading) == expected


def test_fillers_are_counted_as_the_papers_code_did_and_move_nothing(both):
    recorded, again = both
    assert (recorded.include_defaulted, again.include_defaulted) == (True, False)
    assert recorded.suspicion == {("Rosa", "Otto"): pytest.approx(0.7 * 0.8 + 0.3 * 0.5)}
    assert again.suspicion["Ines", "Rosa"] == pytest.approx(0.7 * 0.3 + 0.3 * (0.7 * 0.2 + 0.3 * 0.5))
    assert ("Quinn", "Otto") not in again.suspicion
    told, found = metrics([recorded]), metrics([again])
    assert [told["table3"]["overall"][name] for name in ("tp", "tn", "fp", "fn")] == [0, 14, 1, 0]
    assert [found["table3"]["overall"][name] for name in ("tp", "tn", "fp", "fn")] == [4, 7, 2, 0]
    assert told["labels"] == {"total": 19, "clean": 2, "repaired": 0, "defaulted": 17}
    assert found["labels"] == {"total": 19, "clean": 2, "repaired": 15, "defaulted": 2}
    # of four flags on the Werewolf's statement one came without a suspicion
    werewolf = found["table1"]["Werewolf"]
    assert [werewolf[name] for name in ("flagged", "suspicion")] == [1.0, pytest.approx((1.0 + 0.6 + 0.8) / 3)]


def test_rounds_deaths_votes_and_the_end_are_copied_in_order(both):
    for rows in both:
        places = [(row.round, row.phase, row.turn) for row in rows.statements]
        assert places == [(1, "debate", 1), (1, "debate", 2), (1, "debate", 3), (1, "vote", 1), (2, "debate", 1)]
        assert [row.number for row in rows.statements] == [1, 2, 3, 4, 5]
        # a turn that nobody analysed is a statement without a label
        assert (rows.statements[2].d, rows.statements[2].outcome) == (None, None)
        nights = [(night.target, night.protected, night.died) for night in rows.nights]
        assert nights == [("Quinn", ("Quinn",), None), ("Pavel", ("Ines",), "Pavel")]
        assert [(seen.seer, seen.target, seen.target_role) for seen in rows.inspections] == [
            ("Ines", "Rosa", "Villager"),
            ("Ines", "Otto", "Werewolf"),
        ]
        assert [row.attacked for row in rows.protections] == [True, False]
        gone = [(death.round, death.seat, death.how) for death in rows.deaths]
        assert gone == [(2, "Pavel", "night"), (2, "Otto", "exile")]
        # nobody, or nobody there is
        assert [(vote.target, vote.outcome) for vote in rows.votes if vote.round == 1] == [
            *((None, "defaulted"), ("Quinn", "accepted")),
            *((None, "defaulted"), (None, "defaulted"), ("Otto", "accepted")),
        ]
        assert (rows.rounds, rows.night_count, rows.voting_rounds, rows.debate_turns) == (2, 2, 2, 4)
        assert (rows.finished, rows.winner, rows.reason) == (True, "villagers", None)
        assert (rows.seats["Otto"].agent, rows.game) == ("a-model", "small-1")
        # of a vote without its raw text nobody knows how it was read
        assert sum(count for (_, kind, *_), count in rows.replies.items() if kind == "vote") == 2


def test_a_vote_is_read_again_and_nobody_is_buried_twice(tmp_path):
    shutil.copy(DATA / "small-run_meta.json", tmp_path)
    log, lines = tmp_path / "small-events.ndjson", (DATA / "small-events.ndjson").read_text().splitlines()
    for at, line in enumerate(lines):
        event = json.loads(line)
        if event["event"] == "vote" and "raw_output" in event["details"]:
            event["details"]["raw_output"]["Rosa"] = {"_raw_response": '{"vote": null, "reasoning": "I wait."}'}
            event["details"]["votes"]["Ines"] = "Pavel"
        if event["event"] == "exile" and event["details"]["exiled"]:
            event["details"]["exiled"] = "Pavel"
        lines[at] = json.dumps(event)
    log.write_text("\n".join(lines) + "\n")
    recorded, again = (read(log, as_recorded=given) for given in (True, False))
    votes = [{vote.voter: (vote.target, vote.outcome) for vote in rows.votes[5:]} for rows in (recorded, again)]
    assert [each["Rosa"] for each in votes] == [("Otto", "accepted"), (None, "accepted")]
    # Pavel is dead
    assert [each["Ines"] for each in votes] == [(None, "defaulted")] * 2
    assert [(gone.seat, gone.how) for gone in recorded.deaths] == [("Pavel", "night")]
