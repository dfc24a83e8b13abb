"""`wolfbus check-agent`: puts an agent through every request and edge of the protocol, and prints what it did wrong."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shlex
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from moderator.check import TrialTerms, try_agent
from players.service import serve
from players.spec import BrainContext, check, command_spec
from wolfbus.agent.membership import Membership, introduce
from wolfbus.bus import open_bus
from wolfbus.bus.url import shown_url
from wolfbus.cli.options import Number, seconds_option, shared_bus, stream_name
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted, printable
from wolfbus.game.fresh import fresh_name
from wolfbus.service.child import end_child, start_child
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.redis import LocalRedis

if TYPE_CHECKING:
    from moderator.check import Finding

AUTO: Final = "auto"
_CHECK_WIDTH: Final = 34
_SHOWN: Final = 300
_EXIT_S: Final = 5.0
_STDERR: Final = 2
_MARKS: Final = {"ok": ("OK", "green"), "warn": ("WARN", "yellow"), "fail": ("FAIL", "red"), "skip": ("--", None)}


@click.command("check-agent", context_settings={"allow_interspersed_args": False})
@click.option(
    "--bus",
    "url",
    callback=shared_bus,
    metavar="URL|auto",
    help="Try an agent that joins over Redis, at this address; auto starts a private Redis and prints its address. "
    "Without it COMMAND is a program that speaks the line protocol.",
)
@click.option(
    "--house",
    callback=stream_name,
    default="check",
    show_default=True,
    help="The house it joins: one without a moderator.",
)
@click.option("--name", help="The agent to try. [default: the first that joins]")
@click.option(
    "--seats",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="Seats that a line-protocol program is given at a time.",
)
@click.option(
    "--deadline",
    type=Number(0.05, 3600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for an answer; an agent that asks a model may want more.",
)
@seconds_option("--wait", minimum=0.05, default=30.0, help="How long to wait for it to join.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
@click.argument("command", nargs=-1, metavar="[-- COMMAND [ARGS]... | URL]")
def check_agent(
    url: str | None,
    house: str,
    name: str | None,
    seats: int,
    deadline: float,
    wait: float,
    command: tuple[str, ...],
    *,
    as_json: bool,
) -> int:
    """Put an agent through every kind of request and every edge of the protocol, and print what it did wrong.

    \b
    wolfbus check-agent -- python3 examples/agent.py
    wolfbus check-agent -- http://localhost:9000/wolf
    wolfbus check-agent --bus redis://localhost:6379 --house check
    wolfbus check-agent --bus auto -- node examples/bus_agent.js {bus} {house} my-agent 2

    With --bus, COMMAND is started as the agent, with {bus} and {house} filled in, and ended afterwards; without one,
    start the agent yourself. At the end it is told goodbye. OK: as the protocol wants it. WARN: put up with, at a
    price. FAIL: not; the exit code is then 1.
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    terms = TrialTerms(join_s=wait, deadline_s=deadline, tight_s=min(1.0, deadline / 2))
    if url is None and not command:
        raise click.UsageError("name a COMMAND that speaks the line protocol, or a --bus for the agent to join on")
    show: Callable[[Finding], None] = (lambda _: None) if as_json else _print
    began = time.monotonic()
    if url is None:
        findings = _try_program(command, house, seats, terms, show)
    else:
        findings = _try_member(url, house, name, command, terms, show)
    verdicts: Counter[str] = Counter(finding.verdict for finding in findings)
    if as_json:
        result = {"findings": [finding.plain() for finding in findings], "failed": verdicts["fail"]}
        click.echo(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        counts = ", ".join(f"{verdicts[verdict]} {mark}" for verdict, (mark, _) in _MARKS.items() if verdicts[verdict])
        click.echo(f"{counted(len(findings), 'check')} in {time.monotonic() - began:.1f} s: {counts}")
    return 1 if verdicts["fail"] else 0


def _try_program(
    command: Sequence[str], house: str, seats: int, terms: TrialTerms, show: Callable[[Finding], None]
) -> list[Finding]:
    """Try a program that speaks the line protocol: as a member of a house in this process."""
    brain = command_spec(command)
    url = f"memory://{fresh_name('check')}"
    # how our own member keeps time is no question here
    terms = replace(terms, again_s=0.2, settle_s=0.2)
    stopping = Stopping()
    introduction = introduce("program", brain="outside:program", version=shlex.join(command)[:200], seats=seats)
    membership = Membership(url, house, introduction, grace_s=0.0)
    with contextlib.ExitStack() as stack:
        # nor are messages of an unknown kind, which it logs, a fault of the program
        logger = logging.getLogger("wolfbus.agent")
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)
        brain_context = stack.enter_context(BrainContext())
        check((brain,), brain_context)
        brain_context.probe((brain,))
        bus = open_bus(url)
        stack.callback(bus.close)
        threads = stack.enter_context(ThreadPoolExecutor(1, "check-agent-player"))
        player = threads.submit(serve, membership, brain, brain_context, stopping)
        try:
            findings = try_agent(bus, house, introduction.agent, terms, show)
        finally:
            stopping.ask("the trial is over")
        # it may have failed
        player.result()
    return findings


def _try_member(
    url: str, house: str, name: str | None, command: Sequence[str], terms: TrialTerms, show: Callable[[Finding], None]
) -> list[Finding]:
    """Try an agent that joins over Redis."""
    with contextlib.ExitStack() as stack:
        if url == AUTO:
            url = stack.enter_context(LocalRedis()).url
        if not command:
            where = f"house {house} on {shown_url(url)}"
            click.echo(f"waiting {terms.join_s:g} s for an agent to join {where}", err=True)
        bus = open_bus(url)
        stack.callback(bus.close)
        process = stack.enter_context(_agent_process(command, url, house, name)) if command else None

        def exit_note() -> str | None:
            code = None if process is None else process.poll()
            return None if code is None else f"`{shlex.join(command)}` exited with code {code}"

        return try_agent(bus, house, name, terms, show, exit_note)


@contextlib.contextmanager
def _agent_process(command: Sequence[str], url: str, house: str, name: str | None) -> Iterator[subprocess.Popen[bytes]]:
    """Run an agent's process; it has a while to leave by itself, then it is ended."""
    words = [word.replace("{bus}", url).replace("{house}", house) for word in command]
    program = shutil.which(words[0])
    if program is None:
        raise ConfigError(f"there is no program {words[0]!r:.80}")
    environment = {**os.environ, "WOLFBUS_BUS": url, "WOLFBUS_HOUSE": house}
    if name is not None:
        environment["WOLFBUS_NAME"] = name
    # what it prints is none of the findings
    process = start_child([program, *words[1:]], env=environment, stdout=_STDERR)
    left_s = 0.0
    try:
        yield process
        left_s = _EXIT_S
    finally:
        end_child(process, by_itself_s=left_s)


def _print(finding: Finding) -> None:
    """Print a finding: what it says of the agent may hold the agent's own words."""
    mark, colour = _MARKS[finding.verdict]
    text = f"{finding.check:<{_CHECK_WIDTH}}  {printable(finding.seen, _SHOWN)}".rstrip()
    click.echo(f"{click.style(f'{mark:<4}', fg=colour)}  {text}")
    for fault in finding.fault_lines:
        click.echo(f"        {printable(fault, _SHOWN)}")
