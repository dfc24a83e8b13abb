"""What a house's moderator does beside its games: it is fenced off, hands over, keeps its place, and speaks up."""

import threading

from tests.moderator.process import HOUSE, events_of, opened, replies_of
from wolfbus.bus import Commit, Entry, streams
from wolfbus.errors import BusDown, BusError, BusFull, Fenced, WolfError
from wolfbus.messages.codec import HOUSE_NEWS, TO_AGENT, unpack, validate
from wolfbus.messages.house import Goodbye, HouseClosed, HouseOpened, RollCall

AGENTS = ("one", "two")


def after(steps: int, then: threading.Event, go: threading.Event):
    """Before step `steps` + 1 of a game, set `then` and wait for `go`."""
    left = iter(range(steps))

    def before(commit: Commit) -> BusError | None:
        if commit.record and next(left, None) is None and not then.is_set():
            then.set()
            assert go.wait(60)
        return None

    return before


def test_a_moderator_that_was_fenced_off_writes_nothing_more(url, stage, whole_digest):
    bus = stage.watch(url)
    stage.agents(url, *AGENTS)
    holding, go = threading.Event(), threading.Event()
    late = stage.process(url)
    late.bus.before = after(6, holding, go)
    late.open(opened(AGENTS))
    assert holding.wait(60)
    heir = stage.process(url)
    heir.take_over(AGENTS)
    assert heir.over().digest == whole_digest
    events = events_of(bus)
    go.set()
    assert isinstance(late.over().error, Fenced)
    late.house.tell([("one", RollCall())])
    assert isinstance(late.failures.get(timeout=60), Fenced)
    assert len(late.bus.landed) == 6
    assert events_of(bus) == events
    assert max(replies_of(bus, AGENTS).values()) == 1


def test_the_durable_cursor_never_passes_a_reply_that_is_in_no_record(url, stage, monkeypatch):
    bus = stage.watch(url)
    stage.agents(url, *AGENTS)
    monkeypatch.setattr("moderator.engine.context.CHECK_EVERY_S", 0.0)
    process = stage.process(url)
    games = {name: opened(AGENTS, seed=name, game=name) for name in ("a", "b", "c")}
    agent_of = {(name, seat.name): seat.agent for name, game in games.items() for seat in game.seats}
    for game in games.values():
        process.open(game)
    for _ in games:
        assert process.over().error is None

    recorded: set[str] = set()
    request_ids: dict[tuple[str, int], tuple[str, str]] = {}
    carried = 0
    for commit in process.bus.landed:
        for entry in commit.record:
            event = unpack(entry.body)
            if event["type"] == "asked":
                place = f"{entry.game}/{event['round']}/{event['phase']}/{event['turn']}"
                request_ids[entry.game, event["batch"]] = place, f"/{event['about']}" if "about" in event else ""
            elif event["type"] == "answered":
                place, about = request_ids[entry.game, event["batch"]]
                recorded.add(f"{place}/{event['kind']}/{event['seat']}{about}")
        for stream, cursor in (commit.cursors or {}).items():
            carried += 1
            for entry in bus.entries(stream, limit=100_000):
                if streams.parse_id(entry.id) <= streams.parse_id(cursor):
                    assert unpack(entry.body)["request"] in recorded
    assert carried > 6
    assert set(agent_of.values()) == set(AGENTS)
    ends = {streams.outbox(HOUSE, agent): bus.last_id(streams.outbox(HOUSE, agent)) for agent in AGENTS}
    assert bus.cursors(HOUSE) == ends


def test_an_out_stream_whose_front_was_cut_is_read_on_behind_what_was_handed_on(url, stage):
    bus = stage.watch(url)
    process = stage.process(url)
    out = streams.outbox(HOUSE, "scribe")
    messages = [Entry(b"%d" % n, "join", "scribe", "", n, f"5-{n}") for n in range(1, 9)]
    bus.append(out, messages[:6])
    process.house.listen("scribe", "5-2")
    for message in messages[2:6]:
        assert process.to_house.get(timeout=60) == ("scribe", message)
    # unread messages are cut away, and one is left
    process.house.listen("other", "0-0")
    bus.append(out, messages[6:])
    bus.trim(out, "5-8")
    seen = [process.to_house.get(timeout=60)[1]]
    while seen[-1] != messages[7]:
        seen.append(process.to_house.get(timeout=60)[1])
    assert seen in ([messages[7]], messages[6:])
    assert process.backwards.empty()


def test_an_out_stream_that_ends_before_what_was_read_says_that_the_bus_went_backwards(redis_url, stage, redis_server):
    bus = stage.watch(redis_url)
    process = stage.process(redis_url)
    out = streams.outbox(HOUSE, "scribe")
    bus.append(out, [Entry(b"", "join", "scribe", "", 1, "5-1")])
    process.house.listen("scribe", "0-0")
    process.to_house.get(timeout=60)
    redis_server.command("DEL", out)
    # a reader looks for losses whenever it has to connect anew
    redis_server.command("CLIENT", "KILL", "TYPE", "normal")
    assert process.backwards.get(timeout=60).stream == out


def test_what_the_house_has_to_say_lands_whole_and_in_order_although_the_bus_was_away(url, stage):
    bus = stage.watch(url)
    process = stage.process(url)
    away = iter([BusDown("away")] * 2)
    process.bus.before = lambda _: next(away, None)
    process.house.announce(HouseOpened(session="s"))
    process.house.tell([("one", RollCall()), ("two", RollCall())])
    closed = HouseClosed(session="s", games=0, failed=0)
    process.house.announce(closed, [(agent, Goodbye(reason="done")) for agent in AGENTS])
    while bus.length(streams.inbox(HOUSE, "two")) < 2:
        assert process.failures.empty()
    news = [validate(HOUSE_NEWS, unpack(entry.body)) for entry in bus.entries(streams.games(HOUSE))]
    assert news == [HouseOpened(session="s"), closed]
    for agent in AGENTS:
        messages = [validate(TO_AGENT, unpack(entry.body)) for entry in bus.entries(streams.inbox(HOUSE, agent))]
        assert messages == [RollCall(), Goodbye(reason="done")]


def test_a_stopped_game_says_so_on_the_record_and_in_the_news_and_is_over_at_once_when_taken_up(url, stage):
    bus = stage.watch(url)
    stage.agents(url, *AGENTS, silent=lambda ask: ask.kind == "vote")
    voting = threading.Event()
    process = stage.process(url)

    def watch(commit: Commit) -> None:
        if any(unpack(entry.body).get("phase") == "vote" for entry in commit.record):
            voting.set()

    process.bus.before = watch
    process.open(opened(AGENTS), number=2)
    assert voting.wait(60)
    process.house.break_off(WolfError("enough"))
    assert str(process.over().error) == "enough"
    events = events_of(bus)
    closed = validate(HOUSE_NEWS, unpack(bus.entries(streams.games(HOUSE))[-1].body))
    assert (closed.type, closed.outcome, closed.reason) == ("game_closed", "stopped", "enough")
    assert (closed.lines, closed.hash) == (len(events), bus.head(HOUSE, "g"))
    again = stage.process(url)
    again.house.resume("g", again.overs.put)
    assert str(again.over().error) == "enough"


def test_an_agent_that_joins_where_records_are_forgotten_is_not_told_and_the_game_goes_on(memory_url, stage, caplog):
    bus = stage.watch(memory_url)
    holding, go = threading.Event(), threading.Event()
    stage.agents(memory_url, *AGENTS)
    process = stage.process(memory_url)
    process.bus.before = after(4, holding, go)
    process.open(opened(AGENTS))
    assert holding.wait(60)
    bus.trim(streams.record(HOUSE, "g"), "20-0")
    process.house.catch_up("one")
    process.house.catch_up("nobody")
    go.set()
    assert process.over().error is None
    assert "cannot be told of it" in caplog.text
    assert not any(entry.type == "catch_up" for entry in bus.entries(streams.inbox(HOUSE, "one")))


def test_a_full_memory_is_waited_for_like_an_outage_and_said_once(memory_url, stage, whole_digest, caplog):
    stage.watch(memory_url)
    stage.agents(memory_url, *AGENTS)
    process = stage.process(memory_url)
    refusals = iter([None, None, None, *[BusFull("the memory is full")] * 3])
    process.bus.before = lambda commit: next(refusals, None) if commit.record else None
    process.open(opened(AGENTS))
    assert process.over().digest == whole_digest
    messages = [record.getMessage() for record in caplog.records if "memory" in record.getMessage()]
    assert messages == ["the memory is full; trying again until there is room"]
