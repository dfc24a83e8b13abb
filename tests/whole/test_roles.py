"""`--role` seats one's own agent in a role: the game is dealt as ever, and only who sits where differs."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from moderator.rules.game import deal
from tests.golden.running import wolfbus
from tests.proving import prove
from tests.whole.test_command_line import started
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.game.vocabulary import ROLES
from wolfbus.record.reader import open_lines, read_record

SHORT = "debate_turns = 1\nmax_rounds = 1\n[deadlines]\n" + "".join(
    f"{kind} = 0.1\n" for kind in Deadlines.model_fields
)
"""Rules of a game in which the silent are not waited for."""
ROLES_OF_SEVEN = [role for _, role in deal(GameConfig(), "7")]


def played(folder: Path, players: str, *roles: str, rules: str = ""):
    """Play a game; return its seats, and the digest that `play` told."""
    folder.mkdir(exist_ok=True)
    (folder / "rules.toml").write_text(rules)
    options = {"seed": 7, "players": players, "out": ".", "game": "cast", "config": "rules.toml"}
    words = [f"--{name}={value}" for name, value in options.items()] + [f"--role={role}" for role in roles]
    result = wolfbus(folder, "play", "--json", *words)
    assert result.code == 0, result.err
    record = folder / "cast.ndjson"
    proof = prove(record)
    assert proof.verified, proof.problems
    digest = json.loads(result.out)["digest"]
    assert proof.digest == digest
    return next(iter(read_record(open_lines(record)))).event.seats, digest


@pytest.mark.parametrize("role", ROLES)
def test_the_one_agent_that_fills_no_seats_gets_the_role_and_the_record_proves_it(tmp_path, role):
    agent = "players.scripted:ScriptedBrain"
    seats, _ = played(tmp_path, f"scripted*5,{agent},random*2", role)
    assert [seat.role for seat in seats if seat.brain == agent] == [role]
    # names and roles are those that the seed gives whoever plays
    assert [(seat.name, seat.role) for seat in seats] == list(deal(GameConfig(), "7"))


def test_a_role_may_name_its_player_and_be_given_for_each_of_several_seats(tmp_path):
    seats, _ = played(tmp_path, "random*3,scripted*5", "random=Werewolf", "random=Werewolf", "scripted=seer")
    roles = {brain: Counter(seat.role for seat in seats if seat.brain == brain) for brain in ("random", "scripted")}
    assert roles["random"]["Werewolf"] == 2
    assert roles["scripted"]["Seer"] == 1


def test_who_sits_where_counts_for_the_digest_and_a_role_that_one_has_changes_nothing(tmp_path):
    players = "random,scripted*7"
    has = ROLES_OF_SEVEN[0]
    other = next(role for role in ROLES if role != has)
    _, plain = played(tmp_path / "plain", players)
    _, same = played(tmp_path / "same", players, f"random={has}")
    _, moved = played(tmp_path / "moved", players, f"random={other}")
    assert same == plain != moved


def test_a_person_gets_the_role(tmp_path):
    words = ["play", "--seed", "7", "--players", "exec:cat,human,scripted*6", "--role", "Seer"]
    result = started(*words, cwd=tmp_path, input=b"")
    assert b"Your role: Seer." in result.stderr, result.stderr


@pytest.mark.parametrize("seed", range(3))
def test_every_wish_that_can_be_granted_is_granted_and_nobody_loses_a_seat(tmp_path, seed):
    draws = random.Random(seed)
    brains = draws.choices(("scripted", "random", "silent"), k=8)
    paired = list(zip(draws.sample(brains, 8), ROLES_OF_SEVEN, strict=True))
    wished = draws.sample(paired, draws.randint(1, 8))
    seats, _ = played(tmp_path, ",".join(brains), *(f"{brain}={role}" for brain, role in wished), rules=SHORT)
    assert Counter(seat.brain for seat in seats) == Counter(brains)
    assert not Counter(wished) - Counter((seat.brain, seat.role) for seat in seats)
