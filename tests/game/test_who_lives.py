"""All that follows a game agrees who lives, after every line of it."""

import random
from pathlib import Path

import pytest

from tests.cli_views.games import recorded
from tests.game.driver import Answerer, Question, play
from tests.game.living import disagreements
from tests.golden.played import unpacked
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.departure import WAYS, departure
from wolfbus.messages.content import Ballot
from wolfbus.messages.events import Dawn, Departing, Exile, PublicEvent, Tally, Way
from wolfbus.record.reader import open_lines, read_record

KEPT = ("scripted", "mixed", "models")


def drawn_config(seats: int, draws: random.Random) -> GameConfig:
    wolves = draws.randint(max(1, seats // 5), max(1, (seats - 1) // 3))
    seers, doctors = draws.randint(0, 1), draws.randint(0, 1 + (seats > 10))
    return GameConfig(
        villagers=seats - wolves - seers - doctors,
        werewolves=wolves,
        seers=seers,
        doctors=doctors,
        debate_turns=draws.randint(1, 3),
        whispers=draws.randint(1, 2),
        overlap=draws.random() < 0.5,
        self_vote=draws.random() < 0.5,
        vote_reasons=draws.random() < 0.5,
        first_night_kill=draws.random() < 0.5,
        reveal_on_death=draws.choice(["none", "team", "role"]),
    )


def voting_alike(seed: str) -> Answerer:
    """Have every day's votes exile somebody; other answers are left to the seed."""

    def answer(question: Question) -> Ballot | None:
        if question.kind != "vote":
            return None
        names = [name for name in question.legal if name is not None]
        return Ballot(target=min(names, key=lambda name: random.Random(f"{seed} {question.round} {name}").random()))

    return answer


@pytest.mark.parametrize("seats", range(5, 17))
def test_after_every_line_of_random_games_all_folds_agree_who_lives(seats: int):
    # in every third game nobody answers
    answer = voting_alike(str(seats)) if seats % 3 else lambda _: None
    game = recorded(play(drawn_config(seats, random.Random(str(seats))), str(seats), answer).events)
    assert disagreements(game) == []


def test_after_every_line_of_records_of_before_all_folds_agree_who_lives(tmp_path: Path):
    for name in KEPT:
        folder = unpacked(name, tmp_path)
        for path in sorted(folder.rglob("*.ndjson"))[:4]:
            assert disagreements(list(read_record(open_lines(path), tolerant=True, lenient=True))) == [], path.name


def test_who_leaves_is_said_by_the_event_and_by_nothing_else():
    dawn, exile = Dawn(round=2, died="Ada", team="villagers"), Exile(round=3, seat="Bea", role="Seer")
    left = departure(dawn)
    assert (left.seat, left.how, left.round, left.role, left.team, left.revealed) == (
        "Ada", "night", 2, None, "villagers", "villagers",
    )  # fmt: skip
    assert left.way.fate_in(2) == "killed in night 2"
    assert departure(exile).revealed == "Seer"
    assert departure(exile).way.fate_in(3) == "exiled on day 3"
    assert departure(Dawn(round=1)) is departure(Exile(round=1)) is None
    assert departure(Tally(round=1, votes={"Ada": "Bea"}, needed=1)) is None
    assert list(WAYS) == ["night", "exile"]
    assert issubclass(Dawn, Departing)
    assert Way("shot", "shot").fate_in(2) == "shot in round 2"
    assert {Dawn, Exile} <= set(PublicEvent.__args__)
