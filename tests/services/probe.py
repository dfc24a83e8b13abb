"""An archive whose subscriptions only write down what is asked of them, and what it is told."""

from __future__ import annotations

from functools import partial

from analytics.archive import SessionArchive
from wolfbus.bus import Entry
from wolfbus.messages.codec import encode
from wolfbus.messages.house import GameClosed, GameOpened, HouseOpened

OPEN = HouseOpened(session="s")


class ArchiveProbe:
    """An archive, and what it asked of its subscriptions."""

    def __init__(self, folder):
        self.folder = folder
        self.followed, self.messages = [], []
        self.news_again, self.done = 0, False
        self.archive = SessionArchive("fed", folder, (), self)
        self.lost = partial(self.archive.reread, "")

    def follow(self, game, after):
        self.followed.append((game, after))

    def follow_news(self):
        self.news_again += 1

    def tell(self, message):
        self.messages.append(message)

    def unfollow(self, game):
        pass

    def check_soon(self):
        pass

    def finish(self):
        self.done = True

    # -- what the archive is told

    def news(self, *messages, start=None):
        """News as they stand on the stream of games; with ids from a number on."""
        ids = [""] * len(messages) if start is None else [f"1-{start + place}" for place in range(len(messages))]
        pairs = zip(messages, ids, strict=True)
        self.archive.receive_news([Entry(encode(message), message.type, "x", id=id_) for message, id_ in pairs])

    def take(self, record, first=0, last=None):
        self.archive.receive_record(record.game, record.entries[first:last])

    @property
    def results(self):
        return self.archive.results()

    @property
    def archived(self):
        """Seal and success of all that was said to be archived."""
        return [(message.hash, message.error) for message in self.messages]

    def path(self, record):
        return self.folder / f"{record.game}.ndjson"

    def assert_keeps(self, record):
        """It is said to be archived, its file is whole, and it is counted."""
        assert self.archived[-1] == (record.heads[-1], None)
        assert self.path(record).read_bytes() == b"".join(record.lines)
        assert self.results.metrics["outcomes"]["games"] == 1


def opened(record, number=1):
    return GameOpened(game=record.game, number=number)


def closing(record, number=1, lines=None):
    lines = len(record) if lines is None else lines
    return GameClosed(game=record.game, number=number, outcome="ended", lines=lines, hash=record.heads[lines])
