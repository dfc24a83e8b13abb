"""Brains that answer later, and what they report of their calls."""

from pathlib import Path

import pytest

from tests.golden.running import wolfbus
from tests.llm.calls.woven import lines
from tests.proving import Proof, prove
from tests.whole.house import outcomes, play_many
from wolfbus.game.config import GameConfig
from wolfbus.messages.calls import REPLY_KEPT
from wolfbus.record.digest import digest_of

QUICK = GameConfig(debate_turns=2, max_rounds=3)


def played(folder: Path, brain: str = "Later", count: int = 8, config: GameConfig = QUICK) -> Proof:
    """Play a game of later brains, the rest of which are random, and prove its record, 3.ndjson."""
    (proof,) = play_many(folder, [3], [f"tests.whole.later:{brain}"] * count + ["random"] * (8 - count), config)
    assert proof.verified, proof.problems
    return proof


def test_answers_from_other_threads_make_the_game_that_they_would_make_at_once(tmp_path: Path):
    def game(proof: Proof) -> str:
        return digest_of(recorded.event for recorded in proof.records[1:])

    later = played(tmp_path / "later")
    assert game(later) == game(played(tmp_path / "once", count=0))
    calls = [recorded.n for recorded in later.records if recorded.event.type == "model_call"]
    texts = [text for event in later.of("prompt_text") for chain in event.chains for text in chain.texts]
    stored = [text for text in texts if isinstance(text, str)]
    counts = outcomes([later])
    assert len(calls) == counts["answered"] == counts["accepted"]
    assert len(stored) == len(set(stored))
    for line in calls[::20]:
        assert "fact 0" in wolfbus(tmp_path / "later", "replay", "3.ndjson", "--prompt", str(line)).out
    assert sum(text.endswith(("Villager", "Werewolf", "Seer", "Doctor")) for text in stored) >= 4


def test_a_report_of_what_an_agent_does_not_play_is_rejected_and_harms_nothing(tmp_path: Path):
    proof = played(tmp_path, "Forger")
    counts = outcomes([proof])
    assert counts["sender"] > 0
    assert counts["unreadable"] > 0
    assert counts["accepted"] == counts["answered"]
    calls = proof.of("model_call")
    cut = [event for event in calls if event.reply_length is not None]
    assert {(event.reply_length, len(event.reply)) for event in cut} == {(200_000, REPLY_KEPT)}
    kinds = {event.kind for event in proof.of("answered")}
    assert {event.kind for event in calls} == {"assess_own", "assess_other", "kill"} & kinds


def test_reports_have_a_limit_of_their_own(tmp_path: Path):
    proof = played(tmp_path, config=QUICK.model_copy(update={"max_reply_bytes": 1500}))
    assert len(proof.of("model_call")) == len(proof.of("answered"))


def test_a_brain_that_cannot_even_begin_leaves_a_finished_game(tmp_path: Path):
    answered = played(tmp_path, "Breaks", 2).of("answered")
    notes = {event.note for event in answered if event.fault == "failed"}
    assert notes == {"the brain failed: LookupError: no model here"}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("prompt_text", lambda event: {"chains": tuple(c.model_copy(update={"after": 10_000}) for c in event.chains)}),
        ("model_call", lambda event: {"prompt": (10_000,)}),
    ],
)
def test_an_edited_prompt_is_found_even_if_the_record_is_sealed_anew(tmp_path: Path, kind: str, change):
    records = played(tmp_path, config=GameConfig(debate_turns=1, max_rounds=1)).records
    at = next(at for at, recorded in enumerate(records) if recorded.event.type == kind)
    event = records[at].event
    records[at] = records[at]._replace(event=event.model_copy(update=change(event)))
    (tmp_path / "edited.ndjson").write_bytes(lines(records))
    proof = prove(tmp_path / "edited.ndjson")
    assert not proof.verified
    assert "segment" in proof.problems[0]
