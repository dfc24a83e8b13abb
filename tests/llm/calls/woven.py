"""Games with the model calls that their answers could have come from, woven in where a moderator records them."""

from collections.abc import Callable, Iterable
from typing import Any

from tests.cli_views.games import recorded
from tests.game.driver import play
from tests.record.synthetic import lines_of
from wolfbus.game.config import GameConfig
from wolfbus.messages.calls import ChainAddition, ChatRole, ModelCall, PromptAddition
from wolfbus.messages.events import Answered, AnyAnswered, AnyEvent, Asked
from wolfbus.record.line import Recorded
from wolfbus.record.prompts import RequestNames

RULES = "These are the rules.\n"
SHORT = GameConfig(debate_turns=2, max_rounds=2)

Calls = Callable[[AnyAnswered, str], list[dict[str, Any]]]
"""For an answer and its request's name: what is special about each of the calls for it."""


def piece(role: ChatRole, text: str, after: int | None = None) -> PromptAddition:
    """Return one piece of prompt text; the first of a record is number 0."""
    return PromptAddition(chains=(ChainAddition(after=after, role=role, texts=(text,)),))


def call(request: str, **special: Any) -> ModelCall:
    parts = request.split("/")
    usual = {
        "requests": (request,),
        "seat": parts[4],
        "kind": parts[3],
        "model": "double",
        "parameters": {"temperature": 0.7, "structured": "schema"},
        "prompt": (),
        "attempts": 1,
        "queue_s": 0.0,
        "latency_s": 0.5,
        "prompt_tokens": 1000,
        "cached_tokens": 800,
        "completion_tokens": 50,
        "finish": "stop",
        "reply": f'{{"{parts[3]}": 1}}',
    }
    return ModelCall(**(usual | special))


def one_each(_answer: AnyAnswered, _name: str) -> list[dict[str, Any]]:
    return [{}]


def weave(events: Iterable[AnyEvent], calls: Calls = one_each) -> list[AnyEvent]:
    """Put prompt text and calls before the join that their answers belong to."""
    names, woven = RequestNames(), []
    waiting: list[AnyEvent] = []
    public: list[tuple[ChatRole, str]] = [("system", RULES)]
    numbers: dict[tuple[ChatRole, str, int | None], int] = {}

    def tell(role: ChatRole, text: str, after: int | None = None) -> int:
        """Return the number of a piece, told here unless it was before."""
        if (role, text, after) not in numbers:
            numbers[role, text, after] = len(numbers)
            woven.append(piece(role, text, after))
        return numbers[role, text, after]

    for event in events:
        if isinstance(event, Asked):
            names.ask(event)
        if isinstance(event, Answered):
            name = names.of(event)
            assert name is not None
            for special in calls(event, name):
                head: int | None = None
                for role, text in public:
                    head = tell(role, text, head)
                heads = (head, tell("user", f"You are {event.seat}.\n"), tell("user", f"Now: {name}"))
                woven.append(call(name, **({"prompt": heads} | special)))
            waiting.append(event)
            continue
        woven += waiting
        waiting = []
        woven.append(event)
        if event.type == "statement":
            public.append(("user", f"{event.speaker}: {event.text}\n"))
    return [*woven, *waiting]


def game(calls: Calls = one_each, config: GameConfig = SHORT, seed: str = "1") -> list[Recorded]:
    return recorded(weave(play(config, seed).events, calls))


def lines(records: Iterable[Recorded]) -> bytes:
    """Return events as a record's file."""
    return b"".join(lines_of(records))
