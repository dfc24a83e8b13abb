"""Every message that travels or is recorded.

What an agent needs to take part stands here; the rest is in the modules: `base` (version, names), `claims`, `content`
(answers), `replies`, `delivery` (facts and questions), `events` (records), `codec` (bytes), `schema` (JSON Schema).
"""

from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.codec import decode_delivery, decode_news, encode
from wolfbus.messages.content import (
    CONTENT,
    AccusationClaim,
    Ballot,
    Bid,
    Choice,
    Claim,
    Content,
    InspectionClaim,
    Judgement,
    Label,
    Proposal,
    ProtectionClaim,
    RoleClaim,
    Speech,
)
from wolfbus.messages.events import AnyEvent
from wolfbus.messages.requests import REPLY, AnyReply, Ask, Delivery, Private, Public, SeatPart, TableNews

__all__ = [
    "CONTENT",
    "PROTOCOL",
    "REPLY",
    "AccusationClaim",
    "AnyEvent",
    "AnyReply",
    "Ask",
    "Ballot",
    "Bid",
    "Choice",
    "Claim",
    "Content",
    "Delivery",
    "InspectionClaim",
    "Judgement",
    "Label",
    "Private",
    "Proposal",
    "ProtectionClaim",
    "Public",
    "RoleClaim",
    "SeatPart",
    "Speech",
    "TableNews",
    "decode_delivery",
    "decode_news",
    "encode",
]
