"""What a trial finds: faults, gathered check by check, the answers' times by kind of request, and of answers that were
not clean what had to be done to them.
"""

from __future__ import annotations

import contextlib
import json
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final, Literal, TypeAlias

from wolfbus.files.printable import counted, printable
from wolfbus.game.vocabulary import KINDS, Kind, Reading
from wolfbus.messages.content import CONTENT

Verdict: TypeAlias = Literal["ok", "warn", "fail", "skip"]
"""fail: it breaks the protocol, or loses answers by what it does · warn: that is put up with, at a price · skip: not
tried."""

_EXAMPLE_KEPT: Final = 600
"""Characters of an example: an agent may have written megabytes."""


@dataclass(slots=True)
class Fault:
    """One thing that an agent did wrong. More may become known of it: what was missing turns out to be late.

    Attributes:
        sort: what sort of fault, in a few words, such as ``illegal answer``.
        verdict: how bad it is.
        example: what it was, in one line.
        members: members of the answer concerned: faults of one sort that concern others are told apart.
    """

    sort: str
    verdict: Literal["warn", "fail"]
    example: str
    members: str = ""


@dataclass(slots=True)
class Finding:
    """What one check has found, so far or in the end.

    Attributes:
        check: what was checked.
        seen: what was seen, in one line; why, where it was skipped.
        skipped: whether it could not be made.
        faults: what went wrong.
    """

    check: str
    seen: str = ""
    skipped: bool = False
    faults: list[Fault] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """The worst of its faults, or ok, or skip."""
        if not self.faults:
            return "skip" if self.skipped else "ok"
        return "fail" if any(fault.verdict == "fail" for fault in self.faults) else "warn"

    @property
    def fault_lines(self) -> tuple[str, ...]:
        """A line for every sort of fault, with how often it was seen and its first example."""
        alike: dict[tuple[str, str], list[Fault]] = {}
        for fault in self.faults:
            alike.setdefault((fault.sort, fault.members), []).append(fault)
        return tuple(
            f"{first.sort}{f' (x{len(more) + 1}, first)' if more else ''}: {first.example}"
            for first, *more in alike.values()
        )

    def skip(self, why: str) -> None:
        """Mark the check as one that cannot be made."""
        self.skipped, self.seen = True, why

    def plain(self) -> dict[str, object]:
        """Return the finding as values for JSON."""
        return {"check": self.check, "verdict": self.verdict, "seen": self.seen, "faults": list(self.fault_lines)}


@dataclass(slots=True)
class _KindTally:
    """What became of the requests of one kind: asked as whom, answered in how many seconds, and what went wrong."""

    roles: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    unusable: int = 0
    faults: list[Fault] = field(default_factory=list)


class FindingLedger:
    """Gathers what a trial sees.

    Args:
        watch: sees every finding as soon as it stands.

    Attributes:
        findings: those that stand, in order.
    """

    def __init__(self, watch: Callable[[Finding], None]) -> None:
        self.findings: list[Finding] = []
        self._watch = watch
        self._current: Finding | None = None
        self._kinds = {kind: _KindTally() for kind in KINDS}

    @contextlib.contextmanager
    def check(self, name: str) -> Iterator[Finding]:
        """Make one check: faults recorded meanwhile are its own.

        Args:
            name: what is checked.
        """
        self._current = finding = Finding(name)
        yield finding
        self._current = None
        self._add(finding)

    def _add(self, finding: Finding) -> None:
        self.findings.append(finding)
        self._watch(finding)

    def note_request(self, kind: Kind, role: str) -> None:
        """Record that a seat with `role` was asked."""
        if role not in self._kinds[kind].roles:
            self._kinds[kind].roles.append(role)

    def note_answer(self, kind: Kind, seconds: float, *, usable: bool) -> None:
        """Record an answer's time, and whether it could be used."""
        self._kinds[kind].seconds.append(seconds)
        self._kinds[kind].unusable += not usable

    def fault(
        self, sort: str, verdict: Literal["warn", "fail"], example: str, kind: Kind | None = None, members: str = ""
    ) -> Fault:
        """Record a fault, of the check under way and of the kind of request it bears on, and return it."""
        fault = Fault(sort, verdict, example[:_EXAMPLE_KEPT], members)
        if self._current is not None:
            self._current.faults.append(fault)
        if kind is not None:
            self._kinds[kind].faults.append(fault)
        return fault

    def sum_up(self, declines: tuple[Kind, ...]) -> None:
        """Add a finding for every kind of request."""
        for kind, tally in self._kinds.items():
            finding = Finding(f"kind {kind}", faults=tally.faults)
            if not tally.roles:
                why = "it declines this kind" if kind in declines else "never asked: the trial broke off"
                finding = Finding(finding.check, why, skipped=True)
            elif not tally.seconds and not tally.faults:
                finding.skip("no answer before the trial broke off")
            else:
                unusable = f" ({tally.unusable} unusable)" if tally.unusable else ""
                finding.seen = f"{counted(len(tally.seconds), 'answer')}{unusable} as {', '.join(tally.roles)}"
                if tally.seconds:
                    longest = _in_seconds(max(tally.seconds))
                    finding.seen += f", in {_in_seconds(statistics.median(tally.seconds))} (longest {longest})"
            self._add(finding)


def _in_seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


_VALUE_SHOWN: Final = 40
_SAME_SHOWN: Final = 10
_RAW_SHOWN: Final = 120

_DONE: Final[Mapping[Reading, str]] = {
    "extracted": "taken out of what stood around it",
    "repaired": "repaired as JSON",
    "coerced": "coerced",
}


def repaired(kind: Kind, reading: Reading, raw: object, content: Mapping[str, Any]) -> tuple[str, str]:
    """Return what had to be done to an answer.

    Args:
        kind: what was asked for.
        reading: the rung of the ladder that it took, not ``clean``.
        raw: the text as it came, None where the agent does not tell it.
        content: what it was read as, as plain values.

    Returns:
        The members concerned, for telling one sort of repair from another, and a line that says it all.
    """
    done = f"it had to be {_DONE.get(reading, reading)}"
    if not isinstance(raw, str):
        return "", f"{done}; the reply has no `raw` that shows what was written; it was read as {_json_text(content)}"
    written = _object(raw)
    changed = dict(_changed(kind, written, content)) if written is not None else {}
    if changed:
        return " ".join(changed), f"{done}: {', '.join(changed.values())}"
    return "", f"{done}: {wrote(raw)} was read as {_json_text(content)}"


def wrote(raw: str) -> str:
    """Return a text that an agent wrote, as it is shown within a line: what cannot be seen may be what is wrong."""
    return f"`{printable(_visible(raw[: 8 * _RAW_SHOWN]), _RAW_SHOWN)}`"


def _visible(text: str) -> str:
    """Return a text with escapes for what cannot be seen; a tab or line end is left to be a blank."""
    return "".join(sign if sign.isprintable() or sign in "\t\n\r" else ascii(sign)[1:-1] for sign in text)


def _object(raw: str) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _changed(kind: Kind, written: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every member that was read otherwise than it was written, and how."""
    members = CONTENT[kind].model_fields
    for name, member in members.items():
        read = content.get(name, member.get_default())
        if name in written:
            if not _is_same(written[name], read):
                was_text, read_text = _json_texts(written[name], read)
                yield name, f'"{name}": {was_text} was read as {read_text}'
        elif name in content and name != "stated_kind":
            others = ", ".join(f'"{key}"' for key in written if key not in {"id", "thought", *members})
            instead = f" (but {others:.80})" if others else ""
            yield name, f'"{name}" is not there{instead}: {_json_text(read)} was taken for it'


def _is_same(was: object, read: object) -> bool:
    """Return whether two values are one: as numbers are, written as 1 and as 1.0, but no truth value and number."""
    read = list(read) if isinstance(read, tuple) else read
    return was == read and isinstance(was, bool) == isinstance(read, bool)


def _json_text(value: object) -> str:
    return printable(_visible(json.dumps(value, ensure_ascii=False)), _VALUE_SHOWN)


def _json_texts(was: object, read: object) -> tuple[str, ...]:
    """Return two values as JSON, so much of each that where they begin to differ can be seen."""
    texts = [_visible(json.dumps(value, ensure_ascii=False)) for value in (was, read)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    left_out = same - _SAME_SHOWN if same >= _VALUE_SHOWN - 2 * _SAME_SHOWN else 0
    return tuple(printable(f"…{text[left_out:]}" if left_out else text, _VALUE_SHOWN) for text in texts)
