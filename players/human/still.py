"""A seat's view held still: a person takes time to read, and the view that was handed over goes on changing."""

from __future__ import annotations

import copy
from dataclasses import fields

from wolfbus.view import SeatView


def still(view: SeatView) -> SeatView:
    """Return a view that knows what this one knows now, and learns nothing more; facts are shared."""
    held = copy.copy(view)
    for field in fields(view):
        value = getattr(view, field.name)
        if isinstance(value, list | dict):
            setattr(held, field.name, value.copy())
    held.suspicion = copy.deepcopy(view.suspicion)
    return held
