"""How close the numbers of two values have to be that count as the same."""

import pytest

from tests.golden import store
from tests.llm.tables import tables

CASES = [(printed, *case) for printed, cases in tables(__file__).items() for case in cases]


@pytest.mark.parametrize(("sort", "pinned", "found", "same"), CASES)
def test_figures_are_the_same_to_a_millionth_and_those_that_people_are_shown_to_a_unit_of_their_last_place(
    sort, pinned, found, same
):
    assert store.close(pinned, found, printed=sort == "printed") == same
