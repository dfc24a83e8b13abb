"""What follows from what came of a request: the one table of errors, and the one of replies without text.

Nothing goes by a server's name. The first row decides whose statuses hold the error's and whose words stand in its
codes or its message; the words are those of OpenAI, Azure, vLLM, llama.cpp, Ollama, Gemini, Groq, OpenRouter, DeepSeek
and LiteLLM.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from players.llm.provider import Failure, ProviderReply, Trouble, holds_draft
from wolfbus.game.vocabulary import Fault
from wolfbus.reading.text import without_thinking


def _decision(
    cause: str = "", trouble: Trouble = "rejected", *, again: bool = False, fault: Fault = "error", **more: Any
) -> Failure:
    """Return what follows from an error, in the form of a failure without its words.

    Args:
        cause: what is wrong, to stand behind the status; ``{key}`` is the key in words, ``{model}`` the model. "" where
            the server's own words say it all.
        trouble: see `Failure`; so with the others.
        again: whether another attempt makes sense.
        fault: what an answer for want of the reply counts as.
        more: further fields of a failure.
    """
    return Failure(trouble, cause, again=again, fault=fault, **more)


def _words(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE | re.VERBOSE)


_GENERATED: Final = _words("json_validate_failed | json_parse_failed | tool_use_failed")
_FILTERED: Final = _words(r"""
    content[_\ ]?filter | content[_\ ]management[_\ ]polic | content[_\ -]polic | responsible_?ai | policy[_\ ]violation
    | violat\w+\ .{0,40}(?:polic|guideline|terms) | usage\ polic | safety[_\ ](?:system|filter|setting|polic|check)
    | prohibited[_\ ]content | moderation | flagged | data_?inspection | (?:inappropriate|sensitive|harmful)\ content
    | content\ exists\ risk
    | (?:prompt|input|output|request|response|reply|content)\ (?:was|is|has\ been|were)\ filtered
    """)
_TOO_SMALL: Final = _words(r"max_tokens\ or\ model\ output\ limit\ was\ reached | with\ higher\ max_tokens")
_CROWDED: Final = _words(r"""
    context[_\ ](?:length|window|size) | maximum\ (?:context|prompt|input) | too\ many\ (?:input\ |prompt\ )?tokens\b
    | (?:prompt|input|request)\ (?:is\ |was\ )?too\ (?:long|large) | reduce\ the\ length
    | max_?tokens.{0,3}\ is\ too\ large | exceed\w*\ .{0,40}(?:context|(?:input|prompt|number\ of)\ tokens)
    """)
_SPENT: Final = _words(r"""
    insufficient[_\ ](?:user[_\ ])?(?:quota|credits?|balance|funds) | billing[_\ ](?:hard|not|limit) | credit\ balance
    | (?:out\ of|not\ enough|more|no|used\ up|exhausted)\ (?:\w+\ ){0,3}credits | payment[_\ ]required | arrearage
    | (?:key|spending|spend|monthly|total)\ limit\ (?:was\ |is\ )?(?:exceeded|reached) | PerDay
    """)
_SUSPENDED: Final = _words(r"(?:account|organi[sz]ation)\ .{0,40}(?:suspended|deactivated|disabled)")
_OF_A_DAY: Final = _words(
    r"exceeded\ your\ current\ quota | \bper[\ -](?:day|month)\b | /\ ?(?:day|month)\b | \b(?:daily|monthly)\b"
)
_KEY: Final = _words(r"""
    api[-_\ ]?key | \bkey\b | credential | authentication | authorization\ header
    | (?:access|bearer|auth|expired)[-_\ ]?token | token\ (?:is|was|has|expired)
    """)
_WRONG_KEY: Final = _words(r"api[-_\ ]?key[-_\ ](?:is\ )?(?:not\ valid|invalid) | (?:invalid|incorrect)\ api[-_\ ]?key")
_NO_MODEL: Final = _words(r"model_not_found | decommissioned | model\b.{0,120}(?:does\ not\ exist|not\ found)")
_LOADING: Final = _words(r"\bloading\b | warming\ up | starting\ up | not\ (?:yet\ )?ready | still\ initiali[sz]ing")

_ALL: Final = range(1000)
_OF_CONTENT: Final = frozenset({400, 403, 422, 451, 500})
_LATER: Final = frozenset({408, 409, 425, 499, *range(500, 600)}) - {501, 505, 511}
"""Statuses, beside 429, that may be different next time."""

LONGEST_WAIT: Final = 300.0
"""Seconds: whoever names a longer wait, beyond the time of the call, is asked no more."""

_TABLE: Final[tuple[tuple[Collection[int], re.Pattern[str] | None, Failure], ...]] = (
    (_ALL, _GENERATED, _decision("the model's text was rejected", again=True, fault="unparseable")),
    ({402}, None, _decision("the account's credits are used up", halts=True)),
    (_ALL, _SPENT, _decision("the account's quota is used up", halts=True)),
    ({400, 401, 403, 429}, _SUSPENDED, _decision("the account is closed", halts=True)),
    (_OF_CONTENT, _FILTERED, _decision("its content filter kept prompt or reply back", fault="filtered")),
    ({400}, _TOO_SMALL, _decision(cut=True, fault="cut")),
    ({400, 413, 422, 500}, _CROWDED, _decision(lacks="room", shaped=True)),
    # more than the limit of a minute allows at all
    ({429}, _words(r"request\ too\ large"), _decision(lacks="room", shaped=True)),
    ({401}, None, _decision("{key} not accepted", halts=True)),
    ({400}, _WRONG_KEY, _decision("{key} not accepted", halts=True)),
    ({403}, _KEY, _decision("{key} not accepted", halts=True)),
    ({403}, None, _decision("it may not be asked", halts=True)),
    ({404}, None, _decision("there is no model {model}, or the URL is wrong", halts=True, shaped=True)),
    ({400, 422}, _NO_MODEL, _decision(halts=True, shaped=True)),
    ({429}, None, _decision(trouble="busy", again=True)),
    ({503}, None, _decision(trouble="loading", again=True)),
    (_LATER, _LOADING, _decision(trouble="loading", again=True)),
    (_LATER, None, _decision(trouble="server", again=True, shaped=True)),
    (_ALL, None, _decision(shaped=True)),
)


def decide(status: int, words: str, wait: float | None) -> Failure:
    """Return what follows from an error: a failure with its cause in place of a line; see `_decision`.

    Args:
        status: of HTTP, or the error's own where it came in place of a reply.
        words: its codes and its message.
        wait: seconds that the server wants to be left alone; None if it does not say.
    """
    if status == 429 and _OF_A_DAY.search(words) and (wait is None or wait > LONGEST_WAIT):
        # a quota of a minute is told in the same words, with a wait of seconds
        return _decision("the account's quota is used up", "busy", halts=True)
    return next(
        decision
        for statuses, pattern, decision in _TABLE
        if status in statuses and (pattern is None or pattern.search(words))
    )


@dataclass(frozen=True, slots=True)
class NoText:
    """Why a reply holds no text.

    Attributes:
        line: one line that says so, with the finish reason.
        fault: what the answer counts as; "error" where the same request may be answered next time.
    """

    line: str
    fault: Fault


_FILTERS: Final = frozenset(
    {
        "content_filter",
        "safety",
        "prohibited_content",
        "blocklist",
        "spii",
        "recitation",
        "sensitive",
        "image_safety",
    }
)
_TOOLS: Final = frozenset({"tool_calls", "function_call", "tool_use"})
_CLOSED: Final = re.compile(r"(?:[<◁]/[\w:]+[>▷]|\[/THINK\]|<\|END_THINKING\|>)\s*$")


def why_no_text(reply: ProviderReply) -> NoText | None:
    """Return why a reply has no text beside what it thought; None if it has some.

    Prose that was cut off before any JSON, or with a draft of it within a line, is none: where a server marks no
    thoughts, it is likely to be one. Nor is what was said before an error.
    """
    return _why_no_text(
        ProviderReply(reply.text, reply.thought, reply.refusal, reply.finish, calls_tool=reply.calls_tool)
    )


# a reply is looked at by its attempt, and again by whoever asked
@lru_cache(maxsize=64)
def _why_no_text(reply: ProviderReply) -> NoText | None:
    text = without_thinking(reply.text or "")
    finish, thought = (reply.finish or "").casefold(), bool(text.thoughts or reply.thought)
    if text.text.strip() and finish != "error" and (not reply.cut or ("{" in text.text and not holds_draft(text.text))):
        return None
    table: tuple[tuple[bool, str, Fault], ...] = (
        (bool(reply.refusal) or finish == "refusal", "the model refused", "refused"),
        (finish in _FILTERS, "its content filter kept the reply back", "filtered"),
        (finish == "error", "an error came in the reply's place", "error"),
        (reply.calls_tool or finish in _TOOLS, "the reply is a tool call, and no tool was offered", "unparseable"),
        (reply.bounded and thought, "the reply was cut off in its thoughts, before any answer", "cut"),
        (reply.bounded, "the reply was cut off before any answer", "cut"),
        (
            bool(text.thoughts) and not _CLOSED.search(reply.text or ""),
            "the reply's thinking never ends, and no answer follows",
            "unparseable",
        ),
        (thought, "the reply holds thoughts and no answer", "unparseable"),
        (True, "the reply is empty", "unparseable"),
    )
    line, fault = next((line, fault) for holds, line, fault in table if holds)
    return NoText(f"{line} (finish_reason {reply.finish})" if reply.finish else line, fault)
