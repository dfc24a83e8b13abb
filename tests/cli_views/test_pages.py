"""A seat's page shows what that seat knows and nothing else; a researcher's page shows everything."""

import re
from collections import Counter
from itertools import cycle

import pytest

from tests.cli_views.conftest import Replay
from tests.cli_views.games import NAMES, SEEDS, lively, recorded, view_of

ROLES = re.compile(r"Werewolf|Seer|Doctor|Villager")


def roles_of(records) -> dict[str, str]:
    return {seat.name: seat.role for seat in records[0].event.seats}


@pytest.mark.parametrize(("seat", "seed"), list(zip(NAMES, cycle(SEEDS), strict=False)))
def test_a_page_holds_no_other_seats_private_words_and_names_only_the_roles_that_the_seat_knows(replay, seat, seed):
    records, roles = lively(seed), roles_of(lively(seed))
    wolves = {name for name in NAMES if roles[name] == "Werewolf"}
    assert records[-1].event.type == "ended"
    # a word that was said and that nobody has heard yet among them
    answers = [entry for entry in records if entry.event.type == "answered" and entry.event.seat == seat]
    spoken = [entry.n for entry in answers if entry.event.kind == "speak" and entry.event.content is not None][:1]
    for until in (*range(1, len(records), 120), *spoken, len(records)):
        view = view_of(records, seat, until)
        page = replay(f"lively-{seed}", "--as", seat, "--until", str(until)).out
        assert set(re.findall(r"secret-of-(\w+)", page)) <= {seat}
        assert "raw-of-" not in page
        assert set(re.findall(r"whisper-of-(\w+)", page)) <= (wolves if seat in wolves else set())
        known_roles = {seat: roles[seat], **dict.fromkeys(view.partners, "Werewolf"), **view.inspections}
        for line in page.splitlines() if until < len(records) else ():
            if ROLES.search(line) and not line.startswith(f"What {seat} knows · {roles[seat]}"):
                name, role = re.match(r"  (\w+) +(?:alive|killed at night|exiled) +(\w+), ", line).groups()
                assert known_roles[name] == role
        assert (f"secret-of-{seat}" in page) == bool(view.answers or view.judgements)
        assert page.count("own judgement: ") == len(view.judgements)
        for target in NAMES:
            if view.suspicion.judged(seat, target):
                assert re.search(rf"  {target} .* {view.suspicion.of(seat, target):.2f}\n", page)


def test_a_page_ends_where_it_is_told_to(replay: Replay):
    until = [entry.n for entry in lively("7") if entry.event.type == "statement"][4]
    assert replay("lively-7", "--as", "Mona", "--until", str(until)).out.count("“") == 5
    assert replay("lively-7", "--as", "Mona", "--until", str(until - 1)).out.count("“") == 4
    whole = replay("lively-7", "--as", "Mona").out
    assert replay("lively-7", "--as", "Mona", "--until", str(len(lively("7")))).out == whole
    assert "the game is over" in whole
    assert "Revealed: Ada Villager" in whole


def test_of_a_record_whose_opening_does_not_hold_nobody_knows_anything(replay: Replay):
    opened, *rest = (entry.event for entry in lively("1"))
    result = replay(recorded([opened.model_copy(update={"seed": "another"}), *rest]), "--as", "Ada")
    assert result.code == 2
    assert "the game has not been opened" in result.err


@pytest.mark.parametrize("seed", SEEDS)
def test_the_researchers_page_tells_everything(replay: Replay, seed: str):
    records = lively(seed)
    page = replay(f"lively-{seed}", "--until", str(len(records))).out
    kinds = Counter(line.event.phase if line.event.type == "statement" else line.event.type for line in records)
    for name, role in roles_of(records).items():
        assert re.search(rf"  {name} +{role} ", page)
    phrases = {"“Look at": "debate", "says nothing": "silence", "is exiled": "exile", "wolves go for": "night_outcome"}
    assert {words: page.count(words) for words in phrases} == {words: kinds[kind] for words, kind in phrases.items()}
    assert "secret-of" not in page
