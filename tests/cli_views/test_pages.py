"""A seat's page shows what that seat knows and nothing else; a researcher's page shows everything."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.cli_views.games import NAMES, SEEDS, lively, state_of
from wolfbus.cli.terminal.pages import seat_page, state_page, view_at
from wolfbus.errors import ConfigError
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

ROLES = re.compile(r"Werewolf|Seer|Doctor|Villager")


def cuts(records) -> list[int]:
    return [*range(1, len(records), 41), len(records) - 1]


def roles_of(records) -> dict[str, str]:
    return {seat.name: seat.role for seat in records[0].event.seats}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("seat", NAMES)
def test_a_page_holds_no_other_seats_private_words_and_names_only_the_roles_that_the_seat_knows(seed: str, seat: str):
    records, roles = lively(seed), roles_of(lively(seed))
    wolves = {name for name in NAMES if roles[name] == "Werewolf"}
    assert records[-1].event.type == "ended"
    for until in (*cuts(records), len(records)):
        view = view_at(records, seat, until)
        page = seat_page(view)
        assert set(re.findall(r"secret-of-(\w+)", page)) <= {seat}
        assert "raw-of-" not in page
        assert set(re.findall(r"whisper-of-(\w+)", page)) <= (wolves if seat in wolves else set())
        known = {seat: roles[seat], **dict.fromkeys(view.partners, "Werewolf"), **view.inspections}
        for line in page.splitlines() if until < len(records) else ():
            if ROLES.search(line) and not line.startswith(f"What {seat} knows · {roles[seat]}"):
                name, role = re.match(r"  (\w+) +(?:alive|killed at night|exiled) +(\w+), ", line).groups()
                assert known[name] == role
    assert (f"secret-of-{seat}" in page) == bool(view.answers)
    assert page.count("own judgement: ") == len(view.judgements)
    for target in NAMES:
        if view.suspicion.judged(seat, target):
            assert re.search(rf"  {target} .* {view.suspicion.of(seat, target):.2f}\n", page)


def test_a_page_does_not_change_with_what_the_seat_cannot_know():
    records = lively("7")
    opened = records[0].event
    villager = next(seat.name for seat in opened.seats if seat.role == "Villager")
    others = [seat for seat in opened.seats if seat.name != villager]
    turned = dict(zip([seat.name for seat in others], [seat.role for seat in others[1:] + others[:1]], strict=True))
    seats = tuple(
        seat.model_copy(update={"role": turned[seat.name], "brain": f"brain of {seat.name}"})
        if seat.name != villager
        else seat
        for seat in opened.seats
    )
    changed = [Recorded(1, 0.0, "researchers", opened.model_copy(update={"seats": seats, "seed": "other"}))]
    heard = {"everybody", (villager,)}
    changed += [each for each in records[1:] if each.audience in heard and each.event.type != "night_outcome"]
    for until in cuts(records):
        kept = [each for each in changed if each.n <= until]
        assert seat_page(view_at(kept, villager)) == seat_page(view_at(records, villager, until))


def test_a_page_ends_where_it_is_told_to():
    records = lively("7")
    statements = [each for each in records if each.event.type == "statement"]
    until = statements[4].n
    assert seat_page(view_at(records, "Mona", until)).count("“") == 5
    assert seat_page(view_at(records, "Mona", until - 1)).count("“") == 4
    whole = seat_page(view_at(records, "Mona"))
    assert seat_page(view_at(records, "Mona", 10_000)) == whole
    assert "the game is over" in whole
    assert "Revealed: Ada Villager" in whole


@pytest.mark.parametrize(
    ("seat", "until", "words"),
    [
        ("ada", None, r"no seat 'ada' .*Ada, Hugo, .* and Bartholomew"),
        ("x\x1b[2J\ny", None, "no seat 'x y'"),
        ("Ada", 0, "not been opened"),
    ],
)
def test_what_nobody_can_know_is_refused_in_one_line(seat: str, until: int | None, words: str):
    with pytest.raises(ConfigError, match=words):
        view_at(lively("1"), seat, until)
    assert state_page(GameState()) == "The game has not been opened yet.\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_researchers_page_tells_everything(seed: str):
    records = lively(seed)
    page = state_page(state_of(records))
    kinds = Counter(each.event.phase if each.event.type == "statement" else each.event.type for each in records)
    for name, role in roles_of(records).items():
        assert re.search(rf"  {name} +{role} ", page)
    said = (
        ("“Look at", "debate"),
        ("says nothing", "silence"),
        ("is exiled", "exile"),
        ("wolves go for", "night_outcome"),
    )
    assert {words: page.count(words) for words, _ in said} == {words: kinds[kind] for words, kind in said}
    assert "secret-of" not in page
