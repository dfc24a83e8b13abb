"""A seat's page shows what that seat knows and nothing else; a researcher's page shows everything."""

from __future__ import annotations

import re

import pytest

from tests.cli_views.games import HOSTILE_NAMES, NAMES, SEEDS, hostile, lively
from tests.cli_views.test_printable import is_harmless
from tests.cli_views.test_state import state_of
from wolfbus.cli.terminal.pages import WIDTH, seat_page, state_page, view_at
from wolfbus.errors import ConfigError
from wolfbus.messages.events import Ended, Exile, NightOutcome, Opened, Silence, Statement
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

ROLES = re.compile(r"Werewolf|Seer|Doctor|Villager")


def cuts(records) -> list[int]:
    return [*range(1, len(records), 41), len(records) - 1]


def roles_of(records) -> dict[str, str]:
    opened = records[0].event
    assert isinstance(opened, Opened)
    return {seat.name: seat.role for seat in opened.seats}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("seat", NAMES)
def test_a_page_holds_no_other_seats_private_words(seed: str, seat: str):
    records, roles = lively(seed), roles_of(lively(seed))
    for until in (*cuts(records), len(records)):
        page = seat_page(view_at(records, seat, until))
        assert set(re.findall(r"secret-of-(\w+)", page)) <= {seat}
        assert "raw-of-" not in page
        wolves = {name for name in NAMES if roles[name] == "Werewolf"}
        assert set(re.findall(r"whisper-of-(\w+)", page)) <= (wolves if seat in wolves else set())
    assert (f"secret-of-{seat}" in page) == bool(view_at(records, seat).answers)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("seat", NAMES)
def test_until_the_end_a_page_names_only_the_roles_that_the_seat_knows(seed: str, seat: str):
    records, roles = lively(seed), roles_of(lively(seed))
    assert isinstance(records[-1].event, Ended)
    for until in cuts(records):
        view = view_at(records, seat, until)
        known = {seat: roles[seat], **dict.fromkeys(view.partners, "Werewolf"), **view.inspections}
        for line in seat_page(view).splitlines():
            if ROLES.search(line) and not line.startswith(f"What {seat} knows · {roles[seat]}"):
                name, role = re.match(r"  (\w+) +(?:alive|killed at night|exiled) +(\w+), ", line).groups()
                assert known[name] == role


def test_a_page_does_not_change_with_what_the_seat_cannot_know():
    records = lively("7")
    opened = records[0].event
    assert isinstance(opened, Opened)
    villager = next(seat.name for seat in opened.seats if seat.role == "Villager")
    others = [seat for seat in opened.seats if seat.name != villager]
    turned = dict(zip([seat.name for seat in others], [seat.role for seat in others[1:] + others[:1]], strict=True))
    seats = tuple(
        seat.model_copy(update={"role": turned.get(seat.name, seat.role), "brain": f"brain of {seat.name}"})
        for seat in opened.seats
    )
    seats = tuple(seat if seat.name != villager else opened.seats[n] for n, seat in enumerate(seats))
    changed = [Recorded(1, 0.0, "researchers", opened.model_copy(update={"seats": seats, "seed": "other"}))]
    for each in records[1:]:
        if isinstance(each.event, NightOutcome):
            continue
        if each.audience in {"everybody", (villager,)}:
            changed.append(each)
    for until in cuts(records):
        kept = [each for each in changed if each.n <= until]
        assert seat_page(view_at(kept, villager)) == seat_page(view_at(records, villager, until))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seat_sees_its_own_thoughts_judgements_and_suspicion(seed: str):
    records = lively(seed)
    state = state_of(records)
    for seat in NAMES:
        page = seat_page(view_at(records, seat))
        for target in NAMES:
            if state.suspicion.judged(seat, target):
                assert re.search(rf"  {target} .* {state.suspicion.of(seat, target):.2f}\n", page)
        assert page.count("own judgement: ") == len(view_at(records, seat).judgements)


def test_after_the_end_the_roles_are_open():
    page = seat_page(view_at(lively("7"), "Ada"))
    assert "the game is over" in page
    assert "Revealed: Ada Villager" in page


def test_a_page_ends_where_it_is_told_to():
    records = lively("7")
    statements = [each for each in records if isinstance(each.event, Statement)]
    until = statements[4].n
    assert seat_page(view_at(records, "Mona", until)).count("“") == 5
    assert seat_page(view_at(records, "Mona", until - 1)).count("“") == 4
    assert seat_page(view_at(records, "Mona", 10_000)) == seat_page(view_at(records, "Mona"))


def test_an_unknown_seat_is_refused_naming_the_seats():
    with pytest.raises(ConfigError, match=r"no seat 'ada' .*Ada, Hugo, .* and Bartholomew"):
        view_at(lively("1"), "ada")
    with pytest.raises(ConfigError, match="no seat 'x y'"):
        view_at(lively("1"), "x\x1b[2J\ny")


def test_before_the_opening_nobody_knows_anything():
    with pytest.raises(ConfigError, match="not been opened"):
        view_at(lively("1"), "Ada", 0)
    assert state_page(GameState()) == "The game has not been opened yet.\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_researchers_page_tells_everything(seed: str):
    records = lively(seed)
    page = state_page(state_of(records))
    events = [each.event for each in records]
    for name, role in roles_of(records).items():
        assert re.search(rf"  {name} +{role} ", page)
    assert page.count("“Look at") == sum(isinstance(e, Statement) and e.phase == "debate" for e in events)
    assert page.count("says nothing") == sum(isinstance(e, Silence) for e in events)
    assert page.count("is exiled") == sum(isinstance(e, Exile) for e in events)
    assert page.count("the wolves go for") == sum(isinstance(e, NightOutcome) for e in events)
    assert "secret-of" not in page


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_words_make_no_page_wide_or_dangerous(seed: str):
    records = hostile(seed)
    pages = [state_page(state_of(records, until)) for until in (1, 60, 200, None)]
    pages += [seat_page(view_at(records, name, until)) for name in HOSTILE_NAMES for until in (60, None)]
    for page in pages:
        for line in page.split("\n"):
            assert is_harmless(line)
            assert len(line) <= WIDTH + 10
