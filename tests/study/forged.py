"""A study of which copies are tampered with, and how."""

from __future__ import annotations

import hashlib
import json

from tests.study.runs import manifest, run_here
from wolfbus.record.line import Recorded, seal
from wolfbus.record.reader import open_lines, read_record

GAMES = 7


def hash_of(heads):
    """The hash of a study, as README and docs tell how to take it: over one line a game, in the order of their ids."""
    return hashlib.sha256(
        "".join(f'["{game}","{head}"]\n' for game, head in sorted(heads.items())).encode()
    ).hexdigest()


class Study:
    """A copy of that study, to be tampered with."""

    def __init__(self, folder, command):
        self.folder, self._command = folder, command
        self.journal = folder / "journal.jsonl"

    def __fspath__(self):
        return str(self.folder)

    def __str__(self):
        return str(self.folder)

    @property
    def manifest(self):
        return manifest(self.folder)

    @property
    def games(self):
        return self.manifest["games"]

    @property
    def others(self):
        """Games that the villagers did not win."""
        return [game for game in self.games if game["winner"] != "villagers"]

    def record(self, game):
        return self.folder / game["record"]

    def edit(self, change):
        edited = self.manifest
        change(edited)
        (self.folder / "study.json").write_text(json.dumps(edited))

    def edit_games(self, *numbers, **members):
        self.edit(lambda edited: [edited["games"][number - 1].update(members) for number in numbers])

    def drop_heads(self):
        """Make it what an earlier version left, with neither heads nor hash, and lose the journal."""
        self.edit(lambda edited: [edited.pop("study_hash"), *(game.pop("head") for game in edited["games"])])
        self.journal.unlink()

    def forge_winners(self):
        """Forge every winner but the villagers'; returns the records."""
        paths = [self.record(game) for game in self.others]
        assert len(paths) >= 4
        for path in paths:
            forge(path, villagers_win)
        return paths

    def counted(self, *words, of=None):
        """How many games a reader of the study counts: the export, which is quicker than a report."""
        out = self.folder.parent / "counted"
        self._command("export", "csv", of or self, "--out", out, "--tables", "games", "--force", *words)
        return (out / "games.csv").read_text().count("\n") - 1

    def resume(self):
        return run_here("--resume", "--out", self.folder, code=0)

    @property
    def aside(self):
        return {path.name for path in (self.folder / "aside").iterdir()}


def forge(path, change, later=0.0):
    """Change a record's events, compute its chain anew, and return its new head."""
    head, lines = "", []
    for recorded in read_record(open_lines(path)):
        time = recorded.time + (later if recorded.n % 7 == 0 else 0.0)
        sealed, line = seal(head, Recorded(recorded.n, time, recorded.audience, change(recorded.event)))
        head = sealed.hash
        lines.append(line + b"\n")
    path.write_bytes(b"".join(lines))
    return head


def villagers_win(event):
    return event.model_copy(update={"winner": "villagers"}) if event.type == "ended" else event


def other_words(event):
    return event.model_copy(update={"thought": "I never thought so."}) if event.type == "answered" else event


def another_game(event):
    return event.model_copy(update={"game": "stranger"}) if event.type == "opened" else event
