"""What a researcher is shown of one point of a game is what the record says up to there."""

import re
from collections import Counter

import pytest

from tests.cli_views.conftest import Replay
from tests.cli_views.games import SEEDS, lively, mean_suspicion, names_in, suspicion_of
from tests.game.living import left_in


@pytest.mark.parametrize("seed", SEEDS)
def test_suspicion_lives_and_bids_are_those_of_the_record_while_judgements_come_in_too(replay: Replay, seed: str):
    game, names = lively(seed), names_in(lively(seed))
    judging = [entry.n for entry in game if entry.event.type == "answered" and entry.event.kind == "assess_other"]
    for until in (*judging[::97], len(game)):
        page = replay(f"lively-{seed}", "--until", str(until)).out
        suspicion, left = suspicion_of(game, until), left_in(game, until)
        means = mean_suspicion(game, until)
        assert f"{len(names) - len(left)} of {len(names)} alive · {until} events" in page
        bids = [entry.event for entry in game[:until] if entry.event.type == "answered" and entry.event.kind == "bid"]
        latest = {event.seat: event.content.bid for event in bids if event.batch == bids[-1].batch}
        for name in names:
            (line,) = re.findall(rf"^  {name} +(?:Villager|Werewolf|Seer|Doctor) +(.*)", page, re.MULTILINE)
            mean = means[name]
            assert line.startswith("alive") == (name not in left)
            assert ("not judged yet" in line) if mean is None else (f"suspected {mean:.2f}" in line)
            assert (f"last bid {latest[name]} " in line) if name in latest and name not in left else True
        table = page.partition("Smoothed suspicion")[2].splitlines()[2 : 2 + len(names)]
        for observer, row in zip(names, table, strict=True):
            judged = [f"{suspicion[observer, target]:.2f}" for target in names if (observer, target) in suspicion]
            assert re.findall(r"\d\.\d\d", row) == judged


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_counted_by_what_became_of_them_and_how_they_were_read(replay: Replay, seed: str):
    answered = [entry.event for entry in lively(seed) if entry.event.type == "answered"]
    outcomes = Counter(event.outcome for event in answered)
    page = " ".join(replay(f"lively-{seed}", "--until", str(len(lively(seed)))).out.split())
    assert (
        f"Answers {len(answered)} answers: {outcomes['accepted']} accepted, {outcomes['defaulted']} defaulted" in page
    )
    assert f"{outcomes['timed_out']} timed out; read {outcomes['accepted']} clean; " in page
    assert f"{sum(event.fault is not None for event in answered)} unparseable" in page


def test_a_night_that_goes_on_shows_what_was_proposed_so_far(replay: Replay):
    night = next(e.n for e in lively("1") if e.event.type == "answered" and e.event.kind == "whisper")
    assert "(Werewolf) proposes " not in replay("lively-1", "--until", str(night - 1)).out
    assert "(Werewolf) proposes " in replay("lively-1", "--until", str(night)).out
