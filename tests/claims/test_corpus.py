from __future__ import annotations

from collections import Counter

from tests.claims.corpus import SENTENCES, SPLITS, LabelledSentence, implied
from wolfbus.messages.content import AccusationClaim, InspectionClaim, ProtectionClaim, RoleClaim


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
