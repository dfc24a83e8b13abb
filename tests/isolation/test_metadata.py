"""From everything an agent receives before the end, it learns what the rules tell its seat, and nothing else.

Two attacks: compare, over all role assignments, every byte that a seat receives; and search what it received for
anything that can be computed from a guess at the seed or at the roles.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations

import pytest

from moderator.house import ModeratorSettings
from moderator.rules.game import deal
from tests.isolation import clock
from tests.isolation.outside import NAMES, Outside, Plan, Roles, clear, is_end, opening, play
from wolfbus.bus import streams
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import brain_seed, draw, game_seed
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.codec import plain
from wolfbus.messages.events import Opened
from wolfbus.record.digest import Digest
from wolfbus.record.line import Recorded, seal

ROLES: Roles = ("Villager",) * 4 + ("Werewolf",) * 2 + ("Seer", "Doctor")
ALL = sorted(set(permutations(ROLES)))
SHORT = GameConfig(debate_turns=1, max_rounds=2, names=NAMES)
FRESH = "c4f1e07b5a9d4d0e9a1b63f2a7785e0d"
"""A seed as houses draw them, 128 bits; fixed, so that a failure can be repeated."""

NOBODY_DIES = Plan(exiles=("Hugo", "Greta"), declines=("whisper", "kill", "protect", "inspect"))
"""No night kills; whoever is exiled may have been a Werewolf, so that one or two are left to be asked."""

TWO_DIE = Plan(victims=("Felix", "Esther"), exiles=("Hugo",), sights=("Chloe", "Bruno", "Ada"))
"""Doctors protect Ada, so both die wherever they are no Werewolves and one is left to choose them."""


# -- what a seat is told depends on nothing it must not know


def knowledge(seat: str, roles: Roles, plan: Plan) -> object:
    """Return what the rules tell a seat under a plan of two nights: its role, partners, and what it saw as a Seer."""
    by_name = dict(zip(NAMES, roles, strict=True))
    role = by_name[seat]
    if role == "Werewolf":
        return role, tuple(name for name in NAMES if by_name[name] == "Werewolf")
    if role != "Seer" or (seat == NAMES[-1] and "inspect" in plan.declines):
        return role
    seen: list[str] = []
    for night in range(2):
        excluded = {*plan.victims[:night], *plan.exiles[:night], seat, *seen}
        if seat in plan.victims[: night + 1] or seat in plan.exiles[:night]:
            break
        seen.append(next(name for name in plan.sights if name not in excluded))
    return role, tuple((name, by_name[name]) for name in seen)


def mail_of(opened: Opened, plan: Plan) -> dict[str, list[bytes]]:
    """Return what each seat is sent before the end, on a clock of our own, without a bus."""
    boxes = {streams.inbox(clock.HOUSE, seat.agent): seat.name for seat in opened.seats}
    mail: dict[str, list[bytes]] = {seat.name: [] for seat in opened.seats}
    for _, stream, entry in clock.play(opened, plan, lambda _seat, _ask: 1.0).posts:
        if stream in boxes and not is_end(entry):
            mail[boxes[stream]].append(b"|".join((*(word.encode() for word in clear(entry)), entry.body)))
    return mail


def worlds(plan: Plan) -> list[Roles]:
    """Return the assignments under which a plan plays out as it says."""

    def victims_die(roles: Roles) -> bool:
        by_name = dict(zip(NAMES, roles, strict=True))
        hunters = [name for name in NAMES if by_name[name] == "Werewolf" and name != plan.exiles[0]]
        return bool(hunters) and all(by_name[name] != "Werewolf" for name in plan.victims)

    return [roles for roles in ALL if not plan.victims or victims_die(roles)]


@pytest.mark.parametrize(
    ("plan", "config", "games"),
    [(NOBODY_DIES, SHORT.model_copy(update={"vote_reasons": False}), 140), (TWO_DIE, SHORT, 100)],
    ids=["nobody dies", "two die"],
)
def test_all_worlds_that_a_seat_cannot_tell_apart_send_it_the_same_bytes(
    plan: Plan, config: GameConfig, games: int
) -> None:
    mails_by_view: dict[tuple[str, object], list[list[bytes]]] = defaultdict(list)
    played = worlds(plan)
    played = played[:: len(played) // games]
    assert len(played) >= games
    for roles in played:
        for seat, mail in mail_of(opening("game", roles, FRESH, config, plan), plan).items():
            mails_by_view[seat, knowledge(seat, roles, plan)].append(mail)
    assert sum(len(mails) == 1 for mails in mails_by_view.values()) <= len(mails_by_view) // 4
    for (seat, view), mails in mails_by_view.items():
        longest = max(mails, key=len)
        for mail in mails:
            # a game may end earlier in one world than in another: that is public
            assert mail == longest[: len(mail)], (seat, view)
    # and it is the worlds that differ, not the plan that is blind: what the rules do tell shows
    assert len({tuple(mails[0]) for mails in mails_by_view.values()}) == len(mails_by_view)


@pytest.mark.parametrize("plan", [NOBODY_DIES, TWO_DIE], ids=["nobody dies", "two die"])
def test_so_it_is_on_a_bus_with_ids_clear_fields_welcome_and_catch_ups(plan: Plan) -> None:
    played = worlds(plan)
    villagers = [roles for roles in played if roles[1] == "Villager"][:: len(played) // 20]
    tables = [
        Outside(opening(f"game-{n:02}", roles, FRESH, SHORT, plan), plan, catch_up=True)
        for n, roles in enumerate(villagers)
    ]
    assert 8 <= len(tables) <= 12
    play(tables)
    mails_by_view: dict[tuple[str, object], list[list[bytes]]] = defaultdict(list)
    for table in tables:
        for seat, mailbox in table.mailboxes.items():
            voted = seat not in plan.victims[:1]
            assert voted == any(entry.type == "catch_up" for entry in mailbox.before_the_end())
            mail = [text.replace(table.opened.game.encode(), b"the-game") for text in mailbox.bytes()]
            mails_by_view[seat, knowledge(seat, tuple(table.roles.values()), plan)].append(mail)
    for (seat, view), mails in mails_by_view.items():
        longest = max(mails, key=len)
        assert all(mail == longest[: len(mail)] for mail in mails), (seat, view)
    assert len(mails_by_view["Bruno", "Villager"]) == len(tables)


def test_a_mailbox_counts_its_own_messages_and_nobody_elses(redis_url: str) -> None:
    table = Outside(opening("game", ALL[400], FRESH, SHORT, TWO_DIE), TWO_DIE)
    play([table], redis_url)
    counts = set()
    for mailbox in table.mailboxes.values():
        numbers = [int(entry.id.partition("-")[2]) for entry in mailbox.entries]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[0] <= 1
        assert {entry.number for entry in mailbox.entries} == {0}
        counts.add(len(numbers))
    assert len(counts) > 1, "boxes of equal length would prove nothing"


# -- what was received gives no handle on the seed


class Haystack:
    """All that was received, and a search for hashes in any of the ways they are written."""

    def __init__(self, received: Iterable[bytes]) -> None:
        self._raw: set[bytes] = set()
        self._text: set[bytes] = set()
        for piece in received:
            self._raw.update(piece[at : at + 6] for at in range(len(piece)))
            lower = piece.lower()
            self._text.update(lower[at : at + 10] for at in range(len(lower)))

    def holds(self, digest: bytes) -> bool:
        """Tell whether a digest, or its beginning or end, was received as bytes, hex digits or base64."""
        text = digest.hex().encode()
        return (
            digest[:6] in self._raw
            or digest[-6:] in self._raw
            or text[:10] in self._text
            or text[-10:] in self._text
            or base64.b64encode(digest)[:10].lower() in self._text
        )

    def says(self, words: str) -> bool:
        """Tell whether words were received (their first ten characters will do)."""
        return words.lower().encode()[:10] in self._text


def of_seed(seed: str, names: Iterable[str]) -> Iterator[bytes]:
    """Yield every hash that the system computes from a seed alone, and the obvious ones."""
    yield hashlib.sha256(seed.encode()).digest()
    for name in names:
        yield bytes.fromhex(brain_seed(seed, name))
    for purpose in ("names", "roles"):
        for n in range(1, 16):
            yield draw(seed, purpose, n=n).to_bytes(32, "big")
    for purpose in ("floor", "kill"):
        for round_ in (1, 2):
            yield draw(seed, purpose, round_, 1).to_bytes(32, "big")
    for number in range(1, 5):
        # its 128 bits, padded so that both ends can be looked for
        yield bytes.fromhex(game_seed(seed, number)) * 2


def of_opening(opened: Opened) -> Iterator[bytes]:
    """Yield every hash that depends on who is what: the record's first seal, digests, and the obvious ones."""
    recorded, line = seal("", Recorded(1, 0.0, AudienceFilter().audience(opened), opened))
    yield bytes.fromhex(recorded.hash)
    yield hashlib.sha256(line).digest()
    digest = Digest()
    digest.feed(opened)
    yield bytes.fromhex(digest.hexdigest())
    roles = {seat.name: seat.role for seat in opened.seats}
    for value in (roles, list(roles.values()), plain(opened.config)):
        for written in (
            json.dumps(value),
            json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        ):
            yield hashlib.sha256(written.encode()).digest()


def played_with(seed: str, in_house: tuple[str, ...] = ()) -> Outside:
    """Play a game whose names and roles follow from its seed, as houses do."""
    config = GameConfig(debate_turns=2, max_rounds=2)
    dealt = deal(config, seed)
    plan = Plan(exiles=(dealt[7][0],), names=tuple(name for name, _ in dealt))
    table = Outside(
        opening("game", tuple(role for _, role in dealt), seed, config, plan, in_house), plan, catch_up=True
    )
    play([table])
    return table


@pytest.fixture(scope="module")
def fresh() -> Outside:
    return played_with(FRESH)


def test_no_hash_of_any_assignment_or_seed_was_received_before_the_end(fresh: Outside) -> None:
    haystack = Haystack(piece for mailbox in fresh.mailboxes.values() for piece in mailbox.bytes())
    assert not haystack.says(FRESH)
    names = list(fresh.roles)
    seeds = [seed for seed in (FRESH, *map(str, range(1000))) if any(map(haystack.holds, of_seed(seed, names)))]
    assert not seeds
    for roles in ALL:
        seats = tuple(
            seat.model_copy(update={"role": role}) for seat, role in zip(fresh.opened.seats, roles, strict=True)
        )
        guess = fresh.opened.model_copy(update={"seats": seats})
        assert not any(map(haystack.holds, of_opening(guess))), roles
    sealed = [bytes.fromhex(line["hash"]) for line in fresh.record]
    assert len(sealed) > 100
    assert not any(map(haystack.holds, (*sealed, bytes.fromhex(fresh.over.digest))))


def test_the_search_finds_what_is_there_to_be_found(fresh: Outside) -> None:
    # after the end the seed is told; an in-house seat is given its brain's; and any one hash would show
    after = Haystack(entry.body for mailbox in fresh.mailboxes.values() for entry in mailbox.entries)
    assert after.says(FRESH)
    seat = next(iter(fresh.roles))
    mailboxes = played_with("7").mailboxes
    outsider = Haystack(mailboxes[next(iter(mailboxes))].bytes())
    inside = played_with("7", in_house=tuple(mailboxes))
    insider = Haystack(inside.mailboxes[next(iter(mailboxes))].bytes())
    assert [seed for seed in map(str, range(1000)) if any(map(insider.holds, of_seed(seed, mailboxes)))] == ["7"]
    assert not any(outsider.holds(digest) for seed in map(str, range(1000)) for digest in of_seed(seed, mailboxes))
    seal_of_it = bytes.fromhex(fresh.record[50]["hash"])
    for text in (seal_of_it, seal_of_it[:8], seal_of_it.hex().encode(), seal_of_it.hex()[:12].encode()):
        assert Haystack([b"x" + text + b"y", fresh.mailboxes[seat].bytes()[0]]).holds(seal_of_it)


def test_a_short_seed_is_found_from_the_names_alone_and_a_fresh_one_is_not(fresh: Outside) -> None:
    # this is no leak that could be closed: who may try all seeds needs but one thing that follows from the right one
    config = fresh.opened.config

    def seeds_that_fit(table: Outside) -> list[str]:
        names = table.mailboxes[next(iter(table.mailboxes))].deliveries()[0].seats[0].facts[0].fact.names
        return [seed for seed in map(str, range(1000)) if tuple(name for name, _ in deal(config, seed)) == names]

    short = played_with("7")
    assert seeds_that_fit(short) == ["7"]
    assert dict(deal(config, "7")) == short.roles
    assert seeds_that_fit(fresh) == []


def test_the_end_of_one_game_says_nothing_of_the_next_whether_or_not_the_session_was_given_a_seed() -> None:
    session_seed = "the session's own, and long enough"
    seeded, drawn = (ModeratorSettings("memory://", games=None, seed=seed) for seed in (session_seed, None))
    game_seeds = [seeded.seed_of(number) for number in range(1, 20)]
    # the session's seed is no game's, and no game's seed is computed from another's
    assert session_seed not in game_seeds
    assert not {game_seed(seed, number) for seed in game_seeds for number in range(1, 20)}.intersection(game_seeds)
    for seeds in (seeded, drawn):
        assert len({seeds.seed_of(number) for number in range(1, 100)}) == 99
        assert all(len(bytes.fromhex(seeds.seed_of(number))) == 16 for number in (1, 2, 3))


def test_outsiders_get_no_seed_and_nobody_the_roles(fresh: Outside) -> None:
    for mailbox in fresh.mailboxes.values():
        first = mailbox.deliveries()[0].seats[0].facts[0].fact
        assert (first.type, first.seat) == ("seated", mailbox.seat)
        assert first.brain_seed is None
        assert first.config.roles is None
