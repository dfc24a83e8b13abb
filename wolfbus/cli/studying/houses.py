"""`ManyHouses`: a study's games shared out among several houses, on one Redis, on a cluster or on several servers.

Each house is moderated by a thread of this process. A game belongs to one house from the moment it was asked for there;
the next one goes to whichever house has room, so that a slow house holds nobody up.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from wolfbus.cli.studying.elsewhere import HousePlayers
from wolfbus.cli.studying.loading import HouseAddress
from wolfbus.printable import counted
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import Halt, StudyNews

if TYPE_CHECKING:
    from wolfbus.study.folder import StudyFolder
    from wolfbus.study.plan import Plan
    from wolfbus.study.settings import StudySettings


class ManyHouses:
    """Moderates several houses and shares the games out among them; a `StudyPlayers`.

    Where a run of this study was killed, a game that a house has begun stays with that house. A house that is lost
    keeps what it was asked for, to the run that resumes; the others play the rest.

    Args:
        addresses: the houses.
        plan: the study's games.
        study: the study's settings; as many games as it plays at once are played by each house.
        folder: the study's.
        news: where all that happens is told.
        say: told what is waited for, in one line, from other threads.
        tickets: whether tickets say who is heard.

    Raises:
        WolfError: another moderates one of the houses, or it is in the middle of other games.
        BusError: a bus cannot be reached.
    """

    def __init__(
        self,
        addresses: Sequence[HouseAddress],
        plan: Plan,
        study: StudySettings,
        folder: StudyFolder,
        news: queue.SimpleQueue[StudyNews],
        say: Callable[[str], None],
        *,
        tickets: bool,
    ) -> None:
        self._news = news
        self._say = say
        # one game more than it plays at once waits at each house, so that none stands still while it is asked
        self._room = study.at_once + 1
        self._lock = threading.RLock()
        self._filling = False
        self._free: deque[PlannedGame] = deque()
        self._halted: dict[HouseAddress, str] = {}
        self._houses: dict[HouseAddress, HousePlayers] = {}
        self._asked: dict[HouseAddress, set[str]] = {address: set() for address in addresses}
        with contextlib.ExitStack() as around:
            for address in addresses:
                tell = partial(self._take, address)
                said = partial(self._say_of, address)
                house = HousePlayers(address, plan, study, folder, tell, said, tickets=tickets)
                self._houses[address] = house
                around.callback(house.close, hasty=True)
            around.pop_all()

    @property
    def under_way(self) -> int:
        """Games that the moderators have to leave in order before they end."""
        return sum(house.under_way for house in self._houses.values())

    @property
    def spent(self) -> None:
        """Nothing that this process knows of: the agents have budgets of their own."""

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Have games played: those that a house has begun by that house, the others wherever there is room."""
        with self._lock:
            for planned in games:
                begun = next((each for each, house in self._houses.items() if planned.game in house.begun), None)
                if begun is None:
                    self._free.append(planned)
                else:
                    self._ask(begun, planned)
        self._share_out()

    def end(self, reason: str) -> None:
        """Leave all games where they are, to the run that resumes."""
        for house in self._houses.values():
            house.end(reason)

    def close(self, *, hasty: bool) -> None:
        """Close the houses, so that agents leave; in haste, leave them to the run that resumes."""
        with contextlib.ExitStack() as around:
            for house in self._houses.values():
                around.callback(house.close, hasty=hasty)

    def _ask(self, address: HouseAddress, planned: PlannedGame) -> None:
        self._asked[address].add(planned.game)
        self._houses[address].post([planned])

    def _share_out(self) -> None:
        """Ask houses that have room for what nobody was asked for yet, the least busy one first."""
        with self._lock:
            # a house may tell at once of a game that was over before: what that makes room for is seen to below
            if self._filling:
                return
            self._filling = True
            try:
                while self._free:
                    playing = [each for each in self._asked if each not in self._halted]
                    least = min(playing, key=lambda each: len(self._asked[each]), default=None)
                    if least is None or len(self._asked[least]) >= self._room:
                        break
                    self._ask(least, self._free.popleft())
            finally:
                self._filling = False

    def _take(self, address: HouseAddress, told: StudyNews) -> None:
        """Take in what a house tells; called by its moderator's thread."""
        with self._lock:
            if isinstance(told, Halt):
                self._halted[address] = f"house {address}: {told.why}"
                if len(self._halted) < len(self._houses):
                    self._say(f"{self._halted[address]}; the other houses play on")
            else:
                self._asked[address].discard(told.game)
                self._news.put(told)
        self._share_out()
        self._halt_if_stuck()

    def _halt_if_stuck(self) -> None:
        """Tell that no more can be played, once all that is left is with houses that are lost."""
        with self._lock:
            playing = [each for each in self._asked if each not in self._halted]
            if not self._halted or any(self._asked[each] for each in playing) or (playing and self._free):
                return
            left = len(self._free) + sum(map(len, self._asked.values()))
            if left:
                self._news.put(Halt(f"{counted(left, 'game')} left with {'; '.join(self._halted.values())}"))

    def _say_of(self, address: HouseAddress, line: str) -> None:
        self._say(f"house {address}: {line}")
