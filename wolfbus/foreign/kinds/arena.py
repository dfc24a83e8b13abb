"""Games of Google's Werewolf Arena, the state that it saves as JSON; and results of the same table on AgentBeats.

The state has `players`, and a list of `rounds`, each with what was done at night (`eliminated`, `protected`,
`unmasked`), the `debate`, and `votes`, of which the last decides. A result has `results`, of which one holds
a `game_log` of events, and another an `action_log` with what single players did and a `debate_history`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from wolfbus.errors import RecordError
from wolfbus.foreign.building import ForeignLogBuilder
from wolfbus.foreign.kinds import ImportSource
from wolfbus.game.vocabulary import Winner

TITLE: Final = "a game of Werewolf Arena"

_WINNERS: Final[Mapping[str, Winner]] = {"werewolves": "werewolves", "villagers": "villagers"}
_SHAPES: Final = (ValueError, KeyError, TypeError, AttributeError, IndexError)
"""What is raised where a value is of another shape."""


def looks_like(start: bytes) -> bool:
    """Return whether a file with these first bytes is one of this kind."""
    is_state = b'"session_id"' in start and b'"players"' in start and b'"villagers"' in start
    return is_state or (b'"participants"' in start and (b'"game_log"' in start or b'"role_assignment"' in start))


def games(source: ImportSource) -> Iterator[ForeignLogBuilder]:
    """Yield the games of a file: one state or result, or a result a line."""
    values: list[tuple[int | None, Any]]
    try:
        values = [(None, json.loads(source.text))]
    except (ValueError, RecursionError):
        values = list(_values_by_line(source))
    for line, value in values:
        try:
            if "rounds" in value and "players" in value:
                yield _game_of_state(value)
            else:
                yield from _games_of_result(value)
        except _SHAPES as error:
            raise RecordError(f"no state or result of Werewolf Arena: {type(error).__name__} {error}", line) from None


def _values_by_line(source: ImportSource) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise RecordError(f"not JSON: {error}", number) from None


def _game_of_state(state: Mapping[str, Any]) -> ForeignLogBuilder:
    game = ForeignLogBuilder()
    for name, player in state["players"].items():
        game.seat(name, player["role"], player.get("model"))
    seer = next((name for name, player in state["players"].items() if player["role"] == "Seer"), None)
    doctor = next((name for name, player in state["players"].items() if player["role"] == "Doctor"), None)
    for number, round_ in enumerate(state["rounds"], 1):
        try:
            _tell_round(game, round_, seer, doctor, state["players"])
        except (RecordError, *_SHAPES) as error:
            why = str(error) if isinstance(error, RecordError) else f"{type(error).__name__} {error}"
            raise RecordError(f"round {number}: {why}") from None
    if state.get("winner"):
        game.end(_winner(state["winner"]))
    return game


def _tell_round(
    game: ForeignLogBuilder, round_: Mapping[str, Any], seer: str | None, doctor: str | None, players: Mapping[str, Any]
) -> None:
    game.begin_night()
    target, protected, unmasked = round_.get("eliminated"), round_.get("protected"), round_.get("unmasked")
    if doctor is not None and protected:
        game.protect(doctor, protected)
    if seer is not None and unmasked:
        game.inspect(seer, unmasked, players[unmasked]["role"])
    if target:
        game.attack(target)
        if target != protected:
            game.kill(target)
    for speaker, words in round_.get("debate") or ():
        game.say(speaker, words)
    game.left_out["rounds of bids"] += len(round_.get("bids") or ())
    votes = round_.get("votes") or []
    game.left_out["votes asked during the debate, which decide nothing"] += sum(map(len, votes[:-1]))
    for voter, target in (votes[-1] if votes else {}).items():
        game.ballot(voter, target)
    if round_.get("exiled"):
        game.leave(round_["exiled"], exiled=True)


def _winner(word: str) -> Winner:
    if word.casefold() not in _WINNERS:
        raise RecordError(f"{word!r} is no side that can win")
    return _WINNERS[word.casefold()]


def _games_of_result(value: Mapping[str, Any]) -> Iterator[ForeignLogBuilder]:
    results = value.get("results", [value])
    played = [result for result in results if "game_log" in result]
    # where there are several games, nothing tells whose acts these are
    acted: list[list[dict[str, Any]]] = [result["action_log"] for result in results if "action_log" in result]
    acts = acted[0] if acted and len(played) == 1 else []
    for result in played:
        yield _game_of_result(result, value.get("participants") or {}, acts)


def _game_of_result(
    result: Mapping[str, Any], agents: Mapping[str, str], acts: list[dict[str, Any]]
) -> ForeignLogBuilder:
    game, log = ForeignLogBuilder(), result["game_log"]
    roles = {event["event"]: event for event in log}["role_assignment"]["roles"]
    doctor = next((name for name, role in roles.items() if role == "doctor"), None)
    for name in sorted(roles):
        game.seat(name, roles[name].capitalize(), agents.get(name))
    for event in log:
        if event["event"] == "night_phase":
            game.begin_night()
            if doctor in game.living and event.get("protected"):
                game.protect(doctor, event["protected"])
            for act in acts:
                if (act["round"], act["action"]) == (event["round"], "investigate") and act.get("decision"):
                    game.inspect(act["player"], act["decision"], act["context"]["result"])
            game.attack(event.get("target"))
            if event.get("eliminated"):
                game.kill(event["eliminated"])
        elif "votes" in event:
            for voter, target in event["votes"].items():
                game.ballot(voter, target)
            if event.get("exiled"):
                game.leave(event["exiled"], exiled=True)
        elif event["event"] != "role_assignment":
            game.left_out["events of kinds that are not known"] += 1
    # it keeps what a player meant to say, and not the words
    game.left_out["turns of debate, of which the words are not kept"] += sum(act["action"] == "debate" for act in acts)
    game.end(_winner(result["winner"]))
    return game
