"""What the WOLF paper prints, to stand beside a study's own numbers, and where the paper contradicts itself.

Facts only, arranged by the sections of the findings. Nothing here is ever fitted to: the analytics follows its
definitions, and tests feed it the paper's own counts to see what follows from them.
"""

from __future__ import annotations

from analytics.published.compared import published
from analytics.published.contradictions import Contradiction, contradictions

__all__ = ["Contradiction", "contradictions", "published"]
