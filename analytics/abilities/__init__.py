"""Deceivers and detectors on one scale: a Rasch-type model of who flags whom (metrics: beyond the paper).

`cells` lays the judgements out, `components` says who can be compared, `likelihood` integrates out the statement's
effect, `fit` finds the most probable parameters, `draws` their intervals, `section` says it all.
"""

from __future__ import annotations

from analytics.abilities.section import MODEL, abilities

__all__ = ["MODEL", "abilities"]
