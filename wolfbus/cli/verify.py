"""`wolfbus verify`: what of studies and records is whole, proven, and as it was published."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wolfbus.cli import FAILED
from wolfbus.cli.measuring import criteria_of, print_problems, prove_option, workers_option
from wolfbus.cli.options import PATH, checked, json_option
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted, visible

if TYPE_CHECKING:
    from analytics.gather import Gathered
    from analytics.gather.reading import StudyCheck

LIMITS: Final = (
    "Not shown by this: that labels, judgements, texts, thoughts, times, brains and model",
    "calls are what was said. Only a hash that was published before shows that these are the",
    "bytes of then: give it by --expect.",
)
"""What to know of every result that is held against no published hash."""


@checked
def _hash(text: str) -> str:
    if re.fullmatch(r"[0-9a-fA-F]{64}", text.strip()) is None:
        raise ValueError("not a hash of 64 hex digits")
    return text.strip().lower()


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="STUDY|RECORD...")
@click.option(
    "--expect", callback=_hash, metavar="HASH", help="The study hash, or the record's head, that was published."
)
@click.option(
    "--parent",
    type=PATH,
    metavar="STUDY|RECORD",
    help="Of forks: check, too, that each begins as the game there does that it was forked from.",
)
@prove_option
@workers_option
@json_option
def verify(
    sources: tuple[str, ...],
    expect: str | None,
    workers: int | None,
    parent: Path | None,
    *,
    prove: bool,
    as_json: bool,
) -> int:
    """Check studies' folders and records: every line's number, time, seal and content.

    Records of a study are compared with what it noted of their games; by --prove the rules are run
    again over all of them; --expect says whether these are the very bytes whose hash was published.

    It prints the study hash, or a record's head, and exits 1 if anything is not as it should be.
    """
    from analytics.gather import gather

    if len(sources) > 1 and expect is not None:
        raise click.UsageError("--expect is about one STUDY or RECORD")
    criteria = criteria_of(prove=prove, include_spoilt=True, include_played_again=True)
    gathered_sources = [(source, gather([source], criteria, workers=workers)) for source in sources]
    for source, gathered in gathered_sources:
        if gathered.files and all(note.published for note in gathered.files):
            logs = f"{counted(len(gathered.files), 'log')} of other tables"
            raise ConfigError(f"{source}: {logs}: no seals, and no rules to run again: there is nothing to verify by")
    results = [_result(source, gathered) for source, gathered in gathered_sources]
    fine = True
    if parent is not None:
        from wolfbus.running.forking import forks_unlike

        for (_, gathered), result in zip(gathered_sources, results, strict=True):
            result["forks"], unlike = forks_unlike([note.path for note in gathered.files], parent)
            fine = fine and not unlike
            for line in unlike:
                click.echo(f"wolfbus: {visible(line)}", err=True)
    for (_, gathered), result in zip(gathered_sources, results, strict=True):
        print_problems(gathered.problems)
        fine = fine and not gathered.problems and not result["unsealed"] and _is_hashed(result)
    if expect is not None:
        results[0]["expected"] = expect
        results[0]["is_hash"] = results[0]["hash"] == expect
        # what differs from its notes is not what the hash is of
        fine = results[0]["as_expected"] = fine and results[0]["is_hash"]
    if as_json:
        click.echo(json.dumps({"fine": fine, "results": results}))
    else:
        for result in results:
            click.echo("\n".join(_lines(result)))
        if expect is None:
            click.echo("\n".join(LIMITS))
    return 0 if fine else FAILED


def _result(source: str, gathered: Gathered) -> dict[str, Any]:
    """Return what was found of one argument, as plain values."""
    from analytics.gather.reading import loose_check, study_check
    from analytics.report.caveats import all_defaults

    checked: list[StudyCheck] = [study_check(study, gathered.files) for study in gathered.studies]
    unlisted = loose_check(gathered.studies, gathered.files)
    checked += [] if unlisted is None else [unlisted]
    is_single = len(gathered.files) == 1 and not gathered.studies
    # of one file it is the record's own seal, else the hash over all
    hashes = [gathered.files[0].head or None] if is_single else [check.hash for check in checked]
    return {
        "source": source,
        "hash": hashes[0] if len(hashes) == 1 and (not is_single or gathered.files[0].problem is None) else None,
        "is_record": is_single,
        "records": len(gathered.files),
        "defaults": all_defaults({"repair": gathered.ledger.repair()}) or None,
        "spoilt": len(gathered.spoilt),
        "unsealed": sum(note.published for note in gathered.files),
        "checked": [check.as_json() for check in checked],
        "problems": [{"path": note.path, "problem": note.problem} for note in gathered.problems],
    }


def _is_hashed(result: dict[str, Any]) -> bool:
    """Whether there is a hash over what was found: of one study or record, or of each of several in one folder."""
    hashes = [check["study_hash"] for check in result["checked"]]
    return result["hash"] is not None or (len(hashes) > 1 and None not in hashes)


def _lines(result: dict[str, Any]) -> list[str]:
    several = len(result["checked"]) > 1
    rows = [row for check in result["checked"] for row in _check_rows(check, several)]
    if "forks" in result:
        rows.append(("forks", f"{result['forks']:,} of {counted(result['records'], 'record')} begin as their parents"))
    if result["unsealed"]:
        rows.append(("no seals", f"{counted(result['unsealed'], 'log')} of other tables: nothing to verify by"))
    if result["defaults"] is not None:
        rows.append(("missing", result["defaults"]))
    if result["spoilt"]:
        rows.append(("spoilt", f"{counted(result['spoilt'], 'game')}, which reports leave out"))
    if result["hash"] is not None:
        rows.append(("head" if result["is_record"] else "study hash", result["hash"]))
    elif several:
        rows.append(("no hash", "over all of them: each study has its own"))
    else:
        rows.append(("no hash", "it takes one study or record, with the head of every game"))
    if "expected" in result:
        rows.append(("as expected", _expected(result)))
    return [result["source"], *(f"  {label:<11}  {words}" for label, words in rows)]


def _check_rows(check: dict[str, Any], several: bool) -> Iterator[tuple[str, str]]:
    """Yield what was checked of the records of one study, with its name and hash where it is one of several."""
    if several:
        yield "study", check["study"] or "none that is noted"
    records = counted(check["records"], "record")
    compared = f"; as the study noted ({', '.join(check['compared'])})" if check["compared"] else ""
    yield "whole", f"{check['whole']:,} of {records}: every seal holds, up to the game's end{compared}"
    if check["study"] is not None and check["whole"] and not check["compared"]:
        yield "not noted", "how any of these games ended: they are compared with nothing"
    elif check["study"] is not None and check["whole"] and "head" not in check["compared"]:
        yield "not noted", "heads: thoughts, raw replies, times, model calls are not compared"
    if check["under_way"]:
        yield "under way", f"{counted(check['under_way'], 'game')}: the study is being played"
    rules = "the rules give every derived event from the recorded answers"
    proven = f"{check['proven']:,} of {records} proven: {rules}" if check["proven"] is not None else None
    yield "re-executed", proven or "none (--prove does)"
    if several and check["study_hash"] is not None:
        yield "study hash", check["study_hash"]


def _expected(result: dict[str, Any]) -> str:
    if result["as_expected"]:
        return "yes: these are the bytes that were there when the hash was published"
    if result["is_hash"]:
        return "NO: the hash is the one expected, and what is named above is not what it is of"
    return f"NO: {result['expected']} was expected"
