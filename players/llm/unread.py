"""`Unread`: counts the replies of each model that nobody could read, and says when a model is given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from players.llm.settings import Endpoint, Model
from wolfbus.printable import printable

_KEPT: Final = 200
"""Characters of the last reply's fault that are told."""


@dataclass(slots=True)
class _Row:
    count: int = 0
    ever_read: bool = False
    hopeless: str | None = None


class Unread:
    """Tells when to give a model up: nothing that it said could be read, from its first reply on.

    A model of which anything was ever read is never given up: what it fails at later is a result. For one event loop.

    Args:
        limit: replies in a row that give a model up; 0 for never.
    """

    def __init__(self, limit: int = 0) -> None:
        self._limit = limit
        self._rows: dict[tuple[Endpoint, str], _Row] = {}

    def take(self, model: Model, url: str | None, why: str | None) -> str | None:
        """Take in what became of a reply, or of a call without one.

        Args:
            model: whose it is.
            url: its server's base URL, for what is said of it; None where that is not known.
            why: one line on why nothing of it could be used; None if something could.

        Returns:
            One line on why the model is given up, if it is.
        """
        row = self._rows.setdefault((model.endpoint, model.model), _Row())
        if why is None:
            row.ever_read = True
        elif not row.ever_read and row.hopeless is None:
            row.count += 1
            if row.count == self._limit:
                where = "" if url is None else f" at {url}"
                row.hopeless = (
                    f"{model.model}{where} is given up: {row.count} replies in a row could not be read, and none "
                    f"before (the last: {printable(why, _KEPT)}); --give-up 0 plays on all the same"
                )
        return row.hopeless

    def given_up(self, model: Model) -> str | None:
        """Return one line on why a model was given up; None if it was not."""
        row = self._rows.get((model.endpoint, model.model))
        return None if row is None else row.hopeless
