"""Draws whole sets of games, as `Columns`, from a model whose parameters are known.

A statement is deceptive or truthful, and every other seat of the game flags it or not:

    P(flag | deceptive) = Φ(hit + detects(observer) - conceals(speaker) + roles + u(statement) + v(game) + w(pair))
    P(flag | truthful) = Φ(alarm + false_alarm(observer) + suspected(speaker) + roles + u + v + w)

with u, v and w normal, of standard deviations `statement_sd`, `game_sd` (0 unless asked for) and `pair_sd` (an
observer's leaning towards one speaker through one game, 0 unless asked for). The last two make judgements of one game
depend on each other: that is what an interval that takes judgements for independent gets wrong. `deceives_sd` lets the
share of deceptive statements differ between games, too. Over all statements, games and pairs, a rate is Φ of the
same over √(1 + the variances of u, v and w) (`Setting.scale`).

Nobody dies in these games: statements go round by lot, all others judge, and everybody votes once a round by lot.

`judged_by` lets agents judge by the speaker's role instead, each along a curve of its own whose rates, d′ and AUC are
known.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.special import expit, ndtr, ndtri

from tests.analytics.arrays import LIE, NO_CLAIM, TRUE, Columns, filled
from wolfbus.game.vocabulary import ROLES

SEATS = ("Villager", "Villager", "Villager", "Villager", "Werewolf", "Werewolf", "Seer", "Doctor")
"""Roles dealt in every game."""


@dataclass(frozen=True)
class Agents:
    """What is to be found again; one number an agent in the first four, one a role (in the order of `ROLES`) in the
    others, all in d′ and each with sum 0.

    Attributes:
        detects: how much readier than the average agent it is to flag a deceptive statement.
        conceals: how much less its deceptive statements are flagged.
        false_alarm: how much readier it is to flag a truthful statement.
        suspected: how much more its truthful statements are flagged.
        observer_roles: the same as `detects`, by role.
        speaker_roles: the same as `conceals`, by role.
        alarm_observer_roles: the same as `false_alarm`, by role.
        alarm_speaker_roles: the same as `suspected`, by role.
    """

    detects: np.ndarray
    conceals: np.ndarray
    false_alarm: np.ndarray
    suspected: np.ndarray
    observer_roles: np.ndarray = field(default_factory=lambda: np.zeros(len(ROLES)))
    speaker_roles: np.ndarray = field(default_factory=lambda: np.zeros(len(ROLES)))
    alarm_observer_roles: np.ndarray = field(default_factory=lambda: np.zeros(len(ROLES)))
    alarm_speaker_roles: np.ndarray = field(default_factory=lambda: np.zeros(len(ROLES)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"agent-{at:02d}" for at in range(len(self.detects)))


@dataclass(frozen=True)
class Setting:
    """How the games are played.

    Attributes:
        hit: z of a flag on a deceptive statement, for average agents.
        alarm: z of a flag on a truthful one.
        deceptive: share of deceptive statements, by role in the order of `ROLES`.
        statements: statements in a game.
        rounds: over which they are spread.
        statement_sd: spread of u.
        game_sd: spread of v.
        pair_sd: spread of w.
        deceives_sd: spread, in logits, of the share of deceptive statements between games.
        checkable: share of statements whose truth is known from a claim.
        confesses: share of deceptive statements that their speaker labels so; a number, or one for each agent.
        seating: weights with which agents are seated; equal unless given.
    """

    hit: float = 0.25
    alarm: float = -0.5
    deceptive: tuple[float, ...] = tuple({"Werewolf": 0.75}.get(role, 0.35) for role in ROLES)
    statements: int = 24
    rounds: int = 3
    statement_sd: float = 0.5
    game_sd: float = 0.0
    pair_sd: float = 0.0
    deceives_sd: float = 0.0
    checkable: float = 0.4
    confesses: float | tuple[float, ...] = 1.0
    seating: tuple[float, ...] | None = None

    @property
    def scale(self) -> float:
        """What makes d′ over all statements, games and pairs of d′ within them."""
        return float(1 / np.sqrt(1 + self.statement_sd**2 + self.game_sd**2 + self.pair_sd**2))


def draw_agents(count: int, seed: int, spread: float = 0.5, role_spread: float = 0.25) -> Agents:
    """Return agents whose parameters are normal with these standard deviations, brought to sum 0."""
    rng = np.random.default_rng([seed, 1])

    def centred(size: int, sd: float) -> np.ndarray:
        drawn = rng.normal(0.0, sd, size)
        return drawn - drawn.mean()

    return Agents(*(centred(count, spread) for _ in range(4)), *(centred(len(ROLES), role_spread) for _ in range(4)))


def simulate(agents: Agents, games: int, seed: int, setting: Setting | None = None, **changes) -> Columns:
    """Return the games as columns.

    Args:
        agents: who plays.
        games: how many games.
        seed: of all draws.
        setting: how they are played; the defaults unless given.
        changes: attributes of `Setting` to replace, such as ``game_sd=1.0``.
    """
    setting = replace(setting or Setting(), **changes)
    rng = np.random.default_rng([seed, 2])
    seats = len(SEATS)
    role_codes = np.array([ROLES.index(role) for role in SEATS], "i1")
    roles = rng.permuted(np.tile(role_codes, (games, 1)), axis=1)
    weights = None if setting.seating is None else np.array(setting.seating) / sum(setting.seating)
    seated = rng.choice(len(agents.detects), size=(games, seats), p=weights)

    per_game, total = setting.statements, games * setting.statements
    game = np.repeat(np.arange(games), per_game)
    number = np.tile(np.arange(1, per_game + 1), games)
    rounds = (number - 1) * setting.rounds // per_game + 1
    speaker = rng.integers(0, seats, total)
    role, agent = roles[game, speaker], seated[game, speaker]
    share = np.array(setting.deceptive)[role]
    tilt = rng.normal(0.0, 1.0, games)[game] * setting.deceives_sd
    deceptive = rng.random(total) < expit(np.log(share / (1 - share)) + tilt)
    confesses = np.broadcast_to(np.array(setting.confesses, "f8"), (len(agents.detects),))[agent]
    label = deceptive & (rng.random(total) < confesses)
    known = rng.random(total) < setting.checkable
    statements = filled(
        "statements",
        total,
        game=game,
        number=number,
        round=rounds,
        turn=number,
        speaker=speaker,
        role=role,
        agent=agent,
        d=label,
        kind=np.where(label, 5, 0),
        length=np.random.default_rng([seed, 3]).integers(5, 60, total),
        checksum=np.arange(total, dtype="i8") + seed * 1_000_000,
        against_thought=-1,
        truth=np.where(known, np.where(deceptive, LIE, TRUE), NO_CLAIM),
    )

    k = np.repeat(np.arange(total), seats - 1)
    observer = (speaker[k] + np.tile(np.arange(1, seats), total)) % seats
    observer = np.sort(observer.reshape(total, seats - 1), axis=1).ravel()
    who = sides(roles, seated, game[k], observer=observer, target=speaker[k])
    z = means(agents, setting, deceptive[k], who)
    z += rng.normal(0.0, 1.0, total)[k] * setting.statement_sd
    z += rng.normal(0.0, 1.0, games)[game[k]] * setting.game_sd
    z += rng.normal(0.0, 1.0, (games, seats, seats))[game[k], observer, speaker[k]] * setting.pair_sd
    flag = rng.random(len(k)) < ndtr(z)
    suspicion = np.round(ndtr(z + rng.normal(0.0, 0.3, len(k)) + np.where(flag, 0.4, -0.4)), 2)
    before, pairs = _smoothed(game[k], observer, speaker[k], suspicion)
    judgements = filled(
        "judgements", len(k), game=game[k], statement=k, round=rounds[k], **who, d=flag, s=suspicion, before=before
    )
    ids = tuple(f"sim-{at:05d}" for at in range(games))
    return Columns(
        ids=ids,
        seeds=ids,
        blocks=np.arange(games, dtype="i4"),
        block_names=ids,
        agents=agents.names,
        games=filled(
            *("games", games),
            finished=1,
            winner=rng.integers(1, 3, games),
            seats=seats,
            turns=per_game,
            votings=setting.rounds,
        ),
        seats=filled(
            *("seats", games * seats),
            game=np.repeat(np.arange(games), seats),
            name=np.tile(np.arange(seats), games),
            seat=np.tile(np.arange(seats), games),
            role=roles.ravel(),
            agent=seated.ravel(),
        ),
        statements=statements,
        judgements=judgements,
        names=tuple(f"Name {place}" for place in range(seats)),
        rounds=filled("rounds", 0),
        votes=_votes(rng, roles, seated, setting.rounds),
        pairs=filled(
            *("pairs", len(pairs[0])),
            game=pairs[0],
            **sides(roles, seated, pairs[0], observer=pairs[1], target=pairs[2]),
            d=pairs[3],
        ),
    )


def alike(games: int, seed: int, *, by_lot: bool) -> Columns:
    """Return games between four agents that do not differ in anything, and whose judgements of one game hang together.

    Args:
        games: how many games.
        seed: of all draws.
        by_lot: whether they flag by lot, whatever is said.
    """
    setting = {"hit": -0.3, "alarm": -0.3, "deceptive": (0.4,) * len(ROLES)} if by_lot else {"deceives_sd": 0.5}
    return simulate(
        *(draw_agents(4, seed, spread=0.0, role_spread=0.0), games, seed),
        **{"statements": 12, "rounds": 2, "confesses": 0.8, "game_sd": 0.7, "pair_sd": 0.7, **setting},
    )


def finely_scored() -> Columns:
    """Return games in which more scores are distinct than histograms have cells."""
    columns = simulate(draw_agents(3, 1), 40, 2)
    columns.judgements["s"] += np.random.default_rng(0).normal(0, 1e-6, len(columns.judgements["s"]))
    assert len(np.unique(columns.judgements["s"])) > 5000
    return columns


@dataclass(frozen=True)
class Curve:
    """How an agent judges: what it makes of a statement is normal, around 0 with spread 1 if its speaker is no
    Werewolf, around `shift` with `spread` if it is one.

    Attributes:
        shift: by how much more it makes of what Werewolves say: d′, where the spreads are equal.
        spread: of what it makes of that.
        criterion: above which it flags; and its suspicion is Φ of the distance from it, in hundredths, so that far
            from 0 most of what it says is .00, or 1.00.
        game_sd: spread of what all that it judges in one game has in common.
    """

    shift: float
    spread: float = 1.0
    criterion: float = 0.0
    game_sd: float = 0.0

    @classmethod
    def of_rates(cls, hit: float, alarm: float) -> Self:
        """Return the curve of equal spreads through these rates of flags, on what Werewolves and on what others say."""
        return cls(float(ndtri(hit) - ndtri(alarm)), criterion=float(-ndtri(alarm)))

    @property
    def _spreads(self) -> np.ndarray:
        return np.hypot([1.0, self.spread], self.game_sd)

    @property
    def d_prime(self) -> float:
        """z(hit rate) - z(false-alarm rate) over all games."""
        alarm, hit = (np.array([0.0, self.shift]) - self.criterion) / self._spreads
        return float(hit - alarm)

    @property
    def auc(self) -> float:
        """How often what a Werewolf says meets more of the stated suspicion than what another says, equal suspicions
        counted half, over all games.
        """
        ends = ndtri((np.arange(100) + 0.5) / 100) + self.criterion
        means = np.array([0.0, self.shift])
        below = ndtr((ends - means[:, None]) / self._spreads[:, None])
        others, wolves = np.diff(below, axis=1, prepend=0.0, append=1.0)
        return float(wolves @ (np.cumsum(others) - others / 2))


def judged_by(columns: Columns, curves: Sequence[Curve], seed: int) -> Columns:
    """Return the same games with flags and suspicions by the speaker's role, of each agent along its curve."""
    judgements, rng = columns.judgements, np.random.default_rng([seed, 9])
    agent, wolf = judgements["observer_agent"], judgements["target_role"] == ROLES.index("Werewolf")
    shift, spread, criterion, game_sd = (
        np.array([getattr(curve, name) for curve in curves])[agent]
        for name in ("shift", "spread", "criterion", "game_sd")
    )
    z = np.where(wolf, shift + spread * rng.normal(size=len(wolf)), rng.normal(size=len(wolf))) - criterion
    z += game_sd * rng.normal(size=(len(columns.ids), len(curves)))[judgements["game"], agent]
    told = {"d": (z > 0).astype("i1"), "s": np.round(ndtr(z), 2)}
    return replace(columns, judgements={**judgements, **told})


def sides(roles: np.ndarray, seated: np.ndarray, game: np.ndarray, **seats: np.ndarray) -> dict[str, np.ndarray]:
    """Return columns of who has a part in rows of games: seats, their roles and their agents."""
    return {
        f"{name}{suffix}": values
        for name, seat in seats.items()
        for suffix, values in (("", seat), ("_role", roles[game, seat]), ("_agent", seated[game, seat]))
    }


def means(agents: Agents, setting: Setting, deceptive: np.ndarray, who: dict[str, np.ndarray]) -> np.ndarray:
    """Return the z of a flag for each row of judgements, without the normal effects."""
    observer, speaker, roles = who["observer_agent"], who["target_agent"], (who["observer_role"], who["target_role"])
    hit = setting.hit + agents.detects[observer] - agents.conceals[speaker]
    hit = hit + agents.observer_roles[roles[0]] - agents.speaker_roles[roles[1]]
    alarm = setting.alarm + agents.false_alarm[observer] + agents.suspected[speaker]
    alarm = alarm + agents.alarm_observer_roles[roles[0]] + agents.alarm_speaker_roles[roles[1]]
    return np.where(deceptive, hit, alarm)


def _smoothed(
    game: np.ndarray, observer: np.ndarray, target: np.ndarray, s: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return D before each judgement, and game, observer, target and final D of every pair with a judgement."""
    pair, row = np.unique((game * 64 + observer) * 64 + target, return_inverse=True)
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(len(pair)))
    nth = np.empty(len(row), int)
    nth[order] = np.arange(len(row)) - starts[row[order]]
    d, before = np.full(len(pair), 0.5), np.empty(len(row))
    for turn in range(int(nth.max(initial=-1)) + 1):
        now = np.flatnonzero(nth == turn)
        before[now] = d[row[now]]
        d[row[now]] = 0.7 * s[now] + 0.3 * d[row[now]]
    return before, (pair // 4096, pair // 64 % 64, pair % 64, d)


def _votes(rng: np.random.Generator, roles: np.ndarray, seated: np.ndarray, rounds: int) -> dict[str, np.ndarray]:
    games, seats = roles.shape
    game = np.repeat(np.arange(games), rounds * seats)
    voter = np.tile(np.arange(seats), games * rounds)
    target = (voter + rng.integers(1, seats, len(voter))) % seats
    wolf = roles == ROLES.index("Werewolf")
    return filled(
        *("votes", len(game)),
        game=game,
        round=np.tile(np.repeat(np.arange(1, rounds + 1), seats), games),
        **sides(roles, seated, game, voter=voter),
        target=target,
        target_role=roles[game, target],
        unknown=seats - 1,
        unknown_wolves=wolf.sum(axis=1)[game] - wolf[game, voter],
        others=seats - 1,
        other_wolves=wolf.sum(axis=1)[game] - wolf[game, voter],
        credit=np.nan,
    )
