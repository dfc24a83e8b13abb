"""Checks of an agent: how it comes, every kind of request as every role, whole games and several at once; what happens
rarely: odd words, a single choice, repeats, haste, and catch-ups; heartbeats, and how it leaves.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Final

from moderator.check.finding import Finding
from moderator.check.rivals import HOSTILE, ODD, PLAIN, Cast
from moderator.check.trial import DEFAULT_CAST, Check, Plot, Scene, SkippedError, Trial, TrialTerms
from moderator.rules.table import Script
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.game.roles import FACTS
from wolfbus.game.vocabulary import ROLES, Role
from wolfbus.messages.codec import pack
from wolfbus.messages.content import Speech
from wolfbus.messages.events import Dawn
from wolfbus.messages.house import Goodbye, RollCall


def roll_call(trial: Trial) -> str:
    """Call the roll: it says join at once."""
    joins, again_s = trial.house.joins, trial.terms.again_s
    for _ in range(_ROLL_CALLS):
        asked_at, heartbeat_at = time.monotonic(), joins[-1] + _EARLY * again_s
        trial.house.tell(RollCall())
        until = asked_at + 3 * again_s
        # one that came before it was asked may be dealt with only now, and is no answer
        while joins[-1] < asked_at and time.monotonic() < until:
            trial.house.process(min(until, time.monotonic() + 0.02))
        answered_at = next((at for at in joins if at >= asked_at), None)
        if answered_at is None:
            trial.ledger.fault("roll call not answered", "fail", f"no join within {3 * again_s:g} s")
            return ""
        if answered_at < heartbeat_at:
            return f"said join after {(answered_at - asked_at) * 1000:.0f} ms"
        # that may have been its heartbeat: the next is far off now
    example = "it says join no sooner than its heartbeat is due: a moderator that comes back waits for that"
    trial.ledger.fault("roll call not answered", "warn", example)
    return ""


_ROLL_CALLS: Final = 3
"""How often the roll is called of an agent whose join may have been its heartbeat."""
_EARLY: Final = 0.8
"""Share of the time between two heartbeats before which a join is none."""


def whole_game(place: int, role: Role, cast: Cast = DEFAULT_CAST) -> Callable[[Trial], str]:
    """Return what plays a whole game by the rules, the agent in seat `place`, counted from 0."""

    def play(trial: Trial) -> str:
        game = trial.open((place,), role, cast)
        trial.play(game)
        return f"{game.request_count} requests to {game.opened.seats[place].name}, to the end"

    return play


def game_over(trial: Trial) -> str:
    """See whether it is silent after the end, even if an old question comes once more."""
    last_asks = next(reversed(trial.games.values())).last_asks
    if last_asks is not None:
        trial.house.post(last_asks)
    trial.settle()
    return "silent, and an old question again got no answer"


def two_seats(trial: Trial) -> str:
    """Seat it twice in one game."""
    _require_two_seats(trial)
    game = trial.open((1, 4), "Villager")
    trial.play(game)
    return f"{game.request_count} requests to {game.opened.seats[1].name} and {game.opened.seats[4].name}"


def two_games(trial: Trial) -> str:
    """Let it play two games at once."""
    _require_two_seats(trial)
    games = [trial.open((0,), "Seer"), trial.open((3,), "Villager", Cast(names=PLAIN[::-1]))]
    trial.play(*games)
    return f"{sum(game.request_count for game in games)} requests"


def _require_two_seats(trial: Trial) -> None:
    if trial.house.member.seats < 2:
        raise SkippedError("it takes one seat")


def scene(plot: Plot, seen: str, role: Role = "Villager", cast: Cast = DEFAULT_CAST) -> Callable[[Trial], str]:
    """Return what plays a game of single questions.

    Args:
        plot: what happens.
        seen: what was seen if nothing goes wrong; it may name what the `scene` knows.
        role: what the seat that is asked is dealt.
        cast: who plays.
    """
    return lambda trial: seen.format(scene=trial.scene(plot, role, cast))


def every_kind(scene: Scene) -> Script[None]:
    """Put every kind of request to a seat, with as little before it as can be."""
    if FACTS[scene.role].acts:
        yield from scene.ask(next(iter(FACTS[scene.role].acts)), scene.others)
    yield Dawn(round=1)
    yield from scene.ask("bid")
    content = (yield from scene.ask("speak")).content
    text = content.text if isinstance(content, Speech) else "Well."
    yield from scene.ask("assess_own", about=(yield from scene.say(text, scene.seat)))
    yield from scene.ask("assess_other", about=(yield from scene.say("I have nothing to say.")))
    yield from scene.ask("vote", (*scene.others, None))


def hostile_words(scene: Scene) -> Script[None]:
    """Let it judge what may unsettle a parser, a terminal or a model."""
    for text in HOSTILE:
        yield from scene.ask("assess_other", about=(yield from scene.say(text)))
    yield from scene.ask("speak")
    yield from scene.ask("vote", (*scene.others, None))


def one_answer(trial: Trial) -> str:
    """Leave it one legal answer."""
    trial.scene(lambda scene: scene.ask("inspect", scene.others[3:4]), "Seer")
    trial.scene(lambda scene: scene.ask("vote", (scene.others[2], None)))
    return "one to inspect; a vote for one name or nobody"


def repeated_request(scene: Scene) -> Script[None]:
    """Put the same request twice."""
    scene.game.mailing = "twice"
    yield from scene.ask("bid")
    yield from scene.pause(scene.trial.terms.settle_s)


def tight_deadline(trial: Trial) -> str:
    """Leave it little time; that it is late is put up with, what it costs is said."""
    tight_s = trial.terms.tight_s

    def plot(scene: Scene) -> Script[None]:
        scene.game.strict = False
        answer = yield from scene.ask("bid")
        if answer.outcome == "timed_out":
            yield from scene.pause(min(trial.terms.deadline_s, 5 * tight_s) * 0.9)

    trial.scene(plot, cast=Cast(bid_s=tight_s))
    trial.scene(lambda scene: scene.ask("bid"))
    return f"a bid within {tight_s:g} s"


def caught_up(scene: Scene) -> Script[None]:
    """Tell it everything again in mid-game, as after a moderator's restart."""
    yield from scene.ask("inspect", scene.others)
    yield from scene.ask("speak")
    yield Dawn(round=1)
    scene.game.mailing = "caught up"
    yield from scene.ask("vote", (*scene.others, None))
    yield from scene.ask("bid")


def later_versions(scene: Scene) -> Script[None]:
    """Send it what may come within this version of the protocol, and a message of the next one."""
    for body in ({"v": 1, "type": "weather", "rain": True}, {"v": 2, "type": "goodbye", "reason": "of version 2"}):
        scene.trial.house.post(Entry(pack(body), str(body["type"]), "moderator"))
    scene.game.mailing = "with more"
    yield Dawn(round=1)
    yield from scene.ask("bid")


def unknown_game(scene: Scene) -> Script[None]:
    """Tell it a long game from the beginning, as after its own restart."""
    yield Dawn(round=1)
    for number in range(150):
        speaker = scene.others[number % len(scene.others)]
        yield from scene.say(f"I have said it before ({number}): {'we are talking in circles. ' * 8}", speaker)
    scene.game.mailing = "caught up"
    yield from scene.ask("assess_other", about=scene.statements)
    yield from scene.ask("speak")


def heartbeats(trial: Trial) -> str:
    """Look back on its joins, and wait for as many as tell."""
    house, again_s = trial.house, trial.terms.again_s
    patience = 3 * again_s
    while time.monotonic() < house.joins[-1] + patience and len(house.joins) < 3:
        trial.settle(min(0.05, again_s))
    longest = max(after - before for before, after in itertools.pairwise([*house.joins, time.monotonic()]))
    if longest > patience:
        example = f"{longest:.1f} s without a join, where one every {again_s:g} s was asked for"
        trial.ledger.fault("heartbeat missing", "fail", f"{example}: it counts as gone and is seated in no new game")
    elif house.member.seen in {None, "0-0"}:
        example = "its joins never say what it has read, so its mailbox is cut only when it is full"
        trial.ledger.fault("seen missing", "warn", example)
    return f"{len(house.joins)} joins, never more than {longest:.1f} s apart"


def goodbye(trial: Trial) -> str:
    """Close the house: it leaves, or falls silent."""
    house = trial.house
    joins = len(house.joins)
    trial.finish()
    if house.left is None:
        house.tell(Goodbye(reason="the trial is over"))
        trial.settle(2 * trial.terms.again_s + trial.terms.settle_s)
    if house.left is not None:
        return "it said leave"
    # one join may have been under way
    if len(house.joins) > joins + 1:
        trial.ledger.fault("stays", "warn", "it went on saying join after goodbye")
    return "it fell silent"


CHECKS: Final = (
    Check("roll call", roll_call),
    *(
        Check(f"every kind alone, as {role}", scene(every_kind, "{scene.game.request_count} requests", role))
        for role in ROLES
    ),
    Check("game 1, as Villager", whole_game(0, "Villager")),
    Check("game over", game_over),
    Check("game 2, as Werewolf with a partner", whole_game(3, "Werewolf", Cast(pack=True))),
    Check("game 3, as the only Werewolf", whole_game(5, "Werewolf")),
    Check("game 4, as Seer, two rounds", whole_game(2, "Seer", Cast(rounds=2))),
    Check("game 5, as Doctor among odd names", whole_game(4, "Doctor", Cast(names=ODD))),
    Check("two seats in one game", two_seats),
    Check("two games at once", two_games),
    Check(
        "hostile words",
        scene(
            hostile_words,
            f"{len(HOSTILE)} statements to judge, up to {max(len(text.encode()) for text in HOSTILE):,} bytes",
            cast=Cast(names=ODD),
        ),
    ),
    Check("one legal answer", one_answer),
    Check("the same request twice", scene(repeated_request, "one answer")),
    Check("a tight deadline", tight_deadline),
    Check("catch-up in mid-game", scene(caught_up, "known facts again, and an open request among them", "Seer")),
    Check(
        "what may come later",
        scene(later_versions, "members and a type of message that nobody knows yet, and a message of version 2"),
    ),
    Check(
        "catch-up on an unknown game",
        scene(unknown_game, "a game that it never heard of, {scene.statements} statements long"),
    ),
    Check("heartbeats", heartbeats, even_if_silent=True),
    Check("goodbye", goodbye, even_if_silent=True),
)
"""Every check, in order."""


def try_agent(
    bus: Bus,
    house: str,
    name: str | None = None,
    terms: TrialTerms | None = None,
    watch: Callable[[Finding], None] = lambda _finding: None,
    why_gone: Callable[[], str | None] = lambda: None,
) -> list[Finding]:
    """Put an agent through every check, and return what was found, in order.

    Args:
        bus: the bus that it joins on.
        house: a house without a moderator.
        name: the agent's name; None for the first that knocks.
        terms: how long to wait.
        watch: sees every finding as soon as it stands.
        why_gone: returns why the agent cannot come any more, None while it may.

    Raises:
        HouseHeld: another moderator has the house.
        BusError: the bus fails.
    """
    return Trial(bus, house, name, terms or TrialTerms(), watch, why_gone).run(CHECKS)
