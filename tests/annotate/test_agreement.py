"""Agreement coefficients against a library, by hand and against published examples; and where they are shown."""

import itertools
import json
import random
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from analytics.metrics.agreement import agreement_sentence, cohen_kappa, fleiss_kappa, krippendorff_alpha
from tests.analytics.script import measured, random_game, tables_of
from tests.golden.running import wolfbus
from wolfbus.messages.content import AccusationClaim, InspectionClaim, RoleClaim, ScoredClaim, StanceClaim


def table(one, other, size):
    counts = np.zeros((size, size))
    np.add.at(counts, (one, other), 1)
    return counts


def coincidences(units, size, *, complete=None):
    """Pairs of answers by brute force: every rater with every other of the same unit."""
    pairs = np.zeros((size, size))
    for unit in units:
        answers = [answer for answer in unit if answer is not None]
        if complete is None and len(answers) > 1:
            for one, other in itertools.permutations(range(len(answers)), 2):
                pairs[answers[one], answers[other]] += 1 / (len(answers) - 1)
        elif complete is not None and len(answers) == complete:
            for one, other in itertools.permutations(range(len(answers)), 2):
                pairs[answers[one], answers[other]] += 1
    return pairs


@pytest.mark.parametrize("seed", range(20))
def test_cohens_kappa_is_that_of_scikit_learn(seed):
    drawn = random.Random(seed)
    size = drawn.choice([2, 3, 6])
    one = [drawn.randrange(size) for _ in range(60)]
    other = [answer if drawn.random() < 0.4 else drawn.randrange(size) for answer in one]
    assert cohen_kappa(table(one, other, size)) == pytest.approx(cohen_kappa_score(one, other), rel=1e-12)


def test_fleiss_kappa_of_the_example_that_textbooks_print():
    # ten subjects, fourteen raters, five answers
    counts = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
              [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]  # fmt: skip
    units = [[answer for answer, number in enumerate(row) for _ in range(number)] for row in counts]
    assert fleiss_kappa(coincidences(units, 5, complete=14)) == pytest.approx(0.210, abs=5e-4)


def test_krippendorffs_alpha_of_his_own_example_with_missing_answers():
    # Computing Krippendorff's alpha-reliability (2011), section C: four observers, twelve units, nominal: 0.743
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[None if answer is None else answer - 1 for answer in unit] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(coincidences(units, 5)) == pytest.approx(0.743, abs=5e-4)


def by_hand(units):
    """α as it is defined: over all pairs within units, and over all pairs of all answers."""
    pairable = [[answer for answer in unit if answer is not None] for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    answers = [answer for unit in pairable for answer in unit]
    observed = sum(
        sum(one != other for one, other in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in pairable
    ) / len(answers)
    expected = sum(one != other for one, other in itertools.permutations(answers, 2)) / (
        len(answers) * (len(answers) - 1)
    )
    return 1 - observed / expected


def test_nobody_disagrees_with_chance_where_all_answers_are_alike():
    for coefficient in (cohen_kappa, fleiss_kappa, krippendorff_alpha):
        assert np.isnan(coefficient(np.array([[7.0, 0.0], [0.0, 0.0]])))
        assert np.isnan(coefficient(np.zeros((2, 2))))


def test_raters_agree_with_each_other_with_labels_and_with_claims_as_counted_by_hand(place):
    drawn = random.Random(5)
    said = place.annotate("--export", "sheet.csv", "--statements", "80")
    assert said.code == 0
    key = json.loads((place.folder / "study" / "annotations" / "key.json").read_text())["rows"]
    rows = {row: (noted["game"], noted["statement"]) for row, noted in key.items()}
    opinions = {row: drawn.random() < 0.5 for row in rows}
    answers = {}
    for name, errs in (("anna", 0.1), ("ben", 0.25), ("cleo", 0.4)):
        filled = ["row,before,speaker,statement,deceptive,kind,stance_target,stance_side"]
        for row, opinion in opinions.items():
            if drawn.random() < 0.85:
                answers[name, row] = opinion != (drawn.random() < errs)
                filled.append(f"s-{row},,,,{'yes' if answers[name, row] else 'no'},,,")
        (place.folder / f"{name}.csv").write_text("\n".join(filled))
        assert place.annotate("--import", f"{name}.csv", "--rater", name).code == 0
        if name == "anna":
            assert json.loads(place.annotate("--agreement", "--json").out)["together"] == {}, "one agrees with nobody"
    said = place.annotate("--agreement", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    units = [[answers.get((name, row)) for name in ("anna", "ben", "cleo")] for row in rows]
    units = [[None if answer is None else int(answer) for answer in unit] for unit in units]
    together = found["together"]["deceptive"]
    assert together["krippendorff_alpha"]["value"] == pytest.approx(by_hand(units))
    assert together["fleiss_kappa"]["n"] == sum(None not in unit for unit in units)
    assert together["fleiss_kappa"]["value"] == pytest.approx(fleiss_kappa(coincidences(units, 2, complete=3)))
    labels = {
        (event["game"], event["about"]): event["content"]["deceptive"]
        for event in place.events("answered")
        if event["kind"] == "assess_own" and event.get("outcome", "accepted") == "accepted"
    }
    for between, pairs in {
        "anna & ben": [(one, other) for one, other, _ in units if None not in (one, other)],
        "ben & self-label": [
            (int(answers["ben", row]), int(labels[rows[row]])) for row in rows if ("ben", row) in answers
        ],
    }.items():
        row = found["pairs"]["deceptive"][between]
        one, other = zip(*pairs, strict=True)
        assert row["cohen_kappa"]["n"] == len(pairs)
        assert row["cohen_kappa"]["value"] == pytest.approx(cohen_kappa_score(one, other))
        assert row["agreement"]["value"] == pytest.approx(np.mean(np.array(one) == other))
        assert row["cohen_kappa"]["low"] < row["cohen_kappa"]["value"] < row["cohen_kappa"]["high"]
    assert found["pairs"]["deceptive"]["ben & claims"]["cohen_kappa"]["n"] < len(rows)
    said = wolfbus(place.folder, "report", "study", "--json", "--no-cache")
    assert json.loads(said.out)["agreement"] == found
    sentence = agreement_sentence({"agreement": found})
    assert "3 people rated up to" in sentence
    assert "Krippendorff's α among them" in sentence


SIDES = (
    (AccusationClaim, {}, "against"),
    (RoleClaim, {"role": "Werewolf"}, "against"),
    (RoleClaim, {"role": "Werewolf", "denied": True}, "for"),
    (RoleClaim, {"role": "Seer"}, "for"),
    (RoleClaim, {"role": "Seer", "denied": True}, "none"),
    (InspectionClaim, {"role": "Werewolf", "denied": True}, "for"),
    (StanceClaim, {"side": "for"}, "for"),
    (StanceClaim, {"side": "against", "strength": "hedged"}, "against"),
)


def test_claims_in_the_words_are_for_whom_they_clear_or_trust_and_against_whom_they_accuse_or_doubt():
    games, rated = [], []
    for number, (kind, members, side) in enumerate(SIDES):
        game = random_game(number).rows()
        said, *others = game.statements
        about = next(name for name in game.seats if name != said.speaker)
        claim = ScoredClaim(claim=kind(target=about, **members), verdict="uncheckable", extracted=True)
        games.append(replace(game, game=f"g{number}", statements=(replace(said, claims=(claim,)), *others)))
        stances = json.dumps({about: side})
        rated.append(
            {"game": number, "statement": said.number, "annotator": "anna", "sort": "rater", "stances": stances}
        )
    played = tables_of(games)
    annotated = replace(played, annotations=pl.DataFrame(rated, played.annotations.schema))
    found = measured("agreement", annotated)["pairs"]["stance"]["anna & claims"]["agreement"]
    assert (found["value"], found["n"]) == (1.0, len(SIDES))


def test_without_people_it_is_said_that_none_was_measured(place):
    assert agreement_sentence({}) == "Agreement with people: none measured."
    said = place.annotate("--agreement")
    assert said.code == 2
    assert "nobody has annotated it" in said.err
    assert place.read("spy", "--statements", "30", "--no-probe").code == 0
    said = place.annotate("--agreement")
    assert said.code == 0, said.err
    assert said.out.startswith("Agreement with people: none measured.")
    assert "spy, a reader model" in said.out
    said = wolfbus(place.folder, "report", "study", "--md", "-", "--no-cache")
    assert said.out.count("Agreement with people: none measured") == 2
    place.file().unlink()
    said = wolfbus(place.folder, "report", "study", "--md", "-", "--no-cache")
    assert said.out.count("Agreement with people: none measured") == 1
    assert "Who annotated" not in said.out


def test_an_annotator_may_be_called_as_a_column_is_and_not_as_the_speakers_own_label(place):
    for name in ("game", "statement", "target"):
        assert place.read("spy", "--name", name, "--statements", "20", "--no-probe").code == 0
    found = json.loads(place.annotate("--agreement", "--json").out)
    assert {"game & statement", "game & self-label"} <= found["pairs"]["deceptive"].keys()
    said = place.read("spy", "--name", "self-label")
    assert said.code == 2
    assert "--name" in said.err
