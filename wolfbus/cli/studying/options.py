"""`RunOptions`: how a study is played, which its folder does not tell."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from wolfbus.bus.url import shown_url
from wolfbus.cli.options import GIVE_UP


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a study is played, which its folder does not tell.

    Attributes:
        url: the bus.
        house: name of the house on that bus whose agents play; None if brains of our own do.
        tickets: hear holders of a ticket only, each as its ticket says.
        share: name of the agenda on that bus from which workers anywhere take the games; None to play them here.
        resume: go on with what is in the folder.
        probe: ask each model something small first.
        give_up: replies in a row that cannot be read, and none before, after which a model's games fail; 0 for never.
        cassette: folder to record model replies into.
        replay_cassette: folder to play them from.
        quiet: show nothing.
        plain: show lines even in a terminal.
    """

    url: str = field(default="memory://", repr=False)
    house: str | None = None
    tickets: bool = False
    share: str | None = None
    resume: bool = False
    probe: bool = True
    give_up: int = GIVE_UP
    cassette: Path | None = None
    replay_cassette: Path | None = None
    quiet: bool = False
    plain: bool = False

    def again(self) -> str:
        """Return them as they are told on a command line to go on; the bus as `shown_url` shows it."""
        told = [] if self.house is None else ["--house", self.house]
        told += ["--tickets"] if self.tickets else []
        told += [] if self.share is None else ["--share", self.share]
        told += [] if self.url == "memory://" else ["--bus", shown_url(self.url)]
        if self.cassette is not None:
            told += ["--cassette", str(self.cassette)]
        if self.replay_cassette is not None:
            told += ["--replay-cassette", str(self.replay_cassette)]
        if self.give_up != GIVE_UP:
            told += ["--give-up", str(self.give_up)]
        return "".join(f" {shlex.quote(word)}" for word in told)
