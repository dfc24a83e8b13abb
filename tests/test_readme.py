"""What the README and the tutorials show in code works, and the README stays short.

Their commands are run by `tests/docs`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.docs.pages import PAGES, ROOT
from tests.golden.running import wolfbus

README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "bring-an-agent.md").read_text(encoding="utf-8")


def test_the_readme_fits_on_three_screens_and_opens_with_a_game():
    assert len(README.splitlines()) <= 120
    assert README.index("docs/page.png") < README.index("Look at a game") < README.index("## ")


def test_the_agent_of_the_tutorial_plays(tmp_path):
    (block,) = re.findall(r"```python\n# mybrain.py\n(.*?)```", TUTORIAL, re.DOTALL)
    (tmp_path / "mybrain.py").write_text(block)
    players = re.findall(r'^wolfbus play --players "(mybrain:[^"]*)"$', TUTORIAL, re.MULTILINE)[0]
    result = subprocess.run(
        [sys.executable, "-m", "wolfbus", "play", "--players", players, "--plain", "--seed", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "failed" not in result.stderr
    assert "I have my eye on every one of you" in result.stderr


def test_the_agent_of_the_tutorial_that_is_served_bids_votes_and_declines_the_rest(monkeypatch):
    from wolfbus.game.vocabulary import KINDS

    (block,) = re.findall(r"```python\n(from wolfbus.agent.*?)```", TUTORIAL, re.DOTALL)
    served = []
    monkeypatch.setattr("wolfbus.agent.serve", lambda agent, url, **options: served.append((agent, url, options)))
    exec(compile(block, "bring-an-agent.md", "exec"), {"__name__": "tutorial"})
    ((agent, url, options),) = served
    assert url.startswith("redis://")
    assert options == {"seats": 2}
    assert set(KINDS) - set(agent.declines()) == {"bid", "vote"}


def test_a_study_of_aliases_without_their_file_says_which_file_is_wanted(tmp_path):
    (words,) = re.findall(r"^wolfbus (run .*) --config examples/models.toml (.*)$", README, re.MULTILINE)
    (tmp_path / "examples").mkdir()
    models = (ROOT / "examples" / "models.toml").read_text(encoding="utf-8")
    (tmp_path / "examples" / "models.toml").write_text(models)
    said = wolfbus(tmp_path, *" ".join(words).replace('"', "").split())
    assert said.code == 1
    last = said.err.splitlines()[-1]
    assert "if mini, local are aliases, give the models file: --config FILE.toml" in last
    assert "examples/models.toml" in last


def test_the_test_command_of_the_readme_is_the_one_that_ci_runs_without_servers_and_browsers_and_with_them():
    install = '-c constraints.txt -e ".[dev]"'
    for page in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        assert f"pip install {install} && pytest" in page
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r'^stage ".+" (\w+)$', script, re.MULTILINE) == ["install", "house", "lowest", "bare", "whole"]
    bodies = dict(re.findall(r"^(\w+)\(\) \{[^\n]*\n(.*?)^\}$", script, re.MULTILINE | re.DOTALL))
    assert install in bodies["install"]
    assert bodies["suite"].strip() == '"$work/newest/bin/pytest" "$@"'
    assert "PATH=$work/newest/bin:$work/bare" in bodies["bare"]
    assert 'programs "redis-server redis-server" "chromium chromium fonts-dejavu-core"' in bodies["whole"]
    assert "server" in re.findall(r"lowest\.py (.*) >", bodies["lowest"])[0].split()


def test_what_proves_what_is_said_alike_in_the_readme_and_in_security():
    security = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*\*.*$", README, re.MULTILINE)
    assert len(rows) == 4
    assert [row for row in rows if row not in security] == []


def test_no_page_names_a_package_registry():
    assert not [page.name for page in PAGES if re.search(r"pypi\.org|npmjs|pythonhosted", page.read_text("utf-8"))]
