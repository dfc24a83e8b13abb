"""Who sits where when every seat asks for a brain, and what is said when somebody is missing."""

from __future__ import annotations

from moderator.engine.seating import Offer, seat_brains
from moderator.house.settings import Agenda, AgendaItem
from moderator.house.waiting import brains_line

BRAINS = ("scripted", "mini", "scripted", "mini", "scripted")
PLAYS = {"ann": "scripted", "bea": "mini", "cleo": "mini", "dan": "scripted"}.__getitem__


def test_each_seat_goes_to_somebody_with_its_brain_as_the_seed_draws():
    offers = {"ann": Offer(9), "bea": Offer(1), "cleo": Offer(9), "dan": Offer(1)}
    seats = seat_brains(BRAINS, offers, PLAYS, "7")
    assert [PLAYS(agent) for agent in seats if agent] == list(BRAINS)
    assert seat_brains(BRAINS, dict(reversed(offers.items())), PLAYS, "7") == seats
    assert len({seat_brains(BRAINS, offers, PLAYS, str(seed)) for seed in range(20)}) > 1


def test_places_are_asked_for_among_those_of_the_own_brain():
    offers = {"ann": Offer(3), "bea": Offer(2, (2,)), "cleo": Offer(2, (2, 4)), "dan": Offer(1, (2, 5))}
    assert seat_brains(BRAINS, offers, PLAYS, "7") == ("ann", "bea", "ann", "cleo", "dan")
    # nobody else's place may be taken, though it is free
    assert seat_brains(BRAINS, {"bea": Offer(1, (1,))}, PLAYS, "7") == (None,) * 5


def test_the_line_names_the_brains_that_nobody_plays():
    offers = {"ann": Offer(2), "bea": Offer(1)}
    seated = seat_brains((*BRAINS, "evil\nbrain"), offers, PLAYS, "7")
    line = brains_line((*BRAINS, "evil\nbrain"), seated, offers, PLAYS)
    assert line.startswith("waiting for agents: 3 of 6 seats covered; 1 seat of evil")
    assert "1 seat of mini, 1 seat of scripted missing" in line
    assert "\n" not in line
    lone = brains_line(("mini",), (None,), {"ann": Offer(2)}, PLAYS, ["bea"])
    assert "here, but not asked for: scripted; bea must first read" in lone


def test_an_agenda_hands_out_in_order_what_is_not_begun_until_all_is_over():
    agenda = Agenda("s2", ["s1"], lambda _: False, lambda _: None)
    assert agenda.is_ours("s1")
    assert agenda.is_ours("s2")
    assert not agenda.is_ours("s3")
    for game in ("a", "b"):
        agenda.ask(AgendaItem(game, "7", None))
    begun: set[str] = set()
    assert agenda.next(begun.__contains__) == AgendaItem("a", "7", None)
    begun.add("a")
    assert agenda.next(begun.__contains__) == AgendaItem("b", "7", None)
    agenda.close()
    assert not agenda.over
    agenda.strike("a")
    agenda.strike("b")
    assert agenda.over
    assert agenda.next(begun.__contains__) is None
