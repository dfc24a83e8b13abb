from __future__ import annotations

import pytest

from wolfbus.messages.content import Bid, Judgement, Label
from wolfbus.reading import normalise
from wolfbus.reading.labels import kind_of


def test_not_deceptive_overrules_a_kind_and_keeps_it_as_stated() -> None:
    label = normalise(Label(deceptive=False, confidence=0.5, kind="distortion"))
    assert (label.kind, label.stated_kind) == ("none", "distortion")


def test_deceptive_overrules_none_and_keeps_it_as_stated() -> None:
    judgement = normalise(Judgement(deceptive=True, suspicion=0.9, confidence=0.5, kind="none"))
    assert (judgement.kind, judgement.stated_kind) == ("unspecified", "none")


def test_a_stated_kind_that_overrules_nothing_is_dropped() -> None:
    label = normalise(Label(deceptive=True, confidence=0.5, kind="omission", stated_kind="fabrication"))
    assert (label.kind, label.stated_kind) == ("omission", None)


def test_other_content_stays_as_it_is() -> None:
    bid = Bid(bid=3)
    assert normalise(bid) is bid


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("omission", "omission"),
        (" Misdirection.", "misdirection"),
        ("FABRICATED", "fabrication"),
        ("N/A", "none"),
        ("not_deceptive", "none"),
        ("lie", None),
        ("omission, distortion", None),
        ("bluff", None),
    ],
)
def test_a_word_stands_for_a_kind_only_where_it_can_be_no_other(word: str, kind: str | None) -> None:
    assert kind_of(word) == kind
