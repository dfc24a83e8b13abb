"""Checks of what happens rarely: odd words and choices, repeats, haste, the unknown, and what was missed."""

from __future__ import annotations

from typing import Any

from moderator.check.finding import FindingSheet
from moderator.check.probe import grown
from moderator.check.rivals import HOSTILE, ODD, Cast
from moderator.check.scene import Scene
from moderator.check.stage import Stage
from moderator.rules.table import Script
from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.events import Dawn, Exile
from wolfbus.messages.house import Welcome


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
