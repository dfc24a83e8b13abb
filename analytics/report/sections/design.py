"""What was run: the study's design, its agents, settings and files; how replies were read, and what calls took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from analytics import Result, look
from analytics.report.caveats import SHOWN, caveats, smoothing
from analytics.report.context import Context, path_of, shorten_name
from analytics.report.specs import Line, phrase, table
from wolfbus.files.document import Block, Bullets, Cell, Section, TableBlock, plain, warning
from wolfbus.files.formats import UNDEFINED, count, listed
from wolfbus.files.printable import counted, visible
from wolfbus.game.config import GameConfig
from wolfbus.study.canaries import canaries_in_words

if TYPE_CHECKING:
    # heavy, and a single game\'s ending has no use for them
    from analytics.gather import FileNote
    from analytics.gather.reading import StudyCheck

_FACTS: Final = ("name", "study", "seed_sha256", "created", "updated", "budget_usd", "prompts", "wolfbus", "python")
_LONGEST: Final = 300
_PAIRS: Final = 60
_FAILED: Final = 200
_PROBLEMS: Final = 500


def design(findings: Result, context: Context) -> Section:
    """Return what was run."""
    blocks: list[Block] = [*map(warning, islice(caveats(findings, context), SHOWN, None))]
    for place, study in enumerate(context.studies):
        blocks += _study(findings, context, study, place)
    if not context.studies:
        blocks.append(plain(phrase("design/no_study")))
    blocks += [
        _settings(findings),
        _agents(findings, context),
        *_logs(findings, context.files),
        *_checks(context.checks),
    ]
    return Section("design", "What was run", (*blocks, _files(findings, context)))


def _checks(checks: Sequence[StudyCheck]) -> Iterator[Block]:
    """Yield what was checked of the records, and what that does and does not show."""
    for check in checks:
        which = f"Study {visible(check.study)}: " if check.study is not None and len(checks) > 1 else ""
        headless = check.study is not None and check.compared and "head" not in check.compared
        meaning = [
            *(["no_heads"] if headless else []),
            "unproven" if check.proven is None else "proven",
            *(["hashed"] if check.hash is not None else []),
        ]
        yield plain(f"{which}{check.sentence}. {' '.join(phrase(f'design/{name}') for name in meaning)}")


def _study(findings: Result, context: Context, study: Mapping[str, Any], place: int) -> Iterator[TableBlock]:
    """Yield what a study's manifest says, how often agents met, and what became of its games."""
    design = study.get("design") or {}
    facts = {name: fact for name, fact in _facts(study).items() if fact is not None and fact != ""}
    rows = {name: {"value": Cell(_short(fact))} for name, fact in facts.items()}
    yield table("design/study", findings, context, rows=rows, place=place)
    pairs = design.get("pairs") or []
    meetings = [
        Line(
            Cell(_short(pair["agents"][0])),
            {name: met if type(met) is int else None for name, met in pair.items()}
            | {"second": Cell(_short(pair["agents"][1]))},
        )
        for pair in pairs[:_PAIRS]
        if isinstance(pair.get("agents"), list) and len(pair["agents"]) == 2
    ]
    if meetings:
        notes = _first(_PAIRS, pairs, "pairs ")
        yield table("design/meetings", findings, context, lines=meetings, notes=notes, place=place)
    if totals := study.get("totals"):
        of_all, without = [Line(Cell("Games"), totals)], () if totals.get("halted") else ("Halted",)
        yield table("design/totals", findings, context, lines=of_all, without=without, place=place)
    failed = [game for game in study.get("games") or () if game.get("state") in {"failed", "halted", "stopped"}]
    if failed:
        lines = (
            Line(
                Cell(_short(game["game"])),
                {"state": Cell(game["state"]), "why": Cell(_short(game.get("error") or UNDEFINED))},
            )
            for game in failed[:_FAILED]
        )
        yield table("design/failed", findings, context, lines=lines, notes=_first(_FAILED, failed), place=place)


def _facts(study: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: study.get(name) for name in _FACTS}
    if git := study.get("git"):
        facts["commit"] = f"{git.get('commit')}{' (with changes)' if git.get('dirty') else ''}"
    if (config := study.get("config")) is not None:
        facts["rules"] = _rules(config)
    facts["models"] = study.get("models") or None
    facts["canaries"] = "; ".join(line for line, _ in canaries_in_words(study.get("canaries") or ()))
    if design := study.get("design"):
        lines = [str(design.get("kind")), *(design.get("notes") or ())]
        facts["seating"] = ". ".join(line.rstrip(".") for line in lines)
    return facts


def _rules(config: Mapping[str, Any]) -> str:
    """Return what of the rules is not as it is by default."""
    usual = GameConfig().model_dump(mode="json")
    other = [f"{name} {_short(value)}" for name, value in config.items() if usual.get(name) != value]
    return "; ".join(other) + "; all else as by default" if other else "all as by default"


def _settings(findings: Result) -> Bullets:
    settings = findings.get("settings") or {}
    alpha, prior = smoothing(findings)
    protocols = look(findings, "outcomes", "protocols") or {}
    played = ", ".join(f"{count(games)} by the {name} protocol" for name, games in protocols.items() if games)
    how = {(False,): "are left out", (True,): "count as truthful, suspicion 0.5", (): UNDEFINED}.get(
        tuple(settings.get("include_defaulted") or ()), "are left out in some games and filled in in others"
    )
    return Bullets((
        (phrase("design/smoothing", alpha=alpha, prior=prior),),
        (phrase("design/protocols", protocols=played or UNDEFINED),),
        (phrase("design/missing", how=how),),
    ))  # fmt: skip


def _agents(findings: Result, context: Context) -> TableBlock:
    rows = {}
    for agent in context.agents:
        agent_findings = look(findings, "agents", agent) or {}
        roles = ", ".join(f"{role} {count(n)}" for role, n in (agent_findings.get("roles") or {}).items() if n)
        labelled = look(findings, "production", "by_brain", agent, "n")
        cells = {"asked": Cell(_short(agent)), "by_role": Cell(roles or UNDEFINED), "labelled": labelled}
        rows[agent] = {**agent_findings, **cells}
    return table("design/agents-played", findings, context, rows=rows)


def _logs(findings: Result, files: Sequence[FileNote]) -> Iterator[Block]:
    """Yield a line if published logs are among the files, and in which reading; and one if logs of other tables are."""
    imported = sorted({note.table for note in files if note.table})
    if imported:
        number = sum(bool(note.table) for note in files)
        of_tables = "1 file is a log" if number == 1 else f"{number:,} files are logs"
        yield plain(phrase("design/logs_of_tables", logs=of_tables, kinds=", ".join(imported)))
    logs = sum(note.published and not note.table for note in files)
    if logs:
        logs_in_words = "1 file is a log" if logs == 1 else f"{logs:,} files are logs"
        labels = {name: count(look(findings, "labels", name)) for name in ("clean", "repaired", "total")}
        is_reread = look(findings, "settings", "include_defaulted") == [False]
        name = "design/logs_read_again" if is_reread else "design/logs_as_stored"
        yield plain(phrase(name, logs=logs_in_words, lost=count(look(findings, "labels", "defaulted")), **labels))


def _files(findings: Result, context: Context) -> TableBlock:
    problems, files = context.problems, len(context.files)
    lines = (
        Line(
            Cell(path_of(note.path)),
            {
                "events": note.events,
                "counted": Cell("up to there" if note.counted else "no"),
                "problem": Cell(_short(note.problem)),
            },
        )
        for note in problems[:_PROBLEMS]
    )
    whole = files - len(problems)
    read = f"{counted(whole, 'file')} {'was' if whole == 1 else 'were'} read"
    logs = any(note.published for note in context.files)
    fine = f"{read}. {phrase('design/fine_logs')}" if logs else f"{read}, {phrase('design/fine')}"
    return table(
        "design/files", findings, context, lines=lines, notes=_first(_PROBLEMS, problems),
        problems=len(problems), files=files, whole=whole, fine_here=fine,
    )  # fmt: skip


def _first(limit: int, everything: Sequence[object], things: str = "") -> list[str]:
    """Return the remark that only the first of many are shown, none if all are."""
    all_ = len(everything)
    return [phrase("design/first", shown=limit, all=all_, things=things)] if all_ > limit else []


def _short(fact: object) -> str:
    if isinstance(fact, Mapping):
        fact = ", ".join(f"{key} {value}" for key, value in fact.items())
    elif isinstance(fact, (list, tuple)):
        fact = ", ".join(str(value) for value in fact)
    text = visible(str(fact)[: 4 * _LONGEST])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_COUNTED: Final = {
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "reply tokens",
    "cost_usd": "a price",
    "billed_usd": "what the server charged",
}


def repair(findings: Result, context: Context) -> Section:
    """Return replies by agent and by kind, how far agents follow the game, and the scores with and without what was not
    clean.
    """
    faults = (look(findings, "repair", "overall", "faults") or {}).items()
    wrong = ", ".join(f"{fault} {count(number)}" for fault, number in faults if number)
    notes = [phrase("design/wrong", faults=wrong)] if wrong else []
    copied = look(findings, "repair", "overall", "copied")
    if copied:
        notes.append(phrase("design/copied", statements=counted(copied, "statement")))
    without = () if copied else ("Copied",)
    facts = look(findings, "comprehension", "overall", "all", "n")
    by_brain = {brain: row["overall"] for brain, row in (look(findings, "repair", "by_brain") or {}).items()}
    return Section("repair", "Repair: how replies were read", (
        table("design/repair-agents", findings, context, rows=by_brain, notes=notes, without=without),
        table("design/repair-kinds", findings, context, without=without),
        *([table("design/comprehension", findings, context)] if facts else []),
        table("design/repair-scores", findings, context),
    ))  # fmt: skip


def cost(findings: Result, context: Context) -> Section:
    """Return calls by model, kind and agent, and what a game and a statement took."""
    costs = findings.get("cost") or {}
    total = costs.get("total") or {}
    lines = [
        Line(Cell(shorten_name(str(key), 60)), row)
        for split in ("model", "brain", "kind", "seat")
        for key, row in (costs.get(f"by_{split}") or {}).items()
    ]
    lines.append(Line(Cell("All"), total, total=True))
    and_seat = ", and by seat" if costs.get("by_seat") else ""
    called = lines if total.get("calls") else []
    without = () if "billed_usd" in total else ("Billed",)
    notes = _lacking(total)
    by = table("design/cost-table", findings, context, lines=called, notes=notes, and_seat=and_seat, without=without)
    return Section("cost", "Cost", (by, table("design/cost-per", findings, context)) if called else (by,))


def _lacking(total: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is not in the sums, and what they hold besides."""
    calls = total.get("calls") or 0
    lacking = [
        f"{count(missing)} lack {words}"
        for name, words in _COUNTED.items()
        if 0 < (missing := total.get(f"{name}_missing") or 0) < calls
    ]
    if lacking:
        yield phrase("design/lacking", calls=counted(calls, "call"), parts=listed(lacking))
    if played := total.get("cassette"):
        yield phrase("design/cassette", calls=count(played))
    if (attempts := total.get("attempts") or 0) > calls:
        yield phrase("design/attempts", attempts=counted(attempts, "attempt"))
