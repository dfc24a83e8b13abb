"""A seat that is killed in the first night: its brain hears how, what everybody hears after it, and the end."""

from pathlib import Path
from typing import ClassVar

import pytest

from players.scripted import RandomBrain
from tests.whole.house import play_many
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import Choice, Proposal
from wolfbus.messages.events import Dawn

NAMES = ("Ada", "Bram", "Chioma", "Dilara", "Emil", "Fumi", "Goran", "Hana")
DEALT = ("Villager", "Werewolf", "Seer", "Doctor", "Villager", "Werewolf", "Villager", "Villager")
CONFIG = GameConfig(names=NAMES, roles=dict(zip(NAMES, DEALT, strict=True)), debate_turns=2)


class Killers(RandomBrain):
    """Kills Ada in the first night."""

    def kill(self, ask, view):
        return Choice(target="Ada") if "Ada" in ask.legal else super().kill(ask, view)

    def whisper(self, ask, view):
        return Proposal(target="Ada") if "Ada" in ask.legal else super().whisper(ask, view)

    def protect(self, ask, view):
        return Choice(target=view.me)


class Mourned(RandomBrain):
    """Takes down what it hears."""

    fact_counts: ClassVar[list[int]] = []
    views: ClassVar[list[SeatView]] = []

    def heard(self, _news, view: SeatView) -> None:
        self.fact_counts.append(len(view.public))
        self.views.append(view)


class Grieved(RandomBrain):
    """Fails on all that it hears."""

    def heard(self, _news, view: SeatView) -> None:
        raise RuntimeError("too much")


def test_a_killed_brain_hears_its_death_what_follows_and_who_was_who(tmp_path: Path) -> None:
    Mourned.fact_counts.clear()
    Mourned.views.clear()
    (proof,) = play_many(tmp_path, [1], [f"{__name__}:Mourned", *[f"{__name__}:Killers"] * 7], CONFIG)
    assert proof.verified, proof.problems
    # piece by piece, as it happened
    assert len(Mourned.fact_counts) > 5
    assert Mourned.fact_counts == sorted(set(Mourned.fact_counts))
    view = Mourned.views[-1]
    assert view.death == Dawn(round=1, died="Ada")
    assert [view.ended] == proof.of("ended")
    assert view.revealed == CONFIG.roles
    assert not view.answers


def test_a_brain_that_fails_on_what_it_hears_fails_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (proof,) = play_many(tmp_path, [1], [f"{__name__}:Grieved", *[f"{__name__}:Killers"] * 7], CONFIG)
    assert proof.verified, proof.problems
    assert caplog.text.count("Ada: the brain failed in heard") == 1, "told once, however much it hears"
