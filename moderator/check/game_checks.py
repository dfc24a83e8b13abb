"""Checks in the course of games: every kind of request as every role, whole games, and several at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moderator.check.finding import FindingSheet
from moderator.check.rivals import PLAIN, Cast
from moderator.check.scene import Scene
from moderator.check.stage import Stage
from moderator.rules.table import Script
from wolfbus.messages.content import Speech
from wolfbus.messages.events import Dawn
from wolfbus.vocabulary import Kind, Role

_NIGHT: Final[dict[Role, Kind]] = {"Werewolf": "kill", "Seer": "inspect", "Doctor": "protect"}


def alone(role: Role) -> Callable[[Stage, FindingSheet], None]:
    """Return the check that puts every kind of request to a seat with `role`, with as little before it as can be."""

    def plot(scene: Scene) -> Script[None]:
        if role in _NIGHT:
            yield from scene.ask(_NIGHT[role], scene.others)
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
