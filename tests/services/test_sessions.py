"""A house that never closes stays small, a session that was closed stays closed, no game of it is left out, and no
record counts as archived that is not, whatever the bus has forgotten.
"""

from __future__ import annotations

import random
import threading

import pytest

from moderator.engine.reexecution import Verifier
from moderator.house import GameSummaries, HouseSession
from tests.services import fed
from tests.services.guests import HOUSE, Moderating, guests
from tests.waiting import wait_until
from wolfbus.bus import Commit, Entry, every_entry, open_bus, streams
from wolfbus.game.draws import game_seed
from wolfbus.messages.codec import HOUSE_NEWS, encode, unpack, validate
from wolfbus.messages.house import GameClosed, GameOpened, Goodbye, HouseClosed, HouseOpened
from wolfbus.record.line import line_of
from wolfbus.record.reader import open_lines, read_record
from wolfbus.service import session as fold

GAMES = streams.games(HOUSE)
OPEN = HouseOpened(session="s")


def entry(message, id_=""):
    return Entry(encode(message), message.type, "moderator", id=id_)


def opened(number):
    return GameOpened(game=f"s-{number}", number=number)


def closed(number, outcome="ended", head="ab"):
    return GameClosed(game=f"s-{number}", number=number, outcome=outcome, lines=3, hash=head)


def session_of(*news):
    session = HouseSession()
    for place, one in enumerate(news, 1):
        session.feed(entry(one, f"1-{place}"))
    session.find_missing()
    return session


def news(bus):
    return [validate(HOUSE_NEWS, unpack(one.body)) for one in bus.entries(GAMES)]


def post(bus, epoch, *messages):
    assert bus.commit([Commit(HOUSE, "", epoch, "", "", posts=[(GAMES, entry(one)) for one in messages])]) == [None]


class House:
    """A house on a bus of this process, whose news a test tells."""

    def __init__(self):
        self.bus = open_bus("memory://")
        self.epoch = self.bus.claim(HOUSE, "the test")
        self.session = HouseSession()
        self.summaries = GameSummaries(self.session, self.tell, lambda before: self.bus.trim(GAMES, before), 40)

    def tell(self, *messages):
        post(self.bus, self.epoch, *messages)

    def look(self):
        self.session.catch_up(self.bus, HOUSE)
        self.summaries.update()

    def settle(self, *games, **how):
        self.session.catch_up(self.bus, HOUSE)
        for game in games or list(self.session.closed):
            self.session.settle(game, **how)

    def sums(self, session):
        session.read = "0-0"
        for one in every_entry(self.bus, GAMES):
            session.feed(one)
        return (session.name, session.running, session.games, session.outcomes, session.lost, session.under_way)


@pytest.fixture
def memory_house():
    house = House()
    yield house
    house.bus.close()


def test_wherever_the_stream_is_cut_sums_hold_and_stream_and_state_stay_small(memory_house):
    dice, longest = random.Random(7), 0
    memory_house.summaries._least = 12
    memory_house.tell(OPEN)
    under_way, outcomes = {}, dict.fromkeys(("ended", "stopped", "failed"), 0)
    for number in range(1, 401):
        memory_house.tell(opened(number))
        under_way[f"s-{number}"] = number
        while len(under_way) > dice.randrange(4):
            over, outcome = under_way.pop(dice.choice(list(under_way))), dice.choice(list(outcomes))
            memory_house.tell(closed(over, outcome))
            outcomes[outcome] += 1
        memory_house.session.catch_up(memory_house.bus, HOUSE)
        for game in list(memory_house.session.closed):
            # one is not archived for a long time
            if dice.random() < 0.6 and (game != "s-100" or number > 150):
                memory_house.session.settle(game, lost=game in {"s-200", "s-300"})
        memory_house.look()
        if not 100 <= number <= 160:
            longest = max(longest, memory_house.bus.length(GAMES), len(memory_house.session._opened_games))
        # another moderator, and whoever looks on, come to the same sums
        for session in (HouseSession(), fold.Session()):
            name, running, games, *rest, lost, going = memory_house.sums(session)
            assert (name, running, games, rest, going) == ("s", True, number, [outcomes], under_way)
    assert lost == 2
    assert longest < 60


def test_without_an_archive_nothing_is_cut_and_that_is_said(memory_house, caplog):
    memory_house.summaries._warn_from = 50
    memory_house.tell(OPEN)
    for number in range(1, 60):
        memory_house.tell(opened(number), closed(number))
    memory_house.look()
    memory_house.look()
    assert memory_house.bus.length(GAMES) == 119
    assert caplog.messages == ["the games stream has grown to 119 entries: 59 records not archived yet"]


# -- games that were left out


def test_a_game_of_which_nothing_landed_is_begun_before_any_other():
    session = session_of(OPEN, opened(1), opened(4), opened(2), closed(4), opened(6))
    assert (session.games, session.left_out, session.next_number) == (6, [3, 5], 3)
    session.begin(3, "s-3")
    assert (session.left_out, session.next_number) == ([5], 5)
    session.begin(5, "s-5")
    assert (session.left_out, session.next_number) == ([], 7)
    session.begin(7, "s-7")
    for place, one in enumerate((opened(5), opened(3), closed(7, "failed")), 7):
        session.feed(entry(one, f"1-{place}"))
    assert (session.missing, session.next_number, session.failed) == (set(), 8, 1)
    # one that failed before it could be opened was not left out
    session = session_of(OPEN, opened(2), closed(1, "failed", ""), closed(1, "failed", ""), closed(2))
    assert (session.left_out, session.failed, session.outcomes["ended"]) == ([], 1, 1)


def test_nothing_is_summed_up_past_a_game_that_was_left_out(memory_house):
    memory_house.tell(OPEN, opened(1), closed(1))
    for number in range(3, 63):
        memory_house.tell(opened(number), closed(number))
    memory_house.session.catch_up(memory_house.bus, HOUSE)
    memory_house.session.find_missing()
    memory_house.settle()
    memory_house.look()
    assert memory_house.session.sum_up() is None
    memory_house.session.begin(memory_house.session.next_number, "s-2")
    assert memory_house.session.sum_up() is None
    memory_house.tell(opened(2), closed(2))
    memory_house.look()
    memory_house.settle("s-2")
    memory_house.look()
    memory_house.look()
    memory_house.session.find_missing()
    assert memory_house.session.left_out == []
    assert memory_house.bus.length(GAMES) < 10
    again = HouseSession()
    for fresh in (again, fold.Session()):
        assert memory_house.sums(fresh)[2] == fresh.outcomes["ended"] == 62
    again.find_missing()
    assert again.next_number == 63


def test_a_game_that_the_bus_forgot_though_a_later_one_had_begun_is_played_and_its_file_begun_anew(
    redis_url, bus, tmp_path, monkeypatch
):
    monkeypatch.setattr(fed, "HOUSE", HOUSE)
    settings = {"games": 2, "at_once": 2, "seed": "7"}
    gate = threading.Event()

    def openings():
        return {int(one.game.rpartition("-")[2]): one for one in bus.entries(GAMES) if one.type == "game_opened"}

    with guests(redis_url, *"abcde", seats=2, gate=gate):
        service = Moderating(redis_url, **settings)
        wait_until(lambda: len(openings()) == 2)
        service.stop()
        gate.set()
    games = {number: opening.game for number, opening in openings().items()}
    files = {number: tmp_path / f"{game}.ndjson" for number, game in games.items()}
    # analytics has read the first step of what is lost
    lines = [line_of(unpack(one.body)) + b"\n" for one in bus.entries(streams.record(HOUSE, games[1]))]
    files[1].write_bytes(b"".join(lines))
    # the bus died between the first steps of two games that begin together
    losses = [
        ("DEL", streams.record(HOUSE, games[1]), streams.table(HOUSE, games[1])),
        ("HDEL", streams.heads(HOUSE), games[1]),
        ("XDEL", GAMES, openings()[1].id),
    ]
    assert all(bus._links.run("", lambda link: link.exchange(losses)))
    with guests(redis_url, *"abcde", seats=2), fed.Service(redis_url, tmp_path) as analytics:
        assert Moderating(redis_url, archive=True, **settings).code(30) == 0
        assert analytics.code() == 0
    assert sorted(tmp_path.glob("*.ndjson")) == sorted(files.values())
    for number, file in files.items():
        verifier = Verifier()
        for one in read_record(open_lines(file)):
            verifier.feed(one)
        assert verifier.ended is not None
        assert verifier.opened.seed == game_seed("7", number)
    assert not files[1].read_bytes().startswith(lines[0])
    closing = news(bus)
    assert sorted(one.game for one in closing if isinstance(one, GameClosed)) == sorted(games.values())
    assert (closing[-1].type, closing[-1].games, closing[-1].failed) == ("house_closed", 2, 0)


# -- closing


@pytest.mark.parametrize("wait", [False, True], ids=["held-still", "run-out"])
def test_a_moderator_after_one_that_broke_off_closing_finishes_that_session(redis_url, bus, wait):
    epoch = bus.claim(HOUSE, "dead", 0.05 if wait else 0.5)
    with guests(redis_url, "ada") as [ada]:
        post(bus, epoch, OPEN, HouseClosed(session="s", games=1, failed=1, reason="all games are over"))
        if wait:
            wait_until(lambda: bus.owner(HOUSE).left_s == 0)
        assert Moderating(redis_url, games=1).code() == 1
        ada.hear(Goodbye)
    assert [one.type for one in news(bus)] == ["house_opened", "house_closed"]
    assert not bus.owner(HOUSE).unreleased


def test_after_a_session_that_was_closed_and_released_another_opens(redis_url, bus):
    for _ in range(2):
        assert Moderating(redis_url, games=0).code() == 0
    assert [one.type for one in news(bus)] == ["house_opened", "house_closed"] * 2
