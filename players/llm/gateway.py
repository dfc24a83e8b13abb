"""`Gateway`: the process's way to language models: one event loop for all seats and games, no thread per call.

What it is made with, a budget, a cassette and a tempo, can be imported with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Final

from players.llm.accounts import Accounts, cost_of
from players.llm.attempts import Attempts
from players.llm.budget import Budget
from players.llm.cassette import Cassette
from players.llm.endpoint import SMALL_PROMPT, Server, keeps_form, probe_question, probe_seconds
from players.llm.gate import LONG_WAIT_S, Tempo
from players.llm.keys import Keys
from players.llm.loop import Job, Loop
from players.llm.provider import Completion, ModelQuestion, OpenProvider, Provider, Speed, open_provider
from players.llm.settings import Endpoint, Model
from players.unread import Unread
from wolfbus.errors import BudgetSpent, CassetteError, ConfigError, GivenUp, ModelHalted, PlayerError, WolfError
from wolfbus.patience import Backoff

__all__ = ["Backoff", "Budget", "Cassette", "Gateway", "Job", "Tempo"]

logger = logging.getLogger(__name__)


class Gateway:
    """Sends questions to models, and returns what came of them.

    A question goes through these steps:

    1. A cassette that holds the reply gives it, and no server is asked.
    2. The endpoint's gate: calls in flight, requests and tokens per minute, pauses that the server asked for. What the
       game waits for goes before judgements and labels. While the endpoint is down calls wait, and fail at once if it
       stays down.
    3. The budget sets aside what the request could take.
    4. The request, within its time; it is tried again where that makes sense, in another shape where the server does
       not take this one, and with more room where the reply was cut off before it said anything.
    5. Tokens are counted, the cassette is kept.

    A model that was given up, or halts, is asked no more; its brains say with `note_reading` what its replies were read
    as.

    Args:
        budget: what calls may cost in all; None for any amount.
        cassette: where replies are recorded or played from; None for neither.
        give_up: replies in a row of a model that nobody could read, and none before, after which the games that it
            plays in are ended; 0 for never.
        fatal: called in the gateway's thread, at every call that cannot be made any more, with why: the budget is
            spent, the cassette lacks a reply, or (of the one game that `GivenUp` and `ModelHalted` name) a model is
            given up or halts.
        environment: where keys are looked up before ``.env``; `os.environ` unless given.
        tempo: when an endpoint is down, how it is found to be back, and the time between the attempts of a call.
        providers: opens the provider of an endpoint; as its settings say unless given.

    Attributes:
        accounts: what calls took so far.
    """

    def __init__(
        self,
        *,
        budget: Budget | None = None,
        cassette: Cassette | None = None,
        give_up: int = 0,
        fatal: Callable[[WolfError], None] | None = None,
        environment: Mapping[str, str] | None = None,
        tempo: Tempo = Tempo(),  # noqa: B008 - frozen
        providers: OpenProvider = open_provider,
    ) -> None:
        self.accounts = Accounts()
        self._budget = budget
        self._cassette = cassette
        self._fatal = fatal
        self._unread = Unread(give_up)
        self._ended: WolfError | None = None
        self._halted: dict[tuple[Endpoint, str], str] = {}
        self._under_way: Counter[str] = Counter()
        self._providers = providers
        # of whoever opens it, not of the thread of the first call: a provider may look there whose calls it makes
        self._context = copy_context()
        self._keys = Keys(environment)
        self._tempo = tempo
        self._servers: dict[Endpoint, Server] = {}
        self._loop = Loop("model-gateway")

    def has_ended(self, completion: Completion) -> bool:
        """Return whether there is no reply since nothing can be asked any more: it says nothing of the model."""
        return completion.halts or (self._ended is not None and completion.error == str(self._ended))

    def _open(self, endpoint: Endpoint) -> Provider:
        return self._context.copy().run(self._providers, endpoint, self._keys)

    def start(self, jobs: Sequence[Coroutine[Any, Any, None]]) -> list[Job]:
        """Begin jobs, in order, and return at once; safe from any thread.

        On a gateway that is closed, nothing begins and nothing is returned.
        """
        return self._loop.start(jobs)

    async def complete(self, question: ModelQuestion) -> Completion:
        """Send one question, from a job of this gateway.

        Returns:
            What came of it, whatever went wrong.

        Raises:
            asyncio.CancelledError: the job was cancelled.
        """
        if (reason := self._unread.given_up(_key_of(question.model))) is not None:
            self._report_fatal(GivenUp(reason, game_of(question)))
            return Completion(error=reason)
        game = game_of(question)
        self._under_way[game] += 1
        try:
            if self._cassette is not None and (recorded := self._cassette.find(question)) is not None:
                self.accounts.add(question.model.model, question.purpose, recorded)
                return recorded
            completion = await self._ask_unless_halted(question)
            if self._cassette is None or completion.halts:
                return completion
            return self._cassette.keep(question, completion)
        except WolfError as error:
            # the cassette has or takes no reply, or there is no key
            return Completion(error=str(self._end_if_fatal(error)))
        except Exception as error:
            logger.exception("%s: a call failed inside the gateway", question.label)
            return Completion(error=f"the gateway failed: {type(error).__name__}")
        finally:
            self._under_way[game] -= 1
            if not self._under_way[game]:
                del self._under_way[game]

    def is_asking(self, game: str) -> bool:
        """Return whether a question of a game is under way; any thread may call it."""
        return self._under_way[game] > 0

    async def _ask_unless_halted(self, question: ModelQuestion) -> Completion:
        model = question.model
        if (halted := self.halted(model)) is not None:
            completion = Completion(error=halted)
        else:
            completion = await self._ask(question)
            if completion.halts:
                self._halted.setdefault(_key_of(model), completion.error or "")
            halted = self.halted(model)
        if halted is None or completion.error is None:
            return completion
        # every time: each of its games ends by itself, and games may have begun since
        self._report_fatal(ModelHalted(halted, game_of(question)))
        # what failed while another call was told so failed of that
        return replace(completion, halts=True)

    def halted(self, model: Model) -> str | None:
        """Return one line on why a model is asked no more until somebody does something; None if it is."""
        return self._halted.get(_key_of(model))

    def note_reading(self, question: ModelQuestion, completion: Completion, why: str | None) -> None:
        """Note what a reply was read as, from a job of this gateway.

        Args:
            question: what was asked; its label is a request's id.
            completion: what came of it.
            why: one line on why nothing of the reply could be used, or why there is none; None if something could.
        """
        model = question.model
        url = completion.url or model.endpoint.url
        name = model.model if url is None else f"{model.model} at {url}"
        if (reason := self._unread.add(_key_of(model), name, why)) is not None:
            self._report_fatal(GivenUp(reason, game_of(question)))

    def probe(self, models: Iterable[Model], patience_s: float = 0.0) -> None:
        """Ask each model something small, all at once, and find out what its server takes. Not from a job.

        Of several models with the same name on the same endpoint, one is asked for each way of holding their replies
        to a form; none if a cassette is played.

        Args:
            models: whom to ask.
            patience_s: seconds for which a first reply is waited for at least.

        Raises:
            PlayerError: what `check` finds, or one does not answer; one clear line.
            BudgetSpent: the budget does not allow it.
        """
        if self._plays:
            return
        models = list(models)
        self.check(models)
        self._loop.run(self._probe(models, patience_s))

    def speed(self, model: Model) -> Speed | None:
        """Return how fast a model's server said that it is as it was probed; None if it did not."""
        server = self._servers.get(model.endpoint)
        return None if server is None else server.capability(model.model).speed

    def settled(self, model: Model) -> Model:
        """Return a model whose settings say how its replies are held to their form, as far as that was found out.

        It is for another process, which then need not find out again that a server ignores what it takes.
        """
        server = self._servers.get(model.endpoint)
        if (
            server is None
            or model.structured != "auto"
            or (mode := server.capability(model.model).shape.mode) == "schema"
        ):
            return model
        return model.model_copy(update={"structured": mode})

    def check(self, models: Iterable[Model]) -> None:
        """Look at the settings of each model, without any network; nothing is wrong if a cassette is played.

        Raises:
            PlayerError: a key that is needed is missing or can be none, a URL is wrong, ``.env`` cannot be read, or
                tokens_per_minute is less than a call may take; one line that says so of each model.
        """
        if self._plays:
            return
        wrong: dict[str, None] = {}
        for model in models:
            try:
                url = self._open(model.endpoint).url
            except PlayerError as error:
                # of an endpoint, and said once for all its models
                wrong[str(error)] = None
                continue
            limit = model.endpoint.tokens_per_minute
            if limit is not None and limit < model.max_tokens + SMALL_PROMPT:
                line = (
                    f"{model.model}: tokens_per_minute = {limit:.15g} of {url} is less than one call may take: "
                    f"max_tokens = {model.max_tokens} and a prompt of at least {SMALL_PROMPT}"
                )
                wrong[line] = None
        if wrong:
            raise PlayerError("; and ".join(wrong))

    def close(self) -> None:
        """Cancel all jobs, close all connections and end the thread; safe from any thread, and a second time."""
        self._loop.close(self._close_servers())

    async def _probe(self, models: Iterable[Model], patience_s: float) -> None:
        distinct: dict[tuple[Endpoint, str, str], Model] = {}
        for model in models:
            distinct.setdefault((model.endpoint, model.model, model.structured), model)
        probes = [self._probe_model(model, 2 * probe_seconds(model, patience_s)) for model in distinct.values()]
        outcomes = await asyncio.gather(*probes, return_exceptions=True)
        if self._ended is not None:
            # it is not the model's fault
            raise self._ended
        silent = []
        for model, outcome in zip(distinct.values(), outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            if outcome is not None:
                silent.append((model.model, outcome))
        if silent:
            (first, why), *others = silent
            raise PlayerError(
                "; and ".join([f"{first} does not answer: {why}", *(f"{name}: {why}" for name, why in others)])
            )

    async def _probe_model(self, model: Model, seconds: float) -> str | None:
        """Ask until the server keeps to what it takes; returns why the model does not answer, None if it does."""
        server = self._server(model.endpoint)
        name = f"{model.model} at {server.url}"
        slow = asyncio.get_running_loop().call_later(LONG_WAIT_S, logger.warning, _SLOW, name, LONG_WAIT_S, seconds)
        try:
            while True:
                completion = await self._ask(probe_question(model, seconds))
                if completion.speed is not None:
                    server.capability(model.model).speed = completion.speed
                mode = completion.parameters.get("structured")
                # a refusal is an answer, too
                keeps = completion.error is not None or not isinstance(mode, str) or keeps_form(mode, completion)
                if keeps is not False or not server.capability(model.model).note_ignored(str(mode), model):
                    return completion.error
        finally:
            slow.cancel()

    async def _ask(self, question: ModelQuestion) -> Completion:
        """Ask a server, and count what it took."""
        server = self._server(question.model.endpoint)
        attempts = Attempts(question, server, self._budget, self._tempo.backoff)
        try:
            completion = await attempts.run()
        except asyncio.CancelledError:
            self._count(question, attempts.completion(error="cancelled"))
            raise
        except WolfError as error:
            # attempts before this one may have been answered, and charged
            completion = attempts.completion(error=str(self._end_if_fatal(error)))
        except Exception as error:
            logger.exception("%s: a call failed inside the gateway", question.label)
            completion = attempts.completion(error=f"the gateway failed: {type(error).__name__}")
        return self._count(question, completion)

    def _count(self, question: ModelQuestion, completion: Completion) -> Completion:
        model = question.model
        completion = replace(completion, cost_usd=cost_of(model.price, completion))
        self.accounts.add(model.model, question.purpose, completion)
        return completion

    @property
    def _plays(self) -> bool:
        return self._cassette is not None and self._cassette.plays

    def _server(self, endpoint: Endpoint) -> Server:
        server = self._servers.get(endpoint)
        if server is None:
            server = self._servers[endpoint] = Server(endpoint, self._open(endpoint), self._tempo)
        return server

    def _end_if_fatal(self, error: WolfError) -> WolfError:
        """Return why there is no reply: where nothing can be asked any more, what was the first to say so, by which
        `has_ended` knows every such call.
        """
        if not isinstance(error, BudgetSpent | CassetteError | ConfigError):
            return error
        self._ended = self._ended or error
        # every time: games may have begun since
        self._report_fatal(self._ended)
        return self._ended

    def _report_fatal(self, error: WolfError) -> None:
        if self._fatal is not None:
            try:
                self._fatal(error)
            except Exception:
                logger.exception("ending the games failed")

    async def _close_servers(self) -> None:
        for server in self._servers.values():
            await server.provider.close()


_SLOW: Final = (
    "%s has not answered for %g s: it may be loading its model; it gets %g s, and more with a longer patience in its "
    "[endpoints] table, or --patience"
)


def game_of(question: ModelQuestion) -> str:
    """Return the id of the game that a question is of: its label is a request's id."""
    return question.label.partition("/")[0]


def _key_of(model: Model) -> tuple[Endpoint, str]:
    """Return what tells a model from others: whoever asks it otherwise asks the same."""
    return model.endpoint, model.model
