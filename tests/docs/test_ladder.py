"""The published study of two small models is whole, and its page tells what its records say."""

import shutil
from pathlib import Path

from tests.docs.pages import ROOT
from tests.golden.running import wolfbus
from tests.golden.store import close

FOLDERS = ("/root", "/home", "/tmp", "/work", "/Users")
FOLDER = ROOT / "examples" / "ladder"
KEPT = ".wolfbus"
"""What a report keeps beside records of the checkout; it is never published."""


def test_the_rules_lead_again_from_the_published_answers_to_every_published_game(tmp_path: Path) -> None:
    run = shutil.copytree(FOLDER / "run", tmp_path / "run")
    checked = wolfbus(tmp_path, "verify", str(run), "--prove")
    assert checked.code == 0, checked.out + checked.err
    assert "20 of 20" in checked.out


def test_the_page_of_the_study_has_the_figures_of_its_records(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "make"))
    from ladder import PAGE, rewritten

    page = PAGE.read_text(encoding="utf-8")
    assert close(page, rewritten(page), printed=True), "run: python docs/make/ladder.py"


def test_nothing_in_the_published_study_tells_of_the_machine_it_was_played_on() -> None:
    files = [path for path in (FOLDER / "run").rglob("*") if path.is_file() and KEPT not in path.parts]
    assert files
    told = {path.name: word for path in files for word in FOLDERS if word in path.read_text("utf-8")}
    assert told == {}
