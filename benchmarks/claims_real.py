"""How well the grammar of claims hears what was said in published games, of people and of models.

    python benchmarks/claims_real.py
    python benchmarks/claims_real.py --file benchmarks/claims/real_third.ndjson
    python benchmarks/claims_real.py --by repository --json
    python benchmarks/claims_real.py --mirror FOLDER --errors

`benchmarks/claims/real.ndjson`, and `real_second.ndjson`, `real_third.ndjson` and `real_fourth.ndjson`, drawn later,
have no words of others: each line tells where a statement stands (repository, commit, path, and the bytes of the
file), the SHA-256 of its text, who says it among which players, and its labelled claims. The texts are fetched with
git from GitHub at those commits, or read from git directories of a `--mirror`, named OWNER/NAME.git or
OWNER+NAME/repo. A text that is not the labelled one stops the run. How the statements were drawn and read stands in
`benchmarks/claims/real.md`. A claim is found as `benchmarks/claims.py` says.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from claims import LabelledClaim, LabelledStatement, print_scores, read, score, share, told_share
from pydantic import BaseModel, ConfigDict, Field

from wolfbus.claims import KINDS
from wolfbus.claims.hearing import grammar_version

FILE: Final = Path(__file__).parent / "claims" / "real.ndjson"

Hex = Annotated[str, Field(pattern=r"^[0-9a-f]+$")]


class PlacedStatement(BaseModel):
    """One line of the file: where a statement stands, and what it claims."""

    model_config = ConfigDict(extra="forbid")
    id: str
    stratum: Literal["random", "named"]
    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    commit: Annotated[Hex, Field(min_length=40, max_length=40)]
    path: str
    spans: Annotated[tuple[tuple[int, int], ...], Field(min_length=1)]
    """The bytes of the file, from and to, that are its text; several are lines of one text."""
    written: Literal["plain", "json", "csv"]
    """How the file writes them: as they are, within a string of JSON, or with the doubled quotation marks of CSV."""
    sha256: Annotated[Hex, Field(min_length=64, max_length=64)]
    speaker: str
    players: tuple[str, ...]
    claims: tuple[LabelledClaim, ...]

    def text_in(self, content: bytes) -> str:
        """Return its text.

        Raises:
            ValueError: `content` has another text there, or none.
        """
        try:
            lines = [_WRITTEN[self.written](content[begin:end].decode()) for begin, end in self.spans]
            text = lines[0] if len(lines) == 1 else "\n".join(lines).strip()
        except ValueError:
            text = ""
        if hashlib.sha256(text.encode()).hexdigest() != self.sha256:
            raise ValueError(f"{self.id}: {self.repository} has another text in {self.path}")
        return text


_WRITTEN: Final[Mapping[str, Any]] = {
    "plain": str,
    "json": lambda text: json.loads(f'"{text}"', strict=False),
    "csv": lambda text: text.replace('""', '"'),
}


def with_texts(placed: Iterable[PlacedStatement], mirror: Path) -> Iterator[tuple[PlacedStatement, LabelledStatement]]:
    """Yield every statement with its text, from the git directories of `mirror`.

    Raises:
        ValueError: a text cannot be had, or is not the one that was labelled.
    """

    @cache
    def content(repository: str, commit: str, path: str) -> bytes:
        return _git(_directory(mirror, repository), "show", f"{commit}:{path}", of=f"{repository}: {path}")

    for one in placed:
        text = one.text_in(content(one.repository, one.commit, one.path))
        parts = one.model_dump(include={"id", "speaker", "players", "claims"})
        yield one, LabelledStatement(**parts, text=text)


def fetch(placed: Iterable[PlacedStatement], into: Path) -> None:
    """Fetch each repository at its commit into a git directory.

    Raises:
        ValueError: one cannot be fetched.
    """
    for repository, commit in sorted({(one.repository, one.commit) for one in placed}):
        directory = into / f"{repository}.git"
        _git(directory, "init", "--quiet", "--bare", str(directory), of=repository)
        url = f"https://github.com/{repository}"
        _git(directory, "fetch", "--quiet", "--depth=1", url, commit, of=repository)


def _directory(mirror: Path, repository: str) -> Path:
    wherever = (mirror / f"{repository}.git", mirror / repository.replace("/", "+") / "repo")
    for directory in wherever:
        if directory.is_dir():
            return directory
    raise ValueError(f"{repository}: not in {mirror}")


def _git(directory: Path, *words: str, of: str) -> bytes:
    # asks nobody for a password
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(["git", f"--git-dir={directory}", *words], capture_output=True, check=False, env=env)
    if done.returncode:
        raise ValueError(f"{of}: git {words[0]}: {(done.stderr.decode(errors='replace').split(chr(10)) or [''])[0]}")
    return done.stdout


def contents(statements: list[LabelledStatement]) -> dict[str, Any]:
    """Return which shares of statements have a claim of each kind, any, and nothing firmer than a suspicion."""
    kinds = [{claim.kind for claim in one.claims} for one in statements]
    suspected = sum(bool(one.claims) and all(map(_is_suspicion, one.claims)) for one in statements)
    return {
        **{kind: share(sum(kind in held for held in kinds), len(kinds)) for kind in KINDS},
        "any": share(sum(map(bool, kinds)), len(kinds)),
        "suspicion only": share(suspected, len(kinds)),
    }


def _is_suspicion(claim: LabelledClaim) -> bool:
    return claim.side == "against" or (claim.kind == "accusation" and claim.strength == "hedged")


def main() -> int:
    """Score the grammar on published statements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--file", type=Path, default=FILE, help="which statements; those of the first drawing unless given"
    )
    parser.add_argument("--by", choices=("stratum", "repository"), default="stratum", help="what is scored apart")
    parser.add_argument("--mirror", type=Path, help="a folder of git directories, instead of GitHub")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--errors", action="store_true", help="also print each statement that is not heard as labelled")
    given = parser.parse_args()
    groups: dict[str, list[LabelledStatement]] = defaultdict(list)
    try:
        lines = given.file.read_bytes()
        placed = read(lines, PlacedStatement)
        with tempfile.TemporaryDirectory() as temporary:
            if not given.mirror:
                fetch(placed, Path(temporary))
            for one, statement in with_texts(placed, given.mirror or Path(temporary)):
                groups[getattr(one, given.by)].append(statement)
    except (OSError, ValueError) as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 1
    told = {"sha256": hashlib.sha256(lines).hexdigest(), "grammar": grammar_version()}
    told["date"] = dt.datetime.now(dt.UTC).date().isoformat()
    if not given.json:
        print(f"{given.file.name}, SHA-256 {told['sha256']}\ngrammar {told['grammar']}, {told['date']}")
    of_groups = {}
    for name, statements in sorted(groups.items()):
        scores = score(statements)
        errors = scores.pop("errors") if given.errors else scores.pop("errors")[:0]
        of_groups[name] = {"statements": len(statements), "hold": contents(statements), **scores, "errors": errors}
        if not given.json:
            print(f"\n{name}, {len(statements)} statements; of these have")
            print("  ".join(f"{part} {told_share(found).strip()}" for part, found in of_groups[name]["hold"].items()))
            print_scores(scores, errors)
    if given.json:
        print(json.dumps({**told, given.by: of_groups}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
