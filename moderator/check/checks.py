"""Checks of an agent: how it comes, every kind of request as every role, whole games and several at once; what happens
rarely: odd words and choices, repeats, haste, the unknown and what was missed; heartbeats, ids, and how it leaves.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, Final

from moderator.check.finding import FindingSheet
from moderator.check.game import Scene
from moderator.check.house import grown
from moderator.check.rivals import HOSTILE, ODD, PLAIN, Cast
from moderator.check.stage import Stage
from moderator.rules.table import Script
from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.content import Speech
from wolfbus.messages.events import Dawn, Exile
from wolfbus.messages.house import Goodbye, RollCall, Welcome
from wolfbus.roles import FACTS
from wolfbus.vocabulary import Role


def roll_call(stage: Stage, sheet: FindingSheet) -> None:
    """Call the roll: it says join at once."""
    before = len(stage.house.joins)
    asked = time.monotonic()
    stage.house.tell(RollCall())
    until = asked + stage.terms.again_s * 3
    while len(stage.house.joins) == before and time.monotonic() < until:
        stage.house.hear(min(until, time.monotonic() + 0.02))
    if len(stage.house.joins) == before:
        said = f"no join within {3 * stage.terms.again_s:g} s"
        stage.ledger.fault("roll call not answered", "fail", said)
    else:
        took = stage.house.joins[before] - asked
        sheet.seen = f"said join after {took * 1000:.0f} ms"


def alone(role: Role) -> Callable[[Stage, FindingSheet], None]:
    """Return the check that puts every kind of request to a seat with `role`, with as little before it as can be."""

    def plot(scene: Scene) -> Script[None]:
        if FACTS[role].acts:
            yield from scene.ask(next(iter(FACTS[role].acts)), scene.others)
        yield Dawn(round=1)
        yield from scene.ask("bid")
        content = (yield from scene.ask("speak")).content
        text = content.text if isinstance(content, Speech) else "Well."
        yield from scene.ask("assess_own", about=(yield from scene.say(text, scene.seat)))
        yield from scene.ask("assess_other", about=(yield from scene.say("I have nothing to say.")))
        yield from scene.ask("vote", (*scene.others, None))

    def check(stage: Stage, sheet: FindingSheet) -> None:
        sheet.seen = f"{stage.scene(plot, role).game.asked} requests"

    return check


def whole(place: int, role: Role, cast: Cast = Cast()) -> Callable[[Stage, FindingSheet], None]:  # noqa: B008 - frozen
    """Return the check that plays a whole game by the rules, the agent in seat `place`, counted from 0."""

    def check(stage: Stage, sheet: FindingSheet) -> None:
        game = stage.open((place,), role, cast)
        stage.play(game)
        sheet.seen = f"{game.asked} requests to {game.opened.seats[place].name}, to the end"

    return check


def game_over(stage: Stage, sheet: FindingSheet) -> None:
    """See whether it is silent after the end, even if an old question comes once more."""
    game = stage.games[-1]
    if game.last_asks is not None:
        stage.house.post(game.last_asks)
    stage.settle()
    sheet.seen = "silent, and an old question again got no answer"


def two_seats(stage: Stage, sheet: FindingSheet) -> None:
    """Seat it twice in one game."""
    if not _takes_two(stage, sheet):
        return
    game = stage.open((1, 4), "Villager")
    stage.play(game)
    sheet.seen = f"{game.asked} requests to {game.opened.seats[1].name} and {game.opened.seats[4].name}"


def two_games(stage: Stage, sheet: FindingSheet) -> None:
    """Let it play two games at once."""
    if not _takes_two(stage, sheet):
        return
    games = [stage.open((0,), "Seer"), stage.open((3,), "Villager", Cast(names=PLAIN[::-1]))]
    stage.play(*games)
    sheet.seen = f"{sum(game.asked for game in games)} requests"


def _takes_two(stage: Stage, sheet: FindingSheet) -> bool:
    if stage.house.member.seats >= 2:
        return True
    sheet.skip("it takes one seat")
    return False


def hostile(stage: Stage, sheet: FindingSheet) -> None:
    """Let it judge what may unsettle a parser, a terminal or a model."""

    def plot(scene: Scene) -> Script[None]:
        for text in HOSTILE:
            yield from scene.ask("assess_other", about=(yield from scene.say(text)))
        yield from scene.ask("speak")
        yield from scene.ask("vote", (*scene.others, None))

    stage.scene(plot, cast=Cast(names=ODD))
    longest = max(len(text.encode()) for text in HOSTILE)
    sheet.seen = f"{len(HOSTILE)} statements to judge, up to {longest:,} bytes"


def one_answer(stage: Stage, sheet: FindingSheet) -> None:
    """Leave it one legal answer."""
    stage.scene(lambda scene: scene.ask("inspect", scene.others[3:4]), "Seer")
    stage.scene(lambda scene: scene.ask("vote", (scene.others[2], None)))
    sheet.seen = "one to inspect; a vote for one name or nobody"


def last(stage: Stage, sheet: FindingSheet) -> None:
    """Take everybody else out of the game. By the rules no game gets there, but who copes with it copes with much."""
    sheet.lenient = True

    def plot(scene: Scene) -> Script[None]:
        first, *rest = scene.others
        yield Dawn(round=1, died=first)
        for number, seat in enumerate(rest, 1):
            yield Exile(round=number, seat=seat)
        yield from scene.ask("bid")
        yield from scene.ask("speak")
        yield from scene.ask("vote", (None,))

    stage.scene(plot)
    sheet.seen = "everybody else gone: a bid, a statement, a vote for nobody"


def twice(stage: Stage, sheet: FindingSheet) -> None:
    """Put the same request twice."""

    def plot(scene: Scene) -> Script[None]:
        scene.game.told = "twice"
        yield from scene.ask("bid")
        yield from scene.pause(stage.terms.settle_s)

    stage.scene(plot)
    sheet.seen = "one answer"


def tight(stage: Stage, sheet: FindingSheet) -> None:
    """Leave it little time; that it is late is put up with, what it costs is said."""
    tight_s = stage.terms.tight_s

    def plot(scene: Scene) -> Script[None]:
        scene.game.strict = False
        answer = yield from scene.ask("bid")
        if answer.outcome == "timed_out":
            yield from scene.pause(min(stage.terms.deadline_s, 5 * tight_s) * 0.9)

    stage.scene(plot, cast=Cast(bid_s=tight_s))
    sheet.seen = f"a bid within {tight_s:g} s"
    stage.scene(lambda scene: scene.ask("bid"))


def unknown(stage: Stage, sheet: FindingSheet) -> None:
    """Send types and a version of message that nobody knows yet."""

    def plot(scene: Scene) -> Script[None]:
        yield from scene.ask("bid")
        game = scene.game.name
        for value in (
            {"v": 1, "type": "weather", "wind": 3},
            {"v": 1, "type": "weather", "game": game, "seats": ["rain"]},
            {"v": 2, "type": "delivery", "game": game, "riddle": None},
        ):
            beside = str(value.get("game", ""))
            stage.house.post(Entry(pack(value), str(value["type"]), "moderator", beside))
        yield from scene.ask("bid")

    stage.scene(plot)
    sheet.seen = "two types and a version it cannot know, passed over"


def grows(stage: Stage, sheet: FindingSheet) -> None:
    """Send welcome, facts and requests with a member more in each of their maps, as a later build may."""
    house = stage.house
    welcome = Welcome(house=house.name, agent=house.agent, instance=house.member.instance, again_s=stage.terms.again_s)
    house.post(grown(Entry(encode(welcome), welcome.type, "moderator")))

    def plot(scene: Scene) -> Script[None]:
        scene.game.grows = True
        # no more requests than may stay without an answer: what follows is to be tried too
        yield from scene.ask("inspect", scene.others)
        yield Dawn(round=1)
        about = yield from scene.say("Good morning, whoever you are.")
        scene.game.told = "caught up"
        yield from scene.ask("assess_other", about=about)

    stage.scene(plot, "Seer")
    sheet.seen = "a member it cannot know in every map of welcome, facts and requests, passed over"


def caught_up(stage: Stage, sheet: FindingSheet) -> None:
    """Tell it everything again in mid-game, as after a moderator's restart."""

    def plot(scene: Scene) -> Script[None]:
        yield from scene.ask("inspect", scene.others)
        yield from scene.ask("speak")
        yield Dawn(round=1)
        scene.game.told = "caught up"
        yield from scene.ask("vote", (*scene.others, None))
        yield from scene.ask("bid")

    stage.scene(plot, "Seer")
    sheet.seen = "known facts again, and an open request among them"


def restarted(stage: Stage, sheet: FindingSheet) -> None:
    """Tell it a long game from the beginning, as after its own restart."""

    def plot(scene: Scene) -> Script[None]:
        yield Dawn(round=1)
        for number in range(150):
            speaker = scene.others[number % len(scene.others)]
            text = f"I have said it before ({number}): {'we are talking in circles. ' * 8}"
            yield from scene.say(text, speaker)
        scene.game.told = "caught up"
        yield from scene.ask("assess_other", about=scene.said)
        yield from scene.ask("speak")

    scene = stage.scene(plot)
    sheet.seen = f"a game that it never heard of, {scene.said} statements long"


def otherwise(stage: Stage, sheet: FindingSheet) -> None:
    """Tell it a game otherwise than before, and ask once more what it had answered, as after a loss of data."""

    def lost(scene: Scene) -> Script[None]:
        yield from scene.say("These words will be lost.")
        yield from scene.ask("bid")
        # it never hears of this end: the game goes on, behind its opening
        scene.game.told = "lost"

    def anew(scene: Scene) -> Script[Any]:
        about = yield from scene.say("This is what was said, as far as anybody knows.")
        scene.game.told, scene.game.strict = "caught up", False
        answer = yield from scene.ask("bid")
        scene.game.strict = True
        yield from scene.ask("assess_other", about=about)
        return answer

    before = stage.scene(lost)
    scene = stage.go_on(Scene(before.game, before.seat, stage.house.rivals, anew))
    if scene.result.outcome == "timed_out":
        said = "a catch-up asked anew what it had answered on facts that were lost since, and it did not answer"
        stage.ledger.fault("holds on to what was lost", "warn", said)
    sheet.seen = "other facts under known numbers, and a request that it had answered"


def gap(stage: Stage, sheet: FindingSheet) -> None:
    """Keep a fact from it: the next one shows that something is missing."""
    started = stage.house.member.instance

    def plot(scene: Scene) -> Script[None]:
        yield from scene.ask("bid")
        yield Dawn(round=1)
        scene.game.told = "lost"
        yield from scene.pause(0)
        yield from scene.say("Somebody must have died last night.")
        yield from scene.ask("bid")

    stage.scene(plot)
    noticed = stage.house.member.instance != started
    if not noticed:
        said = "public fact 2 came without fact 1, and it did not join anew to be caught up"
        stage.ledger.fault("gap not noticed", "warn", said)
    sheet.seen = "it joined anew and was caught up" if noticed else "it went on"


def heartbeats(stage: Stage, sheet: FindingSheet) -> None:
    """Look back on its joins, and wait for as many as tell."""
    patience = 3 * stage.terms.again_s
    while time.monotonic() < stage.house.joins[-1] + patience and len(stage.house.joins) < 3:
        stage.settle(min(0.05, stage.terms.again_s))
    now = time.monotonic()
    times = [*stage.house.joins, now]
    longest = max(after - before for before, after in itertools.pairwise(times))
    sheet.seen = f"{len(stage.house.joins)} joins, never more than {longest:.1f} s apart"
    if longest > patience:
        said = f"{longest:.1f} s without a join, where one every {stage.terms.again_s:g} s was asked for"
        stage.ledger.fault("heartbeat missing", "fail", f"{said}: it counts as gone and is seated in no new game")
    elif stage.house.member.seen in {None, "0-0"}:
        said = "its joins never say what it has read, so its mailbox is cut only when it is full"
        stage.ledger.fault("seen missing", "warn", said)


def entries(stage: Stage, sheet: FindingSheet) -> None:
    """Look at the ids of all that it wrote."""
    sheet.seen = "ids that begin with the time of its start"
    if (wrong := stage.house.faulty_ids()) is not None:
        sheet.seen = ""
        stage.ledger.fault("ids", "warn", wrong)


def goodbye(stage: Stage, sheet: FindingSheet) -> None:
    """Close the house: it leaves, or falls silent."""
    joins = len(stage.house.joins)
    stage.finish()
    if not stage.house.gone:
        stage.house.tell(Goodbye(reason="the trial is over"))
        stage.settle(2 * stage.terms.again_s + stage.terms.settle_s)
    # one join may have been under way
    if not stage.house.gone and len(stage.house.joins) > joins + 1:
        stage.ledger.fault("stays", "warn", "it went on saying join after goodbye")
    sheet.seen = "it said leave" if stage.house.gone else "it fell silent"


AT_ALL_TIMES: Final = (heartbeats, entries, goodbye)
"""Checks that can be made of an agent that answers no more."""
