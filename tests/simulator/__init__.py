"""Judgements drawn from a model with known parameters, for tests of what is estimated from them.

>>> from tests.simulator import draw_agents, simulate
>>> agents = draw_agents(6, seed=1)
>>> columns = simulate(agents, games=80, seed=2, game_sd=0.5)
"""

from tests.simulator.judgements import Agents, Curve, Setting, alike, draw_agents, finely_scored, judged_by, simulate

__all__ = ["Agents", "Curve", "Setting", "alike", "draw_agents", "finely_scored", "judged_by", "simulate"]
