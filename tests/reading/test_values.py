"""Single values of a reply: numbers, flags, names and kinds of deception."""

from __future__ import annotations

import pytest

from wolfbus.messages.content import Bid, Judgement, Label
from wolfbus.reading import Resolved, normalise, resolve_name
from wolfbus.reading.values import Bad, Got, kind_of, mentions, truth, unit, whole


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, Got(0.0)),
        (0.25, Got(0.25)),
        (1, Got(1.0)),
        (70, Got(0.7, coerced=True)),
        (100, Got(1.0, coerced=True)),
        ("0.7", Got(0.7, coerced=True)),
        ("0,7", Got(0.7, coerced=True)),
        (".7", Got(0.7, coerced=True)),
        ("70%", Got(0.7, coerced=True)),
        ("5 %", Got(0.05, coerced=True)),
        ("7 percent", Got(0.07, coerced=True)),
        ("7/10", Got(0.7, coerced=True)),
        ("seven out of ten", Got(0.7, coerced=True)),
        ("~0.7 (high)", Got(0.7, coerced=True)),
        ("one", Got(1.0, coerced=True)),
    ],
)
def test_a_number_from_0_to_1_is_read_on_the_scale_it_names(given: object, expected: Got) -> None:
    assert unit(given) == expected


@pytest.mark.parametrize("given", [7, 1.5, 10, "7", "10", "seven", 2])
def test_a_number_on_one_of_two_scales_is_ambiguous(given: object) -> None:
    read = unit(given)
    assert isinstance(read, Bad)
    assert read.fault == "ambiguous"


@pytest.mark.parametrize("given", [-0.1, 101, "140%", "-1"])
def test_a_number_outside_every_scale_is_illegal(given: object) -> None:
    read = unit(given)
    assert isinstance(read, Bad)
    assert read.fault == "illegal"


@pytest.mark.parametrize(
    "given", [True, None, "high", "", [0.5], {"value": 0.5}, float("nan"), float("inf"), "7/8", "1" * 400]
)
def test_what_is_no_number_is_unparseable(given: object) -> None:
    read = unit(given)
    assert isinstance(read, Bad)
    assert read.fault == "unparseable"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, Got(0)),
        (10, Got(10)),
        (7.0, Got(7, coerced=True)),
        ("7", Got(7, coerced=True)),
        ("TEN", Got(10, coerced=True)),
    ],
)
def test_a_bid_is_a_whole_number(given: object, expected: Got) -> None:
    assert whole(given, 10) == expected


@pytest.mark.parametrize("given", [11, -1, 7.5, "11", "7.5", "1,000", 10**30])
def test_a_bid_outside_its_range_is_illegal_rather_than_moved_into_it(given: object) -> None:
    read = whole(given, 10)
    assert isinstance(read, Bad)
    assert read.fault in {"illegal", "unparseable"}


def test_a_share_is_a_bid_only_of_the_highest_bid() -> None:
    assert whole("7/10", 10) == Got(7, coerced=True)
    assert isinstance(whole("7/10", 20), Bad)


def test_zero_and_one_are_flags_without_coercion_and_words_are_not() -> None:
    assert truth(1) == Got(True)
    assert truth(0) == Got(False)
    assert truth("yes") == Got(True, coerced=True)
    assert truth("Not deceptive.") == Got(False, coerced=True)
    assert isinstance(truth(2), Bad)


LEGAL = ("Ana", "Anatol", "Bram", None)
ALL = ("Ana", "Anatol", "Bram", "Dilara")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana", Resolved("Ana", exact=True)),
        (" Ana ", Resolved("Ana")),
        ("ANATOL", Resolved("Anatol")),
        ("@bram", Resolved("Bram")),
        ("Ｂｒａｍ", Resolved("Bram")),
        ("Bra", Resolved("Bram")),
        ("Anat", Resolved("Anatol")),
        ("Player: Bram (villager)", Resolved("Bram")),
        ("Bram's story is weak", Resolved("Bram")),
        ("BRAM!!! Out with him", Resolved("Bram")),
        ("no one", Resolved(None)),
        ("N/A", Resolved(None)),
        ("I shall abstain", Resolved(None)),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str, expected: Resolved) -> None:
    assert resolve_name(text, LEGAL, ALL) == expected


@pytest.mark.parametrize("text", ["An", "Br", "Brom", "bramble", "Zoe", "", "the wolf", "Dilara", "dil", "Vote Dilara"])
def test_what_is_no_legal_name_is_illegal(text: str) -> None:
    assert resolve_name(text, LEGAL, ALL).fault == "illegal"


@pytest.mark.parametrize(
    "text",
    ["Ana and Bram", "Bram, not Ana", "not Bram", "anyone except Bram", "I'd never vote for Bram", "Dilara says Bram"],
)
def test_what_could_be_two_is_ambiguous(text: str) -> None:
    assert resolve_name(text, LEGAL, ALL).fault == "ambiguous"


def test_an_exact_name_wins_over_a_longer_one_it_begins() -> None:
    assert resolve_name("Ana", ("Anatol", "Ana")) == Resolved("Ana", exact=True)
    assert resolve_name("ana", ("Anatol", "Ana")) == Resolved("Ana")


def test_nobody_is_illegal_where_somebody_must_be_named() -> None:
    assert resolve_name("nobody", ("Ana", "Bram")).fault == "illegal"


def test_a_negation_of_another_sentence_does_not_count() -> None:
    assert resolve_name("I am not sure. Bram it is.", LEGAL, ALL) == Resolved("Bram")


def test_a_name_within_a_longer_name_is_no_mention() -> None:
    assert [name for name, _ in mentions("Anatol saw Bram", ALL)] == ["Anatol", "Bram"]
    assert [name for name, _ in mentions("Ann Lee is out", ("Ann", "Ann Lee"))] == ["Ann Lee"]


def test_a_name_in_lower_case_within_a_sentence_is_a_word_like_others() -> None:
    assert mentions("to be frank, I will wait", ("Frank", "Will")) == []


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
