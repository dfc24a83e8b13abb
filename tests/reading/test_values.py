"""Single values of a reply: numbers, flags, names and kinds of deception; see `values.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from wolfbus.messages.content import Bid, Judgement, Label
from wolfbus.reading import normalise, resolve_name
from wolfbus.reading.values import Bad, kind_of, mentions, truth, unit, whole
from wolfbus.vocabulary import Deception

ALL = ("Ana", "Anatol", "Bram", "Dilara")
TABLE = tomllib.loads(Path(__file__).with_name("values.toml").read_text("utf-8"))
CASES = [
    (shape, *case) if outcome == "got" else (shape, case, outcome, None)
    for shape, outcomes in TABLE.items()
    for outcome, cases in outcomes.items()
    for case in cases
]


def read(shape: str, given: Any) -> tuple[Any, bool | None]:
    """What a value is read as and whether that was coerced, or a fault and None."""
    if shape == "name":
        resolved = resolve_name(given, ("Ana", "Anatol", "Bram", None), ALL)
        return (resolved.fault, None) if resolved.fault else (resolved.name or "", not resolved.exact)
    if shape == "kind":
        kind = kind_of(given)
        return (kind, False) if kind is not None else ("unknown", None)
    value = whole(given, 10) if shape == "whole" else {"unit": unit, "truth": truth}[shape](given)
    return (value.fault, None) if isinstance(value, Bad) else (value.value, value.coerced)


@pytest.mark.parametrize(("shape", "given", "expected", "coerced"), CASES)
def test_a_value_is_read_where_it_can_mean_one_thing_only(
    shape: str, given: Any, expected: Any, coerced: bool | None
) -> None:
    assert read(shape, given) == (expected, coerced)


def test_of_names_the_longest_counts_and_words_that_look_like_one_do_not() -> None:
    assert resolve_name("Ana", ("Anatol", "Ana")).name == resolve_name("ana", ("Anatol", "Ana")).name == "Ana"
    assert resolve_name("nobody", ("Ana", "Bram")).fault == "illegal"
    assert [name for name, _ in mentions("Anatol saw Bram", ALL)] == ["Anatol", "Bram"]
    assert [name for name, _ in mentions("Ann Lee is out", ("Ann", "Ann Lee"))] == ["Ann Lee"]
    assert mentions("to be frank, I will wait", ("Frank", "Will")) == []


@pytest.mark.parametrize(
    ("deceptive", "kind", "stated", "settled"),
    [
        (False, "distortion", None, ("none", "distortion")),
        (True, "none", None, ("unspecified", "none")),
        (True, "omission", "fabrication", ("omission", None)),
    ],
)
def test_the_flag_overrules_the_kind_which_is_kept_as_stated(
    deceptive: bool, kind: Deception, stated: Deception | None, settled: tuple[str, str | None]
) -> None:
    label = normalise(Label(deceptive=deceptive, confidence=0.5, kind=kind, stated_kind=stated))
    judgement = Judgement(deceptive=deceptive, suspicion=0.9, confidence=0.5, kind=kind, stated_kind=stated)
    for made in (label, normalise(judgement)):
        assert (made.kind, made.stated_kind) == settled
    assert normalise(bid := Bid(bid=3)) is bid
