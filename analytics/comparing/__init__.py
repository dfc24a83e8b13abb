"""Comparison of two studies, or of two agents of one, in every headline metric."""

from analytics.comparing.comparison import compare, compare_agents
from analytics.comparing.written import as_csv, render

__all__ = ["as_csv", "compare", "compare_agents", "render"]
