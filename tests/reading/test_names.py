from __future__ import annotations

import pytest

from wolfbus.reading import Resolved, resolve_name
from wolfbus.reading.names import mentions

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
