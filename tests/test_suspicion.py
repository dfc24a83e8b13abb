from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wolfbus.suspicion import Suspicion, smooth

UNIT = st.floats(0, 1)
quick = settings(max_examples=100, deadline=None, database=None)


def test_the_papers_numbers_by_hand() -> None:
    suspicion = Suspicion()
    assert suspicion.judge("Mia", "Raj", 1.0) == pytest.approx(0.85)
    assert suspicion.judge("Mia", "Raj", 0.0) == pytest.approx(0.255)
    assert suspicion.of("Mia", "Raj") == pytest.approx(0.255)


def test_without_a_judgement_it_is_the_prior() -> None:
    suspicion = Suspicion(prior=0.2)
    assert suspicion.of("Mia", "Raj") == 0.2
    assert not suspicion.judged("Mia", "Raj")
    assert suspicion.pairs() == {}


def test_pairs_are_ordered_and_do_not_touch_each_other() -> None:
    suspicion = Suspicion()
    suspicion.judge("Mia", "Raj", 0.9)
    suspicion.judge("Tom", "Raj", 0.1)
    suspicion.judge("Mia", "Raj", 0.9)
    assert suspicion.of("Raj", "Mia") == 0.5
    assert list(suspicion.pairs()) == [("Mia", "Raj"), ("Tom", "Raj")]
    suspicion.pairs().clear()
    assert suspicion.judged("Tom", "Raj")


@quick
@given(UNIT, UNIT, UNIT)
def test_it_stays_a_probability_between_where_it_was_and_what_was_judged(
    before: float, judged: float, alpha: float
) -> None:
    after = smooth(before, judged, alpha)
    assert 0.0 <= after <= 1.0
    assert min(before, judged) - 1e-15 <= after <= max(before, judged) + 1e-15


@quick
@given(st.lists(UNIT, max_size=30), UNIT, UNIT)
def test_it_is_the_exponential_average_of_all_judgements(judged: list[float], alpha: float, prior: float) -> None:
    suspicion = Suspicion(alpha, prior)
    exact = Fraction(prior)
    for value in judged:
        suspicion.judge("Mia", "Raj", value)
        exact = Fraction(alpha) * Fraction(value) + (1 - Fraction(alpha)) * exact
    assert suspicion.of("Mia", "Raj") == pytest.approx(float(exact), abs=1e-13)
