"""Claims are found in the words of all styles, and hardly any where there are none; the corpora and the lexicon."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics import claims
from analytics.claims import claims_in, lexicon, same_claim
from analytics.claims.lexicon import PATTERNS, WORDS
from tests.claims.corpus import SENTENCES, SPLITS, LabelledSentence, Split, implied
from tests.claims.scores import score
from tests.claims.sentences import CLAIMS, HOSTILE, NAMES, NOTHING, OPENINGS, PIECES, SPEAKER
from wolfbus.marks import marked
from wolfbus.messages.content import AccusationClaim, InspectionClaim, ProtectionClaim, RoleClaim


@pytest.mark.parametrize("split", SPLITS)
def test_nearly_all_claims_of_the_corpus_are_found_and_nearly_nothing_else(split: Split) -> None:
    found = score(split)
    assert found.precision >= 0.97
    assert found.recall >= 0.85
    assert found.right_nights >= 0.8 * found.nights


@pytest.mark.parametrize(("text", "expected"), CLAIMS, ids=[text for text, _ in CLAIMS])
def test_a_claim_is_found(text, expected):
    assert claims_in(text, SPEAKER, NAMES) == expected


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_claim_gives_none(text):
    assert claims_in(text, SPEAKER, NAMES) == ()


def test_a_claim_that_is_repeated_counts_once():
    assert claims_in("I am the Seer. Yes, I am the Seer!", SPEAKER, NAMES) == (RoleClaim(target="Ana", role="Seer"),)


def test_claims_about_people_who_do_not_play_are_none():
    assert claims_in("Raj is the Seer. I am the Doctor.", "Ana", ["Ana", "Bea"]) == (
        RoleClaim(target="Ana", role="Doctor"),
    )


def test_names_may_hold_anything():
    names = ("I", "a*b(c", "{t}", "100%", "Ünal", "as the Seer", "Mary Ann", "Mary")
    assert claims_in("Mary Ann is the Seer.", "Ünal", names) == (RoleClaim(target="Mary Ann", role="Seer"),)
    assert claims_in("100% is the Seer.", "Ünal", names) == (RoleClaim(target="100%", role="Seer"),)
    assert claims_in("a*b(c is the Doctor.", "Ünal", names) == (RoleClaim(target="a*b(c", role="Doctor"),)
    assert claims_in("I am the Seer.", "Ünal", names[1:]) == (RoleClaim(target="Ünal", role="Seer"),)


@pytest.mark.parametrize("text", ["Ann's, Anna, ann, ANN: Ann_Bo-Ann", "Ann", "BoAnn Ann.", "\u00e4Ann Ann\u0301"])
def test_names_of_one_word_are_found_as_they_are_beside_names_of_several(text):
    assert marked(text, ("Ann", "Bo")) == marked(text, ("Ann", "Bo", "Mary Ann"))


def test_a_night_that_is_named_only_once_makes_no_other_claim():
    seen = InspectionClaim(target="Raj", role="Werewolf")
    second = InspectionClaim(target="Raj", role="Werewolf", round=2)
    assert same_claim(seen, second)
    assert not same_claim(second, InspectionClaim(target="Raj", role="Werewolf", round=3))
    assert not same_claim(seen, InspectionClaim(target="Raj", role="Villager"))
    assert not same_claim(seen, RoleClaim(target="Raj", role="Werewolf"))


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join),
        st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    )
)
def test_any_text_is_read_and_claims_are_about_players(text):
    found = claims_in(text, SPEAKER, NAMES)
    assert all(claim.target in NAMES for claim in found)
    assert all(claim.target != SPEAKER for claim in found if isinstance(claim, InspectionClaim))
    assert len(set(found)) == len(found)
    assert found == claims_in(text, SPEAKER, NAMES)


@pytest.mark.parametrize("opening", OPENINGS)
def test_hearsay_and_hypotheses_before_a_sentence_take_its_claims_away(opening):
    closing = "?" if opening.startswith("Is") else "."
    for text, _ in CLAIMS:
        # what stands in a sentence of its own, apart or behind "but", is no longer under the opening
        apart = {", I", " but ", " because ", '"', " - "}
        alone = sum(text.count(mark) for mark in ".!?;\u2014:\n") <= 1
        if alone and not any(piece in text for piece in apart):
            assert claims_in(opening + text.rstrip(".!") + closing, SPEAKER, NAMES) == (), text


@pytest.mark.parametrize("piece", HOSTILE)
def test_sixty_kilobytes_of_anything_take_no_time(piece):
    text = ("seer " + piece * (60_000 // len(piece) + 1))[:60_000]
    spent = []
    for _ in range(5):
        began = time.process_time()
        claims_in(text, SPEAKER, NAMES)
        spent.append(time.process_time() - began)
        if spent[-1] < 0.05:
            break
    assert min(spent) < 0.05


def by_style() -> dict[str, list[LabelledSentence]]:
    styles: dict[str, list[LabelledSentence]] = {}
    for sentence in SENTENCES:
        styles.setdefault(sentence.style, []).append(sentence)
    return styles


def test_the_corpus_is_large_varied_and_repeats_nothing() -> None:
    assert len(SENTENCES) >= 400
    assert len(by_style()) >= 6
    assert min(map(len, by_style().values())) >= 40
    texts = Counter(sentence.text.casefold() for sentence in SENTENCES)
    assert [text for text, n in texts.items() if n > 1] == []


def test_each_style_is_split_in_halves_with_claims_and_traps_in_both() -> None:
    for style, sentences in by_style().items():
        assert {sentence.split for sentence in sentences} == set(SPLITS), style
        for split in SPLITS:
            half = [sentence for sentence in sentences if sentence.split == split]
            empty = sum(not sentence.claims for sentence in half)
            assert abs(2 * len(half) - len(sentences)) <= 2, (style, split)
            assert 0.45 <= empty / len(half) <= 0.55, (style, split)


def test_who_speaks_sits_at_the_table_and_who_is_claimed_about_is_named_in_the_words() -> None:
    for sentence in SENTENCES:
        assert len(set(sentence.names)) == 8
        assert sentence.by in sentence.names
        assert len(set(sentence.claims)) == len(sentence.claims)
        for claim in sentence.claims:
            assert claim.target in sentence.names
            if claim.target != sentence.by:
                assert claim.target.casefold() in sentence.text.casefold(), sentence.text


def test_every_kind_of_claim_stands_in_both_halves_often_enough_to_measure() -> None:
    found = Counter((sentence.split, claim.claim) for sentence in SENTENCES for claim in sentence.claims)
    assert {split for split, _ in found} == set(SPLITS)
    assert {kind for _, kind in found} == {"role", "inspection", "protection", "accusation"}
    assert min(found.values()) >= 15


def test_what_follows_from_a_claim_is_told_apart_from_the_claim() -> None:
    assert implied([InspectionClaim(target="Hugo", role="Werewolf", round=1)], "Ada") == {
        RoleClaim(target="Ada", role="Seer"),
        RoleClaim(target="Hugo", role="Werewolf"),
        AccusationClaim(target="Hugo"),
    }
    doctor = RoleClaim(target="Ada", role="Doctor")
    assert implied([ProtectionClaim(target="Hugo")], "Ada") == {doctor}
    assert implied([doctor, ProtectionClaim(target="Hugo")], "Ada") == set()


ROWS = "\n".join(PATTERNS.values())


CODE = "\n".join(path.read_text("utf-8") for path in sorted(Path(claims.__file__).parent.glob("*.py")))


def test_every_class_of_words_is_used():
    # phrases of "neutral" are read as one word, and so do nothing
    unused = [name for name in WORDS if not any(f"{name}".join(marks) in ROWS + CODE for marks in ("{}", '""', "''"))]
    assert unused == ["neutral"]


def test_every_pattern_is_used_and_well_written():
    for name, lines in PATTERNS.items():
        assert f"<{name}>" in ROWS or f'"{name}"' in CODE, name
        assert all(map(lexicon.compiled, lines.strip().splitlines()))


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("i {still}* am HERE", "i really am x", "i never am x"),
        ("HERE >!( or|and you )", "x or i", "x or you"),
        ("<!not i HERE", "so i x", "not i x"),
        ("^^ ( my || our ) HERE", "no . my x", "no my x"),
        ("HERE _{1,2} $", "x so be .", "x never ."),
    ],
)
def test_a_pattern_fits_the_words_it_is_written_for(monkeypatch, pattern, fits, fits_not):
    line = lexicon.compiled(pattern)
    monkeypatch.setattr(lexicon, "_table", lambda _: (line,))
    for words, expected in ((fits.split(), True), (fits_not.split(), False)):
        assert (lexicon.around(lexicon.coded(words), words.index("x"), "any") is not None) == expected


def test_what_excludes_words_stands_alone_in_a_pattern():
    with pytest.raises(ValueError, match="stands alone"):
        lexicon.compiled("_|@ HERE")
