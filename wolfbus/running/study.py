"""`run_study`: many games of one design, for Python; and `prepare_run`, from which `wolfbus run` has its run, too."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wolfbus.errors import ConfigError
from wolfbus.running.arguments import checked
from wolfbus.running.loading import RunOptions, load_study
from wolfbus.running.play import PlayersOf, specs_of
from wolfbus.running.study_run import StudyRun
from wolfbus.running.trust import named_by, not_sealed, own_models
from wolfbus.study.designs import DesignKind
from wolfbus.study.forks import arms_of
from wolfbus.study.manifest import FILE, RECORDS

if TYPE_CHECKING:
    from analytics.gather import Gathered


@dataclass(frozen=True, slots=True)
class PlayedStudy:
    """A study as far as it was played.

    Attributes:
        folder: its folder, with the manifest and a record of every game.
        study: its id.
        games: how many games it has.
        ended: how many of them came to their end.
        failed: how many failed.
        halted_games: ids of those that halted, since a model can be asked no more for now, each with why; `resume` goes
            on with them.
        spoilt: ids of those that ended, but of a seat of which too many answers are defaults for want of a reply.
        answers: answers that were asked for and not declined.
        defaults: how many of them are defaults, by why: "timed_out", or the fault.
        wins: ended games by who won: "villagers", "werewolves", "nobody".
        cost_usd: what model calls cost, as far as known.
        study_hash: one hash over the records of all games that have ended; None before the first.
        halted: why no more could be played, in one line; None where all were.
        errors: id and reason of the first games that failed.
    """

    folder: Path
    study: str
    games: int
    ended: int
    failed: int
    halted_games: Mapping[str, str]
    spoilt: tuple[str, ...]
    answers: int
    defaults: Mapping[str, int]
    wins: Mapping[str, int]
    cost_usd: float | None
    study_hash: str | None
    halted: str | None
    errors: tuple[tuple[str, str], ...]

    @property
    def complete(self) -> bool:
        """Whether every game has ended."""
        return self.ended == self.games

    @property
    def records(self) -> list[Path]:
        """The records, in the order of the games."""
        return sorted((self.folder / RECORDS).glob("*.ndjson"))

    def findings(self) -> dict[str, Any]:
        """Return what `wolfbus report --json` prints: every number with its n, interval and baseline, or its reason."""
        from analytics.findings import findings

        return dict(findings(self.gather()))

    def gather(self) -> Gathered:
        """Return the rows of all games, as `wolfbus report` and `wolfbus export` have them."""
        from analytics.gather import gather

        return gather([str(self.folder)])


@checked
def run_study(
    study: Mapping[str, Any] | Path | str | None = None,
    *,
    players: PlayersOf | None = None,
    games: int | None = None,
    seed: str | int | None = None,
    design: DesignKind | None = None,
    config: Path | str | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    trust: bool = False,
    name: str | None = None,
    at_once: int | None = None,
    workers: int | None = None,
    budget: float | None = None,
    budget_tokens: int | None = None,
    bus: str = "memory://",
    probe: bool = True,
    cassette: Path | None = None,
    replay_cassette: Path | None = None,
    quiet: bool = True,
) -> PlayedStudy:
    """Play a study, or go on with one, and return once no more is to be played.

    Args:
        study: the study: the path of its TOML file, or a table as such a file holds it; None where all is given here.
            What is given here comes before what it says.
        players: who plays, as for `wolfbus.play`; our scripts unless given.
        games: how many games, 1 to 99,999; 20 unless given.
        seed: from which every game's seed is drawn; fresh unless given.
        design: who sits where; "balanced" unless given.
        config: file of rules and models, where the study has none.
        out: the study's folder; runs/STUDY unless given.
        resume: go on with the study in the folder: play what is missing.
        trust: run what the folder's file names, programs, modules and addresses, though somebody else made it.
        name: a title for people.
        at_once: games under way at a time; 16 unless given.
        workers: processes that play; one unless given, but one for each core where all players are scripts.
        budget: US dollars that all model calls may cost.
        budget_tokens: tokens that they may use.
        bus: the bus to play on, ``memory://`` or a Redis.
        probe: whether to ask each model something small first.
        cassette: folder to record model replies into.
        replay_cassette: folder to play them from, without a network.
        quiet: show no progress.

    Raises:
        ConfigError: what was given cannot be understood; one line that names the fault.
        WolfError: the folder is held by another run, a model does not answer.
        OSError: the folder cannot be written.
        KeyboardInterrupt: the user interrupted it; `resume` goes on.
    """
    from players.spec import declined_by

    declined_by.cache_clear()
    options = {
        # as a TOML file holds them
        "players": None if players is None else specs_of(players),
        "games": games,
        "seed": seed,
        "design": design,
        "name": name,
        "at_once": at_once,
        "workers": workers,
        "budget": budget,
        "budget_tokens": budget_tokens,
    }
    run_options = RunOptions(
        url=bus,
        resume=resume,
        trust=trust,
        probe=probe,
        cassette=cassette,
        replay_cassette=replay_cassette,
        quiet=quiet,
    )
    source = study if study is None or isinstance(study, Mapping) else Path(study)
    run = prepare_run(
        source, None if config is None else Path(config), options, run_options, None if out is None else Path(out)
    )
    if run.play() == "interrupted":
        raise KeyboardInterrupt
    totals = run.manifest.totals()
    return PlayedStudy(
        run.folder,
        run.plan.study,
        totals["games"],
        totals["ended"],
        totals["failed"],
        {game: why for why, games in run.halts.items() for game in games},
        tuple(run.manifest.spoilt),
        totals["answers"],
        dict(run.manifest.defaults),
        dict(run.manifest.wins),
        totals["cost_usd"],
        run.manifest.study_hash,
        None if run.halted is None else run.halted.why,
        tuple(run.errors),
    )


def prepare_run(
    study: Mapping[str, Any] | Path | None,
    config_file: Path | None,
    options: Mapping[str, Any],
    run_options: RunOptions,
    out: Path | None,
    confirm: Callable[[Path, Sequence[str]], bool] = lambda _folder, _named: False,
) -> StudyRun:
    """Return a run of a study, still to be played.

    Args:
        study: the study's file or table; None for none.
        config_file: rules, players and models, where the study has none.
        options: fields of `wolfbus.study.settings.StudySettings` that come before the study's; None for not given.
        run_options: how it is played.
        out: the study's folder; None for runs/STUDY.
        confirm: asked before anything is run that the file of a folder names which goes on, and which this user has
            not played before: the folder, and what that is in words.

    Raises:
        ConfigError: one line that names the file, the field and the reason.
    """
    if isinstance(study, Path) and study.is_dir():
        raise ConfigError(
            f"{study}: is a directory; wolfbus run --resume --out {shlex.quote(str(study))} "
            "goes on with a study's folder"
        )
    resume, config_first = run_options.resume, False
    if resume and study is None and out is not None:
        _check_study_exists(out)
        # the folder's own file says what it is; keys and limits of servers may be others now
        study, config_first = out / "study.toml", True
    loaded = load_study(study, config_file, options, house=run_options.house is not None, config_first=config_first)
    if run_options.share is not None and (loaded.settings.workers or 1) > 1:
        raise ConfigError("--share: workers are processes that somebody else starts: no --workers")
    forks = loaded.settings.forks
    if forks is not None and (run_options.share is not None or run_options.house is not None):
        raise ConfigError("forks are played where their parents' records are: no --share and no --house, but --workers")
    if resume and out is None and loaded.settings.seed is None:
        raise ConfigError("--resume: a study's folder is what goes on: give its --out")
    plan = loaded.plan()
    folder = out if out is not None else Path("runs") / plan.study
    if resume:
        _check_study_exists(folder)
    # the command line's own words need no leave; nor does what others run: the agents of a house, or workers
    foreign: list[str] = []
    source = folder if forks is None or config_first else Path(forks.of)
    if (config_first or forks is not None) and not run_options.trust and run_options.house is None:
        # the parents of forks say who plays them, whatever else is named
        played = loaded if forks is None else replace(loaded, seats=plan.agents)
        own_brains = () if forks is None or config_first else [arm.agent for arm in arms_of(forks.arms) if arm.agent]
        brains, models = options.get("players") is None or forks is not None, not own_models(config_file)
        foreign = not_sealed(source, named_by(played, brains=brains, models=models, own_brains=own_brains))
    if foreign and run_options.share is None:
        if not confirm(source, foreign):
            raise ConfigError(
                f"{study if config_first else source}: it {', '.join(foreign)}, and was not begun by you on this "
                "machine; --trust goes on with it if you trust whoever made it"
            )
        foreign = []
    return StudyRun(loaded, plan, folder, run_options, is_trusted=not foreign)


def _check_study_exists(out: Path) -> None:
    if not (out / FILE).exists():
        raise ConfigError(f"{out}: no study to resume here; without --resume one is begun")
