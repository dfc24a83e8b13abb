"""The game as an environment of PettingZoo: `WolfAEC`, one agent acting at a time (AEC), in words.

Actions are text, and so is the ``prompt`` of observations, as language models are asked and answer;
``infos[agent]["ask"]`` has the same as JSON, but without its id: no answer needs it, and it names the game, which is
another every time.
"""

from __future__ import annotations

from typing import Any, ClassVar

from wolfbus.errors import not_installed

try:
    from gymnasium.spaces import Dict, Space
    from pettingzoo import AECEnv
except ImportError as error:
    raise not_installed("pettingzoo", "pettingzoo") from error

from wolfbus.env import Env, Turn
from wolfbus.game.draws import game_seed
from wolfbus.running.play import PlayersOf


class Words(Space[str]):
    """Any text. A sample is a digit or "null", which is an answer, if a poor one, to most requests."""

    def __init__(self) -> None:
        super().__init__(shape=(), dtype=None)

    def contains(self, x: object) -> bool:
        """Return whether it is text."""
        return isinstance(x, str)

    def sample(self, mask: object = None, probability: object = None) -> str:  # noqa: ARG002 - as Space has it
        """Return a random digit or "null"."""
        drawn = int(self.np_random.integers(11))
        return "null" if drawn == 10 else str(drawn)

    @property
    def is_np_flattenable(self) -> bool:
        """Return that it has no form in numbers."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words)

    def __hash__(self) -> int:
        return hash(Words)


class WolfAEC(AECEnv[str, dict[str, str], str | None]):
    """One game of WOLF; its agents are the learners' seats, ``seat_1`` to ``seat_8`` by seating order.

    All agents end together, when the game does, and then have their rewards: 1 where their side won, -1 where it lost.
    An agent that is killed or exiled is asked nothing more, and waits for that end.

    Args:
        players: who plays; see `wolfbus.env.Env`.
        options: further arguments of `Env`.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "wolf_v0", "render_modes": [], "is_parallelizable": False}
    render_mode = None

    def __init__(self, players: PlayersOf = "learner", **options: Any) -> None:
        super().__init__()
        self._env = Env(players, **options)
        self.possible_agents = [f"seat_{place}" for place in self._env.places]
        self._observation_space, self._action_space = Dict({"prompt": Words()}), Words()
        self.agents: list[str] = []
        self._seed: str | None = None
        self._since_seeded = 0

    def observation_space(self, agent: str) -> Dict:  # noqa: ARG002 - all agents have the same
        """Return that an observation is a text, under "prompt"."""
        return self._observation_space

    def action_space(self, agent: str) -> Words:  # noqa: ARG002 - as above
        """Return that an action is text."""
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - none
        """Begin a game; without a seed, the next of those that follow from the last seed that was given, if any was."""
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._observed = dict.fromkeys(self.agents, "")
        self._show(self._env.reset(self._seed_of_next(seed)))

    def _seed_of_next(self, seed: int | None) -> str | None:
        if seed is not None:
            self._seed, self._since_seeded = str(seed), 0
            return self._seed
        self._since_seeded += 1
        return None if self._seed is None else game_seed(self._seed, self._since_seeded)

    def observe(self, agent: str) -> dict[str, str]:
        """Return what an agent was asked last, with all that it knew then; "" before it was asked anything."""
        return {"prompt": self._observed[agent]}

    def step(self, action: str | None) -> None:
        """Answer for the agent that is selected."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        turn = self._env.step(action)
        while turn is not None:
            self._show(turn)
            turn = self._env.step() if turn.ended else None
        self._accumulate_rewards()

    def close(self) -> None:
        """End the game under way."""
        self._env.close()

    def _show(self, turn: Turn) -> None:
        agent = f"seat_{turn.place}"
        self._observed[agent] = turn.prompt
        self.infos[agent] = {"ask": {name: value for name, value in turn.observation.items() if name != "id"}}
        if turn.ended:
            self.rewards[agent], self.terminations[agent] = turn.reward, True
            # they step out in the order in which they are told
            agent = next(name for name in self.agents if self.terminations[name])
        self.agent_selection = agent
