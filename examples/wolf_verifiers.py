"""WOLF as a multi-agent environment of verifiers 0.4: every learner's seat is a rollout with its own reward.

    PYTHONPATH=examples vf-eval wolf_verifiers -m MODEL -n 4

verifiers and wolfbus want different versions of the package openai; docs/environments.md says how to install both.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Iterator

import verifiers.v1 as vf

from wolfbus.env import Env

__all__ = ["WolfEnv", "WolfTaskset"]


class WolfData(vf.TaskData):
    seed: str


class WolfTask(vf.Task[WolfData]):
    pass


class WolfConfig(vf.TasksetConfig):
    seed: str = "verifiers"
    """From which the games' are drawn: game n has the seed SEED-n."""
    games: int = 100


class WolfTaskset(vf.Taskset[WolfTask, WolfConfig]):
    def load(self) -> Iterator[WolfTask]:
        for number in range(1, self.config.games + 1):
            seed = f"{self.config.seed}-{number}"
            yield WolfTask(WolfData(name=f"wolf#{number}", prompt=None, seed=seed), self.config.task)


class WolfEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})
    """Plays every learner's seat; each seat is a conversation of its own."""
    players: str = "learner*2,scripted*6"
    """Who plays; see docs/environments.md."""


class Seat:
    """One learner's seat: a conversation, which remembers what it was told."""

    def __init__(self, player: vf.Interaction) -> None:
        self.player = player
        self._told = ""
        self._is_over = False

    async def answer(self, prompt: str) -> str | None:
        # what stood in the prompt before is not told again
        lines, before = prompt.splitlines(keepends=True), self._told.splitlines(keepends=True)
        pairs = zip(lines, before, strict=False)
        known = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._told = prompt
        if not self._is_over:
            segment = await self.player.turn("".join(lines[known:]))
            self._is_over = segment.terminated
        return None if self._is_over else segment.last_reply


class WolfEnv(vf.Env[WolfEnvConfig]):
    async def run(self, task: WolfTask, agents: vf.Agents) -> None:
        seats: dict[str, Seat] = {}
        rewards: dict[str, float] = {}
        async with contextlib.AsyncExitStack() as stack:
            env = stack.enter_context(Env(self.config.players))
            turn = await asyncio.to_thread(env.reset, task.data.seed)
            while turn is not None:
                answer = None
                if turn.ended:
                    rewards[turn.seat] = turn.reward
                else:
                    if turn.seat not in seats:
                        seats[turn.seat] = Seat(await stack.enter_async_context(agents.player.interaction(task)))
                    answer = await seats[turn.seat].answer(turn.prompt)
                turn = await asyncio.to_thread(env.step, answer)
        for name, seat in seats.items():
            seat.player.trace.record_reward("won", rewards[name])
