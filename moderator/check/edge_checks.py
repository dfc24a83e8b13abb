"""Checks of what happens rarely: odd words and choices, repeats, haste, the unknown, and what was missed."""

from __future__ import annotations

from moderator.check.finding import FindingSheet
from moderator.check.growth import grown
from moderator.check.rivals import HOSTILE, ODD, Cast
from moderator.check.stage import Stage
from wolfbus.bus.protocol import Entry
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.events import Dawn, Exile
from wolfbus.messages.house import Welcome


def hostile(stage: Stage, sheet: FindingSheet) -> None:
    """Let it judge what may unsettle a parser, a terminal or a model."""
    scene = stage.scene(cast=Cast(names=ODD))
    for text in HOSTILE:
        scene.ask("assess_other", about=scene.say(text))
    scene.ask("speak")
    scene.ask("vote", (*scene.rivals, None))
    stage.end(scene)
    longest = max(len(text.encode()) for text in HOSTILE)
    sheet.seen = f"{len(HOSTILE)} statements to judge, up to {longest:,} bytes"


def one_answer(stage: Stage, sheet: FindingSheet) -> None:
    """Leave it one legal answer."""
    seer = stage.scene("Seer")
    seer.ask("inspect", seer.rivals[3:4])
    stage.end(seer)
    voter = stage.scene()
    voter.ask("vote", (voter.rivals[2], None))
    stage.end(voter)
    sheet.seen = "one to inspect; a vote for one name or nobody"


def last(stage: Stage, sheet: FindingSheet) -> None:
    """Take everybody else out of the game. By the rules no game gets there, but who copes with it copes with much."""
    sheet.lenient = True
    scene = stage.scene()
    first, *rest = scene.rivals
    scene.happen(Dawn(round=1, died=first), *(Exile(round=number, seat=seat) for number, seat in enumerate(rest, 1)))
    scene.ask("bid")
    scene.ask("speak")
    scene.ask("vote", (None,))
    stage.end(scene)
    sheet.seen = "everybody else gone: a bid, a statement, a vote for nobody"


def twice(stage: Stage, sheet: FindingSheet) -> None:
    """Put the same request twice."""
    scene = stage.scene()
    asked = scene.question("bid")
    scene.put(asked)
    if scene.game.last_asks is not None:
        stage.desk.post(scene.game.last_asks)
    scene.answer(asked)
    stage.settle()
    stage.end(scene)
    sheet.seen = "one answer"


def tight(stage: Stage, sheet: FindingSheet) -> None:
    """Leave it little time; that it is late is put up with, what it costs is said."""
    scene = stage.scene()
    asked = scene.question("bid")
    scene.put(asked, stage.terms.tight_s)
    answer = scene.answer(asked, strict=False)
    if answer.outcome == "timed_out":
        stage.settle(min(stage.terms.deadline_s, 5 * stage.terms.tight_s))
    sheet.seen = f"a bid within {stage.terms.tight_s:g} s"
    scene.ask("bid")
    stage.end(scene)


def unknown(stage: Stage, sheet: FindingSheet) -> None:
    """Send types and a version of message that nobody knows yet."""
    scene = stage.scene()
    scene.ask("bid")
    game = scene.game.game
    for value in (
        {"v": 1, "type": "weather", "wind": 3},
        {"v": 1, "type": "weather", "game": game, "seats": ["rain"]},
        {"v": 2, "type": "delivery", "game": game, "riddle": None},
    ):
        beside = str(value.get("game", ""))
        stage.desk.post(Entry(pack(value), str(value["type"]), "moderator", beside))
    scene.ask("bid")
    stage.end(scene)
    sheet.seen = "two types and a version it cannot know, passed over"


def grows(stage: Stage, sheet: FindingSheet) -> None:
    """Send welcome, facts and requests with a member more in each of their maps, as a later build may."""
    desk = stage.desk
    welcome = Welcome(house=desk.house, agent=desk.agent, instance=desk.member.instance, again_s=stage.terms.again_s)
    desk.post(grown(Entry(encode(welcome), welcome.type, "moderator")))
    scene = stage.scene("Seer")
    scene.game.grows = True
    # no more requests than may stay without an answer: what follows is to be tried too
    scene.ask("inspect", scene.rivals)
    scene.happen(Dawn(round=1))
    asked = scene.question("assess_other", about=scene.say("Good morning, whoever you are."))
    scene.put(asked, caught_up=True)
    scene.answer(asked)
    stage.end(scene)
    sheet.seen = "a member it cannot know in every map of welcome, facts and requests, passed over"


def caught_up(stage: Stage, sheet: FindingSheet) -> None:
    """Tell it everything again in mid-game, as after a moderator's restart."""
    scene = stage.scene("Seer")
    scene.ask("inspect", scene.rivals)
    scene.ask("speak")
    scene.happen(Dawn(round=1))
    asked = scene.question("vote", (*scene.rivals, None))
    scene.put(asked, caught_up=True)
    scene.answer(asked)
    scene.ask("bid")
    stage.end(scene)
    sheet.seen = "known facts again, and an open request among them"


def restarted(stage: Stage, sheet: FindingSheet) -> None:
    """Tell it a long game from the beginning, as after its own restart."""
    scene = stage.scene()
    scene.happen(Dawn(round=1))
    for number in range(150):
        speaker = scene.rivals[number % len(scene.rivals)]
        scene.say(f"I have said it before ({number}): {'we are talking in circles. ' * 8}", speaker)
    asked = scene.question("assess_other", about=scene.said)
    scene.put(asked, caught_up=True)
    scene.answer(asked)
    scene.ask("speak")
    stage.end(scene)
    sheet.seen = f"a game that it never heard of, {scene.said} statements long"


def otherwise(stage: Stage, sheet: FindingSheet) -> None:
    """Tell it a game otherwise than before, and ask once more what it had answered, as after a loss of data."""
    scene = stage.scene()
    scene.say("These words will be lost.")
    scene.ask("bid")
    scene.rewind()
    scene.say("This is what was said, as far as anybody knows.")
    asked = scene.question("bid")
    scene.put(asked, caught_up=True)
    answer = scene.answer(asked, strict=False)
    if answer.outcome == "timed_out":
        said = "a catch-up asked anew what it had answered on facts that were lost since, and it did not answer"
        stage.ledger.fault("holds on to what was lost", "warn", said)
    scene.ask("assess_other", about=scene.said)
    stage.end(scene)
    sheet.seen = "other facts under known numbers, and a request that it had answered"


def gap(stage: Stage, sheet: FindingSheet) -> None:
    """Keep a fact from it: the next one shows that something is missing."""
    scene = stage.scene()
    scene.ask("bid")
    started = stage.desk.member.instance
    scene.lose([Dawn(round=1)])
    scene.say("Somebody must have died last night.")
    scene.ask("bid")
    noticed = stage.desk.member.instance != started
    if not noticed:
        said = "public fact 2 came without fact 1, and it did not join anew to be caught up"
        stage.ledger.fault("gap not noticed", "warn", said)
    stage.end(scene)
    sheet.seen = "it joined anew and was caught up" if noticed else "it went on"
