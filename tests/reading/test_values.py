from __future__ import annotations

import pytest

from wolfbus.reading.values import Bad, Got, truth, unit, whole


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
