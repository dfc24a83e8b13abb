"""Which statements of a study's models say again what they were told: by the rule that compares whole sentences, and by
the one that finds a rule or a question with a word changed as well.

Both read the same recorded replies, so the games are the same to the letter; nothing is played:

    python benchmarks/copied.py examples/ladder/run [--show 5]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from wolfbus.messages.calls import ModelCall
from wolfbus.reading.copies import is_copied, is_verbatim
from wolfbus.reading.objects import find_objects
from wolfbus.reading.text import without_thinking
from wolfbus.record.prompts import PromptBook, WholeCalls
from wolfbus.record.reader import open_lines, read_record, records_under

_MEMBERS: Final = {"speak": ("speech", "text"), "vote": ("vote", "reason")}
"""Which member of a reply holds the statement, and where several things are asked for together, within which."""


class Statement(NamedTuple):
    """What a model would have published, as its reply has it, and what it was sent."""

    model: str
    text: str
    prompt: str
    again: bool


def statements(folder: Path) -> Iterator[Statement]:
    """Yield the statements in the replies of a study's models, also those that were asked for once more."""
    for path in records_under(folder):
        book, calls, found = PromptBook(), WholeCalls(), list[tuple[int, ModelCall]]()
        for recorded in read_record(open_lines(path), tolerant=True, lenient=True):
            book.feed(recorded.event, recorded.n)
            calls.feed(recorded.event, recorded.n)
            if isinstance(recorded.event, ModelCall):
                found.append((recorded.n, recorded.event))
        for line, call in found:
            reply = calls.whole(call, line).reply
            if call.kind not in _MEMBERS or not reply:
                continue
            part, member = _MEMBERS[call.kind]
            prompt = "".join(text for _, text in book.messages(call))
            for parsed in find_objects(without_thinking(reply).text).objects:
                within = parsed.value.get(part)
                text = (within if isinstance(within, dict) else parsed.value).get(member)
                if isinstance(text, str) and text.strip():
                    yield Statement(call.model, text, prompt, call.reask)
                    break


def main() -> None:
    """Print a line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="a study's folder, or any folder of records")
    parser.add_argument(
        "--show", type=int, default=0, help="so many statements that one rule finds and the other does not"
    )
    arguments = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    shown = 0
    for statement in statements(arguments.study):
        of_model = counts.setdefault(statement.model, Counter())
        before, after = is_verbatim(statement.text, statement.prompt), is_copied(statement.text, statement.prompt)
        of_model.update(statements=1, before=before, after=after, again=statement.again)
        if after and not before and shown < arguments.show:
            shown += 1
            print(f"  {statement.model}: {statement.text!r}")
    for model, of_model in sorted(counts.items()):
        number = of_model["statements"]
        print(
            f"{model}: {number} statements, {of_model['again']} of them asked for once more; copied by whole sentences "
            f"{of_model['before']} ({of_model['before'] / number:.1%}), by runs of words as well {of_model['after']} "
            f"({of_model['after'] / number:.1%})"
        )


if __name__ == "__main__":
    main()
