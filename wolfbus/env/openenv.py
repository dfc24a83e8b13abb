"""The game as an environment of OpenEnv: `WolfEnvironment`, and `app`, which serves it.

``uvicorn wolfbus.env.openenv:app`` serves it over HTTP and WebSocket; every session has games of its own. Who plays is
the server's to say, never a client's: a players spec may name programs.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any, ClassVar, Final

from pydantic import Field, model_validator

from wolfbus.errors import ConfigError, not_installed
from wolfbus.files.printable import printable

try:
    from openenv.core.env_server import Action, Environment, Observation, State, create_app
except ImportError as error:
    raise not_installed("openenv", "openenv") from error

from wolfbus.env import Env, Turn
from wolfbus.running.play import PlayersOf

PLAYERS: Final = "WOLFBUS_ENV_PLAYERS"
"""Environment variable: who plays where `app` serves; ``learner*1,scripted*7`` unless given."""
CONFIG: Final = "WOLFBUS_ENV_CONFIG"
"""Environment variable: file of rules and models where `app` serves; the usual rules unless given."""
SESSIONS: Final = "WOLFBUS_ENV_SESSIONS"
"""Environment variable: how many sessions `app` serves at a time; 16 unless given."""


class WolfAction(Action):
    """An answer to what was asked."""

    answer: str | dict[str, Any] | None = Field(
        description="text, which is read as a model's reply is, or the members of the answer as JSON; null at the end"
    )

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, members: Any) -> Any:
        """Take the members of an answer, such as ``{"bid": 3}``, for the answer."""
        bare = isinstance(members, dict) and members and not members.keys() & {"answer", "metadata"}
        return {"answer": members} if bare else members


class WolfObservation(Observation):
    """What one learner's seat is asked, or told at the end."""

    seat: str = Field(description="whose turn it is")
    kind: str | None = Field(description="what is asked for; null at the end")
    prompt: str = Field(description="all that the seat knows and the question, as a language model is asked")
    legal: list[str | None] | None = Field(description="names that may be answered; null where no name is asked for")
    ask: dict[str, Any] = Field(description="the same as JSON: an ask of the line protocol, at the end its bye")


class WolfState(State):
    """How the game stands, as far as its learners may know."""

    seat: str | None = None
    winner: str | None = None
    record: str | None = None


class WolfEnvironment(Environment[WolfAction, WolfObservation, WolfState]):
    """Games of WOLF. An episode is one game; where several seats are learners', their turns come one by one.

    At the end every learner's seat is told so, with its reward, in seating order; the last of them is `done`.

    Args:
        players: who plays; see `wolfbus.env.Env`.
        options: further arguments of `Env`.
    """

    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = True

    def __init__(self, players: PlayersOf = "learner*1,scripted*7", **options: Any) -> None:
        super().__init__()
        self._env = Env(players, **options)
        self._state = WolfState()
        self._turn: Turn | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> WolfObservation:
        """Begin a game."""
        self._state = WolfState(episode_id=episode_id)
        return self._observe(self._env.reset(seed))

    def step(self, action: WolfAction, timeout_s: float | None = None, **_: Any) -> WolfObservation:  # noqa: ARG002
        """Answer, and return the next turn; answers to a game that is over are passed over."""
        turn = self._turn
        self._state.step_count += 1
        if turn is None or self._is_last(turn):
            raise ValueError("the game is over; begin another with reset")
        return self._observe(self._env.step(None if turn.ended else action.answer) or turn)

    @property
    def state(self) -> WolfState:
        """Return how the game stands."""
        return self._state

    def close(self) -> None:
        """End the game under way."""
        self._env.close()

    def _is_last(self, turn: Turn) -> bool:
        return turn.ended and turn.place == self._env.places[-1]

    def _observe(self, turn: Turn) -> WolfObservation:
        self._turn = turn
        self._state.seat = turn.seat
        done = self._is_last(turn)
        if done and (game := self._env.game) is not None:
            self._state.winner, self._state.record = game.winner, None if game.record is None else str(game.record)
        return WolfObservation(
            seat=turn.seat,
            kind=turn.kind,
            prompt=turn.prompt,
            legal=None if turn.legal is None else list(turn.legal),
            ask=turn.observation,
            reward=turn.reward,
            done=done,
        )


def served() -> Any:
    """Return the FastAPI application that serves games as the environment variables say; raises ConfigError."""
    make = partial(
        WolfEnvironment,
        os.environ.get(PLAYERS) or "learner*1,scripted*7",
        config=os.environ.get(CONFIG) or None,
    )
    text = os.environ.get(SESSIONS) or "16"
    if not text.isdecimal() or not (sessions := int(text)):
        raise ConfigError(f"{SESSIONS}: {printable(text, 20)} is no number of sessions from 1 on")
    return create_app(make, WolfAction, WolfObservation, "wolf", max_concurrent_envs=sessions, state_cls=WolfState)


app = served()
