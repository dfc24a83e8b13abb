"""Where a server grants everything, too: what an agent writes in another's name is rejected and changes nothing."""

from __future__ import annotations

from collections import Counter

from tests.isolation.outside import NAMES, Outside, Plan, opening, play, reply
from wolfbus.bus import Entry
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Role
from wolfbus.messages.requests import Ask

ROLES: tuple[Role, ...] = ("Villager", "Seer", "Villager", "Werewolf", "Doctor", "Werewolf", "Villager", "Villager")
SHORT = GameConfig(debate_turns=2, max_rounds=2, names=NAMES)
PLAN = Plan(exiles=("Hugo", "Dario"))
FORGER, FORGED = "Ada", "Bruno"
ELSEWHERE = "elsewhere"


def forge(table: Outside, seat: str, ask: Ask) -> list[Entry]:
    """Ada's agent answers for Bruno's whenever both are asked the same, in every way it can think of."""
    if seat != FORGER or ask.kind not in {"bid", "vote"} or table.opened.game == ELSEWHERE:
        return []
    game, me, other = table.opened.game, f"{table.opened.game}-{seat}", f"{table.opened.game}-{FORGED}"
    theirs = ask.id.replace(f"/{FORGER}", f"/{FORGED}")
    content: dict[str, object] = {"bid": 10} if ask.kind == "bid" else {"target": FORGER}
    moved_id = theirs.replace(game, ELSEWHERE, 1)
    return [
        Entry(reply(table, FORGED, ask, request=theirs, content=content), "reply", me, game),
        Entry(reply(table, FORGED, ask, request=theirs, content=content), "reply", other, game),
        Entry(reply(table, FORGED, ask, content=content), "reply", me, game),
        Entry(reply(table, FORGER, ask, request=theirs, content=content), "reply", me, game),
        Entry(reply(table, FORGER, ask, game=ELSEWHERE, content=content), "reply", me, game),
        Entry(reply(table, FORGER, ask, content=content), "reply", "moderator", game),
        Entry(reply(table, FORGED, ask, game=ELSEWHERE, request=moved_id, content=content), "reply", me, ELSEWHERE),
    ]


def test_what_an_agent_writes_in_anothers_name_is_rejected_and_changes_nothing(redis_url: str) -> None:
    honest, other = Outside(opening("a-game", ROLES, "7", SHORT, PLAN), PLAN), ELSEWHERE
    forged = Outside(opening("forged", ROLES, "7", SHORT, PLAN), PLAN, mischief=forge)
    elsewhere = Outside(opening(other, ROLES, "8", SHORT, PLAN), PLAN)
    undisturbed = Outside(opening("undisturbed", ROLES, "8", SHORT, PLAN), PLAN)
    play([honest, forged, elsewhere, undisturbed], redis_url)

    rejected = [line for line in forged.record if line["type"] == "rejected"]
    parts = (part for entry in forged.mailboxes[FORGER].deliveries() for part in entry.seats)
    request_count = sum(ask.kind in {"bid", "vote"} for part in parts for ask in part.asks)
    assert request_count > 5
    assert Counter(line["reason"] for line in rejected) == {"sender": 6 * request_count}
    assert {line["sender"] for line in rejected} == {f"forged-{FORGER}"}
    assert {line["sender"] for line in elsewhere.record if line["type"] == "rejected"} == {f"forged-{FORGER}"}
    assert not [line for line in (*honest.record, *undisturbed.record) if line["type"] == "rejected"]

    assert honest.over.digest == forged.over.digest
    assert elsewhere.over.digest == undisturbed.over.digest
    for seat in NAMES:
        bodies = [entry.body.replace(b"forged", b"a-game") for entry in forged.mailboxes[seat].entries]
        assert bodies == [entry.body for entry in honest.mailboxes[seat].entries]
