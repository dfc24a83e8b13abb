"""What the pages tell to type works as they say."""

import contextlib
import io
import itertools
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from tests.docs.pages import PAGES, ROOT, blocks, commands, name_of
from tests.golden.running import wolfbus
from wolfbus.cli import cli
from wolfbus.testing.model_server import ModelServer

SHORT: Final = "debate_turns = 1\nmax_rounds = 1\n"
"""Rules of a game that is soon over."""
SMALLER: Final = (
    (r"--games (100|20|16)\b", "--games 1"),
    (r"--games (8|12)\b", "--games 2"),
    (r"--games 10\b", "--games 3"),
    (r"\bgames=12\b", "games=2"),
    (r"--speed 2\b", "--speed 1000000"),
    # models that are named by their server play by the rules of the paper, which take long
    (r'^(wolfbus play --players "llm:.*)', r"\1 --config short.toml"),
    (r"^(wolfbus compare (?!.*--permutations).*)", r"\1 --permutations 100"),
)
"""What a reader has time for and a test has not."""
ELSEWHERE: Final = (["check-agent"], ["up"])
"""Commands that start many processes, and are typed in `tests/golden/terminal.py` and `tests/ops/test_up.py`."""
SPOILT: Final = 4
"""The exit code of a game that too many defaults spoil."""
RUN: Final = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if {block.kind for block in blocks(page)} & {"sh", "sh together"}
]
"""Pages whose commands are run; those of the examples have tests of their own."""


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with ModelServer() as server:
        yield server.url


@pytest.fixture
def folder(tmp_path: Path, model_url: str) -> Path:
    """A folder as a reader has it: the examples, a key, and, in a test, a model server that is ours."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("node_modules"))
    models = tmp_path / "examples" / "models.toml"
    models.write_text(SHORT + models.read_text("utf-8").replace("http://localhost:8000/v1", model_url), "utf-8")
    (tmp_path / "short.toml").write_text(SHORT)
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY=k\nOPENAI_BASE_URL={model_url}\n")
    return tmp_path


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_what_a_page_tells_to_type_works(page: Path, folder: Path, model_url: str, redis_url: str) -> None:
    for block in blocks(page):
        text = re.sub(r"http://localhost:800\d/v1", model_url, block.text)
        text = text.replace("redis://localhost:6379/0", redis_url)
        for pattern, smaller in SMALLER:
            text = re.sub(pattern, smaller, text, flags=re.MULTILINE)
        if block.kind.startswith("python") and (named := re.match(r"# (\w+\.py)\n", text)):
            (folder / named[1]).write_text(text)
        elif block.kind == "sh":
            # a report takes long, and is the same for another study: the README's is enough
            left_out = ELSEWHERE if page.name == "README.md" else (*ELSEWHERE, ["report"])
            for line in text.splitlines():
                if line.split()[1:2] not in left_out:
                    typed(line, folder)
        elif block.kind == "sh together" and "&\n" in text:
            scripted(text.replace("\nwait\n", "\nfor job in $(jobs -p); do wait $job || exit 1; done\n"), folder)
        elif block.kind == "sh together":
            for is_ours, lines in itertools.groupby(text.splitlines(), lambda line: line.startswith("wolfbus ")):
                if is_ours:
                    for line in lines:
                        typed(line, folder)
                else:
                    scripted("\n".join(lines), folder)


def typed(line: str, folder: Path) -> None:
    """Run one line in `folder`; wolfbus and Python within this process, which is quicker."""
    games = sorted((folder / "runs").glob("*.ndjson"), key=lambda path: path.stat().st_mtime_ns)
    if games:
        line = line.replace("GAME", games[0].stem)
    words = [name for word in shlex.split(line, comments=True) for name in _matches(word, folder) or [word]]
    if words[:1] == ["python"]:
        program(words[1:], folder)
        return
    if words[:1] != ["wolfbus"] or "human" in line:
        if words and words[0] != "export":
            # a person needs a standard input; whose person does not answer is spoilt, and says so
            scripted(line, folder, codes=(0, SPOILT) if "human" in line else (0,))
        return
    out = words.index(">") if ">" in words else len(words)
    said = wolfbus(folder, *words[1:out])
    assert said.code == 0, f"{line}\n{said.out}\n{said.err}"
    if out < len(words):
        (folder / words[out + 1]).write_text(said.out)


def _matches(word: str, folder: Path) -> list[str]:
    """Return the files that a shell would put in the place of a word."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "/*" in word else []


def program(words: list[str], folder: Path) -> None:
    """Run what `python` with these words would run in `folder`."""
    is_module = words[0] == "-m"
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(sys, "argv", words[1:] if is_module else words)
        if not is_module:
            runpy.run_path(words[0], run_name="__main__")
            return
        with pytest.raises(SystemExit) as ended:
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        assert not ended.value.code, words


def scripted(text: str, folder: Path, codes: tuple[int, ...] = (0,)) -> None:
    """Run a script in `folder`, where nobody is at the keyboard."""
    bin_folder = Path(sys.executable).parent
    told = subprocess.run(
        ["bash", "-e", "-c", text],
        cwd=folder,
        env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode in codes, f"{text}\n{told.stdout}\n{told.stderr}"


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    wrong = [f"{line}: {fault}" for line in commands(page) if (fault := _fault(line))]
    assert not wrong, "\n".join(wrong)


def _fault(line: str) -> str | None:
    """Return what of a line is no command or option of ours."""
    try:
        words = shlex.split(line, comments=True)[1:]
    except ValueError:
        words = line.split()[1:]
    command: click.Command | None = cli
    context = click.Context(cli)
    known = {"--help", "-h", "--version"}
    for word in words:
        if word == "--" or word in "|>":
            break
        if isinstance(command, click.Group) and re.fullmatch("[a-z][a-z-]+", word):
            command = command.get_command(context, word)
            if command is None:
                return f"no command {word}"
            known.update(name for option in command.params for name in (*option.opts, *option.secondary_opts))
        elif word.startswith("-") and len(word) > 1 and word.partition("=")[0].rstrip(")") not in known:
            return f"no option {word}"
    return None
