"""All message types, found in the unions that travel, so that none can be forgotten."""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wolfbus.messages.calls import Called, Segments
from wolfbus.messages.events import AnyEvent
from wolfbus.messages.house import FromAgent, News, ToAgent
from wolfbus.messages.requests import AnyReply, Delivery, PrivateFact, PublicFact, TableNews


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
FROM_AGENT = list(members(FromAgent))
TO_AGENT = list(members(ToAgent))
HOUSE_NEWS = list(members(News))
ON_THE_WIRE = [*REPLIES, Called, Delivery, Segments, TableNews, *FROM_AGENT, *TO_AGENT, *HOUSE_NEWS]
FACTS = list(dict.fromkeys([*members(PublicFact), *members(PrivateFact)]))
EVERYTHING = list(dict.fromkeys([*ON_THE_WIRE, *EVENTS, *FACTS]))
