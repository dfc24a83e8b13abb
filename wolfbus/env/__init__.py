"""One pull environment over the game, for training and for whoever would rather ask than be asked: `Env`, `Turn`.

Adapters to what others train with are modules beside it, each behind an extra of its name: see docs/environments.md.
"""

from wolfbus.running.pulled import LEARNER, Env, Learner, Turn

__all__ = ["LEARNER", "Env", "Learner", "Turn"]
