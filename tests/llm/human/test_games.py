"""A person plays whole games, and sees nothing but its own seat's view."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.llm.human.person import seated
from tests.proving import Proof
from tests.whole.house import play_many
from wolfbus.config import GameConfig
from wolfbus.messages.content import Judgement
from wolfbus.vocabulary import Role

PERSON = "human"
OTHERS = "tests.llm.human.person:Canary"
NAMES = ("Ada", "Bram", "Chioma", "Dilara", "Emil", "Fumi", "Goran", "Hana")
DEALT: tuple[Role, ...] = ("Villager", "Werewolf", "Seer", "Doctor", "Villager", "Werewolf", "Villager", "Villager")
LINES = {"bid": "3", "statement": "I watch you all.", "label": "h", "judgement": "d 0.8 fabrication because I say so"}


class Script:
    """Answers everything; first tries help, the table, the transcript, and nonsense."""

    def __init__(self) -> None:
        self.tried: dict[str, list[str]] = {}
        self.legal = ""

    def __call__(self, asked: str, shown: str) -> str:
        self.legal = (re.findall(r"One of: (.*)", shown) or [self.legal])[-1]
        first = self.tried.setdefault(asked, ["?", "view", "log", "rules", *(["%%%"] if asked != "statement" else [])])
        if first:
            return first.pop(0)
        if asked in LINES:
            return LINES[asked]
        return self.legal.split(", ")[0].lower()


def config_for(role: Role) -> GameConfig:
    place = DEALT.index(role)
    dealt = (role, *(each for index, each in enumerate(DEALT) if index != place))
    return GameConfig(names=NAMES, roles=dict(zip(NAMES, dealt, strict=True)), debate_turns=2, max_rounds=2)


def answers_of(proof: Proof, seat: str):
    return [each.event for each in proof.records if each.event.type == "answered" and each.event.seat == seat]


@pytest.mark.parametrize("role", ["Villager", "Werewolf", "Seer", "Doctor"])
def test_a_person_plays_a_game_and_sees_only_its_own_view(tmp_path: Path, role: Role) -> None:
    config = config_for(role)
    assert config.roles is not None
    with seated(Script()) as paper:
        (proof,) = play_many(tmp_path, [3], [PERSON, *[OTHERS] * 7], config)

    own = answers_of(proof, "Ada")
    assert len(own) > 2
    assert {each.outcome for each in own} == {"accepted"}
    for each in own:
        if isinstance(each.content, Judgement):
            assert each.content.model_dump(exclude={"stated_kind"}) == {
                "deceptive": True, "suspicion": 0.8, "confidence": 0.8, "kind": "fabrication", "reasoning": "I say so",
            }  # fmt: skip

    assert f"Your role: {role}" in paper.text
    before, _, after = paper.text.partition("The game is over")
    assert "Who was who" in after
    assert "\x1b" not in paper.text
    assert "owned" not in paper.text
    assert "\u202e" not in paper.text
    assert set(re.findall(r"CANARY-\w+", before)) <= ({"CANARY-whisper"} if role == "Werewolf" else set())
    known = {"Werewolf": "partner", "Seer": "inspected"}.get(role, "\0")
    for line in before.splitlines():
        for name, each in [*config.roles.items()][1:]:
            assert not (name in line and each in line) or known in line, line


@pytest.mark.parametrize("role", ["Villager", "Seer"])
def test_a_person_who_was_killed_is_told_how_and_watches_the_game_to_its_end(tmp_path: Path, role: Role) -> None:
    config = config_for(role).model_copy(update={"max_rounds": 8})
    with seated(Script()) as paper:
        (proof,) = play_many(tmp_path, [3], [PERSON, *["tests.llm.human.person:Witness"] * 7], config)

    # had the game not been shown while it went on, the votes would have failed
    outcomes = {each.event.outcome for each in proof.records if each.event.type == "answered"}
    assert outcomes == {"accepted"}
    told = " ".join(paper.text.split())
    alive, _, dead = told.partition("The Werewolves killed you in night 1.")
    assert dead.startswith(" You are out of the game and asked nothing more.")
    assert told.count("The Werewolves killed you") == 1
    assert "left, ? for help" not in dead
    assert ("your inspection" in alive) == (role == "Seer")
    ended = next(each.event for each in proof.records if each.event.type == "ended")
    assert ended.winner is not None
    assert f"You were a {role}: you {'win' if ended.winner == 'villagers' else 'lose'}." in dead
    end, _, who = dead.partition("Who was who: ")
    for name, each in config.roles.items():
        assert f"{name} {each}" in who
        assert not re.search(rf"{name}[^.]* {each}\b", end)
    # each thing once, in order
    said = [int(number) for number in re.findall(r"^  #(\d+) ", paper.text, re.MULTILINE)]
    assert said == list(range(1, len(said) + 1))
    assert said
