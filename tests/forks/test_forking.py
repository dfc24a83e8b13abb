"""`wolfbus.fork` and `wolfbus fork`: what is shared with the parent, what is drawn, told and refused."""

import itertools
import json
from pathlib import Path
from unittest.mock import Mock

import pytest

import wolfbus
from players.llm.provider import ProviderReply
from tests.forks import brains
from tests.forks.brains import LIE, TRUTH
from tests.llm.tables import tables
from tests.llm.whole import playing
from tests.llm.whole.playing import obliging
from tests.open_files import open_files
from tests.proving import prove
from wolfbus.bus import open_bus
from wolfbus.cli import run
from wolfbus.errors import BusDown, ConfigError, RecordError
from wolfbus.game.config import GameConfig

CONFIG = GameConfig(debate_turns=3, max_rounds=2)


def said(events):
    """Return the statements of a debate, by number."""
    found = (one.event for one in events if one.event.type == "statement")
    return {event.statement: event for event in found if event.phase == "debate"}


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    out = tmp_path_factory.mktemp("parent")
    return wolfbus.play("tests.forks.brains:Knows", seed=4, config=CONFIG, out=out, game="parent")


@pytest.fixture(scope="module")
def lie(parent):
    """The number of a lie in the second turn of the first day, or a later one."""
    return next(number for number, event in said(parent.events).items() if event.text == LIE and number > 1)


@pytest.fixture(scope="module")
def forks(parent, lie, tmp_path_factory):
    brains.ASKED.clear()
    played = wolfbus.fork(
        parent.record,
        at=lie,
        arms=["silence", "redraw", "say The moon is full.", "by:tests.forks.brains:Shrugs"],
        times=2,
        out=tmp_path_factory.mktemp("forks"),
    )
    return played, list(brains.ASKED)


def test_every_contrast_has_the_statement_as_it_was_and_an_honest_one(forks, lie):
    played, _ = forks
    arms = ["keep", "honest", "silence", "redraw", "say", "by:tests.forks.brains:Shrugs"]
    assert [(one.arm, one.k) for one in played] == [(arm, k) for arm in arms for k in (1, 2)]
    words = {(one.arm, one.k): one.words for one in played}
    assert words["keep", 1] == words["keep", 2] == LIE
    assert words["honest", 1] == words["honest", 2] == TRUTH
    assert words["silence", 1] is None
    assert words["say", 2] == "The moon is full."
    for one in played:
        statement = said(one.events).get(lie)
        assert one.words == (statement.text if one.words is not None else None)


def test_all_before_the_statement_is_as_recorded_and_nobody_is_asked_for_it_again(parent, forks, lie):
    played, asked = forks
    statement = said(parent.events)[lie]
    asks = [name.split("/") for name in asked]
    assert {(int(ask[1]), ask[2]) for ask in asks} >= {(1, "debate"), (1, "vote")}
    assert all(ask[2] != "night" or int(ask[1]) > statement.round for ask in asks)
    turns = [int(ask[3]) for ask in asks if int(ask[1]) == statement.round and ask[2] == "debate"]
    assert min(turns) == statement.turn
    before = [one.event for one in parent.events if one.n < played[0].events[0].event.fork.event][1:]
    for one in played:
        assert [recorded.event for recorded in one.events[1 : len(before) + 1]] == before


def test_draws_behind_the_fork_are_the_same_for_all_arms_and_others_for_each_k(forks):
    played, _ = forks
    seeds = {k: {one.events[0].event.fork.seed for one in played if one.k == k} for k in (1, 2)}
    assert len(seeds[1]) == len(seeds[2]) == 1
    assert seeds[1] != seeds[2]


def test_where_words_change_nothing_the_arms_of_one_k_are_one_game_and_those_of_another_k_another(tmp_path):
    indifferent = wolfbus.play("tests.forks.brains:Shrugs", seed=3, config=CONFIG, out=tmp_path, game="parent")
    number = next(iter(said(indifferent.events)))
    played = wolfbus.fork(indifferent.record, at=number, arms=["say Good morning."], times=3)

    def course(one):
        events = (recorded.event for recorded in one.events)
        return [event for event in events if event.type in {"asked", "tally", "dawn", "exile", "ended"}]

    courses = {(one.arm, one.k): course(one) for one in played}
    for k in (1, 2, 3):
        assert courses["keep", k] == courses["say", k] == courses["honest", k]
    assert courses["keep", 1] != courses["keep", 2] or courses["keep", 2] != courses["keep", 3]


def test_a_fork_is_a_whole_record_that_names_its_parent_the_event_the_arm_and_k(parent, forks, lie):
    played, _ = forks
    answer = next(one for one in parent.events if one.event.type == "answered" and one.event.kind == "speak")
    assert played[0].events[0].event.fork.event >= answer.n
    for one in played:
        proof = prove(one.record)
        assert proof.problems == []
        assert proof.digest == one.digest
        fork = one.events[0].event.fork
        assert (fork.parent, fork.statement, fork.arm, fork.k) == ("parent", lie, one.arm, one.k)
        assert parent.events[fork.event - 1].hash == fork.head
        assert [line.event for line in proof.records] == [recorded.event for recorded in one.events]


def test_the_thought_and_the_label_that_were_replaced_are_in_no_arm(parent, forks, lie):
    played, _ = forks
    thoughts = [one.event.thought for one in parent.events if one.event.type == "answered" and one.event.thought]
    assert f"I thought of {LIE}" in thoughts
    for one in played:
        batch = one.events[0].event.fork.batch
        events = [recorded.event for recorded in one.events]
        (answer,) = [event for event in events if event.type == "answered" and event.batch == batch]
        assert (answer.thought, answer.raw) == (None, None)
        labels = [event for event in events if event.type == "answered" and event.kind == "assess_own"]
        assert len([event for event in labels if event.about == lie and event.content is not None]) <= 1


def test_the_same_fork_of_scripted_players_is_the_same_game(parent, forks, lie):
    played, _ = forks
    again = wolfbus.fork(parent.record, at=lie)
    assert {(one.arm, one.k): one.digest for one in again}.items() <= {
        (one.arm, one.k): one.digest for one in played
    }.items()


def test_a_fork_that_another_process_has_begun_meanwhile_is_not_replaced(parent, lie, tmp_path, monkeypatch):
    def begin(_paths):
        (tmp_path / f"parent-s{lie}-keep-1.ndjson").write_text("another's")

    monkeypatch.setattr("wolfbus.running.forking.check_are_new", begin)
    with pytest.raises(RecordError, match="exists already"):
        wolfbus.fork(parent.record, at=lie, out=tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.is_file()] == [
        (f"parent-s{lie}-keep-1.ndjson", "another's")
    ]


def test_a_game_goes_on_whose_bus_was_away_as_it_was_taken_up(parent, lie, monkeypatch):
    kind, away = type(open_bus("memory://")), [BusDown("the bus is away")]
    head = kind.head

    def away_once(bus, house, game):
        if away:
            raise away.pop()
        return head(bus, house, game)

    monkeypatch.setattr(kind, "head", away_once)
    played = wolfbus.fork(parent.record, at=lie)
    assert not away
    assert [one.refused for one in played] == [False, False]


def test_a_game_that_cannot_go_on_for_want_of_its_bus_leaves_no_file_open(parent, lie, tmp_path, monkeypatch):
    monkeypatch.setattr(type(open_bus("memory://")), "expire", Mock(side_effect=BusDown("the bus is away")))
    before = open_files()
    with pytest.raises(BusDown):
        wolfbus.fork(parent.record, at=lie, out=tmp_path)
    assert open_files() <= before


def test_where_no_honest_statement_comes_the_fork_is_refused_and_said_so(command, tmp_path):
    liars = wolfbus.play("tests.forks.brains:AlwaysLies", seed=1, config=CONFIG, out=tmp_path)
    keep, honest = wolfbus.fork(liars.record, at=1, tries=3)
    assert (keep.refused, keep.tries) == (False, 1)
    assert (honest.refused, honest.tries, honest.events) == (True, 3, ())
    words = ["fork", liars.record, "--at", 1, "--tries", 3, "--out", tmp_path / "told", "--trust"]
    assert "refused: an honest statement did not come in 3 draws\n" in command(*words)[1]


def test_a_cassette_keeps_the_draws_and_the_forks_of_an_arm_apart_and_gives_each_its_own_again(parent, tmp_path):
    said_before = itertools.count()

    def reply(request):
        if "text" not in request.form.schema["properties"]:
            return obliging(request)
        return ProviderReply(json.dumps({"text": f"Listen, for the {next(said_before)}th time."}))

    models = {"endpoints": {"here": {"provider": playing.__name__}}, "models": {"m": {"endpoint": "here"}}}
    forked = {"at": 1, "arms": ["redraw", "by:llm:m"], "times": 3, "config": models}
    with playing.scripted(reply):
        played = wolfbus.fork(parent.record, **forked, out=tmp_path / "forks", cassette=tmp_path / "tape")
    words = [one.words for one in played if one.arm == "by:llm:m"]
    assert len(set(words)) == len(words) == 3
    again = wolfbus.fork(parent.record, **forked, replay_cassette=tmp_path / "tape")
    assert [one.digest for one in again] == [one.digest for one in played]


def test_language_models_play_forks_and_are_asked_for_the_statement_alone(tmp_path):
    models = {"models": {"mock": {"model": "mock", "endpoint": "here"}}, "endpoints": {"here": {"provider": "mock"}}}
    rules = {"debate_turns": 2, "max_rounds": 1}
    game = wolfbus.play(["llm:mock"] * 8, seed=2, config={**rules, **models}, out=tmp_path)
    number = next(iter(said(game.events)))
    played = wolfbus.fork(game.record, at=number, arms=["redraw"], config=models, out=tmp_path / "forks")
    for one in played:
        assert one.refused or prove(one.record).problems == []
    calls = [one.event for one in played[0].events if one.event.type == "model_call"]
    assert calls
    assert all(call.kind != "inspect" for call in calls)


@pytest.mark.parametrize(("arguments", "line"), tables(__file__)["refused"])
def test_what_cannot_be_forked_is_refused_in_one_line(parent, arguments, line):
    with pytest.raises(ConfigError, match=line):
        wolfbus.fork(parent.record, **arguments)


def test_the_reason_of_a_vote_and_a_fork_itself_cannot_be_forked(forks, lie, tmp_path):
    with pytest.raises(ConfigError, match="is a fork itself; fork its parent, parent"):
        wolfbus.fork(forks[0][0].record, at=lie)
    game = wolfbus.play("scripted", seed=7, config=CONFIG, out=tmp_path)
    reason = next(one.event for one in game.events if one.event.type == "statement" and one.event.phase == "vote")
    with pytest.raises(ConfigError, match="is the reason of a vote"):
        wolfbus.fork(game.record, at=reason.statement)


@pytest.fixture
def command(capsys):
    """Return what runs a command: its exit code, and what it prints on stdout and on stderr."""

    def invoke(*words) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(word) for word in words])
        return code, *capsys.readouterr()

    return invoke


def test_the_command_prints_what_came_of_each_fork(command, parent, lie, tmp_path):
    words = ["fork", parent.record, "--at", lie, "--times", 2, "--out", tmp_path, "--json"]
    code, _, error = command(*words)
    assert code == 2
    assert "it imports tests.forks.brains:Knows; --trust plays it on" in error
    code, out, _ = command(*words, "--trust")
    assert code == 0
    told = json.loads(out)["forks"]
    assert [(one["arm"], one["k"]) for one in told] == [("keep", 1), ("keep", 2), ("honest", 1), ("honest", 2)]
    assert min(one["suspicion"] for one in told[:2]) > max(one["suspicion"] for one in told[2:])
    assert all(Path(one["record"]).is_file() for one in told)
    code, _, error = command("fork", parent.record, "--at", lie, "--out", tmp_path, "--trust")
    assert code != 0
    assert "no record is ever overwritten" in error


@pytest.mark.parametrize(
    "asked", [{"label": "with"}, {"label": "both"}, {"assess": "after"}, {"assess": "none"}], ids=str
)
def test_forks_are_played_whenever_labels_are_asked_for(asked, tmp_path):
    config = CONFIG.model_copy(update=asked)
    # the name decides what is drawn, as the seed does
    game = wolfbus.play("scripted", seed=7, config=config, out=tmp_path, game="parent")
    keep, honest = wolfbus.fork(game.record, at=2)
    assert keep.digest
    assert (keep.events[0].event.fork.kind is None) == (asked == {"assess": "none"})
    assert not honest.refused
    answers = [one.event for one in honest.events if one.event.type == "answered" and one.event.kind == "speak"]
    (label,) = {event.content.label for event in answers if event.content and event.content.text == honest.words}
    assert (label is not None and not label.deceptive) if config.labels_words else label is None


def test_verify_holds_a_fork_against_its_parent(command, parent, forks, tmp_path):
    folder = forks[0][0].record.parent
    code, out, _ = command("verify", folder, "--prove", "--parent", parent.record)
    assert code == 0
    assert "12 of 12 records begin as their parents" in out
    other = wolfbus.play("tests.forks.brains:Knows", seed=6, config=CONFIG, out=tmp_path, game="other")
    code, _, error = command("verify", forks[0][0].record, "--parent", other.record)
    assert code == 1
    assert "it is a fork of game parent" in error
    code, _, error = command("verify", other.record, "--parent", parent.record)
    assert code == 1
    assert "no fork: its opening names no parent" in error
