"""What could be known of who is a Werewolf when a vote was held: `Ladder` follows a game, `with_rates` goes through it
again with what the claims of other games say.

Over players who could not be certain. The rungs are those of `wolfbus.posterior`, below them what the role counts alone
say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from analytics.books import NightBook
from analytics.rows.course import SeatRow, pair_of
from analytics.rows.fields import DECIMALS
from analytics.rows.knowledge import KnowableRow, VoteNews
from analytics.rows.talk import StatementRow, VoteRow
from wolfbus.errors import RulesError
from wolfbus.files.canonical import canonical
from wolfbus.game.config import GameConfig
from wolfbus.game.roles import FACTS
from wolfbus.game.vocabulary import Role
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim
from wolfbus.messages.events import Departing
from wolfbus.messages.requests import PublicFact

if TYPE_CHECKING:
    from wolfbus.posterior import ClaimRates, Knowledge, Posterior, Rung


class Ladder:
    """Follows one game, and gives at each vote what could be known.

    Args:
        seats: players by name, in seating order.
        rules: the rules; None where they are not known.

    Attributes:
        rows: what could be known at the votes so far. There are none without rules, with more deals than there can be a
            posterior over, and from where on the record contradicts the rules.
    """

    def __init__(self, seats: Mapping[SeatName, SeatRow], rules: GameConfig | None) -> None:
        self.rows: list[KnowableRow] = []
        self._seats = seats
        self._rules = rules
        self._posterior: Posterior | None = None
        self._facts: list[Departing] = []
        self._claims: list[tuple[SeatName, Claim]] = []
        if rules is not None:
            # it takes numpy, which tables without such rows do without
            from wolfbus.posterior import Posterior

            try:
                self._posterior = Posterior(rules, list(seats))
            except RulesError:
                return

    def hear(self, fact: Departing) -> None:
        """Take in who leaves."""
        if self._posterior is not None:
            self._posterior.hear(fact)
            self._facts.append(fact)

    def claim(self, statement: StatementRow) -> None:
        """Take in what a statement claims in words that bear it out."""
        if self._posterior is not None:
            claims = self._posterior.claim(statement.speaker, (scored.claim for scored in statement.claims))
            self._claims += [(statement.speaker, claim) for claim in claims]

    def vote(
        self,
        votes: Sequence[VoteRow],
        nights: NightBook,
        suspected: Callable[[SeatName, SeatName], float | None],
    ) -> str | None:
        """Add what could be known as a vote was held, and return what was told since the one before; see `VotingRow`.

        Args:
            votes: the ballots.
            nights: who knows what.
            suspected: gives D of observer and target, None where it has not judged.
        """
        ballots = {vote.voter: vote for vote in votes}
        unknown = {name: others for name in ballots if (others := nights.unknown(name))}
        if self._posterior is None or self._rules is None:
            return None
        news = VoteNews(
            first_night_kill=self._rules.first_night_kill,
            kill_optional=self._rules.kill_optional,
            # the types of these events are all in that union (`wolfbus.knowledge.departure`)
            facts=cast("tuple[PublicFact, ...]", tuple(self._facts)),
            claims=tuple(self._claims),
            roles={name: {name: self._seats[name].role, **self._inspected(nights, name)} for name in unknown},
            protected={name: dict(nights.facts.protected.get(name, {})) for name in unknown},
        )
        self._facts, self._claims = [], []
        knowledge = list(_knowledge(news))
        try:
            facts = _by_pair(self._posterior, knowledge, "facts", self._seats)
            honest = _by_pair(self._posterior, knowledge, "honest", self._seats)
        except RulesError:
            self._posterior = None
            return None
        wolves = sum(seat.role == "Werewolf" for seat in self._seats.values())
        for observer, others in unknown.items():
            for target in others:
                vote, pair, seat = ballots[observer], (observer, target.name), self._seats[observer]
                suspicion = suspected(*pair)
                self.rows.append(
                    KnowableRow(
                        game=seat.game,
                        round=vote.round,
                        **pair_of(seat, target),
                        suspicion=None if suspicion is None else round(suspicion, DECIMALS),
                        counts=round(wolves / (len(self._seats) - 1), DECIMALS),
                        facts=facts[pair],
                        honest=honest[pair],
                        voted=None if vote.target is None else vote.target == target.name,
                    )
                )
        return canonical(news.model_dump(mode="json", exclude_none=True)).decode()

    def _inspected(self, nights: NightBook, seer: SeatName) -> dict[SeatName, Role]:
        inspected = nights.facts.inspected.get(seer, {})
        # with rules, which a ladder is over, it is always a role
        roles = ((name, role) for name, role in inspected.items() if role != "villagers" and role != "werewolves")
        return {name: role for name, role in roles if name in self._seats}


def with_rates(
    roles: Mapping[SeatName, Role], votes: Sequence[VoteNews], rates: ClaimRates
) -> Iterator[dict[tuple[SeatName, SeatName], float]]:
    """Yield for each vote of a game how likely it was that a target is a Werewolf, by observer and target, with every
    claim as likely as in other games.

    Args:
        roles: everybody's role, in seating order; only how many there are of each counts.
        votes: what was told up to each vote.
        rates: of claims in other games.
    """
    from wolfbus.posterior import Posterior

    rules: dict[str, object] = {facts.count: [*roles.values()].count(role) for role, facts in FACTS.items()}
    if votes:
        rules |= {name: getattr(votes[0], name) for name in ("first_night_kill", "kill_optional")}
    posterior = Posterior(GameConfig.model_validate(rules), list(roles), rates)
    for news in votes:
        for fact in news.facts:
            posterior.hear(fact)
        for speaker, claim in news.claims:
            posterior.claim(speaker, [claim])
        yield _by_pair(posterior, list(_knowledge(news)), "rates", roles)


def _knowledge(news: VoteNews) -> Iterator[Knowledge]:
    from wolfbus.posterior import Knowledge

    for name, roles in news.roles.items():
        yield Knowledge(name, roles, news.protected[name])


def _by_pair(
    posterior: Posterior, knowledge: Sequence[Knowledge], rung: Rung, names: Iterable[SeatName]
) -> dict[tuple[SeatName, SeatName], float]:
    rows = posterior.probabilities(knowledge, rung) if knowledge else ()
    return {
        (observer.seat, name): round(float(share), DECIMALS)
        for observer, row in zip(knowledge, rows, strict=True)
        for name, share in zip(names, row, strict=True)
    }
