"""`StudyRun`: one run of a study, from its folder's lock to its last manifest, which names what played it."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import queue
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

import wolfbus
from wolfbus.bus.url import shown_url
from wolfbus.cli.brains import open_brain_context, print_estimate, quiet_brains, rehearse
from wolfbus.cli.studying.agenda_player import Orders
from wolfbus.cli.studying.loading import LoadedStudy, RunOptions
from wolfbus.cli.studying.reading import take_stock
from wolfbus.cli.studying.workers import LocalPlayers, divided, workers_for
from wolfbus.errors import BudgetSpent, ConfigError, reason_of
from wolfbus.study.folder import Manifest, StudyFolder, differences, utc_now
from wolfbus.study.journal import Spent
from wolfbus.study.manifest import FILE, FORMAT, VERSION
from wolfbus.study.plan import Plan, PlannedGame
from wolfbus.study.progress import StudyProgress
from wolfbus.study.scheduler import Forecast, Halt, StudyNews, StudyPlayers, StudyScheduler
from wolfbus.study.showing import design_lines, design_notes, house_note

if TYPE_CHECKING:
    from players.llm.budget import Amount
    from players.spec import BrainContext

_PATIENCE_S: Final = 5.0


def versions() -> dict[str, Any]:
    """Return the members of a manifest that say what plays it."""
    return {"wolfbus": wolfbus.__version__, "python": platform.python_version(), "git": git_commit()}


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
            ["git", "-C", str(root), *words],  # noqa: S607 - whichever git the user has
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def prompts_hash(brains: Iterable[str]) -> str | None:
    """Return the SHA-256 of what prompts are made from, 64 hex digits; None where no brain is a language model.

    Prompts are written by the modules of `players.llm.prompts`, so it covers their source, in the order of their names,
    each name and source with a zero byte behind it.
    """
    if not any(brain.startswith("llm:") for brain in brains):
        return None
    digest = hashlib.sha256()
    sources = [each for each in resources.files("players.llm.prompts").iterdir() if each.name.endswith(".py")]
    for source in sorted(sources, key=lambda each: each.name):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


_SHOWN = 5
"""Failed games whose errors are told at the end."""

Ending = Literal["through", "halted", "interrupted"]


class StudyRun:
    """One run of a study.

    Args:
        study: what is to be played.
        plan: its games.
        folder: where it goes.
        options: how it is played.

    Attributes:
        manifest: what is known of the study; from `play` on.
        halted: why no more could be played, if that is so.
        errors: (game, error) of a few games that failed.
        took: what model calls took in this run, a line each model; none where others made them.
        unheard: in how many games of this run none of a brain's answers could be used.
    """

    manifest: Manifest

    def __init__(self, study: LoadedStudy, plan: Plan, folder: Path, options: RunOptions) -> None:
        self.study = study
        self.plan = plan
        self.folder = folder
        self.options = options
        self.halted: Halt | None = None
        self.errors: list[tuple[str, str]] = []
        self.took: list[str] = []
        self.unheard: Counter[str] = Counter()

    def play(self) -> Ending:
        """Play what is missing.

        Raises:
            ConfigError: the folder has a study, and it is not to be resumed, or it is another one.
            WolfError: the folder is held by another run, a model does not answer, a worker does not start.
            OSError: the folder cannot be written.
        """
        with quiet_brains(), StudyFolder(self.folder) as folder:
            there = folder.manifest() if self.options.resume else None
            if there is None and (self.folder / FILE).exists():
                raise ConfigError(f"{self.folder}: there is a study already; add --resume to go on with it")
            head = self._head(there)
            created = there["created"] if there is not None else utc_now()
            settings = self.study.settings
            planned = list(self.plan.games(settings.games))
            self.manifest = Manifest(head, planned, created)
            if there is None:
                pending, noted = planned, Spent()
            else:
                pending, noted = take_stock(folder, there, self.plan, planned, self.manifest)
            del planned
            self._tell_who_played(head["design"])
            if not self.options.quiet:
                click.echo("\n".join(design_lines(head["design"])), err=True)
            folder.write("study.toml", [self.study.text()])
            folder.write("rules.toml", [self.study.rules_text()])
            before = _amount(noted)
            try:
                with self._brain_context(len(pending), before) as brain_context:
                    folder.write(FILE, self.manifest.pieces(utc_now()))
                    if not pending and not self._is_left_open(folder):
                        return "through"
                    forecast = self._expect(pending)
                    alone = self._workers(len(pending)) == 1
                    ending = self._conduct(folder, pending, forecast, brain_context, before)
                    if alone and brain_context is not None and brain_context.accounts is not None:
                        self.took = brain_context.accounts.lines()
                    return ending
            except BudgetSpent as spent:
                # not even the first small questions could be asked
                folder.write(FILE, self.manifest.pieces(utc_now()))
                self.halted = Halt(str(spent), budget=True)
                return "halted"

    def _expect(self, pending: Sequence[PlannedGame]) -> Forecast | None:
        """Tell before anything is spent what the games that are missing will about take, and return what is carried."""
        options, settings = self.options, self.study.settings
        has_budget = settings.budget is not None or settings.budget_tokens is not None
        if options.houses or options.replay_cassette is not None or not pending or (options.quiet and not has_budget):
            return None
        took = rehearse(self.study.config, pending[0].brains, self.study.models)
        if not options.quiet:
            print_estimate(took, len(pending))
        if not has_budget or not took.get("calls"):
            return None
        tokens = took["prompt_tokens"] + took["completion_tokens"]
        game = Spent(spent_usd=took["cost_usd"] or 0.0, spent_tokens=tokens)
        return Forecast(settings.budget, settings.budget_tokens, game)

    # -- what is there

    def _head(self, there: dict[str, Any] | None) -> dict[str, Any]:
        plan, settings = self.plan, self.study.settings
        balance = plan.balance(settings.games)
        design: dict[str, Any] = {"kind": plan.kind, "rotation": plan.design.rotation, "cycle": plan.design.cycle}
        design |= balance
        design["equal_shares"] = len({share for _, share in plan.shares}) == 1
        design["notes"] = design_notes(plan.kind, balance, plan.design.rotation, plan.design.cycle)
        if self.options.houses:
            design["notes"].append(house_note(tickets=self.options.tickets))
        houses = ", ".join(address.name for address in self.options.addresses())
        head: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "study": plan.study,
            "name": settings.name,
            "seed": plan.seed,
            "config": self.study.config.model_dump(mode="json"),
            "agents": list(plan.agents),
            "seats": None if self.study.seats is None else list(self.study.seats),
            # what agents of a house are made of is in the records, as far as they say
            "models": self.study.used_models(plan.agents) if not self.options.houses else {},
            "prompts": prompts_hash(plan.agents) if not self.options.houses else None,
            **({} if not houses else {"house": houses, "tickets": self.options.tickets}),
            "design": design,
            "primary": None if settings.report is None else list(settings.report.primary),
            "budget_usd": settings.budget,
            **versions(),
        }
        if there is None:
            return head
        if (what := differences(head, there)) is not None:
            raise ConfigError(f"{self.folder}: {what}")
        playing = {name: head[name] for name in ("wolfbus", "python", "git")}
        began = {name: there.get(name) for name in playing}
        others = there.get("continued_with") or []
        if playing not in (began, *others):
            others = [*others, playing]
        head |= began
        head["primary"] = there.get("primary")
        return {**head, "continued_with": others} if others else head

    def _tell_who_played(self, design: dict[str, Any]) -> None:
        """Put into the manifest who played where the plan does not say, and how even that was."""
        if self.plan.kind == "joined":
            played = self.manifest.played
            design |= self.plan.balance_of(played, self.study.settings.games)
            brains = sorted({brain for each in played.values() for brain in each})
            self.manifest.amend(design=design, agents=brains)

    def _is_left_open(self, folder: StudyFolder) -> bool:
        if not self.options.houses:
            return False
        from wolfbus.cli.studying.elsewhere import is_left_open

        return any(is_left_open(address, folder.sessions()) for address in self.options.addresses())

    # -- playing

    @contextlib.contextmanager
    def _brain_context(self, left: int, before: Amount) -> Iterator[BrainContext | None]:
        """Open what the brains of this process share, with each brain checked and each model asked a first time."""
        how, brains, settings = self.options, self.plan.agents, self.study.settings
        if how.houses:
            yield None
        elif how.share is not None:
            from players.llm.budget import Budget
            from players.spec import BrainContext

            # workers have the brains, and see whether theirs can be made
            with BrainContext(self.study.models) as unasked:
                Budget(settings.budget, settings.budget_tokens).check(unasked.tables_of(brains))
            yield None
        else:
            calls = self._calls()
            if self._workers(left) > 1:
                # each worker records into a file of its own
                calls["cassette"] = None
            with open_brain_context(
                brains, self.study.models, before=before, probe=how.probe, **calls
            ) as brain_context:
                yield brain_context

    def _conduct(
        self,
        folder: StudyFolder,
        pending: list[PlannedGame],
        forecast: Forecast | None,
        brain_context: BrainContext | None,
        before: Amount,
    ) -> Ending:
        news: queue.SimpleQueue[StudyNews] = queue.SimpleQueue()
        with StudyProgress(self.manifest, quiet=self.options.quiet, plain=self.options.plain) as progress:
            scheduler = StudyScheduler(folder, self.manifest, pending, news, progress, forecast)
            left = len(pending)
            pending.clear()
            hasty = True
            interrupted = False
            try:
                scheduler.run(self._players(scheduler, folder, left, brain_context, before, news))
                hasty = scheduler.halted is not None
                if scheduler.halted is not None:
                    scheduler.break_off(scheduler.halted.why)
            except OSError as error:
                # journal or manifest cannot be written
                scheduler.halted = _no_room(error)
            except KeyboardInterrupt:
                interrupted = True
                with contextlib.suppress(KeyboardInterrupt):
                    scheduler.break_off("interrupted")
            finally:
                scheduler.close(hasty=hasty)
                self.halted, self.errors = scheduler.halted, scheduler.errors[:_SHOWN]
                self.unheard = scheduler.unheard
            self._tell_who_played(self.manifest.design)
            try:
                scheduler.write()
            except OSError as error:
                self.halted = self.halted or _no_room(error)
        return "interrupted" if interrupted else "halted" if self.halted is not None else "through"

    def _players(
        self,
        scheduler: StudyScheduler,
        folder: StudyFolder,
        left: int,
        brain_context: BrainContext | None,
        before: Amount,
        news: queue.SimpleQueue[StudyNews],
    ) -> StudyPlayers:
        """Return those who play what is left: agents of a house, workers anywhere, or this machine."""
        how, say = self.options, scheduler.say
        if how.houses:
            addresses, settings = how.addresses(), self.study.settings
            if len(addresses) == 1:
                from wolfbus.cli.studying.elsewhere import HousePlayers

                return HousePlayers(addresses[0], self.plan, settings, folder, news.put, say, tickets=how.tickets)
            from wolfbus.cli.studying.houses import ManyHouses

            return ManyHouses(addresses, self.plan, settings, folder, news, say, tickets=how.tickets)
        if how.share is not None:
            from wolfbus.cli.studying.elsewhere import SharedPlayers

            where = f"--bus {shlex.quote(shown_url(how.url))} --agenda {how.share}"
            shared = SharedPlayers(how.url, how.share, self.study, self.folder, before, news)
            say(f"the games are on agenda {how.share}; on any machine, play them with: wolfbus worker {where}")
            return shared
        return LocalPlayers(self._orders(folder, left, brain_context), brain_context, scheduler.clear, news)

    def _workers(self, pending: int) -> int:
        """Return how many processes play: as many as was told, or else as many as play soonest."""
        settings = self.study.settings
        told = settings.workers
        if told is None:
            told = workers_for(self.plan.agents, pending, settings.at_once)
        return min(told, max(pending, 1), settings.at_once)

    def _orders(self, folder: StudyFolder, pending: int, brain_context: BrainContext | None) -> Orders:
        models = {}
        if brain_context is not None and any(brain.startswith("llm:") for brain in self.plan.agents):
            from players.llm.settings import model_of

            words = [brain.removeprefix("llm:") for brain in self.plan.agents if brain.startswith("llm:")]
            models = {each: brain_context.settled(model_of(each, self.study.models)) for each in words}
        settings, workers = self.study.settings, self._workers(pending)
        brains = {"brains": self.plan.agents, "models": divided(models, workers), **self._calls()}
        return Orders(
            url=self.options.url,
            config=self.plan.config,
            folder=self.folder,
            workers=workers,
            at_once=settings.at_once,
            brains=brains,
            lock_fd=folder.lock_fd,
        )

    def _calls(self) -> dict[str, Any]:
        """Return how models are called, as `open_brain_context` takes it."""
        return {
            "budget": self.study.settings.budget,
            "budget_tokens": self.study.settings.budget_tokens,
            "cassette": self.options.cassette,
            "replay_cassette": self.options.replay_cassette,
            "give_up": self.options.give_up,
            "logs": self.folder / "stderr",
        }


def _amount(spent: Spent) -> Amount:
    from players.llm.budget import Amount as Of

    return Of(Decimal(repr(spent.spent_usd)), spent.spent_tokens)


def _no_room(error: OSError) -> Halt:
    return Halt(f"{error.filename or 'the journal'}: {reason_of(error)}")
