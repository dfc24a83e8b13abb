"""How much a scripted player wants the floor: answers to accusations and news first, then temperament."""

from __future__ import annotations

from players.scripted.honest import found_wolves, wants_to_reveal
from players.scripted.standpoint import Standpoint
from players.scripted.wolfish import poses_as_seer, reporter_of
from wolfbus.messages.content import Bid


def bid(at: Standpoint) -> tuple[Bid, str | None]:
    """Return the bid, and the thought behind it where it has a reason."""
    urgency, thought = _urgency(at)
    most = at.view.config.bid_max
    return Bid(bid=min(max(round(urgency * most / 10), 0), most)), thought


def _urgency(at: Standpoint) -> tuple[int, str | None]:
    """Return urgency from 0 to 10."""
    urgent = _news(at)
    if urgent is not None:
        return urgent
    spoken = at.notes.spoken.get(at.me, 0)
    temper = 1 + int(2.0 * at.nature("temper") + 3.0 * at.chance("bid"))
    floor = at.notes.floor
    if floor is not None and floor.speaker != at.me:
        cues = at.notes.cues[floor.statement]
        if at.me in cues.accused:
            return 7 if spoken < 2 else 6, f"{floor.speaker} accuses me; answer."
        if at.me in cues.named:
            return min(temper + 3, 7) - spoken, f"{floor.speaker} spoke of me."
    pressed = at.notes.pressure.get(at.me)
    if pressed and any(number > at.notes.latest.get(at.me, 0) for number in pressed.values()):
        return 6, "There is an accusation to answer."
    return max(temper - 2 * spoken, 0), None


def _news(at: Standpoint) -> tuple[int, str] | None:
    role = at.view.role
    if role == "Seer" and at.view.inspections:
        untold = [name for name in found_wolves(at) if (at.me, name) not in at.notes.results]
        hidden = at.me not in at.notes.seers
        if (untold and not hidden) or (hidden and wants_to_reveal(at)):
            return 9, "What I saw has to be said today."
    elif role == "Werewolf":
        exposed = at.me not in at.notes.spoken and reporter_of(at, at.me) is not None
        if exposed or (at.ask.round >= 2 and poses_as_seer(at)):
            return 8, "Get my story out before theirs settles."
    return None
