"""All message types, found in the unions that travel, so that none can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wolfbus.messages.calls import Called, Segments
from wolfbus.messages.delivery import Delivery, PrivateFact, PublicFact, TableNews
from wolfbus.messages.events import AnyEvent
from wolfbus.messages.replies import AnyReply


def members(union: Any) -> Iterator[type[BaseModel]]:
    """Yield the models of a possibly nested union."""
    if isinstance(union, type):
        yield union
        return
    for arm in get_args(union):
        if not isinstance(arm, FieldInfo):
            yield from members(arm)


EVENTS = list(members(AnyEvent))
REPLIES = list(members(AnyReply))
ON_THE_WIRE = [*REPLIES, Called, Delivery, Segments, TableNews]
FACTS = list(dict.fromkeys([*members(PublicFact), *members(PrivateFact)]))
EVERYTHING = list(dict.fromkeys([*ON_THE_WIRE, *EVENTS, *FACTS]))
