"""Replays of Kaggle's environment `werewolf`: JSON whose `info` holds what its moderator saw, event by event.

Each event is JSON in a text (`json_str`) with its `day`, its phase and its `data`, whose type stands beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from wolfbus.errors import RecordError
from wolfbus.foreign.building import ForeignLogBuilder
from wolfbus.foreign.kinds import ImportSource
from wolfbus.game.vocabulary import Winner

TITLE: Final = "a replay of Kaggle's environment werewolf"

_WINNERS: Final[Mapping[str, Winner]] = {"Werewolves": "werewolves", "Villagers": "villagers"}
_SCENERY: Final = frozenset({
    "NoneType", "dict", "GameStartDataEntry", "SetNewPhaseDataEntry", "PhaseDividerDataEntry", "VoteOrderDataEntry",
    "DiscussionOrderDataEntry", "SeerInspectActionDataEntry", "DoctorSaveDataEntry", "BidResultDataEntry",
})  # fmt: skip
"""What only tells what follows from the rest."""
_NOT_BROUGHT: Final = {
    "WerewolfNightVoteDataEntry": "votes of Werewolves on whom to attack",
    "BidDataEntry": "bids",
}


def looks_like(start: bytes) -> bool:
    """Return whether a file with these first bytes is one of this kind."""
    head = start.lstrip(b"\xef\xbb\xbf \r\n\t")
    return head[:1] == b"{" and b'"configuration"' in start and b'"agents"' in start and b"erewolf" in start


def games(source: ImportSource) -> Iterator[ForeignLogBuilder]:
    """Yield the one game of a replay."""
    try:
        replay = json.loads(source.content)
        info = replay["info"]
        entries = [entry for step in info["MODERATOR_OBSERVATION"] for entry in _flat(step)]
        reader = _KaggleReader(info.get("GAME_END") or {}, replay.get("configuration") or {})
    except (ValueError, RecursionError) as error:
        raise RecordError(f"no replay of Kaggle's werewolf: not JSON: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"no replay of Kaggle's werewolf: {type(error).__name__} {error}") from None
    for number, entry in enumerate(entries, 1):
        try:
            reader.feed(entry["data_type"], json.loads(entry["json_str"]))
        except RecordError as error:
            raise RecordError(f"event {number}: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"event {number} of its moderator: {type(error).__name__} {error}") from None
    yield reader.game


def _flat(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the events of a step; some versions nest their lists."""
    if isinstance(value, list):
        for inner in value:
            yield from _flat(inner)
    else:
        yield value


class _KaggleReader:
    """Tells a builder the events of a replay."""

    def __init__(self, end: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
        self.game = ForeignLogBuilder()
        self._agents = {agent.get("id"): agent for agent in configuration.get("agents") or ()}
        # ids may be dealt anew when the game begins, and its end says who had which
        self._agents |= {player["id"]: player["agent"] for player in end.get("all_players") or () if "agent" in player}

    def feed(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take in an event of the moderator's."""
        handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "GameStartRoleDataEntry": self._seat,
            "DoctorHealActionDataEntry": lambda data: self.game.protect(data["actor_id"], data["target_id"]),
            "SeerInspectResultDataEntry": lambda data: self.game.inspect(
                data["actor_id"], data["target_id"], data.get("role") or data["team"]
            ),
            "WerewolfNightEliminationElectedDataEntry": lambda data: self.game.attack(data["elected_target_player_id"]),
            "WerewolfNightEliminationDataEntry": self._kill,
            "ChatDataEntry": self._chat,
            "DayExileVoteDataEntry": lambda data: self.game.ballot(data["actor_id"], data["target_id"]),
            "DayExileElectedDataEntry": self._exile,
            "GameEndResultsDataEntry": lambda data: self.game.end(_WINNERS[str(data["winner_team"])]),
        }
        handler = handlers.get(kind)
        if handler is not None:
            handler(event["data"])
        elif kind not in _SCENERY and not kind.startswith("Request"):
            self.game.left_out[_NOT_BROUGHT.get(kind, f"events of the kind {kind[:64]}")] += 1

    def _seat(self, data: Mapping[str, Any]) -> None:
        name = data["player_id"]
        agent = self._agents.get(name) or {}
        self.game.seat(name, data["role"], agent.get("display_name") or agent.get("agent_id"))

    def _kill(self, data: Mapping[str, Any]) -> None:
        if data["eliminated_player_id"]:
            self.game.kill(data["eliminated_player_id"])

    def _chat(self, data: Mapping[str, Any]) -> None:
        if data["actor_id"] in self.game.living:
            self.game.say(data["actor_id"], data["message"], thought=data.get("reasoning"))

    def _exile(self, data: Mapping[str, Any]) -> None:
        if data["elected_player_id"]:
            if data.get("elected_player_role_name"):
                self.game.reveal = "role"
            self.game.leave(data["elected_player_id"], exiled=True)
