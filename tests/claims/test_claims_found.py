"""Claims are found in the words of all styles, and hardly any where there are none."""

from __future__ import annotations

import pytest

from tests.claims.corpus import SPLITS, Split
from tests.claims.scores import score


@pytest.mark.parametrize("split", SPLITS)
def test_nearly_all_claims_of_the_corpus_are_found_and_nearly_nothing_else(split: Split) -> None:
    found = score(split)
    assert found.precision >= 0.97
    assert found.recall >= 0.85
    assert found.right_nights >= 0.8 * found.nights
