"""`BrainContext`: what the brains of one process share: models and the way to them, a folder for logs, a way out."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wolfbus.closable import Closable
from wolfbus.errors import PlayerError, WolfError

if TYPE_CHECKING:
    from players.llm.accounts import Accounts
    from players.llm.budget import Amount, Budget
    from players.llm.cassette import Cassette
    from players.llm.gateway import Gateway
    from players.llm.settings import Model
    from wolfbus.stage.people import People


class BrainContext(Closable):
    """What is around the brains of a process. Nothing of it is made before a brain needs it.

    Args:
        models: language models, by the alias that specs name them by.
        budget: what calls may cost in all; None for any amount.
        cassette: where replies are recorded or played from; None for neither.
        logs: folder for the error output of child processes; None lets it through to our own.
        give_up: replies in a row of a model that cannot be read, and none before, after which a game ends; 0 for never.
        people: persons who play at pages; None where a person plays at the terminal.

    Attributes:
        fatal: ends all games of this process with a reason: a budget that is spent, a cassette that lacks a reply; of
            `GivenUp`, the one game that it names.
    """

    def __init__(
        self,
        models: Mapping[str, Model] | None = None,
        budget: Budget | None = None,
        cassette: Cassette | None = None,
        logs: Path | None = None,
        *,
        give_up: int = 0,
        people: People | None = None,
    ) -> None:
        self.people = people
        self.models: dict[str, Model] = dict(models or {})
        self.logs = logs
        self.fatal: Callable[[WolfError], None] | None = None
        self._budget = budget
        self._cassette = cassette
        self._give_up = give_up
        self._gateway: Gateway | None = None
        self._lock = threading.Lock()

    @property
    def gateway(self) -> Gateway:
        """The process's way to models; made on first use."""
        with self._lock:
            if self._gateway is None:
                from players.llm.gateway import Gateway

                self._gateway = Gateway(
                    budget=self._budget, cassette=self._cassette, give_up=self._give_up, fatal=self._end
                )
            return self._gateway

    @property
    def accounts(self) -> Accounts | None:
        """Totals of all calls so far; None if there was no need for any."""
        return None if self._gateway is None else self._gateway.accounts

    @property
    def spent(self) -> Amount | None:
        """What is spent of the budget; None where there is none."""
        return None if self._budget is None else self._budget.spent

    def models_of(self, brains: Iterable[str]) -> list[Model]:
        """Return the different models that some brain specs name.

        Raises:
            ConfigError: a spec names none.
        """
        words = dict.fromkeys(brain.removeprefix("llm:") for brain in brains if brain.startswith("llm:"))
        if not words:
            return []
        from players.llm.settings import model_of

        found: list[Model] = []
        for each in words:
            model = model_of(each, self.models)
            if model not in found:
                found.append(model)
        return found

    def tables_of(self, brains: Iterable[str]) -> dict[str, Model]:
        """Return the models that some brain specs name, by the ``[models.*]`` table that each has or could have."""
        from players.llm.settings import model_of, table_of

        words = (brain.removeprefix("llm:") for brain in brains if brain.startswith("llm:"))
        return {table_of(each, self.models): model_of(each, self.models) for each in words}

    def check(self, brains: Iterable[str]) -> None:
        """See that each model that `brains` name has its key, without asking anybody.

        Raises:
            PlayerError: one has not; one clear line.
        """
        with self._asking_for_their_file(brains := tuple(brains)):
            if models := self.models_of(brains):
                self.gateway.check(models)

    def probe(self, brains: Iterable[str]) -> None:
        """Ask each model that `brains` name something small.

        Raises:
            PlayerError: one does not answer; one clear line.
        """
        with self._asking_for_their_file(brains := tuple(brains)):
            if models := self.models_of(brains):
                self.gateway.probe(models)

    @contextlib.contextmanager
    def _asking_for_their_file(self, brains: Sequence[str]) -> Iterator[None]:
        """Add to what is wrong with models that some names may be aliases, if no file was given that tells them."""
        try:
            yield
        except PlayerError as error:
            words = [brain.removeprefix("llm:") for brain in brains if brain.startswith("llm:")]
            names = [each for each in dict.fromkeys(words) if "@" not in each]
            if self.models or not names:
                raise
            are = f"{names[0]} is an alias" if len(names) == 1 else f"{', '.join(names)} are aliases"
            hint = f"if {are}, give the models file: --config FILE.toml (see examples/models.toml)"
            raise PlayerError(f"{error}; {hint}") from error

    def settled(self, model: Model) -> Model:
        """Return a model as another process should be told of it, with what was found out of its server."""
        return model if self._gateway is None else self._gateway.settled(model)

    def close(self) -> None:
        """Give up all calls, end the gateway's thread, and close the cassette."""
        if self._gateway is not None:
            self._gateway.close()
        if self._budget is not None:
            self._budget.close()
        if self._cassette is not None:
            self._cassette.close()

    def _end(self, reason: WolfError) -> None:
        if self.fatal is not None:
            self.fatal(reason)
