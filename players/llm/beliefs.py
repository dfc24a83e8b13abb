"""Asks a seat's own model, after the game, what the seat believed at a moment of it: how likely each other living
player is a Werewolf; before and after a statement also whom it would vote for.

The prompt begins as the seat's prompts did then. The game is over, so nobody hears of it and nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from players.llm.gateway import Gateway
from players.llm.inquiry import Reply, inquire
from players.llm.prompts.forms import WordedForm, name_of, nested, share, thought, worded
from players.llm.prompts.story import Story
from players.llm.prompts.style import style_of
from players.llm.provider import Message, ModelQuestion
from players.llm.settings import Model
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.package_data import PackageData, read_data
from wolfbus.knowledge.moments import Moment, Place, When
from wolfbus.messages.base import SeatName
from wolfbus.reading.values import TWO_SCALES, Bad, mixes_scales, read_unit, resolve_name

_TIMES: Final[Mapping[When, int]] = {"before": 1, "again": 2, "after": 3}
"""Around a statement a seat is asked three times. That stands in the question, so that no cassette takes the second for
the first."""


class _Prompts(PackageData):
    version: int
    beliefs: str
    vote: str


@cache
def _prompts() -> _Prompts:
    return read_data("players.llm", "beliefs", _Prompts)


def prompt_mark() -> dict[str, Any]:
    """Return version and SHA-256 of what a seat is asked behind what it knew."""
    forms = [_form(("NAME",), with_vote=with_vote) for with_vote in (False, True)]
    texts = [
        _prompts().beliefs,
        _prompts().vote,
        *(part for form in forms for part in (form.words, form.form.schema)),
    ]
    return {"version": _prompts().version, "sha256": sha256_hex(canonical(texts))}


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question about a seat at a moment.

    Attributes:
        game: the game's id.
        seat: whose moment it is.
        place: where in the game.
        hash: seal of the last line before it.
        others: of whom it is asked.
        question: what is asked; its deadline is still to be set.
    """

    game: str
    seat: SeatName
    place: Place
    hash: str
    others: tuple[SeatName, ...]
    question: ModelQuestion


class Interview:
    """The questions about one seat of one game, in their order.

    Args:
        model: the seat's model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._style = style_of(model)
        self._story = Story(self._style)

    def inquiry(self, moment: Moment) -> Inquiry:
        """Return the question about the next moment."""
        story, view, place = self._story, moment.view, moment.place
        story.update(view)
        with_vote = place.statement is not None
        form = _form(view.others, with_vote=with_vote)
        text = (_prompts().vote if with_vote else _prompts().beliefs).format(names=", ".join(view.others)).strip()
        times = f", asked {_TIMES[place.when]} of 3" if with_vote else ""
        heading = f"\nQUESTION to {view.me}, day {place.round}{times}\n"
        question = self._style.skin(view.names).to_theme(f"{heading}{text}\n\n")
        messages = (
            Message("system", story.system, len(story.system)),
            Message("user", f"{story.text}{question}{form.words}", len(story.text)),
        )
        name = f"{moment.game}:{view.me}:{place.round}:{place.when}{place.statement or ''}"
        model_question = ModelQuestion(
            self._model, "belief", name, messages, form.form, deadline=0.0, chain=story.chain
        )
        return Inquiry(moment.game, view.me, place, moment.hash, view.others, model_question)


def _form(others: Sequence[SeatName], *, with_vote: bool) -> WordedForm:
    vote = [name_of("vote", [*others, None])] if with_vote else []
    return worded("beliefs", [thought(), *vote, nested("werewolf", [share(name) for name in others])])


async def ask(gateway: Gateway, inquiry: Inquiry) -> Reply:
    """Ask one question; what is said has the members ``werewolf``, a probability by name, ``vote`` where that is asked
    for, and ``thought`` if there is one.
    """
    read = partial(_content, others=inquiry.others, with_vote=inquiry.place.statement is not None)
    return await inquire(gateway, inquiry.question, read)


def _content(
    value: dict[str, Any], *, others: Sequence[SeatName], with_vote: bool
) -> tuple[dict[str, Any] | None, str]:
    """Return what an object of a reply says, or why it cannot be used."""
    listed = value.get("werewolf")
    if not isinstance(listed, dict):
        return None, '"werewolf" is no object'
    if mixes_scales(listed.get(name) for name in others):
        return None, f'"werewolf" {TWO_SCALES}'
    content: dict[str, Any] = {"werewolf": {}}
    for name in others:
        likely = read_unit(listed.get(name))
        if isinstance(likely, Bad):
            return None, f'"werewolf" of {name} {likely.why}'
        content["werewolf"][name] = likely.value
    if with_vote:
        vote = value.get("vote")
        resolved = resolve_name("nobody" if vote is None else str(vote), [*others, None], against=True)
        if resolved.fault is not None or "vote" not in value:
            return None, f'"vote" is none of {", ".join(others)}, and not null'
        content["vote"] = resolved.name
    reasoning = value.get("thought")
    if isinstance(reasoning, str) and reasoning.strip():
        content["thought"] = reasoning
    return content, ""
