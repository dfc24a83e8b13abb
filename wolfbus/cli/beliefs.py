"""`wolfbus beliefs`: ask the models of a study's seats, when its games are over, whom they took for Werewolves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import confirm, print_problems, progress
from wolfbus.cli.options import Share, config_option, json_option, model_options, refuse
from wolfbus.errors import WolfError
from wolfbus.files.formats import count
from wolfbus.files.printable import counted, printable

if TYPE_CHECKING:
    from wolfbus.running.believing import BeliefRun


@click.command()
@click.argument("study", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--at",
    type=click.Choice(["dawn", "dusk", "both", "neither"]),
    default="both",
    show_default=True,
    help="Ask as each day begins, before its vote, or both.",
)
@click.option(
    "--statements",
    type=Share(),
    default=0.0,
    metavar="SHARE",
    help="Also ask listeners twice before and once after this share of the debate's statements, with a silent vote.",
)
@click.option("--seed", default="0", show_default=True, help="Draws these statements; the same seed, the same ones.")
@config_option("Models and endpoints, as for `wolfbus play`: those of the study, or what is to answer in their place.")
@model_options
@click.option("--yes", is_flag=True, help="Go ahead with what it will take, without asking.")
@json_option
def beliefs(
    study: Path,
    at: str,
    statements: float,
    seed: str,
    config_file: Path | None,
    *,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Ask every language model, at moments of its games, how likely each other player is a Werewolf.

    The games are over, so no game hears of it: each seat's own model gets what the seat knew at that moment, as its
    prompts told it then, and one question. Around a statement it also says whom it would vote for; asked twice before,
    so that one sees how often it says otherwise without any statement. Answers stand in STUDY/beliefs.jsonl, each with
    the hash of the record's line before the moment; `wolfbus report` and `export` take them in. Run again, it goes on.

    \b
    wolfbus beliefs runs/first --config runs/first/rules.toml --budget 2
    wolfbus beliefs runs/first --config runs/first/rules.toml --at dusk --statements 0.1
    """  # noqa: D301 - click takes the backspace for "keep these lines"
    tapes = options["cassette"] is not None and options["replay_cassette"] is not None
    refuse(
        (at == "neither" and not statements, "--at neither goes with --statements: otherwise nothing is asked"),
        (tapes, "--cassette records and --replay-cassette plays: give one of them"),
    )
    from analytics.annotations.lines import alone
    from wolfbus.running.believing import BeliefRun, Moments
    from wolfbus.running.brains import load_config, open_brain_context

    models = load_config(config_file).models
    whens = {"both": ("dawn", "dusk"), "neither": ()}.get(at, (at,))
    run = BeliefRun(study, models, Moments(whens, statements, seed))  # type: ignore[arg-type]
    with alone(run.path):
        run.prepare()
        print_problems(run.problems)
        if run.unfinished:
            click.echo(f"wolfbus: {counted(run.unfinished, 'game')} not ended: nobody is asked about them", err=True)
        estimate = run.estimate()
        if run.not_asked:
            names = ", ".join(printable(name) for name in sorted(run.not_asked))
            click.echo(f"wolfbus: {names}: no language models; they are not asked", err=True)
        if run.count:
            brains = sorted(run.respondents)
            with open_brain_context(brains, models, **{**options, "probe": False}) as context:
                click.echo(f"wolfbus: {estimate}", err=True)
                if options["replay_cassette"] is None:
                    confirm(yes=yes)
                    if options["probe"]:
                        context.probe(brains)
                run.play(context, progress("asked", run.count))
                for line in context.accounts.lines() if context.accounts is not None else ():
                    click.echo(f"wolfbus: {line}", err=True)
    return _report(run, as_json=as_json)


def _report(run: BeliefRun, *, as_json: bool) -> int:
    if as_json:
        result = {"file": str(run.path), "written": run.written, "before": run.before, "unread": run.unread}
        click.echo(json.dumps(result))
    else:
        earlier = f", {count(run.before)} before" if run.before else ""
        click.echo(f"Beliefs: {run.path}, {counted(run.written, 'new answer')}{earlier}")
    if run.unread:
        place, why = next(iter(run.unread.items()))
        click.echo(
            f"wolfbus: of {counted(len(run.unread), 'question')} nothing could be read, the first {place}: {why}; run "
            "it again to ask again",
            err=True,
        )
    if isinstance(run.ended, WolfError):
        raise type(run.ended)(f"{run.ended}; what was read is kept, and the same command goes on")
    if run.ended is not None:
        raise run.ended
    return FAILED if run.unread or run.problems else 0
