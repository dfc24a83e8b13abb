"""`python -m wolfbus.stage RECORD`: print the data of a game's page, for whoever writes or checks a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from wolfbus.errors import ConfigError, RecordError
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import GameFeed, seats_of
from wolfbus.stage.files import game_file
from wolfbus.stage.viewers import EVERYTHING, viewer_named


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--as", "word", default=EVERYTHING, show_default=True, help="everything, public or a seat's name.")
@click.option("--until", type=click.IntRange(min=0), help="Take in no line behind this one.")
@click.option("--steps", is_flag=True, help="Print the live events, one a line, instead of the page.")
@click.option("--views", is_flag=True, help="Print what a file holds: the beats of every viewer.")
def main(record: Path, word: str, until: int | None, steps: bool, views: bool) -> None:
    """Print the data of a game's page as JSON."""
    try:
        records = list(read_record(open_lines(record)))[:until]
        if views:
            click.echo(json.dumps(game_file(records, prompts=True)))
            return
        feed = GameFeed(viewer_named(word, seats_of(records)))
    except (ConfigError, RecordError) as error:
        raise click.ClickException(str(error)) from None
    for recorded in records:
        before = feed.line
        if feed.feed(recorded) and steps:
            click.echo(json.dumps(feed.step(before)))
    if not steps:
        click.echo(json.dumps(feed.page()))


if __name__ == "__main__":
    sys.exit(main())
