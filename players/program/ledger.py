"""`Ledger`: which line of a child answers which request."""

from __future__ import annotations

from collections import deque
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["answer", "late", "stranger"]
"""What a line is: the answer to the open request, an answer to one that is closed, or to one that never was."""


class Ledger:
    """Pairs lines with requests: by their id where they have one, else by their order.

    A child answers its requests in order. A line without an id is therefore taken for the oldest request that the
    child still owes an answer to, and only when it owes none for the open one.
    """

    def __init__(self) -> None:
        self._asked: set[str] = set()
        self._owed: deque[str] = deque()

    def ask(self, request: str) -> None:
        """Open a request."""
        self._asked.add(request)

    def give_up(self, request: str) -> None:
        """Close a request that the child was sent and has not answered: it still may."""
        self._owed.append(request)

    def place(self, named: str | None, open_: str | None) -> Place:
        """Return what a line is.

        Args:
            named: the id in it; None if it has none.
            open_: the open request's id; None if there is none.
        """
        if named is None:
            if self._owed:
                self._owed.popleft()
                return "late"
            return "answer" if open_ is not None else "late"
        if named == open_:
            # it answers in order, so what it owed before it has passed over
            self._owed.clear()
            return "answer"
        if named not in self._asked:
            return "stranger"
        if named in self._owed:
            self._owed.remove(named)
        return "late"

    def forget(self) -> None:
        """Begin anew with a child that knows of no request: nothing is owed."""
        self._owed.clear()
