"""The index of statements as HTML: what was said, how its speaker labels it, whether it is true, who judged it how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from markupsafe import Markup

from analytics.report.context import Context, Indexed, path_of
from analytics.report.entries import Entry, IndexedGame, Judged1
from analytics.report.html import joined, tag
from analytics.report.links import INDEX, Selection
from analytics.report.matching import Matching
from wolfbus.document.formats import of, percent
from wolfbus.document.visible import visible, words
from wolfbus.vocabulary import DECEPTIONS, ROLES

TEXT_SHOWN: Final = 2_000
"""Characters of a statement."""
SIZE: Final = 12_000_000
"""Characters of the index at most; games beyond are left out."""
_GUIDE: Final = (
    "The numbers of this report link to the statements behind them. Here is each statement with its speaker's own "
    "label, what its checkable claims make of it, and everybody's judgement; “rightly” and “wrongly” are against the "
    "self-label."
)
_UNSCRIPTED: Final = (
    "With scripts allowed, a link shows just these statements; without, here are how many there are and the first few."
)
_TRUE: Final = (("lie", "lie"), ("mistake", "mistake"), ("true", "true"), ("checkable", "any that can be checked"))
_NAME: Final = 40
_FIRST: Final = 5
"""Statements that a selection links to for readers without script."""

_JUDGED: Final = {
    "tp": "flags it, rightly",
    "fp": "flags it, wrongly",
    "tn": "passes it, rightly",
    "fn": "passes it, wrongly",
    "flag": "flags it",
    "pass": "passes it",
    "none": "no judgement that counts",
}
_CHOICES: Final = {
    "tp": "deceptive, flagged (TP)",
    "fp": "truthful, flagged (FP)",
    "tn": "truthful, passed (TN)",
    "fn": "deceptive, passed (FN)",
    "flagged": "flagged",
    "scored": "judged, with a self-label",
    "judged": "judged",
}
_TRUTHS: Final = {"true": "every checkable claim is true", "mistake": "a mistake", "lie": "a lie", "none": ""}


class Index:
    """Takes games one by one and keeps their HTML, and their entries for counting selections."""

    def __init__(self) -> None:
        self._games: list[Markup] = []
        self._titles: list[tuple[int, str]] = []
        self._entries: list[Entry] = []
        self._rounds = 0
        self._size = 0

    def add(self, game: IndexedGame) -> bool:
        """Take in one game; return False, and leave it out, if the index would become too large."""
        made = _game(game)
        if self._size + len(made) > SIZE:
            return False
        self._size += len(made)
        self._games.append(made)
        self._titles.append((game.place, game.rows.game))
        self._entries += game.entries
        self._rounds = max([self._rounds, *(entry.row.round for entry in game.entries)])
        return True

    def indexed(self, all_games: int, all_statements: int) -> Indexed:
        """Return how much of all there is the index holds."""
        return Indexed(len(self._games), all_games, len(self._entries), all_statements)

    def markup(self, context: Context, selections: Iterable[Selection]) -> Markup:
        """Return the section, with an element for every selection that numbers link to."""
        held = context.indexed
        if held.whole:
            told = f"All {of(held.statements, 'statement')} of {of(held.games, 'game')} are here."
        else:
            told = (
                f"A sample: all {of(held.statements, 'statement')} of {held.games:,} whole games, drawn "
                f"by their ids alone, "
                f"of {held.all_statements:,} in {of(held.all_games, 'game')}. The numbers above are over all games; "
                "“wolfbus report --csv DIR” writes every statement and judgement."
            )
        return tag(
            "section",
            tag("h2", "Index of statements", id=f"{INDEX}-title", tabindex=-1),
            tag("p", told),
            tag("p", _GUIDE, class_="screen"),
            tag("p", "The statements are left out in print.", class_="print"),
            self._form(context),
            tag("p", "", id="found", role="status"),
            self._selections(context, selections),
            *self._games,
            id=INDEX,
            aria_labelledby=f"{INDEX}-title",
        )  # fmt: skip

    def _form(self, context: Context) -> Markup:
        agents = tuple((str(place), name) for place, name in enumerate(context.shown))
        roles = tuple((role, role) for role in ROLES)
        rounds = tuple((str(round_), str(round_)) for round_ in range(1, self._rounds + 1))
        games = tuple((str(place), visible(name)) for place, name in self._titles)
        choices: tuple[tuple[str, str, Sequence[tuple[str, str]]], ...] = (
            ("role", "Speaker's role", roles),
            ("agent", "Speaker's agent", agents),
            ("said", "Self-label", (("deceptive", "deceptive"), ("truthful", "truthful"))),
            ("kind", "Kind", tuple((kind, kind) for kind in DECEPTIONS)),
            ("truth", "Truth", _TRUE),
            ("round", "Round", rounds),
            ("phase", "Phase", (("debate", "debate"), ("vote", "vote"))),
            ("game", "Game", games),
            ("judged", "Judgement", tuple(_CHOICES.items())),
            ("observer", "Observer's role", roles),
            ("by", "Observer's agent", agents),
        )  # fmt: skip
        fields = (
            tag(
                "label",
                title,
                tag(
                    "select",
                    tag("option", "any", value=""),
                    *(tag("option", label, value=value) for value, label in options),
                    name=name,
                    autocomplete="off",
                ),
            )
            for name, title, options in choices
        )
        show_all = tag("a", "Show all statements", href=f"#{INDEX}")
        return tag("form", *fields, show_all, id="filter", hidden=True, aria_label="Filter the statements")

    def _selections(self, context: Context, selections: Iterable[Selection]) -> Markup:
        """Return what script replaces: how many statements each link of a number means, and the first of them."""
        items, matching, agents = [], Matching(self._entries), context.shown
        for wanted in dict.fromkeys(selections):
            if wanted.anchor == INDEX:
                continue
            count = matching.count(wanted)
            first = (tag("a", each.anchor, href=f"#{each.anchor}") for each in islice(matching.find(wanted), _FIRST))
            more = (": ", joined(first, ", "), ", …" if count > _FIRST else None) if count else ()
            told = f"{wanted.in_words(agents)}: {count:,} in the index"
            items.append(tag("li", told, *more, id=wanted.anchor))
        return tag(
            "div",
            tag("h3", "What the numbers link to"),
            tag("p", _UNSCRIPTED),
            tag("ul", *items),
            id="selections",
        )  # fmt: skip


def _game(game: IndexedGame) -> Markup:
    rows, name = game.rows, f"game-{game.place}"
    names = {seat: tag("bdi", words(seat, _NAME)) for seat in rows.seats}
    winner = {"villagers": "the villagers won", "werewolves": "the Werewolves won", None: "nobody won"}[rows.winner]
    ending = f"{winner} after {of(rows.rounds, 'round')}" if rows.finished else "not finished"
    seats = joined(
        (
            joined((names[seat.name], f" {seat.role} (", tag("bdi", words(seat.brain, _NAME)), ")"))
            for seat in rows.seats.values()
        ),
        ", ",
    )
    seed = f"; seed {visible(rows.seed[:_NAME])}" if rows.seed else ""
    return tag(
        "section",
        tag("h3", f"Game {visible(rows.game)}", id=f"{name}-title"),
        tag(
            "p", f"{ending}{seed}; file ", tag("bdi", path_of(game.note.path)), ". Seats: ", seats, ".", class_="seats"
        ),
        tag("ol", *(_entry(entry, names) for entry in game.entries), class_="statements"),
        id=name,
        class_="game",
        aria_labelledby=f"{name}-title",
    )


def _entry(entry: Entry, names: Mapping[str, Markup]) -> Markup:
    """Return a statement; `names` are those of the seats, fit to show."""
    row = entry.row
    if row.d is None:
        said = "Self-label: none that counts"
    else:
        kind = f" ({row.kind})" if row.d and row.kind else ""
        sure = "" if row.c is None else f", confidence {percent(row.c)}"
        said = f"Self-label: {entry.said}{kind}{sure}"
    truth = _TRUTHS[entry.truth]
    claims = "; ".join(_claim(scored) for scored in row.claims)
    return tag(
        "li",
        tag(
            "p",
            tag("a", f"{row.number}", href=f"#{entry.anchor}", aria_label=f"Statement {row.number}"),
            " ",
            tag("strong", names[row.speaker]),
            f", {row.role} · round {row.round}, {row.phase}",
        ),
        tag("blockquote", "(no words)" if row.text is None else words(row.text, TEXT_SHOWN, lines=True), dir="auto"),
        tag("p", said, f" · Truth: {truth}" if truth else "", f" · Claims: {claims}" if claims else "", class_="said"),
        _judgements(entry.judgements, names),
        id=entry.anchor,
        data_r=row.role[0],
        data_a=entry.agent,
        data_d=entry.said,
        data_k=row.kind,
        data_t=None if entry.truth == "none" else entry.truth,
        data_n=row.round,
        data_p=row.phase,
        data_g=entry.game,
    )


def _claim(scored: object) -> str:
    claim, verdict = getattr(scored, "claim", None), getattr(scored, "verdict", "")
    target, role = getattr(claim, "target", ""), getattr(claim, "role", "")
    how = " (found in the text)" if getattr(scored, "extracted", False) else ""
    told = {
        "role": f"{target} is {role}",
        "inspection": f"inspected {target}, saw {role}",
        "protection": f"protected {target}",
        "accusation": f"{target} is a Werewolf",
    }.get(getattr(claim, "claim", ""), "?")
    return f"{words(told, 120)}: {verdict}{how}"


def _judgements(judgements: Sequence[Judged1], names: Mapping[str, Markup]) -> Markup | None:
    if not judgements:
        return None
    counting = [each.row for each in judgements if each.row.d is not None]
    suspicions = [row.s for row in counting if row.s is not None]
    mean = f", mean suspicion {percent(sum(suspicions) / len(suspicions))}" if suspicions else ""
    told = f"{of(len(counting), 'judgement')}: {sum(bool(row.d) for row in counting)} flag it{mean}"
    items = (
        tag(
            "li",
            names[each.row.observer],
            f", {each.row.observer_role}: {_JUDGED[each.judged]}",
            "" if each.row.s is None else f", suspicion {percent(each.row.s)}",
            data_o=each.row.observer_role[0],
            data_b=each.by,
            data_j=each.judged,
        )
        for each in judgements
    )
    return tag("details", tag("summary", told), tag("ul", *items))
