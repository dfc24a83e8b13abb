"""How well the grammar of claims hears what people said, on a file of statements that people labelled.

    python benchmarks/claims.py benchmarks/claims/development.ndjson
    python benchmarks/claims.py benchmarks/claims/held_out.ndjson --json
    python benchmarks/claims.py benchmarks/claims/development.ndjson --errors

A line of the file is a statement: ``id``, ``speaker``, ``players``, ``text`` and ``claims``, labelled as
`benchmarks/claims/rules.md` says. A claim is found if one of the same kind about the same player is heard with the same
role or its denial, the same result of an inspection, the same side of a stance; how firmly it is said is told apart.
Precision is the share of what is heard that is labelled, recall the share of what is labelled that is heard, both with
Wilson's 95 % interval. The patterns were written with the development half in view; only a file that nobody who writes
them has seen tells how well they hear what is new, and only as often as it has been scored once.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from analytics.metrics.bootstrap import wilson
from wolfbus.claims import KINDS
from wolfbus.claims.hearing import claims_in, grammar_version
from wolfbus.game.vocabulary import Role
from wolfbus.messages.content import Claim

ALL: Final = "all"
CHECKABLE: Final = "checkable"
"""The kinds that can be true or false together: all but the stance."""
OUTRIGHT: Final = "outright"
"""Those claims of these kinds that are made outright, which alone can be lies."""

Statement = TypeVar("Statement", bound=BaseModel)
Assertion: TypeAlias = tuple[str, str, str]
"""Kind, player, and what is said of it."""


class LabelledClaim(BaseModel):
    """One claim as a file has it."""

    model_config = ConfigDict(extra="forbid")
    kind: str
    player: str
    role: Role | None = None
    denied: bool = False
    result: str = ""
    side: str = ""
    strength: str = ""

    @property
    def assertion(self) -> Assertion:
        """What has to be heard."""
        said = f"{'not ' if self.denied else ''}{self.role}" if self.role else self.result or self.side
        return self.kind, self.player, said


class LabelledStatement(BaseModel):
    """One line of a file."""

    model_config = ConfigDict(extra="forbid")
    id: str
    speaker: str
    players: tuple[str, ...]
    text: str
    claims: tuple[LabelledClaim, ...]


def read(lines: bytes, shape: type[Statement]) -> list[Statement]:
    """Return the statements of a file.

    Args:
        lines: the file.
        shape: what a line is.

    Raises:
        ValueError: a line is not one; the text names it.
    """
    statements = []
    for number, line in enumerate(lines.splitlines(), 1):
        try:
            statements.append(shape.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise ValueError(f"line {number}: {where}: {first['msg']}") from None
    return statements


def assertion_of(claim: Claim) -> Assertion:
    """Return what a claim that was heard asserts, as the files say it."""
    denied, role = getattr(claim, "denied", False), getattr(claim, "role", None)
    if claim.claim == "inspection":
        return claim.claim, claim.target, "Werewolf" if role == "Werewolf" and not denied else "innocent"
    said = f"{'not ' if denied else ''}{role}" if role else getattr(claim, "side", "")
    return claim.claim, claim.target, said


def score(statements: list[LabelledStatement]) -> dict[str, Any]:
    """Return by kind of claim, and over all: counts, precision and recall with intervals; of claims that were found and
    may be firm or hedged, how many are heard as firm as they are labelled; and what was wrong, by statement.
    """
    right, wrong, missed, firm, firm_of = (Counter[str]() for _ in range(5))
    counters = (right, wrong, missed)
    errors = []
    for statement in statements:
        heard = {
            assertion_of(claim): claim for claim in claims_in(statement.text, statement.speaker, statement.players)
        }
        labelled = {claim.assertion: claim for claim in statement.claims}
        for counts, assertions in zip(counters, _compared(heard, labelled), strict=True):
            for kind, _, _ in assertions:
                counts.update(_rows_of(kind))
        for counts, assertions in zip(counters, _compared(_outright(heard), _outright(labelled)), strict=True):
            counts[OUTRIGHT] += len(assertions)
        for assertion in heard.keys() & labelled.keys():
            if labelled[assertion].strength:
                is_same = getattr(heard[assertion], "strength", "") == labelled[assertion].strength
                for name in _rows_of(assertion[0]):
                    firm_of[name] += 1
                    firm[name] += is_same
        if heard.keys() != labelled.keys():
            wrongly, missing = sorted(heard.keys() - labelled.keys()), sorted(labelled.keys() - heard.keys())
            errors.append({"id": statement.id, "text": statement.text, "wrong": wrongly, "missed": missing})
    found = {
        name: {
            "right": right[name],
            "wrong": wrong[name],
            "missed": missed[name],
            "precision": share(right[name], right[name] + wrong[name]),
            "recall": share(right[name], right[name] + missed[name]),
            "strength": share(firm[name], firm_of[name]),
        }
        for name in (*KINDS, CHECKABLE, OUTRIGHT, ALL)
    }
    return {"kinds": found, "errors": errors}


def _compared(heard: Mapping[Assertion, Any], labelled: Mapping[Assertion, Any]) -> tuple[set[Assertion], ...]:
    """Return what is heard as labelled, what is only heard and what is only labelled."""
    return heard.keys() & labelled.keys(), heard.keys() - labelled.keys(), labelled.keys() - heard.keys()


def _outright(claims: Mapping[Assertion, Any]) -> Mapping[Assertion, Any]:
    """Return the checkable claims that are made outright: a hedged accusation is a stance, and no lie."""
    return {
        assertion: claim
        for assertion, claim in claims.items()
        if KINDS[assertion[0]].checkable and getattr(claim, "strength", "") != "hedged"
    }


def _rows_of(kind: str) -> tuple[str, ...]:
    return (kind, CHECKABLE, ALL) if KINDS[kind].checkable else (kind, ALL)


def share(k: int, n: int) -> Mapping[str, float | int | None]:
    """Return `k` of `n` with Wilson's 95 % interval; nothing but `n`, which is 0, if there is nothing to count."""
    low, high = wilson(k, n) or (None, None)
    return {"value": k / n if n else None, "low": low, "high": high, "n": n}


def told_share(found: Mapping[str, Any]) -> str:
    """Return a share as a table prints it."""
    if found["value"] is None:
        return f"{'none':<22}"
    return f"{found['value']:.3f} ({found['low']:.3f}–{found['high']:.3f})".ljust(22)


def print_scores(scores: Mapping[str, Any], errors: Iterable[Mapping[str, Any]]) -> None:
    """Print the table of `scores`, and each statement of `errors` that is not heard as labelled."""
    print(f"{'':12}{'precision':24}{'recall':24}{'firmness':24}right wrong missed")
    for name, row in scores["kinds"].items():
        shares = "  ".join(told_share(row[part]) for part in ("precision", "recall", "strength"))
        print(f"{name:12}{shares}  {row['right']:5} {row['wrong']:5} {row['missed']:6}")
    for heard in errors:
        print(f"\n{heard['id']}: {heard['text']}\n  wrong: {heard['wrong']}\n  missed: {heard['missed']}")


def main() -> int:
    """Score the grammar on the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--errors", action="store_true", help="also print each statement that is not heard as labelled")
    given = parser.parse_args()
    try:
        lines = given.file.read_bytes()
        statements = read(lines, LabelledStatement)
    except (OSError, ValueError) as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 1
    scores = score(statements)
    errors = scores.pop("errors")
    told = {
        "file": given.file.name,
        "sha256": hashlib.sha256(lines).hexdigest(),
        "statements": len(statements),
        "grammar": grammar_version(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        **scores,
    }
    if given.json:
        print(json.dumps({**told, **({"errors": errors} if given.errors else {})}))
        return 0
    print(f"{told['file']}, {told['statements']} statements, SHA-256 {told['sha256']}")
    print(f"grammar {told['grammar']}, {told['date']}")
    print_scores(scores, errors if given.errors else ())
    return 0


if __name__ == "__main__":
    sys.exit(main())
