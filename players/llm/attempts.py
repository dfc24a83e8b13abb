"""`Attempts`: one question put to its server: waits, attempts, back-off, adjustments, to a reply or to none."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from players.llm.decisions import LONGEST_WAIT, why_no_text
from players.llm.endpoint import Server
from players.llm.gate import Permit
from players.llm.loop import format_seconds, loop_time
from players.llm.provider import (
    COUNTED,
    WORDS,
    Completion,
    Failed,
    Failure,
    ModelQuestion,
    ProviderReply,
    Purpose,
    Request,
)
from wolfbus.files.printable import printable
from wolfbus.messages.calls import Scalar
from wolfbus.patience import Backoff
from wolfbus.reading.ladder import is_error_message

if TYPE_CHECKING:
    from players.llm.budget import Budget, Reservation

LONGEST_PAUSE: Final = 60.0
"""Seconds for which one server's answer keeps all other calls from it."""

FAILURES_KEPT: Final = 32
"""Failures of earlier attempts that a completion keeps: the last ones, each at most `FAILURE_KEPT` characters."""

FAILURE_KEPT: Final = 300

PROBE_ATTEMPTS: Final = 3
"""Tries of a probe; of other calls the endpoint says how many, and 429s are none of them."""

_SHARE_OF_TIME: Final = 0.25
_DEFERRED: Final[frozenset[Purpose]] = frozenset({"assess_own", "assess_other"})
"""What goes after all that the game waits for: judgements and labels."""

_LEAST_ROOM: Final = 128
"""Tokens: a reply of fewer is not worth a request, unless the model's own bound is lower."""

_SAME_GARBAGE: Final = 2
"""Times that one question is paid for what cannot be read as a reply."""

_ADJUSTMENTS: Final = 16  # more than a server can reject, for one that rejects at random


class Attempts:
    """The attempts at one question; to be run once, within the gateway's loop.

    A probe, for which somebody waits, has few of them: 429s count as well, but a server that loads its model is waited
    for. What fails without saying why is tried in another form.

    Args:
        question: what is asked.
        server: where.
        budget: what calls may cost.
        backoff: time between attempts.
    """

    def __init__(self, question: ModelQuestion, server: Server, budget: Budget | None, backoff: Backoff) -> None:
        self._question = question
        self._model = question.model
        self._server = server
        self._budget = budget
        self._backoff = backoff
        self._probes = question.purpose == "probe"
        self._limit = PROBE_ATTEMPTS if self._probes else server.endpoint.attempts
        self._charged = False
        self._began = loop_time()
        # with a form, and without
        half = (question.deadline - self._began) / 2
        self._attempt_s: float | None = half if self._probes else getattr(self._model.timeouts, question.purpose, None)
        self._rank = (question.purpose in _DEFERRED, next(server.gate.numbers))
        self._attempts = 0
        self._tries = 0
        self._busy_replies = 0
        self._garbage = 0
        self._attempt_at = self._began
        self._adjusted = 0
        self._queue_s = 0.0
        self._sent_at: float | None = None
        self._queue_before = 0.0
        self._cut_reply: ProviderReply | None = None
        self._blamed: Failure | None = None
        self._last_failure = ""
        self._failures: deque[str] = deque(maxlen=FAILURES_KEPT)
        self._waits_for = ""
        self._counted: dict[str, Any] = {}
        self._parameters: dict[str, Scalar] = {}

    async def run(self) -> Completion:
        """Ask until there is a reply, or there will be none.

        Raises:
            WolfError: the budget ends here, or it cannot be kept.
        """
        if self._began >= self._question.deadline:
            return self.completion(error="the request's time was over before it was asked", timed_out=True)
        halts, fault = False, Completion().fault
        try:
            async with asyncio.timeout_at(self._question.deadline) as bound:
                return self._completed(await self._reply())
        except TimeoutError:
            if not bound.expired():
                # it is the provider's own, and a fault of it as any other exception is
                raise
            error, timed_out, slow = self._out_of_time(), True, True
        except Failed as failed:
            failure = failed.failure if self._blamed is None else self._blamed
            halts, fault = failed.failure.halts, failure.fault
            tries = f" ({self._attempts} attempts)" if self._attempts > 1 else ""
            error, timed_out, slow = f"{failure.line}{tries}", False, failure.trouble in {"loading", "timeout"}
        if self._probes and slow:
            seconds = format_seconds(loop_time() - self._began)
            error = (
                f"{error}; waited {seconds} s: a longer patience in its [endpoints] table, or --patience, waits longer"
            )
        if self._cut_reply is not None and not halts:
            return self._completed(self._cut_reply)
        return replace(self.completion(error=error, timed_out=timed_out), halts=halts, fault=fault)

    def _out_of_time(self) -> str:
        if self._attempts:
            cause = f"; before that: {self._last_failure}" if self._last_failure else ""
            return f"no reply from {self._server.url} in the request's time{cause}"
        waits_for = self._waits_for or f"its turn at {self._server.url}"
        return f"waited {self._queue_s:.1f} s for {waits_for}, and was never sent"

    async def _reply(self) -> ProviderReply:
        capability = self._server.capability(self._model.model)
        bound = capability.bound(self._model)
        reply = await self._reply_within(bound)
        wider = capability.wider(bound, self._model)
        if not reply.cut or reply.repeats or wider == bound:
            return reply
        # should the second attempt fail, half a reply is worth more than none
        self._cut_reply = reply
        reply = await self._reply_within(wider)
        if reply.cut or reply.completion_tokens is None or reply.completion_tokens > bound:
            capability.learn_bound(bound, self._model)
        if reply.cut and not reply.repeats:
            capability.learn_bound(wider, self._model)
        return reply

    async def _reply_within(self, max_tokens: int) -> ProviderReply:
        question, capability = self._question, self._server.capability(self._model.model)
        while True:
            shape = capability.for_model(self._model)
            try:
                request = Request(self._model, question.messages, question.form, shape, max_tokens, question.chain)
                reply = await self._attempt(request)
            except Failed as failed:
                failure = failed.failure
            else:
                capability.note_context(crowded=False)
                capability.note_prompt(sum(len(message.content) for message in question.messages), reply.prompt_tokens)
                if self._blamed is not None:
                    capability.say_guessed(self._blamed)
                return reply
            self._last_failure = failure.line
            self._garbage += failure.trouble == "garbage"
            if failure.lacks == "room":
                max_tokens = self._room(failure, max_tokens)
                self._keep_failure(failure)
                continue
            if capability.learn(failure, shape, self._model) and self._adjusted < _ADJUSTMENTS:
                self._adjusted += 1
                self._keep_failure(failure)
                continue
            if self._probes and capability.guess(failure, shape, self._model):
                self._blamed = self._blamed or failure
                self._tries += 1
                self._keep_failure(failure)
                continue
            if failure.cut:
                self._keep_failure(failure)
                return ProviderReply(None, finish="length")
            await self._wait_after(failure)
            self._keep_failure(failure)

    def _room(self, failure: Failure, sent: int) -> int:
        """Return a smaller bound on the reply, that the context may have room for.

        Raises:
            Failed: there is none; it halts the model where that was so again and again.
        """
        room = sent // 2 if failure.room is None else failure.room
        if min(_LEAST_ROOM, self._model.max_tokens) <= room < sent:
            return room
        again_and_again = self._server.capability(self._model.model).note_context(crowded=True)
        raise Failed(replace(failure, halts=again_and_again and not self._probes))

    def _keep_failure(self, failure: Failure) -> None:
        self._failures.append(failure.line[:FAILURE_KEPT])

    async def _wait_after(self, failure: Failure) -> None:
        """Wait until another attempt makes sense.

        A 429 says that there is a queue and nothing else: it is no try, and the deadline bounds the attempts.

        Raises:
            Failed: none does.
        """
        time_left, busy = self._question.deadline - loop_time(), failure.trouble == "busy"
        too_long = failure.wait is not None and failure.wait >= max(time_left, LONGEST_WAIT)
        if busy and failure.wait is not None and not too_long:
            self._server.gate.pause(min(failure.wait, LONGEST_PAUSE))
        # a server that loads its model is waited for before the games, and so is a queue within them
        queued = failure.again and ((busy and not self._probes) or (failure.trouble == "loading" and self._probes))
        if queued:
            self._busy_replies += 1
        else:
            self._tries += 1
            if self._tries >= self._limit or self._garbage >= _SAME_GARBAGE or not failure.again:
                raise Failed(failure)
        if failure.wait is not None and failure.wait >= time_left:
            line = f"{failure.line}; it asks to wait for {format_seconds(failure.wait)} s, longer than this call can"
            raise Failed(replace(failure, line=line, halts=failure.halts or too_long))
        wait = failure.wait or 0.0
        delay = min(self._backoff.delay(self._busy_replies if queued else self._tries), (time_left - wait) / 2)
        if queued and max(delay, wait) < self._backoff.shortest():
            # in a queue nothing bounds the attempts but time, so they do not come closer and closer together
            raise Failed(failure)
        # busy, the gate keeps everybody waiting, and the jitter keeps them from all coming back at once
        await asyncio.sleep(delay if busy and wait <= LONGEST_PAUSE else wait + delay)

    async def _attempt(self, request: Request) -> ProviderReply:
        """Wait for a permit, make one request, and tell limits, circuit and budget what came of it."""
        permit = await self._acquire(request.tokens)
        reservation: Reservation | None = None
        reply: ProviderReply | None = None
        failure: Failure | None = None
        sent = False
        try:
            if self._budget is not None:
                began = loop_time()
                self._waits_for = "the budget"
                try:
                    reservation = await self._budget.reserve(self._question, request.max_tokens)
                finally:
                    self._queue_s += loop_time() - began
            sent = True
            reply = await self._send(request)
        except Failed as failed:
            failure = failed.failure
            raise
        finally:
            # cancelled on its way, it may have been charged as well
            counted = reply if failure is None else failure.counted
            charged = sent and (counted is not None or failure is None or failure.charged)
            self._charged |= charged
            used = None if counted is None else _sum(counted.prompt_tokens, counted.completion_tokens)
            outage = failure if failure is not None and failure.endpoint_fault else None
            answered = reply is not None or failure is not None
            if sent and not answered:
                outage = self._lapse()
            sent_at = self._attempt_at if sent else None
            self._server.gate.release(permit, used if sent else 0, sent_at=sent_at, answered=answered, outage=outage)
            if reservation is not None:
                reservation.settle(counted, charged=charged, bound=request.max_tokens)
        return reply

    async def _acquire(self, tokens: int) -> Permit:
        """Wait until the endpoint is up and its limits leave room."""
        began, gate = loop_time(), self._server.gate
        try:
            return await gate.acquire(*self._rank, tokens, self._question.deadline)
        except Failed as failed:
            if failed.failure.trouble == "busy" and not self._attempts:
                raise Failed(replace(failed.failure, line=f"{failed.failure.line}; it was never sent")) from None
            raise
        except BaseException:
            self._waits_for = gate.waits_for
            raise
        finally:
            self._queue_s += loop_time() - began

    async def _send(self, request: Request) -> ProviderReply:
        self._parameters = request.parameters
        now = loop_time()
        if self._sent_at is None:
            self._sent_at, self._queue_before = now, self._queue_s
        self._attempts += 1
        self._attempt_at = now
        name, purpose, latencies = self._model.model, self._question.purpose, self._server.latencies
        cut = self._attempt_s or latencies.cut_after(name, purpose, self._question.deadline - self._began)
        if cut is not None and (cut >= self._question.deadline - now or self._server.capability(name).speed):
            # a server that tells how slow it is works, and would begin anew
            cut = None
        try:
            reply = await self._server.provider.ask(request, cut)
        except Failed as failed:
            self._count(failed.failure.counted)
            if failed.failure.trouble == "timeout":
                latencies.add(name, purpose, loop_time() - now)
            raise
        except asyncio.CancelledError as cancelled:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            # nobody has given up the call, and somebody waits for what came of it
            raise RuntimeError("the provider cancelled work of its own") from cancelled
        latencies.add(name, purpose, loop_time() - now)
        self._count(reply)
        reason = why_no_text(reply)
        if reason is not None and (reason.fault == "error" or (self._probes and reason.fault == "unparseable")):
            line = f"{self._server.url}: {reason.line}"
            raise Failed(
                Failure("garbage", line, again=True, charged=True, shaped=True, fault=reason.fault, counted=reply)
            )
        if self._probes and is_error_message(reply.text or ""):
            line = f"{self._server.url}: its reply is an error message: {printable(reply.text or '', FAILURE_KEPT)}"
            raise Failed(Failure("garbage", line, again=True, charged=True, fault="error", counted=reply))
        return reply

    def _count(self, reply: ProviderReply | None) -> None:
        for name in COUNTED:
            self._counted[name] = _sum(self._counted.get(name), getattr(reply, name, None))

    def _lapse(self) -> Failure | None:
        """Return that the attempt under way had enough of the usual time, and brought nothing; None if it had not."""
        now, deadline = loop_time(), self._question.deadline
        share = (now - self._attempt_at) / (deadline - self._began)
        if self._question.hurried or share < _SHARE_OF_TIME or now < deadline:
            return None
        return Failure("timeout", f"{self._server.url}: no reply in a request's time", again=True)

    def _completed(self, reply: ProviderReply) -> Completion:
        words = {name: getattr(reply, name) for name in (*WORDS, "calls_tool", "speed")}
        reason = why_no_text(reply)
        if reason is None or reason.fault not in ({"filtered", "cut"} if self._probes else {"filtered"}):
            return replace(self.completion(error=None), **words)
        return replace(self.completion(error=f"{self._server.url}: {reason.line}"), fault=reason.fault, **words)

    def completion(self, *, error: str | None, timed_out: bool = False) -> Completion:
        """Return what came of it so far.

        Args:
            error: why there is no reply; None if there is one.
            timed_out: whether the deadline passed.
        """
        latency = 0.0
        if self._sent_at is not None:
            latency = loop_time() - self._sent_at - (self._queue_s - self._queue_before)
        return Completion(
            error=error,
            timed_out=timed_out,
            attempts=self._attempts,
            queue_s=self._queue_s,
            latency_s=max(0.0, latency),
            parameters=self._parameters,
            url=self._server.url if self._attempts else None,
            failures=tuple(self._failures),
            charged=self._charged,
            **self._counted,
        )


def _sum(count: Any, other: Any) -> Any:
    return other if count is None else count + (other or 0)
