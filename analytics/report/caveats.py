"""What must be known before any number is believed, and what the primary metrics let a sentence say.

Whatever else is said is exploratory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics import Result, look
from wolfbus.files.formats import UNDEFINED, count, listed, number
from wolfbus.files.printable import counted, told_apart
from wolfbus.game.vocabulary import SCRIPTS
from wolfbus.messages.defaults import SILENT, defaults_in_words, never_given
from wolfbus.record.served import served_in_words
from wolfbus.record.windows import dropped_in_words
from wolfbus.study.canaries import canaries_in_words

if TYPE_CHECKING:
    from analytics.gather import FileNote
    from analytics.report.context import Context

Verdict: TypeAlias = Literal["above", "below", "unclear", "few", "exploratory"]
"""Against its baseline a metric is above it, below it, or neither can be told; there are too few games; or nobody
declared that the study is to be judged by it."""


ASKED: Final[Mapping[str, Mapping[str, str]]] = {
    "label": {"after": "after the words", "with": "in the reply that holds the words", "both": "both times"},
    "assess": {"live": "as statements were made", "after": "when the game was over", "none": "never"},
}
"""When labels, or labels and judgements, were asked for, in words, by the member of the rules that says so."""


def verdict(findings: Result, name: str) -> Verdict:
    """Return what may be said of a metric."""
    result: Verdict | Literal["undefined"] | None = look(findings, "primary", "metrics", name, "verdict")
    if result is None:
        return "exploratory"
    return "unclear" if result == "undefined" else result


def only_forks(findings: Result) -> bool:
    """Return whether every game is a fork of another: no sample of games, so that no rate is one of agents."""
    forks, games = look(findings, "forks", "forks") or 0, look(findings, "outcomes", "games") or 0
    return bool(forks) and forks >= games


def forks_among_games(findings: Result) -> str:
    """Return that some games are forks and others are not; "" unless it is so."""
    if not (forks := look(findings, "forks", "forks") or 0) or only_forks(findings):
        return ""
    games = counted(look(findings, "outcomes", "games") or 0, "game")
    are = "is a fork" if forks == 1 else "are forks"
    return f"{count(forks)} of {games} {are}, and what was said before such a statement is counted again in each"


_BEARABLE: Final = 0.1
"""Share of missing answers up to which a brain's figures are taken for its own."""
_NAME: Final = 64
SHOWN: Final = 3
"""Caveats on the first screen; further ones stand under “What was run”."""


def missing_answers(result: Result, reasons: Mapping[str, str] | None = None, bearable: float = _BEARABLE) -> list[str]:
    """Return a line for each brain of whose answers more than a tenth is missing: defaulted, because no reply could be
    had or used, or timed out; and one for each kind of answer that it never gave.

    The built-in brains that ask nobody are not named; those that play at their seats do so by design.

    Args:
        result: the figures.
        reasons: the commonest reason of a brain whose answers are missing, a line each, where they are known.
        bearable: the share up to which nothing is said, in place of a tenth.
    """
    lines: list[str] = []
    brains = look(result, "repair", "by_brain") or {}
    names = told_apart(brains, _NAME)
    for brain, tables in brains.items():
        if brain.partition(":")[0] in SCRIPTS:
            continue
        by_kind = {kind: _asked_and_missing(row) for kind, row in tables.get("by_kind", {}).items()}
        answers = {kind: number for kind, (number, _) in by_kind.items()}
        absent = {kind: number for kind, (_, number) in by_kind.items()}
        never = never_given(names[brain], absent, answers)
        row = tables["overall"]
        requests, missing = _asked_and_missing(row)
        if missing <= bearable * requests:
            lines += filter(None, [never])
            continue
        causes = [(number, fault) for fault, number in row["faults"].items() if number]
        if row["timed_out"]:
            causes.append((row["timed_out"], "timed out"))
        details = ", ".join(f"{cause} {number}" for number, cause in sorted(causes, key=lambda pair: -pair[0]))
        if reasons is not None and brain in reasons:
            details += f"; most often: {reasons[brain]}"
        kind = "model" if brain.startswith("llm") else "brain"
        says = f": what follows says little of the {kind}" if missing > _BEARABLE * requests else ""
        are = "is a default" if missing == 1 else "are defaults"
        are_missing = f"{missing} of {requests} answers of {names[brain]} {are}" + (f" ({details})" if details else "")
        lines += filter(None, [are_missing + says, never])
    return lines


def _asked_and_missing(row: Mapping[str, int]) -> tuple[int, int]:
    """Return how many answers of a row of the repair report were asked for, and how many of them are missing."""
    return row["replies"] - row["declined"], row["defaulted"] + row["timed_out"]


def all_defaults(result: Result) -> str:
    """Return how many answers are defaults and why, over all brains but one that is silent by design; "" for none."""
    answers, causes = 0, Counter[str]()
    for brain, tables in (look(result, "repair", "by_brain") or {}).items():
        if brain != SILENT:
            row = tables["overall"]
            answers += _asked_and_missing(row)[0]
            causes.update({**row["faults"], "timed_out": row["timed_out"]})
    return defaults_in_words(+causes, answers)


def spoilt_games(files: Iterable[FileNote]) -> str:
    """Return how many games of some files are spoilt and whether they are counted, "" for none."""
    spoilt = [note for note in files if note.spoilt]
    if not spoilt:
        return ""
    is_counted = any(note.counted for note in spoilt)
    state = "counted all the same" if is_counted else "left out (--include-spoilt counts them)"
    are = "game is" if len(spoilt) == 1 else "games are"
    return f"{len(spoilt):,} {are} spoilt, too many answers of a seat being defaults for want of a reply: {state}"


def of_servers(result: Result, name: Callable[[str], str]) -> Iterator[str]:
    """Yield what servers did that nobody asked for, a line each: beginnings of prompts that they dropped, models that
    answered in the place of others, or did not stay the same.

    Args:
        result: the figures.
        name: returns an agent's name, fit to show.
    """
    for agent, dropped in (look(result, "cost", "dropped") or {}).items():
        calls = look(result, "cost", "by_brain", agent, "calls") or dropped
        yield dropped_in_words(name(agent), dropped, calls)
    yield from served_in_words(look(result, "cost", "served") or {})


def smoothing(result: Result) -> tuple[str, str]:
    """Return the games' alpha and prior, each as a number or several."""
    alpha, prior = ([number(value, 2) for value in look(result, "settings", name) or ()] for name in ("alpha", "prior"))
    return " and ".join(alpha) or UNDEFINED, " and ".join(prior) or UNDEFINED


def protocols(result: Result) -> str:
    """Return what the games' protocols mean for their numbers, "" if they are the paper's."""
    if look(result, "outcomes", "mixed_protocols"):
        return "Games of different protocols are mixed; their numbers are not of one measurement."
    for what, words in (("labels", "were labels"), ("assessments", "were labels and judgements")):
        if sum(number > 0 for number in (look(result, "outcomes", what) or {}).values()) > 1:
            return f"Not in all games {words} asked for at the same time; their numbers are not of one measurement."
    if look(result, "outcomes", "protocols", "compact"):
        return "The games were played by the compact protocol; these numbers are not those of the paper's protocol."
    return ""


def fillers(result: Result) -> str:
    """Return what became of missing labels and judgements, "" if none is missing."""
    ways = look(result, "settings", "include_defaulted") or []
    if len(ways) > 1:
        return (
            "In some of these games missing labels and judgements are counted as “truthful, suspicion 0.5”, as in the "
            "paper's code; in the others they are left out."
        )
    if True in ways:
        return (
            "Missing labels and judgements are counted as “truthful, suspicion 0.5”, as in the paper's code; "
            "that moves every figure that rests on them, but never smoothed suspicion."
        )
    if missing := look(result, "labels", "defaulted"):
        total = look(result, "labels", "total") or 0
        return f"{count(missing)} of {count(total)} labels and judgements are missing; every figure leaves them out."
    return ""


def caveats(findings: Result, context: Context) -> Iterator[str]:
    """Yield all that must be known before any number is believed, what matters most first."""
    if scripts := [agent for agent in context.agents if agent.partition(":")[0] in SCRIPTS]:
        nature = "is a script, not a model" if len(scripts) == 1 else "are scripts, not models"
        yield f"{listed([context.name(agent) for agent in scripts])} {nature}: such numbers try out the tools only."
    if line := forks_among_games(findings):
        yield f"{line}."
    lines = missing_answers(findings)
    for line in lines or filter(None, [all_defaults(findings)]):
        yield f"{line}."
    if line := spoilt_games(context.files):
        yield f"{line}."
    yield from (f"{line}." for line in of_servers(findings, context.name))
    for study in context.studies:
        yield from (f"{line}." for line, changed in canaries_in_words(study.get("canaries") or ()) if changed)
    if caveat := protocols(findings):
        yield caveat
    if problems := len(context.problems):
        cut = sum(note.counted for note in context.problems)
        fates = (
            (problems - cut, "is left out", "are left out"),
            (cut, "is counted as far as it holds", "are counted as far as they hold"),
        )
        parts = [
            f"{'it' if problems == 1 else count(n)} {singular if n == 1 else plural}"
            for n, singular, plural in fates
            if n
        ]
        yield f"Something is wrong with {counted(problems, 'file')}: {listed(parts)}. See “What was run”."
    yield from _few(findings)
    for study in context.studies:
        totals = study.get("totals") or {}
        missing = {name: totals.get(name) or 0 for name in ("halted", "failed", "stopped", "pending")}
        if any(missing.values()):
            unfinished = ", ".join(f"{number} {name}" for name, number in missing.items() if number)
            planned = counted(totals.get("games") or 0, "game")
            yield f"Of {planned} planned, not all were played to their end: {unfinished}."
    if caveat := fillers(findings):
        yield caveat


def drawn_singly(kind: str) -> str:
    """Return what is resampled where a design has few blocks, by the ``block_kind`` of the variability."""
    return "deals, with all games of each," if kind == "deal" else "games"


def _few(findings: Result) -> Iterator[str]:
    # a game's end asks for missing answers alone, and starts no statistics for it
    from analytics.metrics.bootstrap import TELLING

    blocks = look(findings, "variability", "blocks") or 0
    by_design = look(findings, "variability", "design_blocks") or blocks
    kind = str(look(findings, "variability", "block_kind"))
    if by_design < blocks and by_design > 1:
        single = drawn_singly(kind)
        yield f"The design has only {by_design} blocks: {single} are resampled one by one, as if they were independent."
    if not 0 < blocks < TELLING:
        return
    noun = {"block": "block of games", "deal": "deal"}.get(kind, "game")
    blocks_in_words = counted(blocks, noun, "blocks of games" if kind == "block" else None)
    yield f"There {'is' if blocks == 1 else 'are'} only {blocks_in_words}: too few to tell what is better than what."
