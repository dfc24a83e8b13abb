"""Comparison of two studies, or of two agents of one, in every headline metric."""

from analytics.compare.comparison import compare, compare_agents
from analytics.compare.written import as_csv, compared_page, render

__all__ = ["as_csv", "compare", "compare_agents", "compared_page", "render"]
