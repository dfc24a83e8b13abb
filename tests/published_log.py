"""The log that the paper's authors published: not in this repository, and its tests are left out where it is absent."""

from __future__ import annotations

from pathlib import Path

PUBLISHED = Path(__file__).parents[2] / "shared" / "data" / "wolf-20250810-192402-events.ndjson"
