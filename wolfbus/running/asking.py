"""Asking models when their games are over: every answer is kept at once, and what could not be read is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from players.llm.inquiry import Reply, start_all
from wolfbus.errors import WolfError

if TYPE_CHECKING:
    from players.spec import BrainContext

Item = TypeVar("Item")


@dataclass(slots=True, kw_only=True)
class AskingRun:
    """One run of questions.

    Attributes:
        written: answers kept so far.
        unread: by place, why nothing could be read.
        ended: why the run ended before its end: a budget that is spent, a cassette that lacks a reply, a full disk.
    """

    written: int = 0
    unread: dict[str, str] = field(default_factory=dict)
    ended: WolfError | OSError | None = None

    def ask_all(
        self,
        context: BrainContext,
        items: Iterator[Item],
        at_once: int,
        *,
        answer: Callable[[Item], Awaitable[Reply]],
        keep: Callable[[Item, Reply], None],
        name_of: Callable[[Item], str],
        tell: Callable[[int], None],
    ) -> None:
        """Ask about every item, and keep what is answered; the way to the models is closed then.

        Args:
            context: the way to the models.
            items: what is asked about; taken one by one.
            at_once: how many at a time.
            answer: asks about one.
            keep: keeps an answer; may raise WolfError or OSError, which ends the run.
            name_of: the place of one.
            tell: called with the number of items done.
        """

        def end(error: WolfError | OSError) -> None:
            self.ended = self.ended or error

        def done(item: Item, reply: Reply) -> None:
            if reply.content is None:
                if self.ended is not None:
                    return
                self.unread[name_of(item)] = reply.why
            else:
                try:
                    keep(item, reply)
                    self.written += 1
                except (WolfError, OSError) as error:
                    end(error)
            tell(self.written + len(self.unread))

        context.fatal = end
        try:
            jobs = start_all(context.gateway, at_once, items, answer, done, lambda: self.ended is not None)
            wait(jobs)
            for job in jobs:
                job.result()
        finally:
            # no reply is written behind its back
            context.gateway.close()
