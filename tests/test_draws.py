from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wolfbus.game.draws import brain_seed, choose, choose_weighted, draw, shuffled, unit

SEEDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
quick = settings(max_examples=50, deadline=None, database=None)


def sha(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def test_draws_are_sha_256_of_their_place() -> None:
    assert draw("7", "floor", 2, 3, 1) == sha("7|floor|2|3|1")
    assert draw("Straße", "kill") == sha("Straße|kill|0|0|0")


def test_draws_are_pinned_for_ever() -> None:
    """Computed with `printf %s '7|floor|2|3|1' | sha256sum` and the like."""
    assert f"{draw('7', 'floor', 2, 3, 1):064x}" == PINNED_FLOOR
    assert f"{draw('1', 'roles'):064x}" == PINNED_ROLES
    assert brain_seed("7", "Raj") == PINNED_BRAIN


PINNED_FLOOR = "d9b3a7044cb2281d9c9bfd6b59a28629d3e385800f48a09e38441a2bd92eb829"
PINNED_ROLES = "535838d9724f07650d271323c7130fbe1dc4b85abfe5c45ffbd1a4c25d03de3d"
PINNED_BRAIN = "b2fd0a3caa5190382b607c184b8cfe85c7b550fc84c5eb0417019edefc77b72d"


def test_a_choice_is_the_draw_modulo_the_options() -> None:
    assert choose("7", "kill", "abcde", 2) == "abcde"[sha("7|kill|2|0|0") % 5]
    assert choose("7", "kill", ["only"], 9, 9, 9) == "only"


def test_a_weighted_choice_walks_the_weights_in_order() -> None:
    options = [("a", 1), ("b", 2), ("c", 4)]
    for turn in range(50):
        point = sha(f"7|floor|1|{turn}|0") % 7
        assert choose_weighted("7", "floor", options, 1, turn) == "abbcccc"[point]


def test_a_shuffle_is_fisher_yates_from_the_end() -> None:
    deck = list("abcd")
    for last in (3, 2, 1):
        other = sha(f"7|names|0|0|{last}") % (last + 1)
        deck[last], deck[other] = deck[other], deck[last]
    assert shuffled("7", "names", "abcd") == tuple(deck)


def test_a_unit_is_the_first_53_bits() -> None:
    assert unit("7", "bluff", 1) == (sha("7|bluff|1|0|0") >> (256 - 53)) / 2**53


def test_nothing_to_choose_from_is_said() -> None:
    with pytest.raises(IndexError, match="no options to draw 'kill' from"):
        choose("7", "kill", [])
    with pytest.raises(IndexError, match="no options to draw 'floor' from"):
        choose_weighted("7", "floor", [])


@quick
@given(SEEDS, st.lists(st.integers(), max_size=20))
def test_a_shuffle_is_a_permutation_and_leaves_its_input_alone(seed: str, items: list[int]) -> None:
    before = list(items)
    assert sorted(shuffled(seed, "names", items)) == sorted(items)
    assert items == before
