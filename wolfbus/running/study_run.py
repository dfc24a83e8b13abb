"""`StudyRun`: one run of a study, from its folder's lock to its last manifest, which names what played it."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import queue
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

import wolfbus
from wolfbus.bus.url import shown_url
from wolfbus.errors import BudgetSpent, ConfigError, reason_of
from wolfbus.running.agenda_worker import WorkerSettings
from wolfbus.running.brains import CallOptions, open_brain_context, print_estimate, quiet_brains, rehearse, spent_of
from wolfbus.running.loading import LoadedStudy, RunOptions
from wolfbus.running.local_executor import LocalExecutor
from wolfbus.running.local_workers import LocalWorkers, can_share, workers_for
from wolfbus.running.results import calls_in, find_pending
from wolfbus.running.trust import seal_folder
from wolfbus.service.signals import Interrupts, Terminated
from wolfbus.study.folder import Manifest, StudyFolder, first_difference, utc_now
from wolfbus.study.journal import CallsSoFar, Spent
from wolfbus.study.manifest import FILE, FORMAT, SEED_HASH, VERSION, seed_hash
from wolfbus.study.plan import Plan, PlannedGame
from wolfbus.study.scheduler import (
    Forecast,
    Halt,
    StudyExecutor,
    StudyNews,
    StudyScheduler,
)
from wolfbus.study.showing import StudyProgress, design_lines, design_notes, house_note

if TYPE_CHECKING:
    from players.llm.budget import Amount
    from players.spec import BrainContext

_GIT_TIMEOUT_S: Final = 5.0


def git_commit() -> dict[str, Any] | None:
    """Return commit and state of the git checkout that wolfbus runs from; None if it is none, or there is no git."""
    root = Path(wolfbus.__file__).resolve().parent.parent
    # an installed copy may lie below somebody else's checkout, and its commit would say nothing
    if not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if not commit:
        return None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changed is None else bool(changed)}


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - words of our own, and no shell
            # what is read takes no lock that others would meet, and that a kill would leave
            ["git", "--no-optional-locks", "-C", str(root), *words],  # noqa: S607 - whichever git the user has
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def prompts_hash(brains: Iterable[str]) -> str | None:
    """Return the SHA-256 of what prompts are made from, 64 hex digits; None where no brain is a language model.

    Prompts are written by the modules of `players.llm.prompts` and their tables of words, so it covers these files, in
    the order of their names, each name and content with a zero byte behind it.
    """
    if not any(brain.startswith("llm:") for brain in brains):
        return None
    digest = hashlib.sha256()
    files = resources.files("players.llm.prompts").iterdir()
    for source in sorted(
        (file for file in files if file.name.endswith((".py", ".toml"))), key=lambda source: source.name
    ):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


_ERRORS_SHOWN = 5
"""Failed games whose errors are shown at the end."""

Ending = Literal["through", "halted", "interrupted"]


class StudyRun:
    """One run of a study.

    Args:
        study: what is to be played.
        plan: its games.
        folder: where it goes.
        options: how it is played.
        is_trusted: whether what the study names is what this user has named, or trusts.

    Attributes:
        manifest: what is known of the study; from `play` on.
        halted: why no more could be played, if that is so.
        errors: (game, error) of a few games that failed.
        usage_lines: what model calls took in this run, a line each model; none where others made them.
        halts: games of this run that halted, by why.
        unheard: in how many games of this run none of a brain's answers could be used.
    """

    manifest: Manifest

    def __init__(self, study: LoadedStudy, plan: Plan, folder: Path, options: RunOptions, *, is_trusted: bool) -> None:
        self.study = study
        self.plan = plan
        self.folder = folder
        self.options = options
        self._is_trusted = is_trusted
        self.halted: Halt | None = None
        self.errors: list[tuple[str, str]] = []
        self.halts: dict[str, list[str]] = {}
        self.usage_lines: list[str] = []
        self.unheard: Counter[str] = Counter()

    def play(self, until: int | None = None, *, again: bool = False) -> Ending:
        """Play what is missing.

        Args:
            until: number of the last game that is played; all unless given.
            again: whether this is a further turn: who sits where, and what games take, was shown before, and models
                were asked the canary questions.

        Raises:
            ConfigError: the folder has a study, and it is not to be resumed, or it is another one.
            WolfError: the folder is held by another run, a model does not answer, a worker does not start.
            OSError: the folder cannot be written.
        """
        with quiet_brains(), StudyFolder(self.folder) as folder:
            noted = folder.manifest() if self.options.resume else None
            if noted is None and (self.folder / FILE).exists():
                raise ConfigError(f"{self.folder}: there is a study already; add --resume to go on with it")
            head = self._head(noted)
            created = noted["created"] if noted is not None else utc_now()
            settings = self.study.settings
            planned = list(self.plan.games(settings.games))
            self.manifest = Manifest(head, planned, created, self.plan.seed_of)
            if noted is None:
                pending, spent = planned, Spent()
            else:
                pending, spent = find_pending(
                    folder, noted, self.plan, planned, self.manifest, has_budget=settings.has_budget
                )
            del planned
            if until is not None:
                pending = [game for game in pending if game.number <= until]
            self._note_who_played(head["design"])
            quiet = self.options.quiet or again
            if not quiet:
                click.echo("\n".join(design_lines(head["design"])), err=True)
            folder.write("study.toml", [self.study.text()])
            folder.write("rules.toml", [self.study.rules_text()])
            if self._is_trusted and not self.options.house:
                seal_folder(self.folder, self.study)
            before = _amount(spent)
            try:
                with self._brain_context(pending, before) as brain_context:
                    brains = self._brains_left(pending)
                    if not again:
                        self._ask_canaries(brains, brain_context, folder, rounds=2)
                    folder.write(FILE, self.manifest.pieces(utc_now()))
                    if not pending and not self._is_left_open(folder):
                        return "through"
                    forecast = self._forecast_costs(pending, brain_context, quiet=quiet)
                    alone = self._workers(len(pending)) == 1
                    ending = self._run_scheduler(folder, pending, forecast, brain_context, before)
                    is_last = until is None or self.manifest.complete
                    if ending == "through" and is_last and self._ask_canaries(brains, brain_context, folder, rounds=1):
                        folder.write(FILE, self.manifest.pieces(utc_now()))
                    if alone and brain_context is not None and brain_context.accounts is not None:
                        self.usage_lines = brain_context.accounts.lines()
                    return ending
            except BudgetSpent as error:
                # not even the first small questions could be asked
                folder.write(FILE, self.manifest.pieces(utc_now()))
                self.halted = Halt(str(error), budget=True)
                return "halted"

    def _forecast_costs(
        self, pending: Sequence[PlannedGame], brain_context: BrainContext | None, *, quiet: bool
    ) -> Forecast | None:
        """Print, before anything is spent, about what the pending games will take; returns what a budget carries."""
        options, settings = self.options, self.study.settings
        if options.house or options.replay_cassette is not None or not pending:
            return None
        if quiet and not settings.has_budget:
            return None
        took = rehearse(self.study.config, pending[0].brains, self.study.models)
        if not quiet:
            speed = None if brain_context is None else brain_context.slowest(pending[0].brains)
            print_estimate(took, len(pending), speed, self.study.config.deadlines)
        if not settings.has_budget or not took.get("calls"):
            return None
        tokens = took["prompt_tokens"] + took["completion_tokens"]
        game = Spent(spent_usd=took["cost_usd"] or 0.0, spent_tokens=tokens)
        return Forecast(settings.budget, settings.budget_tokens, game)

    # -- the manifest

    def _head(self, noted: dict[str, Any] | None) -> dict[str, Any]:
        plan, settings = self.plan, self.study.settings
        report = settings.report
        balance = plan.balance(settings.games)
        design: dict[str, Any] = {"kind": plan.kind, "rotation": plan.design.rotation, "cycle": plan.design.cycle}
        design |= balance
        design["equal_shares"] = len({share for _, share in plan.shares}) == 1
        design["notes"] = design_notes(plan.kind, balance, plan.design.rotation, plan.design.cycle)
        if self.options.house:
            design["notes"].append(house_note(tickets=self.options.tickets))
        head: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "study": plan.study,
            "name": settings.name,
            SEED_HASH: seed_hash(plan.seed),
            "config": self.study.config.model_dump(mode="json"),
            "agents": list(plan.agents),
            "seats": None if self.study.seats is None else list(self.study.seats),
            # what agents of a house are made of is in the records, as far as they say
            "models": self.study.used_models(plan.agents) if not self.options.house else {},
            "prompts": prompts_hash(plan.agents) if not self.options.house else None,
            **({} if not self.options.house else {"house": self.options.house, "tickets": self.options.tickets}),
            "design": design,
            "primary": None if report is None or report.primary is None else list(report.primary),
            **({"margins": report.margins} if report is not None and report.margins else {}),
            "budget_usd": settings.budget,
            "wolfbus": wolfbus.__version__,
            "python": platform.python_version(),
            "git": git_commit(),
        }
        if noted is None:
            return head
        if (difference := first_difference(head, noted)) is not None:
            raise ConfigError(f"{self.folder}: {difference}")
        playing = {name: head[name] for name in ("wolfbus", "python", "git")}
        began = {name: noted.get(name) for name in playing}
        others = noted.get("continued_with") or []
        if playing not in (began, *others):
            others = [*others, playing]
        head |= began
        head |= {name: noted[name] for name in ("primary", "margins", "canaries") if name in noted}
        return {**head, "continued_with": others} if others else head

    def _note_who_played(self, design: dict[str, Any]) -> None:
        """Put into the manifest who played where the plan does not say, and how even that was."""
        if self.plan.kind == "joined":
            played = self.manifest.played
            design |= self.plan.balance_of(played, self.study.settings.games)
            agents = sorted({brain for brains in played.values() for brain in brains})
            self.manifest.amend(design=design, agents=agents)

    def _is_left_open(self, folder: StudyFolder) -> bool:
        if not self.options.house:
            return False
        from wolfbus.running.house_executor import is_left_open

        return is_left_open(self.options.url, self.options.house, folder.sessions())

    # -- playing

    @contextlib.contextmanager
    def _brain_context(self, pending: Sequence[PlannedGame], before: Amount) -> Iterator[BrainContext | None]:
        """Open what the brains of this process share, with each brain checked and each model asked a first time that is
        to play still.
        """
        options, brains, settings = self.options, self.plan.agents, self.study.settings
        if options.house:
            yield None
        elif options.share is not None:
            from players.llm.budget import Budget
            from players.spec import BrainContext

            # workers have the brains, and see whether theirs can be made
            with BrainContext(self.study.models) as unchecked:
                Budget(settings.budget, settings.budget_tokens).check(unchecked.tables_of(brains))
            yield None
        else:
            calls = self._call_options()
            brains = self._brains_left(pending)
            if self._workers(len(pending)) > 1:
                # each worker records into a file of its own
                calls = replace(calls, cassette=None)
            with open_brain_context(
                brains, self.study.models, before=before, probe=options.probe, **asdict(calls)
            ) as brain_context:
                yield brain_context

    def _brains_left(self, pending: Sequence[PlannedGame]) -> tuple[str, ...]:
        """Return the brains that are to play still."""
        if self.study.settings.forks is not None:
            # what forks ask for their statements need not play in them
            return self.plan.agents
        left = {brain for game in pending for brain in game.brains}
        return tuple(brain for brain in self.plan.agents if brain in left)

    def _ask_canaries(
        self, brains: Sequence[str], brain_context: BrainContext | None, folder: StudyFolder, *, rounds: int
    ) -> bool:
        """Ask the models the canary questions, if the study has them, and note what they answer, and what is spent.

        Args:
            brains: who plays.
            brain_context: the way to models.
            folder: the study's.
            rounds: how often in a row, if they were never asked; once if they were.

        Returns:
            Whether anything was noted.
        """
        options = self.options
        tape = options.cassette or options.replay_cassette
        if not self.study.settings.canaries or brain_context is None or tape is not None:
            return False
        from players.spec import named_models

        if not (models := named_models(brains, self.study.models)):
            return False
        from players.llm.canaries import ask_canaries

        noted = self.manifest.canaries
        for _ in range(1 if noted else rounds):
            rounds_now = ask_canaries(models, brain_context.gateway, utc_now())
            noted += [one.model_dump() for one in rounds_now]
            self.manifest.amend(canaries=noted)
        if (spent := spent_of(brain_context.spent)) is not None:
            folder.note({**spent.model_dump(), "at": time.time()})
        return True

    def _run_scheduler(
        self,
        folder: StudyFolder,
        pending: list[PlannedGame],
        forecast: Forecast | None,
        brain_context: BrainContext | None,
        before: Amount,
    ) -> Ending:
        news: queue.Queue[StudyNews] = queue.Queue()
        settings = self.study.settings
        with (
            Interrupts() as interrupts,
            StudyProgress(
                self.manifest,
                quiet=self.options.quiet,
                plain=self.options.plain,
                budget=settings.budget,
                budget_tokens=settings.budget_tokens,
            ) as progress,
        ):
            carried = self._calls_before(pending)
            scheduler = StudyScheduler(folder, self.manifest, pending, news, progress, interrupts, forecast, carried)
            left = len(pending)
            pending.clear()
            hasty = True
            interrupted = False
            try:
                scheduler.run(self._executor(progress.say, folder, left, brain_context, before, news))
                hasty = scheduler.halted is not None
                if scheduler.halted is not None:
                    scheduler.break_off(scheduler.halted.why)
            except OSError as error:
                # journal or manifest cannot be written
                scheduler.halted = _no_room(error)
            except KeyboardInterrupt as interrupt:
                interrupted = True
                hasty = not self._drain(scheduler, patient=not isinstance(interrupt, Terminated))
            finally:
                scheduler.close(hasty=hasty)
                self.halted, self.errors = scheduler.halted, scheduler.errors[:_ERRORS_SHOWN]
                self.halts, self.unheard = scheduler.halts, scheduler.unheard
            self._note_who_played(self.manifest.design)
            try:
                scheduler.write()
            except OSError as error:
                self.halted = self.halted or _no_room(error)
            if brain_context is not None and scheduler.spent is not None:
                # by several workers, of which this process knows nothing else
                brain_context.spent = _amount(scheduler.spent)
        if interrupted and not self.manifest.complete:
            return "interrupted"
        return "halted" if self.halted is not None else "through"

    def _calls_before(self, pending: Sequence[PlannedGame]) -> CallsSoFar:
        """Return what model calls took before this run, those of games that are gone on with included."""
        before = CallsSoFar(self.manifest.calls, self.manifest.cost_usd)
        for game in pending:
            path = self.folder / game.record
            if path.is_file():
                before += calls_in(path)
        return before

    @staticmethod
    def _drain(scheduler: StudyScheduler, *, patient: bool) -> bool:
        """Have what is under way come to its end, unless the user does not want to wait; returns whether it did."""
        drained = False
        with contextlib.suppress(KeyboardInterrupt):
            try:
                drained = patient and scheduler.drain()
            except OSError as error:
                scheduler.halted = _no_room(error)
        if not drained:
            with contextlib.suppress(KeyboardInterrupt):
                scheduler.break_off("interrupted")
        return drained

    def _executor(
        self,
        say: Callable[[str], None],
        folder: StudyFolder,
        left: int,
        brain_context: BrainContext | None,
        before: Amount,
        news: queue.Queue[StudyNews],
    ) -> StudyExecutor:
        """Return what has the games played that are left: a house, an agenda, or this machine."""
        options = self.options
        if options.house:
            from wolfbus.running.house_executor import HouseExecutor

            study, tickets = self.study.settings, options.tickets
            return HouseExecutor(options.url, options.house, self.plan, study, folder, news, say, tickets=tickets)
        if options.share is not None:
            from wolfbus.running.agenda_executor import AgendaExecutor

            address = f"--bus {shlex.quote(shown_url(options.url))} --agenda {options.share}"
            executor = AgendaExecutor(options.url, options.share, self.study, self.folder, before, news, say)
            say(f"the games are on agenda {options.share}; on any machine, play them with: wolfbus worker {address}")
            return executor
        settings = WorkerSettings(options.url, self.plan.config, self.folder, at_once=self.study.settings.at_once)
        if (workers := self._workers(left)) == 1:
            if (self.study.settings.workers or 1) > 1 and not can_share():
                say('one process plays: several need a Redis server between them (pip install "wolfbus[server]")')
            return LocalExecutor(settings, brain_context, news)
        models = self._settled_models(brain_context)
        calls = self._call_options()
        if brain_context is not None:
            # what models were asked before the games counts, too
            before = brain_context.spent or before
        return LocalWorkers(settings, workers, self.study, calls, models, before, folder.lock_fd, news)

    def _workers(self, pending: int) -> int:
        """Return how many processes play: as many as were asked for, or else as many as are done first."""
        settings = self.study.settings
        workers = settings.workers or workers_for(self.plan.agents, pending, settings.at_once)
        workers = min(workers, max(pending, 1), settings.at_once)
        return workers if workers == 1 or can_share() else 1

    def _settled_models(self, brain_context: BrainContext | None) -> dict[str, Any]:
        """Return the models of those who play, with what was found out of their servers."""
        from players.spec import named_models

        used = named_models(self.plan.agents, self.study.models)
        return used if brain_context is None else {name: brain_context.settled(model) for name, model in used.items()}

    def _call_options(self) -> CallOptions:
        options, settings = self.options, self.study.settings
        tapes = options.cassette, options.replay_cassette
        return CallOptions(settings.budget, settings.budget_tokens, *tapes, options.give_up, self.folder / "stderr")


def _amount(spent: Spent) -> Amount:
    from players.llm.budget import Amount

    return Amount(Decimal(repr(spent.spent_usd)), spent.spent_tokens)


def _no_room(error: OSError) -> Halt:
    return Halt(f"{error.filename or 'the journal'}: {reason_of(error)}")
