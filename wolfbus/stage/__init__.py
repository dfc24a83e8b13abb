"""The stage: what a person sees of a game, as beats; computed here, shown by the page and never by rules of its own."""

from __future__ import annotations

from wolfbus.stage.document import GameFeed, all_viewers

__all__ = ["GameFeed", "all_viewers"]
