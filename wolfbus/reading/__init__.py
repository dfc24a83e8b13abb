"""The reading ladder: what a model wrote, as a typed reply, with the liberties that took; see `ladder`."""

from wolfbus.reading.answer import Question
from wolfbus.reading.ladder import Fields, Read, read, read_fields
from wolfbus.reading.parts import read_parts
from wolfbus.reading.values import Resolved, normalise, resolve_name

__all__ = ["Fields", "Question", "Read", "Resolved", "normalise", "read", "read_fields", "read_parts", "resolve_name"]
