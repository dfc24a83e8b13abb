"""How columns become sums: the entries of every family of `analytics.measures.frames`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from analytics.columns import (
    CLAIMS,
    ENDINGS,
    HOW,
    LIE,
    MISTAKE,
    NIGHTS,
    NO_CLAIM,
    PHASES,
    PROTOCOLS,
    TRUE,
    VERDICTS,
    WINNERS,
)
from analytics.measures.ballots import WOLF, ballots_of
from analytics.measures.formulas import ratio, theil_sen
from analytics.measures.frames import ALL, DECIMALS, FAMILIES, LENGTHS, MOVED, OVER, SOURCES, Group, Pairs
from analytics.measures.sums import Sums, exact_sums
from wolfbus.vocabulary import DECEPTIONS, ROLES, team_of

if TYPE_CHECKING:
    from analytics.columns import Array, Columns
    from analytics.measures.sums import Groups

_LABELS: Final = (-1, 0, 1)
_STATES: Final = ("unfinished", "nobody", "villagers", "werewolves")
_RESULTS: Final = ("unfinished", "nobody", "won", "lost")


def sums_of(columns: Columns, single: Mapping[str, str] | None = None) -> Sums:
    """Return the sums of some games; `single` as `Sums` takes it."""
    found = Sums(FAMILIES, single)
    found.begin(columns.ids, [columns.block_names[block] for block in columns.blocks.tolist()])
    for add in (_outcomes, _statements, _judgements, _pairs, _rounds, _events, _votes):
        add(found, columns)
    return found


def received(columns: Columns) -> dict[str, Array]:
    """Return by statement its mean suspicion and the share of observers that flag, NaN where nobody
    judged it.
    """
    import numpy as np

    judgements, count = columns.judgements, len(columns.statements["game"])
    counted = judgements["d"] >= 0
    found = {}
    for name, values, rows in (
        ("suspicion", judgements["s"], counted & ~np.isnan(judgements["s"])),
        ("flagged", judgements["d"], counted),
    ):
        of = judgements["statement"][rows]
        found[name] = ratio(exact_sums(of, values[rows], count), np.bincount(of, minlength=count))
    return found


def numbers(codes: Array) -> range:
    """Return what the codes of whole numbers from 0 stand for: themselves."""
    return range(int(codes.max(initial=-1)) + 1)


def put_parts(
    sums: Sums,
    name: str,
    game: Array,
    groups: Groups,
    **parts: Array,
) -> None:
    """Sum several quantities of the same rows, told apart on the last axis."""
    import numpy as np

    for part, weights in parts.items():
        there = (np.zeros(len(game), np.int64), (part,))
        sums.put(name, game, [*groups, there], weights)


def _outcomes(sums: Sums, columns: Columns) -> None:
    import numpy as np

    games, seats, count = columns.games, columns.seats, len(columns.ids)
    every = np.arange(count)
    finished, winner = games["finished"], games["winner"]
    sums.put(
        "game",
        every,
        [(games["protocol"], PROTOCOLS), (np.where(finished, winner + 1, 0), _STATES)],
    )
    told = finished & (games["ending"] >= 0)
    sums.put("ending", every[told], [(games["ending"][told], ENDINGS)])
    counts = {
        "nights": games["nights"],
        "debate_turns": games["turns"],
        "voting_rounds": games["votings"],
        "statements": np.bincount(columns.statements["game"], minlength=count),
        "judgements": np.bincount(columns.judgements["game"][columns.judgements["d"] >= 0], minlength=count),
    }
    for at, name in enumerate(LENGTHS):
        length, what = counts[name].astype(np.float64), np.full(count, at)
        sums.put("length", every, [(what, LENGTHS), (finished, (0, 1))], length)
        sums.put("square", every[finished], [(what[finished], LENGTHS)], length[finished] ** 2)
    played = np.unique(seats["game"].astype(np.int64) * max(1, len(columns.agents)) + seats["agent"])
    sums.put("plays", *_divided(played, columns))
    teams = np.array([WINNERS.index(team_of(role)) for role in ROLES])[seats["role"]]
    won, over = winner[seats["game"]], finished[seats["game"]]
    result = np.where(~over, 0, np.where(won == 0, 1, np.where(won == teams, 2, 3)))
    sums.put(
        "seat",
        seats["game"],
        [(seats["agent"], columns.agents), (seats["role"], ROLES), (result, _RESULTS)],
    )


def _divided(code: Array, columns: Columns) -> tuple[Array, Groups]:
    agents = max(1, len(columns.agents))
    return code // agents, [(code % agents, columns.agents)]


def _statements(sums: Sums, columns: Columns) -> None:
    import numpy as np

    rows, claims = columns.statements, columns.claims
    game, label, truth = rows["game"], rows["d"] + 1, rows["truth"] - NO_CLAIM
    role = (rows["role"], ROLES)
    truths = (NO_CLAIM, TRUE, MISTAKE, LIE)
    sums.put("said", game, [(rows["agent"], columns.agents), role, (label, _LABELS), (truth, truths)])
    sums.put(
        "spoken",
        game,
        [
            (rows["round"], numbers(rows["round"])),
            (rows["phase"], PHASES),
            (rows["process"], columns.processes),
            (label, _LABELS),
        ],
    )
    kind = (rows["kind"] + 1, (None, *DECEPTIONS))
    put_parts(sums, "received", game, [role, kind], count=np.ones(len(game)))
    for name, values in received(columns).items():
        there = ~np.isnan(values)
        groups = [(codes[there], names) for codes, names in (role, kind)]
        put_parts(
            sums,
            "received",
            game[there],
            groups,
            **{name: values[there], f"{name}_n": np.ones(int(there.sum()))},
        )
    sums.put(
        "claims",
        claims["game"],
        [
            (np.where(claims["heard"], 2 * claims["extracted"], 1), SOURCES),
            (claims["claim"], CLAIMS),
            (claims["verdict"], VERDICTS),
        ],
    )
    for table in (rows, columns.judgements):
        joined = table["how"] >= 0
        sums.put("labels", table["game"][joined], [(table["how"][joined], HOW)])


def _judgements(sums: Sums, columns: Columns) -> None:
    import numpy as np

    rows, statements = columns.judgements, columns.statements
    counted = np.flatnonzero(rows["d"] >= 0)
    game, flag = rows["game"][counted], (rows["d"][counted], (0, 1))
    agent = (rows["observer_agent"][counted], columns.agents)
    role = (rows["observer_role"][counted], ROLES)
    of = rows["statement"][counted]
    label, truth = statements["d"][of], statements["truth"][of]
    sums.put("judged", game, [agent])
    informed = (rows["informed"][counted], (0, 1))
    sums.put("round_flags", game, [informed, (rows["round"][counted], numbers(rows["round"])), flag])

    def some(chosen: Array, *groups: tuple[Array, Sequence[Group]]) -> tuple[Array, Groups]:
        return game[chosen], [(codes[chosen], names) for codes, names in groups]

    labelled = label >= 0
    two = (label, (0, 1))
    sums.put("flags", *some(labelled, informed, agent, role, two, flag))
    sums.put("heard", *some(labelled, informed, (rows["target_agent"][counted], columns.agents), two, flag))
    wolf = (rows["target_role"][counted] == WOLF, (0, 1))
    sums.put("sides", *some(np.ones(len(label), bool), informed, agent, role, wolf, flag))
    told, truths = (label + 1, _LABELS), (truth - TRUE, (TRUE, MISTAKE, LIE))
    sums.put("truths", *some(truth >= TRUE, informed, agent, role, wolf, told, truths, flag))
    clean = (rows["how"][counted] == 0) & (statements["how"][of] == 0)
    sums.put("clean_flags", *some(labelled & clean, informed, two, flag))
    s = rows["s"][counted]
    scored = labelled & ~np.isnan(s)
    score = np.where(scored, np.rint(np.where(scored, s, 0) * 10**DECIMALS), 0).astype(np.int64)
    sums.put("scores", *some(scored, informed, (clean, (0, 1)), two, (score, numbers(score))))
    given = ~np.isnan(s)
    put_parts(sums, "raw_towards", *some(given, informed, agent, wolf), sum=s[given], n=np.ones(int(given.sum())))


def _pairs(sums: Sums, columns: Columns) -> None:
    import numpy as np

    rows = columns.pairs
    game, d, one = rows["game"], rows["d"], np.ones(len(rows["game"]))
    wolf = (rows["target_role"] == WOLF, (0, 1))
    informed = (rows["informed"], (0, 1))
    put_parts(sums, "towards", game, [informed, (rows["observer_agent"], columns.agents), wolf], sum=d, n=one)
    put_parts(sums, "suspected", game, [informed, (rows["target_agent"], columns.agents), wolf], sum=d, n=one)
    roles = len(ROLES)
    code = (game.astype(np.int64) * roles + rows["observer_role"]) * roles + rows["target_role"]
    cells, row, count = np.unique(code, return_inverse=True, return_counts=True)
    groups = [(cells // roles % roles, ROLES), (cells % roles, ROLES)]
    mean = exact_sums(row, d) / count
    put_parts(sums, "cell", cells // roles**2, groups, mean=mean, games=np.ones(len(cells)), pairs=count)


def _rounds(sums: Sums, columns: Columns) -> None:
    """Sum what every game has of suspicion by round: means over its uninformed pairs, and over all."""
    import numpy as np

    rows, judged = columns.rounds, columns.judgements
    given = (judged["d"] >= 0) & ~np.isnan(judged["s"])
    for pairs in OVER:
        there = np.ones(len(rows["d"]), bool) if pairs == ALL else ~rows["informed"]
        table = {name: column[there] for name, column in rows.items()}
        _lines(sums, pairs, table)
        _moved(sums, pairs, table)
        chosen = given if pairs == ALL else given & ~judged["informed"]
        game, role, round_, mean = _means({name: column[chosen] for name, column in judged.items()}, "s")
        sums.put("raw_line", game, [_one(pairs, game), (role, ROLES), (round_, numbers(round_))], mean)


def _one(pairs: Pairs, game: Array) -> tuple[Array, Sequence[Group]]:
    import numpy as np

    return np.zeros(len(game), np.int64), (pairs,)


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
    sums.put("line", game, [_one(pairs, game), (role, ROLES), (round_, rounds)], mean)

    lines: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for *line, at, value in zip(*(each.tolist() for each in (game, role, round_, mean)), strict=True):
        lines.setdefault((line[0], line[1]), []).append((at, value))
    slopes = [(*line, slope) for line, own in lines.items() if (slope := theil_sen(own)) is not None]
    differences = [
        (line[0], at, value - others[at])
        for line, own in lines.items()
        if line[1] == WOLF
        for others in (dict(lines.get((line[0], ROLES.index("Villager")), ())),)
        for at, value in own
        if at in others
    ]
    for name, entries, values in (("slope", slopes, ROLES), ("difference", differences, rounds)):
        if entries:
            of, group, value = (np.array(column) for column in zip(*entries, strict=True))
            sums.put(name, of, [_one(pairs, of), (group, values)], value)


def _moved(sums: Sums, pairs: Pairs, rows: Mapping[str, Array]) -> None:
    """Sum how a game's mean D changed from one round to the next: within the pairs that were there
    in both, and by who the pairs are.
    """
    import numpy as np

    held: dict[tuple[int, int, int], dict[tuple[int, int], float]] = {}
    names = ("game", "target_role", "round", "observer", "target", "d")
    for game, role, round_, observer, target, d in zip(*(rows[name].tolist() for name in names), strict=True):
        held.setdefault((game, role, round_), {})[observer, target] = d
    moved = []
    for (game, role, round_), now in held.items():
        before = held.get((game, role, round_ - 1))
        both = now.keys() & before.keys() if before else ()
        if before and both:
            within = math.fsum(now[pair] - before[pair] for pair in both) / len(both)
            change = math.fsum(now.values()) / len(now) - math.fsum(before.values()) / len(before)
            moved.append((game, role, round_, within, change - within))
    if moved:
        games, roles, rounds, *parts = (np.array(column) for column in zip(*moved, strict=True))
        for at, values in enumerate(parts):
            what = (np.full(len(games), at), MOVED)
            groups = [_one(pairs, games), (roles, ROLES), (rounds, numbers(rounds)), what]
            sums.put("moved", games, groups, values)


def _events(sums: Sums, columns: Columns) -> None:
    """Sum suspicion of Seers' statements before and after their first claim, of Doctors' by the
    night before.
    """
    import numpy as np

    rows, claims, nights, seats = columns.statements, columns.claims, columns.nights, columns.seats
    sums.put("night", nights["game"], [(nights["night"], NIGHTS)])
    width = int(columns.games["seats"].max(initial=0))
    never = np.iinfo(np.int64).max
    first = np.full(len(columns.ids) * width, never)
    own = claims["statement"][claims["own"] & claims["heard"]]
    np.minimum.at(
        first,
        rows["game"][own].astype(np.int64) * width + rows["speaker"][own],
        rows["number"][own],
    )
    seer = seats["role"] == ROLES.index("Seer")
    place = seats["game"][seer].astype(np.int64) * width + seats["seat"][seer]
    sums.put("seers", seats["game"][seer], [(first[place] < never, (0, 1))])

    suspicion = received(columns)["suspicion"]
    heard = ~np.isnan(suspicion)
    claimed = first[rows["game"].astype(np.int64) * width + rows["speaker"]] if width else np.zeros(0)
    spread = int(max(nights["round"].max(initial=0), rows["round"].max(initial=0))) + 1
    came = np.zeros(len(columns.ids) * spread, np.int64)
    came[nights["game"].astype(np.int64) * spread + nights["round"]] = nights["night"]
    night = came[rows["game"].astype(np.int64) * spread + rows["round"]]
    told = heard & (rows["role"] == ROLES.index("Seer")) & (claimed < never)
    doctor = heard & (rows["role"] == ROLES.index("Doctor")) & (night > 0)
    before = rows["number"] < claimed
    condition = np.where(doctor, 1 + night, np.where(before, 0, 1))
    chosen = told | doctor
    game, values = rows["game"][chosen], suspicion[chosen]
    groups = [(condition[chosen], ("before", "after", "blocked", "killed"))]
    put_parts(sums, "event", game, groups, sum=values, n=np.ones(len(values)))

    games = len(columns.ids)
    means = [
        ratio(
            exact_sums(rows["game"][at], suspicion[at], games),
            np.bincount(rows["game"][at], minlength=games),
        )
        for at in (told & before, told & ~before)
    ]
    change = means[1] - means[0]
    both = np.flatnonzero(~np.isnan(change))
    put_parts(sums, "change", both, [], sum=change[both], n=np.ones(len(both)))


def _votes(sums: Sums, columns: Columns) -> None:
    import numpy as np

    rows = columns.votes
    for pairs in OVER:
        known = ballots_of(columns, pairs)
        mine = np.ones(len(rows["game"]), bool) if pairs == ALL else ~rows["informed"]
        game, one = rows["game"][mine], _one(pairs, rows["game"][mine])
        agent = (rows["voter_agent"][mine], columns.agents)
        credit, target = known.credit[mine], rows["target"][mine]
        voted = target >= 0
        follows = {
            "sum": np.nan_to_num(credit),
            "n": ~np.isnan(credit),
            "chance": np.where(np.isnan(credit), 0, ratio(1, known.others[mine])),
            "abstentions": ~voted,
            "unjudged": voted & np.isnan(credit),
        }
        put_parts(sums, "follows", game, [one, agent], **follows)
        if pairs == ALL:
            held = known.held
            wolves, among = known.wolves[held], known.living[held] - 1
        else:
            wolves, among = rows["unknown_wolves"][mine], rows["unknown"][mine]
        other = rows["voter_role"][mine] != WOLF
        hits = {
            "sum": voted & (rows["target_role"][mine] == WOLF),
            "n": voted,
            "chance": np.where(voted, wolves / np.maximum(1, among), 0.0),
            "abstentions": ~voted,
        }
        round_ = rows["round"][mine]
        groups: Groups = [(codes[other], names) for codes, names in (one, agent, (round_, numbers(rows["round"])))]
        put_parts(sums, "hits", game[other], groups, **{name: part[other] for name, part in hits.items()})
        told = ~np.isnan(known.exile)
        put_parts(
            *(sums, "exile", known.game[told], [_one(pairs, known.game[told])]),
            sum=known.exile[told],
            real=known.exiled_wolf[told],
            chance=(known.wolves / np.maximum(1, known.living))[told],
            n=np.ones(int(told.sum())),
            exiled=(known.exiled >= 0)[told],
        )
