"""`Reader`: a model that reads statements after their game, with a fixed prompt, and says what they do; as a monitor,
how likely the private thought beside a statement is a Werewolf's.

The prompts are in ``reader.toml``. They hold the public transcript up to the statement, never a role, a label or what
came later; a monitor's hold the thought and the statement alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from players.llm.decisions import why_no_text
from players.llm.gateway import Gateway
from players.llm.loop import loop_time
from players.llm.prompts.forms import Member, WordedForm, nested, worded
from players.llm.prompts.quoting import quoted, quoted_statement, reply_shown
from players.llm.provider import Completion, Message, ModelQuestion
from players.llm.settings import Model
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.package_data import PackageData, read_data
from wolfbus.knowledge.passage import Passage, TranscriptLine
from wolfbus.knowledge.thoughts import without_role_names
from wolfbus.reading.objects import find_objects
from wolfbus.reading.text import without_thinking
from wolfbus.reading.values import Bad, read_unit

STANCES: Final = ("against", "hedged against", "none", "hedged for", "for")
PATIENCE_S: Final = 600.0
"""Longest time that an answer may take, waiting under the limits included."""

_AT_ONCE: Final = 64
_TRANSCRIPT: Final = "What everybody knew:\n"
_NUMBER: Final = Member("", {"type": "number", "description": "number 0 to 1"}, "number 0 to 1")


class _Prompt(PackageData):
    system: str
    question: str


class _Prompts(PackageData):
    version: int
    public: _Prompt
    private: _Prompt


@cache
def _prompts() -> _Prompts:
    return read_data("players.llm", "reader", _Prompts)


def _line(line: TranscriptLine) -> str:
    return line.words if line.text is None else f"{line.words}: {quoted_statement(line.text)}"


def prompt_mark(*, private: bool) -> dict[str, Any]:
    """Return version and SHA-256 of what a reader, or a monitor, is asked."""
    prompt = _prompts().private if private else _prompts().public
    form = _form(("NAME",), private=private)
    asked_for = [prompt.system, prompt.question, _TRANSCRIPT, form.words, form.form.schema]
    return {"version": _prompts().version, "sha256": sha256_hex(canonical(asked_for))}


def _form(others: Sequence[str], *, private: bool) -> WordedForm:
    if private:
        return worded("monitor", [_NUMBER._replace(key="werewolf")])
    stance = ", ".join(json.dumps(stance) for stance in STANCES)
    sides = [Member(name, {"type": "string", "enum": list(STANCES)}, f"one of {stance}") for name in others]
    return worded("reader", [_NUMBER._replace(key="deceptive"), *([nested("stances", sides)] if sides else [])])


class Reader:
    """Asks one model about statements.

    Args:
        model: its settings.
        gateway: the way to it.
        private: whether it reads thoughts, as a monitor, rather than the public transcript.
    """

    def __init__(self, model: Model, gateway: Gateway, *, private: bool = False) -> None:
        self._model = model
        self._gateway = gateway
        self._private = private

    def questions(self, passage: Passage) -> dict[str, ModelQuestion]:
        """Return the questions about a statement, whose deadlines are still to be set, by the member of the annotation
        that each answers: of a monitor two, the second with the names of roles masked if there are any.
        """
        if not self._private:
            transcript = _TRANSCRIPT + "\n".join(map(_line, passage.before))
            question = _prompts().public.question.format(statement=_line(passage.statement))
            return {"": self._question(passage, f"{transcript}\n\n{question}", len(transcript))}
        versions = {"werewolf": (passage.thought or "", passage.statement.text or "")}
        thought, text = map(without_role_names, versions["werewolf"])
        if (thought, text) != versions["werewolf"]:
            versions["werewolf_masked"] = thought, text
        prompt = _prompts().private.question
        return {
            member: self._question(passage, prompt.format(thought=quoted(thought), statement=quoted_statement(text)))
            for member, (thought, text) in versions.items()
        }

    def _question(self, passage: Passage, text: str, prefix_length: int = 0) -> ModelQuestion:
        prompt = _prompts().private if self._private else _prompts().public
        form = _form(passage.others, private=self._private)
        system = Message("system", prompt.system.strip())
        messages = (system, Message("user", f"{text.rstrip()}\n\n{form.words}", prefix_length))
        return ModelQuestion(self._model, "annotate", passage.id, messages, form.form, deadline=0.0, chain=passage.game)

    def start(
        self,
        passages: Iterator[Passage],
        done: Callable[[Passage, Mapping[str, Any] | None, str], None],
        stopped: Callable[[], bool],
    ) -> list[Any]:
        """Begin to read, and return the jobs.

        Args:
            passages: the statements; taken one by one as they are read.
            done: called in the gateway's thread with what is said of each and what the server calls the model; with
                None and why where nothing could be read.
            stopped: whether to take no more.
        """

        async def read() -> None:
            for passage in passages:
                if stopped():
                    return
                done(passage, *await self._read(passage))

        return self._gateway.start([read() for _ in range(min(_AT_ONCE, self._model.endpoint.at_once))])

    async def _read(self, passage: Passage) -> tuple[Mapping[str, Any] | None, str]:
        values: dict[str, Any] = {}
        served = ""
        for member, question in self.questions(passage).items():
            content, completion, why = await self._ask(question, passage.others)
            if content is None:
                return None, why
            values |= {member: content["werewolf"]} if member else content
            served = completion.served or self._model.model
        if self._private:
            values.setdefault("werewolf_masked", values["werewolf"])
        return values, served

    async def _ask(
        self, question: ModelQuestion, others: Sequence[str]
    ) -> tuple[dict[str, Any] | None, Completion, str]:
        """Ask, and once more if the reply cannot be read."""
        messages = question.messages
        why = ""
        for _ in range(2):
            asked_now = replace(question, messages=messages, deadline=loop_time() + PATIENCE_S)
            completion = await self._gateway.complete(asked_now)
            if completion.error is not None or completion.timed_out:
                return None, completion, completion.error or "no reply in time"
            content, why = _content(completion.text or "", others, private=self._private)
            if content is None and (reason := why_no_text(completion)) is not None:
                why = reason.line
            self._gateway.note_reading(asked_now, completion, None if content is not None else why)
            if content is not None:
                break
            again = f"This could not be read: {why}. Reply with one JSON object in the form that ends the question."
            messages = (
                *question.messages,
                Message("assistant", reply_shown(completion.text or completion.refusal or "") or "…"),
                Message("user", again),
            )
        return content, completion, why


def _content(text: str, others: Sequence[str], *, private: bool) -> tuple[dict[str, Any] | None, str]:
    """Return what a reply says, or why it cannot be used."""
    why = "there is no JSON object in it"
    for parsed in find_objects(without_thinking(text).text).objects:
        key = "werewolf" if private else "deceptive"
        share = read_unit(parsed.value.get(key))
        if isinstance(share, Bad):
            why = f'"{key}" {share.why}'
            continue
        if private:
            return {key: share.value}, ""
        listed = parsed.value.get("stances", {})
        stances = listed if isinstance(listed, dict) else {}
        sides = {name: str(stances.get(name)).strip().casefold() for name in others}
        wrong = [name for name, stance in sides.items() if stance not in STANCES]
        if not wrong:
            return {key: share.value, "stances": sides}, ""
        why = f'"stances" lacks one of {", ".join(STANCES)} for {", ".join(wrong)}'
    return None, why
