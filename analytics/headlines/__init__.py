"""Headline metrics with intervals (paper, section 5.9; metrics: variability): sums per game, formulas over them, and
one bootstrap that resamples whole blocks.
"""

from analytics.headlines.agents import agents
from analytics.headlines.measures import MEASURES, Measure
from analytics.headlines.variability import variability

__all__ = ["MEASURES", "Measure", "agents", "variability"]
