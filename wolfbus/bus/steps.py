"""How a call with many steps lands: in order, and never a step whose forerunner in the same game failed.

Steps travel together as far as the heads themselves prove their order: a step that expects what the one before it
brings about cannot land without it. Where that proof is missing, the first has to be answered before the next is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from wolfbus.bus.checks import gone_backwards, nonsense, not_current
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.errors import BusError, BusFull, Fenced, NotAllowed

WAVE = 256
"""Most steps sent before their answers are read."""


Kind = Literal["landed", "epoch", "behind", "head", "order", "forbidden", "full", "refused"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bus's answer to one step.

    Attributes:
        kind: landed (now or before) | epoch: not the current one | behind: steps that had landed are gone | head:
            neither the expected nor the new one | order: an explicit id is not greater than its stream's last |
            forbidden: this user may not | full: memory is short | refused: anything else.
        detail: what the bus holds instead, or why it refused; of a bus that counts steps, how many have landed.
    """

    kind: Kind
    detail: str = ""


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
        for at in range(start, stop):
            commit = commits[at]
            game = (commit.house, commit.game)
            results[at] = _refused_unsent(commit, after_failure=game in failed)
            if results[at] is None:
                sent.append(at)
            elif commit.game:
                failed.add(game)
        verdicts = ledger.send([commits[at] for at in sent]) if sent else []
        for at, verdict in zip(sent, verdicts, strict=True):
            commit = commits[at]
            if verdict.kind == "landed" or _landed_before(commits, at, verdict, ledger):
                continue
            results[at] = _error(commit, verdict)
            if commit.game:
                failed.add((commit.house, commit.game))
    return results


def _waves(commits: Sequence[Commit]) -> Iterator[tuple[int, int]]:
    """Cut the steps into runs in which every step proves that its forerunner landed.

    Steps of the house itself have no forerunner: each stands alone.
    """
    start = 0
    newest: dict[tuple[str, str], Commit] = {}
    for at, commit in enumerate(commits):
        before = newest.get((commit.house, commit.game)) if commit.game else None
        proven = before is None or commit.expected == before.head != before.expected
        if not proven or at - start == WAVE:
            yield start, at
            start = at
            newest.clear()
        newest[commit.house, commit.game] = commit
    if start < len(commits):
        yield start, len(commits)


def _refused_unsent(commit: Commit, *, after_failure: bool) -> BusError | None:
    if after_failure:
        return Fenced(f"game {commit.game}: an earlier step of this call did not land")
    try:
        reason = nonsense(commit)
    except BusError as error:
        reason = str(error)
    return BusError(f"{_whose(commit)}: {reason}") if reason else None


def _landed_before(commits: Sequence[Commit], at: int, verdict: Verdict, ledger: StepLedger) -> bool:
    """Recognise a step that is sent again after newer ones landed on top of it."""
    commit = commits[at]
    if verdict.kind == "order" and not commit.record:
        own = [(stream, entry) for stream, entry in commit.posts if entry.id]
        return any(ledger.find(stream, entry.id) == entry for stream, entry in own)
    if verdict.kind != "head":
        return False
    # A step without record entries leaves no head of its own behind; the next step on the same head proves it landed.
    for step in commits[at:]:
        same_game = (step.house, step.game) == (commit.house, commit.game)
        if same_game and step.record and (step is commit or step.expected == commit.head):
            return ledger.head_at(step.house, step.game, step.record[-1].id) == step.head
    return False


def _error(commit: Commit, verdict: Verdict) -> BusError:
    whose = _whose(commit)
    if verdict.kind == "epoch":
        return Fenced(f"{whose}: {not_current(commit.house, commit.epoch, verdict.detail)}")
    if verdict.kind == "behind":
        return Fenced(f"{whose}: {gone_backwards(commit.house, verdict.detail)}")
    if verdict.kind == "head":
        return Fenced(
            f"{whose}: the record's head is {_short(verdict.detail)}, this step expected {_short(commit.expected)}"
        )
    if verdict.kind == "order":
        return BusError(f"{whose}: nothing written, ids do not go on where the stream ends: {verdict.detail}")
    refusals: dict[Kind, type[BusError]] = {"forbidden": NotAllowed, "full": BusFull}
    refused = refusals.get(verdict.kind, BusError)
    return refused(f"{whose}: nothing written: {verdict.detail}")


def _whose(commit: Commit) -> str:
    return f"game {commit.game}" if commit.game else f"house {commit.house}"


def _short(head: str) -> str:
    return f"{head[:12]}…" if head else "empty"
