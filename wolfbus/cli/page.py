"""`wolfbus page`: one game or one study as a file that can be sent to anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from wolfbus.cli import FAILED
from wolfbus.errors import ConfigError
from wolfbus.printable import printable
from wolfbus.study.manifest import FILE
from wolfbus.whole_file import write_whole


@click.command()
@click.argument("what", metavar="RECORD|STUDY", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file. [default: NAME.html here]"
)
@click.option("--prompts", is_flag=True, help="Put in what models were asked and what they said.")
@click.option("--as", "word", default="", metavar="public|SEAT", help="Show only what these eyes may see.")
def page(what: Path, out: Path | None, word: str, *, prompts: bool) -> int:
    """Write a game or a study as one HTML file, for people who have nothing installed.

    The file asks nobody for anything. Of a game it holds all that the record knows, unless --as says otherwise; of a
    damaged record what is whole, and then the exit code is 1.
    """
    from wolfbus.cli.found import WordClaims
    from wolfbus.stage.files import one_file
    from wolfbus.stage.fold import find_claims_with

    find_claims_with(WordClaims)
    target = out or Path(f"{what.name.partition('.')[0]}.html")
    if what.is_dir():
        if word or prompts:
            raise click.UsageError("--as and --prompts are for a game")
        data, title, problem = _study(what), f"{what.name} · wolfbus", None
    else:
        data, problem = _game(what, word, prompts=prompts)
        title = f"{data['heads'][0]['game'].get('id', what.name)} · wolfbus"
    text = one_file(data, title)
    write_whole(target, [text])
    click.echo(f"{target}  ({len(text.encode()) / 1000:,.0f} kB)")
    if problem is not None:
        click.echo(f"wolfbus: {printable(str(what), 400)}: {problem}", err=True)
        return FAILED
    return 0


def _game(path: Path, word: str, *, prompts: bool) -> tuple[dict[str, Any], str | None]:
    from wolfbus.stage.files import game_file
    from wolfbus.stage.sources import RecordTail

    tail = RecordTail(path)
    records = tail.read()
    problem = tail.cut_off()
    if not records:
        raise ConfigError(f"{printable(str(path), 400)}: {problem or 'there is no record in it'}")
    return game_file(records, word, problem, prompts=prompts), problem


def _study(folder: Path) -> dict[str, Any]:
    from wolfbus.cli.study_pages import MeasuredStudies
    from wolfbus.stage.library import study_file

    if not (folder / FILE).is_file():
        raise ConfigError(f"{printable(str(folder), 400)}: no study in it; give a study's folder or one record")
    manifest = json.loads((folder / FILE).read_bytes())
    return study_file(str(manifest.get("study") or folder.name), folder, MeasuredStudies())
