"""`wolfbus beliefs`: ask the models of a study's seats, when its games are over, whom they took for Werewolves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED
from wolfbus.cli.asking import ask_models, progress, report_answers
from wolfbus.cli.measuring import print_problems
from wolfbus.cli.options import Share, config_option, json_option, model_options, refuse, seed_option
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted, printable

if TYPE_CHECKING:
    from wolfbus.knowledge.moments import When

_AT: Final[Mapping[str, tuple[When, ...]]] = {
    "dawn": ("dawn",),
    "dusk": ("dusk",),
    "both": ("dawn", "dusk"),
    "neither": (),
}


@click.command()
@click.argument("study", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--at",
    type=click.Choice(list(_AT)),
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
@seed_option("Draws these statements; the same seed, the same ones. [default: 0]")
@config_option("Models and endpoints, as for `wolfbus play`: those of the study, or what is to answer in their place.")
@model_options
@click.option("--yes", is_flag=True, help="Go ahead with what it will take, without asking.")
@json_option
def beliefs(
    study: Path,
    at: str,
    statements: float,
    seed: str | None,
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
    refuse((at == "neither" and not statements, "--at neither goes with --statements: otherwise nothing is asked"))
    from analytics.annotations.lines import alone
    from wolfbus.running.believing import BeliefRun, Moments
    from wolfbus.running.brains import load_config
    from wolfbus.running.trust import addresses_named_by, not_sealed

    models = load_config(config_file).models
    run = BeliefRun(study, models, Moments(_AT[at], statements, seed or "0"))
    with alone(run.path):
        run.prepare()
        if named := not_sealed(study, addresses_named_by(run.respondents, models)):
            raise ConfigError(
                f"{study}: it {', '.join(named)}, and was not begun by you on this machine; to ask there, have a model "
                "of --config at that address"
            )
        print_problems(run.problems)
        if run.unfinished:
            click.echo(f"wolfbus: {counted(run.unfinished, 'game')} not ended: nobody is asked about them", err=True)
        estimate = run.estimate()
        if run.not_asked:
            names = ", ".join(printable(name) for name in sorted(run.not_asked))
            click.echo(f"wolfbus: {names}: no language models; they are not asked", err=True)
        if run.count:
            ask_models(
                sorted(run.respondents),
                models,
                lambda _context: estimate,
                lambda context: run.play(context, progress("asked", run.count)),
                yes=yes,
                **options,
            )
    code = report_answers(
        run, run.path, run.before, as_json=as_json, head="Beliefs", answer="new answer", item="question"
    )
    return FAILED if run.problems else code
