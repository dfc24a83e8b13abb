"""What `wolfbus page` writes, as a person opens it: a game as one file, and its picture."""

import os

import pytest

from tests.golden.running import wolfbus
from tests.stage.watching import sized


def test_a_file_shows_the_same_and_asks_nobody(watched, games, tmp_path):
    written = wolfbus(games, "page", "seven.ndjson", "-o", str(tmp_path / "page.html"))
    assert written.code == 0, written.err
    address = f"file://{tmp_path}/page.html"
    seen = watched(f"{address}#n=16&as=public")
    assert seen.place() == 16
    assert seen.page.locator(".now .thought").count() == 0
    seen.press("5")
    seen.page.locator(".player[aria-pressed=true]", has_text="Esther").wait_for()
    seen.press("0", "End", "h", "?", "Escape")
    assert seen.requested == [address]


def test_a_file_of_a_game_that_did_not_end_is_not_called_live(watched, games, tmp_path):
    lines = (games / "seven.ndjson").read_bytes().splitlines(keepends=True)
    (tmp_path / "begun.ndjson").write_bytes(b"".join(lines[:5]))
    assert wolfbus(tmp_path, "page", "begun.ndjson", "-o", "begun.html").code == 0
    seen = watched(f"file://{tmp_path}/begun.html")
    top = seen.page.locator(".status").inner_text()
    assert "not finished" in top
    assert "LIVE" not in top
    assert seen.page.locator(".wait").count() == 0


@pytest.mark.usefixtures("browser_on_path")
def test_the_command_line_writes_the_picture(games, tmp_path):
    drawn = wolfbus(games, "page", "seven.ndjson", "--picture", "-o", str(tmp_path / "seven.png"))
    assert drawn.code == 0, drawn.err
    assert sized((tmp_path / "seven.png").read_bytes()) == (1200, 630)


BROWSER = """#!/bin/sh
for word; do case "$word" in --screenshot=*) picture="${word#*=}" ;; esac; done
folder="${picture%/*}"
mv "$folder" "$folder-kept" && ln -s "$folder-kept" "$folder"
echo drawn > "$picture"
"""
"""Leaves its folder so that it cannot be taken away, as helpers do that still write into it."""


def test_a_browser_that_leaves_something_behind_has_drawn_the_picture_all_the_same(games, tmp_path):
    (tmp_path / "chromium").write_text(BROWSER)
    (tmp_path / "chromium").chmod(0o755)
    picture = tmp_path / "seven.png"
    where = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    drawn = wolfbus(games, "page", "seven.ndjson", "--picture", "-o", str(picture), **where)
    assert (drawn.code, drawn.err) == (0, "")
    assert picture.read_text() == "drawn\n"


def test_the_command_line_says_in_a_line_what_the_picture_lacks(games, tmp_path):
    lines = (games / "seven.ndjson").read_bytes().splitlines(keepends=True)
    (tmp_path / "begun.ndjson").write_bytes(b"".join(lines[:50]))
    begun = wolfbus(tmp_path, "page", "begun.ndjson", "--picture")
    assert begun.code == 2
    assert "has not ended" in begun.err
    (tmp_path / "bin").mkdir()
    lacking = wolfbus(games, "page", "seven.ndjson", "--picture", "-o", "x.png", PATH=str(tmp_path / "bin"))
    assert lacking.code == 2
    assert "--picture needs Chromium" in lacking.err
    assert not (games / "x.png").exists()
