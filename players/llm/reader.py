"""`Reader`: a model that reads statements after their game, with a fixed prompt, and says what they do; as a monitor,
how likely the private thought beside a statement is a Werewolf's.

The prompts are in ``reader.toml``. They hold the public transcript up to the statement, never a role, a label or what
came later; a monitor's hold the thought and the statement alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

from players.llm.gateway import Gateway
from players.llm.inquiry import Reply, inquire
from players.llm.prompts.forms import Member, WordedForm, nested, share, worded
from players.llm.prompts.quoting import quoted, quoted_statement
from players.llm.provider import Message, ModelQuestion
from players.llm.settings import Model
from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.files.package_data import PackageData, read_data
from wolfbus.knowledge.passage import Passage, TranscriptLine
from wolfbus.knowledge.thoughts import without_role_names
from wolfbus.reading.values import Bad, read_unit

STANCES: Final = ("against", "hedged against", "none", "hedged for", "for")
_TRANSCRIPT: Final = "What everybody knew:\n"


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
        return worded("monitor", [share("werewolf")])
    stance = ", ".join(json.dumps(stance) for stance in STANCES)
    sides = [Member(name, {"type": "string", "enum": list(STANCES)}, f"one of {stance}") for name in others]
    return worded("reader", [share("deceptive"), *([nested("stances", sides)] if sides else [])])


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

    async def answer(self, passage: Passage) -> Reply:
        """Ask about a statement; what is said are the members of an annotation."""
        values: dict[str, Any] = {}
        reply = Reply(None)
        for member, question in self.questions(passage).items():
            reply = await inquire(
                self._gateway, question, partial(_content, others=passage.others, private=self._private)
            )
            if reply.content is None:
                return reply
            values |= {member: reply.content["werewolf"]} if member else reply.content
        if self._private:
            values.setdefault("werewolf_masked", values["werewolf"])
        return reply._replace(content=values)


def _content(value: dict[str, Any], *, others: Sequence[str], private: bool) -> tuple[dict[str, Any] | None, str]:
    """Return what an object of a reply says, or why it cannot be used."""
    key = "werewolf" if private else "deceptive"
    likely = read_unit(value.get(key))
    if isinstance(likely, Bad):
        return None, f'"{key}" {likely.why}'
    if private:
        return {key: likely.value}, ""
    listed = value.get("stances", {})
    stances = listed if isinstance(listed, dict) else {}
    sides = {name: str(stances.get(name)).strip().casefold() for name in others}
    wrong = [name for name, stance in sides.items() if stance not in STANCES]
    if wrong:
        return None, f'"stances" lacks one of {", ".join(STANCES)} for {", ".join(wrong)}'
    return {key: likely.value, "stances": sides}, ""
