"""Brains that answer later, and what they report of their calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.whole.house import outcomes, play_many
from wolfbus.config import GameConfig
from wolfbus.messages.calls import REPLY_KEPT
from wolfbus.record.digest import essence
from wolfbus.record.prompts import PromptBook

QUICK = GameConfig(debate_turns=2, max_rounds=3)


def events(proof) -> list:
    assert proof.verified, proof.problems
    return [recorded.event for recorded in proof.records]


def test_answers_from_other_threads_make_the_game_that_they_would_make_at_once(tmp_path: Path):
    (later,) = play_many(tmp_path / "later", [3], ["tests.whole.later:Later"] * 8, QUICK)
    (at_once,) = play_many(tmp_path / "once", [3], ["random"] * 8, QUICK)

    def game(proof):
        return [kept for event in events(proof)[1:] if (kept := essence(event, event.model_dump())) is not None]

    assert game(later) == game(at_once)


def test_prompts_are_stored_once_and_every_call_names_them(tmp_path: Path):
    (proof,) = play_many(tmp_path, [3], ["tests.whole.later:Later"] * 8, QUICK)
    book, texts, calls, prompts = PromptBook(), [], 0, []
    for recorded in proof.records:
        event = recorded.event
        book.feed(event)
        if event.type == "prompt_text":
            texts += [text for chain in event.chains for text in chain.texts if isinstance(text, str)]
        elif event.type == "model_call":
            calls += 1
            prompts.append("".join(text for _, text in book.messages(event)))
    found = outcomes([proof])
    assert calls == found["answered"] == found["accepted"]
    assert len(texts) == len(set(texts))
    assert all("fact 0" in prompt for prompt in prompts)
    assert sum(text.endswith(("Villager", "Werewolf", "Seer", "Doctor")) for text in texts) >= 4


def test_a_report_of_what_an_agent_does_not_play_is_rejected_and_harms_nothing(tmp_path: Path):
    (proof,) = play_many(tmp_path, [3], ["tests.whole.later:Forger"] * 8, QUICK)
    found = outcomes([proof])
    assert found["sender"] > 0
    assert found["unreadable"] > 0
    assert found["accepted"] == found["answered"]
    cut = [event for event in events(proof) if event.type == "model_call" and event.reply_length is not None]
    assert cut
    assert all(event.reply_length == 200_000 and len(event.reply) == REPLY_KEPT for event in cut)
    kinds = {event.kind for event in events(proof) if event.type == "model_call"}
    assert kinds == {"assess_own", "assess_other", "kill"} & {
        event.kind for event in events(proof) if event.type == "answered"
    }


def test_reports_have_a_limit_of_their_own(tmp_path: Path):
    config = QUICK.model_copy(update={"max_reply_bytes": 1500})
    (proof,) = play_many(tmp_path, [3], ["tests.whole.later:Later"] * 8, config)
    assert len([event for event in events(proof) if event.type == "model_call"]) == outcomes([proof])["answered"]


def test_a_brain_that_cannot_even_begin_leaves_a_finished_game(tmp_path: Path):
    (proof,) = play_many(tmp_path, [3], ["tests.whole.later:Breaks"] * 2 + ["random"] * 6, QUICK)
    notes = {event.note for event in events(proof) if event.type == "answered" and event.fault == "failed"}
    assert notes == {"the brain failed: LookupError: no model here"}


@pytest.mark.parametrize("change", ["after", "prompt"])
def test_an_edited_prompt_is_found_even_if_the_record_is_sealed_anew(tmp_path: Path, change: str):
    from wolfbus.cli.proof import ProofCriteria, open_source, prove
    from wolfbus.record.line import parse_line, seal

    play_many(tmp_path, [3], ["tests.whole.later:Later"] * 8, QUICK)
    head, lines, edited = "", [], False
    for number, line in enumerate((tmp_path / "3.ndjson").read_bytes().splitlines(), 1):
        recorded = parse_line(line, number)
        event = recorded.event
        if not edited and event.type == "prompt_text" and change == "after":
            chains = tuple(chain.model_copy(update={"after": 10_000}) for chain in event.chains)
            event = event.model_copy(update={"chains": chains})
            edited = True
        elif not edited and event.type == "model_call" and change == "prompt":
            event = event.model_copy(update={"prompt": (10_000,)})
            edited = True
        recorded, sealed, _ = seal(head, type(recorded)(recorded.n, recorded.time, recorded.audience, event))
        head = recorded.hash
        lines.append(sealed.rstrip(b"\n"))
    assert edited
    assert json.loads(lines[0])
    (tmp_path / "edited.ndjson").write_bytes(b"\n".join(lines) + b"\n")
    proof = prove(open_source(str(tmp_path / "edited.ndjson")), ProofCriteria(), keep=False)
    assert not proof.verified
    assert "segment" in proof.problems[0]
