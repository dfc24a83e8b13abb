"""How columns become sums: the entries of every family of `analytics.measures.frames`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from analytics.measures.columns import LIE, MISTAKE, NO_CLAIM, TRUE
from analytics.measures.formulas import ratio, theil_sen
from analytics.measures.frames import ALL, DECIMALS, LENGTHS, MOVED, OVER, SOURCES, Group, Pairs
from analytics.measures.sums import Sums, exact_sums
from analytics.rows import CLAIMS, ENDINGS, HOW, NIGHTS, PHASES, PROTOCOLS, VERDICTS, WINNERS
from wolfbus.roles import team_of
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns
    from analytics.measures.sums import Codes

WOLF: Final = ROLES.index("Werewolf")
_LABELS: Final = (-1, 0, 1)
_STATES: Final = ("unfinished", "nobody", "villagers", "werewolves")
_RESULTS: Final = ("unfinished", "nobody", "won", "lost")
_NAMED: Final[Mapping[str, Sequence[Group]]] = {
    "role": ROLES,
    "phase": PHASES,
    "informed": (0, 1),
    "how": HOW,
    "night": NIGHTS,
    "claim": CLAIMS,
    "verdict": VERDICTS,
    "protocol": PROTOCOLS,
}
"""What the codes of a column stand for, by the last word of its name; those of no other are numbers."""


def add_sums(sums: Sums, columns: Columns) -> None:
    """Add the entries of some games to sums."""
    sums.begin(columns.ids, [columns.block_names[block] for block in columns.blocks.tolist()])
    for add in (_outcomes, _statements, _judgements, _pairs, _rounds, _events, _votes):
        add(sums, columns)


def received(columns: Columns) -> dict[str, Array]:
    """Return by statement its mean suspicion and the share of observers that flag, NaN where nobody
    judged it.
    """
    import numpy as np

    judgements, count = columns.judgements, len(columns.statements["game"])
    counted = judgements["d"] >= 0
    means = {}
    for name, values, rows in (
        ("suspicion", judgements["s"], counted & ~np.isnan(judgements["s"])),
        ("flagged", judgements["d"], counted),
    ):
        statement = judgements["statement"][rows]
        means[name] = ratio(exact_sums(statement, values[rows], count), np.bincount(statement, minlength=count))
    return means


def numbers(codes: Array) -> range:
    """Return what the codes of whole numbers from 0 stand for: themselves."""
    return range(int(codes.max(initial=-1)) + 1)


class Rows:
    """Rows of a table, to be summed by columns of theirs, and by codes that stand beside them.

    Args:
        sums: where they are summed.
        columns: the games.
        table: the table; its column ``game`` is of places among these games.
    """

    def __init__(self, sums: Sums, columns: Columns, table: Mapping[str, Array]) -> None:
        self._sums = sums
        self._table = table
        self._named = {"agent": columns.agents, "process": columns.processes, **_NAMED}

    def put(self, family: str, axes: str, *extra_axes: Codes, among: Array | None = None, **parts: Array) -> None:
        """Sum rows by columns of the table, then by the codes beside them.

        Args:
            family: name of the family.
            axes: names of the columns.
            extra_axes: codes by row, with what they stand for.
            among: which rows; all unless given.
            parts: quantities to be summed, told apart on the last axis; unless given, rows are counted.
        """
        import numpy as np

        chosen = np.arange(len(self._table["game"])) if among is None else np.flatnonzero(among)
        groups = [(codes[chosen], names) for codes, names in (*map(self._axis, axes.split()), *extra_axes)]
        game = self._table["game"][chosen]
        if not parts:
            self._sums.put(family, game, groups)
        for part, weights in parts.items():
            self._sums.put(family, game, [*groups, constant(part, game)], weights[chosen])

    def _axis(self, name: str) -> Codes:
        codes, kind = self._table[name], name.rpartition("_")[2]
        return codes, self._named[kind] if kind in self._named else numbers(codes)


def constant(name: Group, like: Array) -> Codes:
    """Return codes of which all stand for the same."""
    import numpy as np

    return np.zeros(len(like), np.int64), (name,)


def _outcomes(sums: Sums, columns: Columns) -> None:
    import numpy as np

    games, seats, count = columns.games, columns.seats, len(columns.ids)
    index = np.arange(count)
    finished, winner = games["finished"], games["winner"]
    sums.put("game", index, [(games["protocol"], PROTOCOLS), (np.where(finished, winner + 1, 0), _STATES)])
    ended = finished & (games["ending"] >= 0)
    sums.put("ending", index[ended], [(games["ending"][ended], ENDINGS)])
    counts = {
        "nights": games["nights"],
        "debate_turns": games["turns"],
        "voting_rounds": games["votings"],
        "statements": np.bincount(columns.statements["game"], minlength=count),
        "judgements": np.bincount(columns.judgements["game"][columns.judgements["d"] >= 0], minlength=count),
    }
    for position, name in enumerate(LENGTHS):
        length, kind = counts[name].astype(np.float64), np.full(count, position)
        sums.put("length", index, [(kind, LENGTHS), (finished, (0, 1))], length)
        sums.put("square", index[finished], [(kind[finished], LENGTHS)], length[finished] ** 2)
    played = np.unique(seats["game"].astype(np.int64) * max(1, len(columns.agents)) + seats["agent"])
    game, agent = np.divmod(played, max(1, len(columns.agents)))
    Rows(sums, columns, {"game": game, "agent": agent}).put("plays", "agent")
    teams = np.array([WINNERS.index(team_of(role)) for role in ROLES])[seats["role"]]
    won, is_finished = winner[seats["game"]], finished[seats["game"]]
    result = np.where(~is_finished, 0, np.where(won == 0, 1, np.where(won == teams, 2, 3)))
    Rows(sums, columns, seats).put("seat", "agent role", (result, _RESULTS))


def _statements(sums: Sums, columns: Columns) -> None:
    import numpy as np

    table, claims = columns.statements, columns.claims
    rows, label = Rows(sums, columns, table), (table["d"] + 1, _LABELS)
    rows.put("said", "agent role", label, (table["truth"] - NO_CLAIM, (NO_CLAIM, TRUE, MISTAKE, LIE)))
    rows.put("spoken", "round phase process", label)
    kind, ones = (table["kind"] + 1, (None, *DECEPTIONS)), np.ones(len(table["game"]))
    rows.put("received", "role", kind, count=ones)
    for name, values in received(columns).items():
        rows.put("received", "role", kind, among=~np.isnan(values), **{name: values, f"{name}_n": ones})
    source = np.where(claims["heard"], 2 * claims["extracted"], 1), SOURCES
    Rows(sums, columns, claims).put("claims", "claim verdict", source)
    for labelled in (table, columns.judgements):
        Rows(sums, columns, labelled).put("labels", "how", among=labelled["how"] >= 0)


def _judgements(sums: Sums, columns: Columns) -> None:
    import numpy as np

    table, statements = columns.judgements, columns.statements
    counted = np.flatnonzero(table["d"] >= 0)
    rows = Rows(sums, columns, {name: column[counted] for name, column in table.items()})
    flag, statement, s = (table["d"][counted], (0, 1)), table["statement"][counted], table["s"][counted]
    label, truth = statements["d"][statement], statements["truth"][statement]
    two, three, labelled, rated = (label, (0, 1)), (label + 1, _LABELS), label >= 0, ~np.isnan(s)
    wolf = (table["target_role"][counted] == WOLF, (0, 1))
    clean = (table["how"][counted] == 0) & (statements["how"][statement] == 0)
    observer = "informed observer_agent observer_role"
    rows.put("judged", "observer_agent")
    rows.put("round_flags", "informed round", flag)
    rows.put("flags", observer, two, flag, among=labelled)
    rows.put("heard", "informed target_agent", two, flag, among=labelled)
    rows.put("sides", observer, wolf, flag)
    truths = (truth - TRUE, (TRUE, MISTAKE, LIE))
    rows.put("truths", observer, wolf, three, truths, flag, among=truth >= TRUE)
    rows.put("clean_flags", "informed", two, flag, among=labelled & clean)
    scored = labelled & rated
    score = np.where(scored, np.rint(np.where(scored, s, 0) * 10**DECIMALS), 0).astype(np.int64)
    rows.put("scores", "informed", (clean, (0, 1)), two, (score, numbers(score)), among=scored)
    rows.put("raw_towards", "informed observer_agent", wolf, among=rated, sum=s, n=np.ones(len(s)))


def _pairs(sums: Sums, columns: Columns) -> None:
    import numpy as np

    rows = columns.pairs
    game, d, ones = rows["game"], rows["d"], np.ones(len(rows["game"]))
    wolf = (rows["target_role"] == WOLF, (0, 1))
    for name, agent in (("towards", "observer_agent"), ("suspected", "target_agent")):
        Rows(sums, columns, rows).put(name, f"informed {agent}", wolf, sum=d, n=ones)
    roles = len(ROLES)
    code = (game.astype(np.int64) * roles + rows["observer_role"]) * roles + rows["target_role"]
    cells, row, count = np.unique(code, return_inverse=True, return_counts=True)
    cell_rows = {"game": cells // roles**2, "role": cells // roles % roles, "target_role": cells % roles}
    mean, games = exact_sums(row, d) / count, np.ones(len(cells))
    Rows(sums, columns, cell_rows).put("cell", "role target_role", mean=mean, games=games, pairs=count)


def _rounds(sums: Sums, columns: Columns) -> None:
    """Sum what every game has of suspicion by round: means over its uninformed pairs, and over all."""
    import numpy as np

    rows, judged = columns.rounds, columns.judgements
    scored = (judged["d"] >= 0) & ~np.isnan(judged["s"])
    for pairs in OVER:
        among = np.ones(len(rows["d"]), bool) if pairs == ALL else ~rows["informed"]
        table = {name: column[among] for name, column in rows.items()}
        _lines(sums, pairs, table)
        _moved(sums, pairs, table)
        chosen = scored if pairs == ALL else scored & ~judged["informed"]
        game, role, round_, mean = _means({name: column[chosen] for name, column in judged.items()}, "s")
        sums.put("raw_line", game, [constant(pairs, game), (role, ROLES), (round_, numbers(round_))], mean)


def _means(rows: Mapping[str, Array], value: str) -> tuple[Array, Array, Array, Array]:
    """Return game, target role and round of every point, and the mean over the game's rows there."""
    import numpy as np

    roles, spread = len(ROLES), int(rows["round"].max(initial=0)) + 1
    code = (rows["game"].astype(np.int64) * roles + rows["target_role"]) * spread + rows["round"]
    points, row, count = np.unique(code, return_inverse=True, return_counts=True)
    mean = exact_sums(row, rows[value]) / count
    return points // spread // roles, points // spread % roles, points % spread, mean


def _lines(sums: Sums, pairs: Pairs, rows: Mapping[str, Array]) -> None:
    import numpy as np

    game, role, round_, mean = _means(rows, "d")
    rounds = numbers(round_)
    sums.put("line", game, [constant(pairs, game), (role, ROLES), (round_, rounds)], mean)

    lines: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for *line, number, value in zip(*(column.tolist() for column in (game, role, round_, mean)), strict=True):
        lines.setdefault((line[0], line[1]), []).append((number, value))
    slopes = [(*line, slope) for line, points in lines.items() if (slope := theil_sen(points)) is not None]
    differences = [
        (line[0], at, value - others[at])
        for line, points in lines.items()
        if line[1] == WOLF
        for others in (dict(lines.get((line[0], ROLES.index("Villager")), ())),)
        for at, value in points
        if at in others
    ]
    for name, entries, values in (("slope", slopes, ROLES), ("difference", differences, rounds)):
        if entries:
            games, group, value = (np.array(column) for column in zip(*entries, strict=True))
            sums.put(name, games, [constant(pairs, games), (group, values)], value)


def _moved(sums: Sums, pairs: Pairs, rows: Mapping[str, Array]) -> None:
    """Sum how a game's mean D changed from one round to the next: within the pairs that were there
    in both, and by who the pairs are.
    """
    import numpy as np

    by_place: dict[tuple[int, int, int], dict[tuple[int, int], float]] = {}
    names = ("game", "target_role", "round", "observer", "target", "d")
    for game, role, round_, observer, target, d in zip(*(rows[name].tolist() for name in names), strict=True):
        by_place.setdefault((game, role, round_), {})[observer, target] = d
    moved = []
    for (game, role, round_), now in by_place.items():
        before = by_place.get((game, role, round_ - 1))
        common = now.keys() & before.keys() if before else ()
        if before and common:
            within = math.fsum(now[pair] - before[pair] for pair in common) / len(common)
            change = math.fsum(now.values()) / len(now) - math.fsum(before.values()) / len(before)
            moved.append((game, role, round_, within, change - within))
    if moved:
        games, roles, rounds, *parts = (np.array(column) for column in zip(*moved, strict=True))
        for index, values in enumerate(parts):
            part = (np.full(len(games), index), MOVED)
            groups = [constant(pairs, games), (roles, ROLES), (rounds, numbers(rounds)), part]
            sums.put("moved", games, groups, values)


def _events(sums: Sums, columns: Columns) -> None:
    """Sum suspicion of Seers' statements before and after their first claim, of Doctors' by the
    night before.
    """
    import numpy as np

    rows, claims, nights, seats = columns.statements, columns.claims, columns.nights, columns.seats
    Rows(sums, columns, nights).put("night", "night")
    width = int(columns.games["seats"].max(initial=0))
    never = np.iinfo(np.int64).max
    first = np.full(len(columns.ids) * width, never)
    claiming = claims["statement"][claims["seer_reveal"] & claims["heard"]]
    np.minimum.at(
        first,
        rows["game"][claiming].astype(np.int64) * width + rows["speaker"][claiming],
        rows["number"][claiming],
    )
    seer = seats["role"] == ROLES.index("Seer")
    place = seats["game"][seer].astype(np.int64) * width + seats["seat"][seer]
    sums.put("seers", seats["game"][seer], [(first[place] < never, (0, 1))])

    suspicion = received(columns)["suspicion"]
    judged = ~np.isnan(suspicion)
    claimed = first[rows["game"].astype(np.int64) * width + rows["speaker"]] if width else np.zeros(0)
    spread = int(max(nights["round"].max(initial=0), rows["round"].max(initial=0))) + 1
    night_of = np.zeros(len(columns.ids) * spread, np.int64)
    night_of[nights["game"].astype(np.int64) * spread + nights["round"]] = nights["night"]
    night = night_of[rows["game"].astype(np.int64) * spread + rows["round"]]
    seer_rows = judged & (rows["role"] == ROLES.index("Seer")) & (claimed < never)
    doctor = judged & (rows["role"] == ROLES.index("Doctor")) & (night > 0)
    before = rows["number"] < claimed
    condition = np.where(doctor, 1 + night, np.where(before, 0, 1))
    conditions = (condition, ("before", "after", "blocked", "killed"))
    ones = np.ones(len(condition))
    Rows(sums, columns, rows).put("event", "", conditions, among=seer_rows | doctor, sum=suspicion, n=ones)

    games = len(columns.ids)
    means = [
        ratio(exact_sums(rows["game"][mask], suspicion[mask], games), np.bincount(rows["game"][mask], minlength=games))
        for mask in (seer_rows & before, seer_rows & ~before)
    ]
    change = means[1] - means[0]
    changed = np.flatnonzero(~np.isnan(change))
    Rows(sums, columns, {"game": changed}).put("change", "", sum=change[changed], n=np.ones(len(changed)))


def _votes(sums: Sums, columns: Columns) -> None:
    import numpy as np

    table, votings = columns.votes, columns.votings
    rows, voting_rows = Rows(sums, columns, table), Rows(sums, columns, votings)
    voted, credited = table["target"] >= 0, ~np.isnan(table["credit"])
    for pairs in OVER:
        of_all, pairs_axis = pairs == ALL, constant(pairs, table["game"])
        chosen = np.ones(len(voted), bool) if of_all else ~table["informed"]
        wolves, among = (
            table[name] for name in (("other_wolves", "others") if of_all else ("unknown_wolves", "unknown"))
        )
        rows.put(
            *("follows", "voter_agent", pairs_axis),
            among=chosen,
            sum=np.nan_to_num(table["credit"]),
            n=credited,
            chance=np.where(credited, ratio(1, table["others"]), 0),
            abstentions=~voted,
            unjudged=voted & ~credited,
        )
        rows.put(
            *("hits", "voter_agent round", pairs_axis),
            among=chosen & (table["voter_role"] != WOLF),
            sum=voted & (table["target_role"] == WOLF),
            n=voted,
            chance=np.where(voted, wolves / np.maximum(1, among), 0.0),
            abstentions=~voted,
        )
        exile = votings["exile_of_all" if of_all else "exile"]
        voting_rows.put(
            *("exile", "", constant(pairs, votings["game"])),
            among=~np.isnan(exile),
            sum=exile,
            real=votings["exiled"] == WOLF,
            chance=votings["wolves"] / np.maximum(1, votings["living"]),
            n=np.ones(len(exile)),
            exiled=votings["exiled"] >= 0,
        )
