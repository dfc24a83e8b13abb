"""A person plays whole games, and sees nothing but its own seat's view."""

import re
from pathlib import Path

import pytest

from tests.llm.human.person import seated
from tests.whole.house import play_many
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Role
from wolfbus.messages.content import Judgement

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

    def __call__(self, kind: str, text: str) -> str:
        self.legal = (re.findall(r"One of: (.*)", text) or [self.legal])[-1]
        first = self.tried.setdefault(kind, ["?", "view", "log", "rules", *(["%%%"] if kind != "statement" else [])])
        if first:
            return first.pop(0)
        if kind in LINES:
            return LINES[kind]
        return self.legal.split(", ")[0].lower()


def config_for(role: Role) -> GameConfig:
    place = DEALT.index(role)
    dealt = (role, *DEALT[:place], *DEALT[place + 1 :])
    return GameConfig(names=NAMES, roles=dict(zip(NAMES, dealt, strict=True)), debate_turns=2, max_rounds=2)


@pytest.mark.parametrize("role", ["Villager", "Werewolf", "Seer", "Doctor"])
def test_a_person_plays_a_game_and_sees_only_its_own_view(tmp_path: Path, role: Role) -> None:
    config = config_for(role)
    assert config.roles is not None
    with seated(Script()) as paper:
        (proof,) = play_many(tmp_path, [3], [PERSON, *[OTHERS] * 7], config)

    answers = [event for event in proof.of("answered") if event.seat == "Ada"]
    assert len(answers) > 2
    assert {answer.outcome for answer in answers} == {"accepted"}
    for answer in answers:
        if isinstance(answer.content, Judgement):
            assert answer.content.model_dump(exclude={"stated_kind"}) == {
                "deceptive": True, "suspicion": 0.8, "confidence": 0.8, "kind": "fabrication", "reasoning": "I say so",
            }  # fmt: skip

    assert f"Your role: {role}" in paper.text
    before, _, after = paper.text.partition("The game is over")
    assert "Who was who" in after
    assert "\x1b" not in paper.text
    assert "owned" not in paper.text
    assert "\u202e" not in paper.text
    assert set(re.findall(r"CANARY-\w+", before)) <= ({"CANARY-whisper"} if role == "Werewolf" else set())
    how_known = {"Werewolf": "partner", "Seer": "inspected"}.get(role, "\0")
    for line in before.splitlines():
        for name, other_role in [*config.roles.items()][1:]:
            assert not (name in line and other_role in line) or how_known in line, line


@pytest.mark.parametrize("role", ["Villager", "Seer"])
def test_a_person_who_was_killed_is_told_how_and_watches_the_game_to_its_end(tmp_path: Path, role: Role) -> None:
    config = config_for(role).model_copy(update={"max_rounds": 8})
    with seated(Script()) as paper:
        (proof,) = play_many(tmp_path, [3], [PERSON, *["tests.llm.human.person:Witness"] * 7], config)

    # had the game not been shown while it went on, the votes would have failed
    outcomes = {event.outcome for event in proof.of("answered")}
    assert outcomes == {"accepted"}
    text = " ".join(paper.text.split())
    alive, _, dead = text.partition("The Werewolves killed you in night 1.")
    assert dead.startswith(" You are out of the game and asked nothing more.")
    assert text.count("The Werewolves killed you") == 1
    assert "left, ? for help" not in dead
    assert ("your inspection" in alive) == (role == "Seer")
    (ended,) = proof.of("ended")
    assert ended.winner is not None
    assert f"You were a {role}: you {'win' if ended.winner == 'villagers' else 'lose'}." in dead
    end, _, who = dead.partition("Who was who: ")
    for name, its_role in config.roles.items():
        assert f"{name} {its_role}" in who
        assert not re.search(rf"{name}[^.]* {its_role}\b", end)
    # each thing once, in order
    numbers = [int(number) for number in re.findall(r"^  #(\d+) ", paper.text, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers
