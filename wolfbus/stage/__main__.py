"""`python -m wolfbus.stage RECORD`: print the data of a game's page, for whoever writes or checks a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from wolfbus.errors import ConfigError, RecordError
from wolfbus.record.reader import open_lines, read_record
from wolfbus.stage.document import GameFeed, all_viewers, file_data
from wolfbus.stage.eyes import EVERYTHING, viewer_named


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--as", "word", default=EVERYTHING, show_default=True, help="everything, public or a seat's name.")
@click.option("--until", type=int, help="Take in no line behind this one.")
@click.option("--steps", is_flag=True, help="Print the live events, one a line, instead of the page.")
@click.option("--views", is_flag=True, help="Print what a file holds: the beats of every viewer.")
def main(record: Path, word: str, until: int | None, steps: bool, views: bool) -> None:
    """Print the data of a game's page as JSON."""
    try:
        recorded = list(read_record(open_lines(record)))[:until]
        names = tuple(seat.name for seat in getattr(recorded[0].event, "seats", ()))
        viewers = all_viewers(names) if views else (viewer_named(word, names),)
    except (ConfigError, RecordError) as error:
        raise click.ClickException(str(error)) from None
    feeds = [GameFeed(viewer) for viewer in viewers]
    for each in recorded:
        for feed in feeds:
            before = feed.line
            made = feed.feed(each)
            if steps and made:
                click.echo(json.dumps(feed.step(before), ensure_ascii=False))
    if views:
        click.echo(json.dumps(file_data(feeds), ensure_ascii=False))
    elif not steps:
        click.echo(json.dumps(feeds[0].page(), ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
