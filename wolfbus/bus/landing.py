"""How entries and steps land on either bus: what makes sense, what had landed before, and what a refusal says.

`land` takes the steps of a call in order, and never one whose forerunner in the same game failed. Steps travel together
as far as the heads themselves prove their order: a step that expects what the one before it brings about cannot land
without it. Where that proof is missing, the first has to be answered before the next is sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from wolfbus.bus.protocol import Commit, Entry
from wolfbus.bus.streams import START, Extent, Id, join_id, parse_id, record
from wolfbus.errors import BusError, Fenced, HouseHeld, StaleWriter

WAVE = 256
"""Most steps sent before their answers are read."""

Kind = Literal["landed", "epoch", "behind", "head", "order", "refused"]


def ascending_ids(entries: Sequence[Entry]) -> list[Id]:
    """Return the ids of a batch taken apart.

    Raises:
        BusError: an id is malformed or missing, or not greater than the one before it.
    """
    ids: list[Id] = []
    before = START
    for entry in entries:
        entry_id = parse_id(entry.id)
        if entry_id <= before:
            raise BusError(f"entry ids must ascend: {entry.id} comes after {join_id(before)}")
        ids.append(entry_id)
        before = entry_id
    return ids


def check_landed(stream: str, entry: Entry, existing: Entry | None, extent: Extent | None) -> None:
    """Return quietly if an entry that the stream refused as too old had landed before.

    Args:
        stream: name of the stream, for the error's line.
        entry: what was to be appended.
        existing: what stands under the same id, None if nothing does.
        extent: how far the stream reaches.

    Raises:
        StaleWriter: other bytes stand under this id, or the stream belongs to a newer incarnation.
        BusError: the writer passed this id over, so the entry can no longer be put in.
    """
    if existing is not None:
        if existing != entry:
            raise StaleWriter(f"stream {stream} already holds another entry under id {entry.id}", stream)
        return
    entry_id = parse_id(entry.id)
    if extent is not None and extent.last[0] > entry_id[0]:
        raise StaleWriter(
            f"stream {stream} belongs to a newer incarnation: "
            f"it ends at {join_id(extent.last)}, this writer is at {entry.id}",
            stream,
        )
    if extent is not None and extent.shortened and (extent.first is None or entry_id < extent.first):
        return
    raise BusError(f"stream {stream} has passed over id {entry.id}; an entry cannot be put in before newer ones")


def house_held(house: str, holder: str, left_s: float) -> HouseHeld:
    """Return the error that tells a claimant to wait."""
    return HouseHeld(f"house {house} is held by {holder} for another {left_s:.1f} s", holder, left_s)


def not_current(house: str, epoch: int, current: str, holder: str = "") -> Fenced:
    """Return the error that tells an owner it is owner no more.

    Args:
        house: the house's name.
        epoch: under which it was claimed.
        current: the epoch that is, "" for none.
        holder: who has it, where that matters.
    """
    if not current:
        return Fenced(f"house {house} has no owner any more: the bus lost its data (this moderator held epoch {epoch})")
    if current == str(epoch):
        return Fenced(f"house {house} belongs to {holder} under this epoch ({epoch})")
    return Fenced(f"epoch {epoch} is not the current one of house {house} ({current})")


def gone_backwards(house: str, steps: str) -> Fenced:
    """Return the error that tells an owner that the bus came back without steps it had confirmed.

    Args:
        house: the house's name.
        steps: how many it knows of now.
    """
    return Fenced(f"house {house}: the bus has lost steps that had landed; it knows of {steps} now")


def milliseconds(seconds: float) -> int:
    """Return a time in whole milliseconds, rounded up.

    Raises:
        BusError: it is negative or endless.
    """
    if not 0 <= seconds < math.inf:
        raise BusError(f"{seconds} is no number of seconds from 0")
    return math.ceil(seconds * 1000)


def fault_of(commit: Commit) -> str:
    """Say why no bus could land this step, or "" if it makes sense in itself."""
    if bool(commit.record) == (commit.expected == commit.head):
        return "a step changes the head of its record exactly when it has record entries"
    if not commit.game and (commit.record or commit.head):
        return "a step of the house itself has no record"
    if commit.record:
        first = parse_id(commit.record[0].id)[0]
        ascending = [f"{number}-0" for number in range(first, first + len(commit.record))]
        if first < 1 or [entry.id for entry in commit.record] != ascending:
            return "the ids of record entries count up as SEQ-0, from 1, without gaps"
    newest: dict[str, Id | None] = {}
    own_record = record(commit.house, commit.game)
    for stream, entry in commit.posts:
        if stream == own_record:
            return "a step posts nothing to its own record"
        entry_id = parse_id(entry.id) if entry.id else None
        if stream in newest:
            before = newest[stream]
            if (before is None) != (entry_id is None):
                return f"posts to {stream} have ids of their own either all or never"
            if before is not None and entry_id is not None and entry_id <= before:
                return f"the ids of posts to {stream} must ascend"
        newest[stream] = entry_id
    return ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bus's answer to one step.

    Attributes:
        kind: landed (now or before) | epoch: not the current one | behind: steps that had landed are gone | head:
            neither the expected nor the new one | order: an explicit id is not greater than its stream's last |
            refused: anything else.
        detail: what the bus holds instead, or why it refused; of a bus that counts steps, how many have landed.
        error: what kind of error it is, where it refused.
    """

    kind: Kind
    detail: str = ""
    error: type[BusError] = BusError


LANDED = Verdict("landed")


class StepLedger(Protocol):
    """What `land` needs of a bus."""

    def send(self, steps: Sequence[Commit]) -> list[Verdict]:
        """Try to land each step, in order, each one whole or not at all."""

    def head_at(self, house: str, game: str, entry_id: str) -> str:
        """Return the head that the step ending in record entry `entry_id` brought about, "" if there is none."""

    def find(self, stream: str, entry_id: str) -> Entry | None:
        """Return the entry that stands on `stream` under an id."""


def land(commits: Sequence[Commit], ledger: StepLedger) -> list[BusError | None]:
    """Land steps in order; see `Bus.commit`."""
    results: list[BusError | None] = [None] * len(commits)
    failed: set[tuple[str, str]] = set()
    for start, stop in _waves(commits):
        sent: list[int] = []
        for index in range(start, stop):
            commit = commits[index]
            game = (commit.house, commit.game)
            results[index] = _refused_unsent(commit, after_failure=game in failed)
            if results[index] is None:
                sent.append(index)
            elif commit.game:
                failed.add(game)
        verdicts = ledger.send([commits[at] for at in sent]) if sent else []
        for index, verdict in zip(sent, verdicts, strict=True):
            commit = commits[index]
            if verdict.kind == "landed" or _landed_before(commits, index, verdict, ledger):
                continue
            results[index] = _error(commit, verdict)
            if commit.game:
                failed.add((commit.house, commit.game))
    return results


def _waves(commits: Sequence[Commit]) -> Iterator[tuple[int, int]]:
    """Cut the steps into runs in which every step proves that its forerunner landed.

    Steps of the house itself have no forerunner: each stands alone.
    """
    start = 0
    newest: dict[tuple[str, str], Commit] = {}
    for index, commit in enumerate(commits):
        before = newest.get((commit.house, commit.game)) if commit.game else None
        proven = before is None or commit.expected == before.head != before.expected
        if not proven or index - start == WAVE:
            yield start, index
            start = index
            newest.clear()
        newest[commit.house, commit.game] = commit
    if start < len(commits):
        yield start, len(commits)


def _refused_unsent(commit: Commit, *, after_failure: bool) -> BusError | None:
    if after_failure:
        return Fenced(f"game {commit.game}: an earlier step of this call did not land")
    try:
        reason = fault_of(commit)
    except BusError as error:
        reason = str(error)
    return BusError(f"{_subject(commit)}: {reason}") if reason else None


def _landed_before(commits: Sequence[Commit], index: int, verdict: Verdict, ledger: StepLedger) -> bool:
    """Recognise a step that is sent again after newer ones landed on top of it."""
    commit = commits[index]
    if verdict.kind == "order" and not commit.record:
        with_ids = [(stream, entry) for stream, entry in commit.posts if entry.id]
        return any(ledger.find(stream, entry.id) == entry for stream, entry in with_ids)
    if verdict.kind != "head":
        return False
    # A step without record entries leaves no head of its own behind; the next step on the same head proves it landed.
    for step in commits[index:]:
        same_game = (step.house, step.game) == (commit.house, commit.game)
        if same_game and step.record and (step is commit or step.expected == commit.head):
            return ledger.head_at(step.house, step.game, step.record[-1].id) == step.head
    return False


def _error(commit: Commit, verdict: Verdict) -> BusError:
    subject = _subject(commit)
    if verdict.kind == "epoch":
        return Fenced(f"{subject}: {not_current(commit.house, commit.epoch, verdict.detail)}")
    if verdict.kind == "behind":
        return Fenced(f"{subject}: {gone_backwards(commit.house, verdict.detail)}")
    if verdict.kind == "head":
        return Fenced(
            f"{subject}: the record's head is {_short(verdict.detail)}, this step expected {_short(commit.expected)}"
        )
    if verdict.kind == "order":
        return BusError(f"{subject}: nothing written, ids do not go on where the stream ends: {verdict.detail}")
    return verdict.error(f"{subject}: nothing written: {verdict.detail}")


def _subject(commit: Commit) -> str:
    return f"game {commit.game}" if commit.game else f"house {commit.house}"


def _short(head: str) -> str:
    return f"{head[:12]}…" if head else "empty"
