"""What was run: the study's design, its agents, settings, and the files that were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analytics import Result
from analytics.gather.reading import StudyCheck
from analytics.report.caveats import SHOWN, alarms
from analytics.report.context import Context, counted, look, path_of
from wolfbus.config import GameConfig
from wolfbus.document.blocks import Block, Bullets, Cell, Row, Section, TableBlock, TableColumn, plain, warning
from wolfbus.document.formats import count, number, visible

_FACTS = {
    "name": "Name",
    "study": "Study id",
    "seed": "Seed",
    "created": "Begun",
    "updated": "Last written",
    "budget_usd": "Budget in USD",
    "prompts": "SHA-256 of the prompts",
    "wolfbus": "wolfbus",
    "python": "Python",
}
_LONGEST = 300
_PAIRS = 60


def section(findings: Result, context: Context) -> Section:
    """Return what was run."""
    blocks: list[Block] = [warning(told) for told in alarms(findings, context)[SHOWN:]]
    for place, study in enumerate(context.studies):
        blocks += [_study(study, place), *_meetings(study, place), *_totals(study, place)]
    if not context.studies:
        blocks.append(
            plain("The games belong to no study: they were read file by file, and nothing tells how they were planned.")
        )
    blocks += [_settings(findings), _agents(findings, context), *_logs(findings, context)]
    return Section("design", "What was run", (*blocks, *_checks(context), _files(context)))


def _checks(context: Context) -> Iterator[Block]:
    """Say what was checked of the records, and what that does and does not show."""
    for check in context.checks:
        which = f"Study {visible(check.study)}: " if check.study is not None and len(context.checks) > 1 else ""
        yield plain(f"{which}{check.sentence}. {' '.join(_meaning(check))}")


def _meaning(check: StudyCheck) -> Iterator[str]:
    if check.study is not None and check.compared and "head" not in check.compared:
        yield (
            "This study notes no heads, as an earlier version wrote it, so what its digests leave out (thoughts, raw "
            "replies, times, model calls) was compared with nothing."
        )
    if check.proven is None:
        yield "Seals and notes show that no record was edited alone; “--prove” runs the rules again."
    else:
        yield (
            "Proven means that the rules give every derived event from the recorded answers. It does not mean that "
            "labels, judgements, texts, thoughts, times, brains and model calls are what was said."
        )
    if check.hash is not None:
        yield (
            "Whoever has the study hash from when it was published can tell by “wolfbus verify --expect” whether these "
            "are the records of then; nothing else shows that records and notes were not both rewritten."
        )


def _study(study: Mapping[str, Any], place: int) -> TableBlock:
    facts = {label: study.get(name) for name, label in _FACTS.items()}
    git = study.get("git")
    if isinstance(git, Mapping):
        facts["Commit"] = f"{git.get('commit')}{' (with changes)' if git.get('dirty') else ''}"
    config = study.get("config")
    if isinstance(config, Mapping):
        facts["Rules"] = _rules(config)
    models = study.get("models")
    if isinstance(models, Mapping) and models:
        facts["Models"] = models
    design = study.get("design")
    if isinstance(design, Mapping):
        notes = design.get("notes")
        told = [str(design.get("kind")), *(map(str, notes) if isinstance(notes, list) else ())]
        facts["Seating"] = ". ".join(line.rstrip(".") for line in told)
    rows = tuple(
        Row(Cell(label), (Cell(_short(value)),)) for label, value in facts.items() if value is not None and value != ""
    )
    columns = (TableColumn("", wide=True), TableColumn("Value", wide=True))
    return TableBlock(f"study-{place}", "The study", columns, rows)


def _rules(config: Mapping[str, Any]) -> str:
    """Return what of the rules is not as it is by default."""
    usual = GameConfig().model_dump(mode="json")
    other = [f"{name} {_short(value)}" for name, value in config.items() if usual.get(name) != value]
    return "; ".join(other) + "; all else as by default" if other else "all as by default"


def _meetings(study: Mapping[str, Any], place: int) -> Iterator[TableBlock]:
    """Yield how often agents met in which teams, counted by pairs of seats."""
    design = study.get("design")
    pairs = design.get("pairs") if isinstance(design, Mapping) else None
    if not isinstance(pairs, list):
        return
    names = {
        "both_wolves": "Both Werewolves",
        "both_others": "Neither",
        "first_wolf": "A alone",
        "second_wolf": "B alone",
    }
    rows = []
    for pair in pairs[:_PAIRS]:
        agents = pair.get("agents") if isinstance(pair, Mapping) else None
        if isinstance(agents, list) and len(agents) == 2:
            cells = tuple(counted(_whole(pair.get(name))) for name in names)
            rows.append(Row(Cell(_short(agents[0])), (Cell(_short(agents[1])), *cells)))
    columns = (
        TableColumn("A", wide=True),
        TableColumn("B", wide=True),
        *(TableColumn(name) for name in names.values()),
    )
    notes = ["Pairs of seats in all planned games; two seats of one agent are a pair, too."]
    if len(pairs) > _PAIRS:
        notes.append(f"The first {_PAIRS} of {len(pairs):,} pairs are shown.")
    if rows:
        yield TableBlock(
            f"study-meetings-{place}", "How often agents met, by who was a Werewolf", columns, tuple(rows), tuple(notes)
        )


def _totals(study: Mapping[str, Any], place: int) -> Iterator[TableBlock]:
    totals = study.get("totals")
    if not isinstance(totals, Mapping):
        return
    names = ("games", "ended", "stopped", "failed", "pending")
    columns = (TableColumn("", wide=True), *(TableColumn(name.capitalize()) for name in names))
    cells = tuple(counted(_whole(totals.get(name))) for name in names)
    yield TableBlock(
        f"study-totals-{place}", "Games planned and what became of them", columns, (Row(Cell("Games"), cells),)
    )
    failed = [
        game
        for game in study.get("games") or ()
        if isinstance(game, Mapping) and game.get("state") in {"failed", "stopped"}
    ]
    if failed:
        rows = tuple(
            Row(
                Cell(_short(game.get("game"))),
                (Cell(_short(game.get("state"))), Cell(_short(game.get("error") or "–"))),
            )
            for game in failed[:200]
        )
        notes = (f"The first 200 of {len(failed):,} are shown.",) if len(failed) > 200 else ()
        heads = (TableColumn("Game", wide=True), TableColumn("State", wide=True), TableColumn("Why", wide=True))
        yield TableBlock(f"study-failed-{place}", "Games that were not played to their end", heads, rows, notes)


def _settings(findings: Result) -> Bullets:
    settings = findings.get("settings") or {}
    alpha = " and ".join(number(value, 2) for value in settings.get("alpha") or ()) or "–"
    prior = " and ".join(number(value, 2) for value in settings.get("prior") or ()) or "–"
    protocols = look(findings, "outcomes", "protocols") or {}
    told = ", ".join(f"{count(games)} by the {name} protocol" for name, games in protocols.items() if games) or "–"
    missing = {(False,): "are left out", (True,): "count as truthful, suspicion 0.5", (): "–"}.get(
        tuple(settings.get("include_defaulted") or ()), "are left out in some games and filled in in others"
    )
    return Bullets(
        (
            (f"Smoothed suspicion D: weight of a new judgement α = {alpha}, before any judgement {prior}.",),
            (f"Games: {told}.",),
            (f"Missing labels and judgements {missing}.",),
        )
    )


def _agents(findings: Result, context: Context) -> TableBlock:
    rows = []
    for agent in context.agents:
        found = look(findings, "agents", agent) or {}
        made = look(findings, "production", "by_brain", agent) or {}
        roles = ", ".join(f"{role} {count(n)}" for role, n in (found.get("roles") or {}).items() if n)
        cells = (counted(found.get("games")), counted(found.get("seats")), Cell(roles or "–"), counted(made.get("n")))
        rows.append(Row(context.agent_cell(agent), (Cell(_short(agent)), *cells)))
    columns = (
        *(TableColumn("Agent", wide=True), TableColumn("Asked for as", wide=True)),
        *(TableColumn("Games"), TableColumn("Seats")),
        *(TableColumn("Seats by role", wide=True), TableColumn("Labelled statements")),
    )
    caption = (
        "The agents: what answered for the seats. An agent is the brain as it was asked for, whichever process held it."
    )
    return TableBlock("agents-played", caption, columns, tuple(rows))


def _logs(findings: Result, context: Context) -> Iterator[Block]:
    """Say that published logs are among the files, and in which reading."""
    logs = sum(note.published for note in context.files)
    if not logs:
        return
    labels = findings.get("labels") or {}
    what = "1 file is a log" if logs == 1 else f"{logs:,} files are logs"
    if look(findings, "settings", "include_defaulted") == [False]:
        yield plain(
            f"{what} that the paper's authors published. Labels and judgements are read again from the raw replies: "
            f"{count(labels.get('clean'))} clean, {count(labels.get('repaired'))} with some repair, "
            f"{count(labels.get('defaulted'))} lost. Such a log has no seals, so nothing proves what stands in it."
        )
    else:
        yield plain(
            f"{what} that the paper's authors published, as the paper's code stored it: what it could not parse counts "
            f"as truthful, suspicion 0.5. That is so of {count(labels.get('defaulted'))} of "
            f"{count(labels.get('total'))} labels and judgements here, so the figures say as much of the parser as of "
            "the players. Such a log has no seals, so nothing proves what stands in it."
        )


def _files(context: Context) -> TableBlock:
    columns = (
        TableColumn("File", wide=True),
        TableColumn("Lines that hold"),
        TableColumn("Counted", wide=True),
        TableColumn("What is wrong", wide=True),
    )
    rows = tuple(
        Row(
            Cell(path_of(note.path)),
            (counted(note.events), Cell("up to there" if note.counted else "no"), Cell(_short(note.problem))),
        )
        for note in context.problems[:500]
    )
    whole = len(context.files) - len(context.problems)
    notes = [f"{whole:,} of {len(context.files):,} files are whole."]
    if len(context.problems) > 500:
        notes.append(f"The first 500 of {len(context.problems):,} are shown.")
    return TableBlock(
        "files",
        f"Files with which something is wrong ({len(context.problems):,} of {len(context.files):,})",
        columns,
        rows,
        tuple(notes),
        empty=_fine(context, whole),
    )


def _fine(context: Context, whole: int) -> str:
    read = "1 file was read" if whole == 1 else f"{whole:,} files were read"
    if any(note.published for note in context.files):
        return f"There are none: {read}. Published logs have no seals, and not always an end; neither is asked of them."
    return f"There are none: {read}, and each holds a finished game whose every line is sealed."


def _whole(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _short(found: object) -> str:
    if isinstance(found, Mapping):
        found = ", ".join(f"{key} {value}" for key, value in found.items())
    elif isinstance(found, (list, tuple)):
        found = ", ".join(str(value) for value in found)
    told = visible(str(found)[: 4 * _LONGEST])
    return told if len(told) <= _LONGEST else told[: _LONGEST - 1] + "…"
