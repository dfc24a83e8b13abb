"""How close the numbers of two values have to be that count as the same."""

from __future__ import annotations

import pytest

from tests.golden import store


@pytest.mark.parametrize(
    ("pinned", "found", "same"),
    [
        ("auc = 0.6050000000000001", "auc = 0.6049999999999999", True),
        ("auc = 0.605", "auc = 0.6050007", False),
        ("auc = 0.6", "auc = 0.7", False),
        ("gap = 0.0", "gap = -3.1e-17", True),
        ("rate = 1.0", "rate = 0.9999999999", True),
        ("n = 57", "n = 58", False),
        ("auc = 0.605", "auc = null", False),
    ],
)
def test_figures_are_the_same_to_a_millionth(pinned, found, same):
    assert store.close(pinned, found, printed=False) == same


@pytest.mark.parametrize(
    ("pinned", "found", "same"),
    [
        ("AUC .605 (.503–.703)", "AUC .604 (.503–.703)", True),
        ("AUC .605 (.503–.703)", "AUC .603 (.503–.703)", False),
        ("gap −0.00, 52 % of 44", "gap 0.00, 53 % of 44", True),
        ("52 % of 44", "52 % of 45", False),
        ("gap 0.6", "gap 0.61", False),
        ("1.25 of 7 games", "1.25 of 7 studies", False),
    ],
)
def test_figures_that_people_are_shown_may_be_rounded_to_either_side(pinned, found, same):
    assert store.close(pinned, found, printed=True) == same
