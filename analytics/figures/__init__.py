"""The report's figures, each a function from findings to an ``<svg>`` element that HTML takes as it stands.

A figure is None where there is nothing to draw; the section it draws says why. Figures have no ``style`` attribute,
script or link, so a page may forbid all three; colours are the variables of `css`, which the page's stylesheet has to
include.
"""

from __future__ import annotations

from analytics.figures.bars import confusion, production_by_role, win_shares
from analytics.figures.chart import css
from analytics.figures.curves import figure1, reliability, roc
from analytics.figures.forest import Panel, forest
from analytics.figures.heatmap import suspicion_heatmap

__all__ = [
    "Panel",
    "confusion",
    "css",
    "figure1",
    "forest",
    "production_by_role",
    "reliability",
    "roc",
    "suspicion_heatmap",
    "win_shares",
]
