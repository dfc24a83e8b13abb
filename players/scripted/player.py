"""What a scripted player has to go by: its notes of the public talk, and what follows for it from all it may know."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from players.scripted import tuning
from players.scripted.cues import Cues, read
from wolfbus.game.draws import choose, choose_weighted, draw, unit
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Ask, PublicFact

T = TypeVar("T")

_NESTED: Final = frozenset({"reported", "pressure", "voices"})
"""Notes that hold further notes for every player."""


class PublicNotes:
    """Notes on one game's public facts; equal facts make equal notes.

    Once made they do not change: all who heard the same at one table share them (`GameNotes`).

    Attributes:
        count: how many facts they are on.
        last: the last of them.
        cues: what each statement says, by number.
        seers: who claimed to be the Seer, with the number of the first such statement.
        doctors: the same for the Doctor.
        results: inspections reported in public: (reporter, player) to whether a Werewolf was seen.
        reported: per player, who reported what of it: (reporter, seen to be a Werewolf).
        flips: statements whose speaker now says the opposite of what it said of somebody: number to that somebody.
        flipped: speaker to the last player it changed sides about.
        pressure: today's accused, each with its accusers and the number of their last accusation.
        voices: today's doubted and accused, each with those who spoke against them.
        spoken: how often each player spoke today.
        skeletons: those of all statements; membership only.
        latest: each player's last statement.
        floor: the last statement of today's debate, None after a silence or before anybody spoke.
        victims: who died at night, in order.
        died: the last night's victim, None where nobody died.
        votes: the last opened votes.
    """

    def __init__(self, names: tuple[SeatName, ...]) -> None:
        self._names = names
        self.count = 0
        self.last: PublicFact | None = None
        self._stance: dict[tuple[SeatName, SeatName], bool] = {}
        self.cues: dict[int, Cues] = {}
        self.seers: dict[SeatName, int] = {}
        self.doctors: dict[SeatName, int] = {}
        self.results: dict[tuple[SeatName, SeatName], bool] = {}
        self.reported: dict[SeatName, list[tuple[SeatName, bool]]] = {}
        self.flips: dict[int, SeatName] = {}
        self.flipped: dict[SeatName, SeatName] = {}
        self.pressure: dict[SeatName, dict[SeatName, int]] = {}
        self.voices: dict[SeatName, dict[SeatName, int]] = {}
        self.spoken: dict[SeatName, int] = {}
        self.skeletons: set[str] = set()
        self.latest: dict[SeatName, int] = {}
        self.floor: Statement | None = None
        self.victims: list[SeatName] = []
        self.died: SeatName | None = None
        self.votes: dict[SeatName, SeatName | None] = {}

    def after(self, facts: Sequence[PublicFact]) -> PublicNotes:
        """Return the notes on all public facts so far, of which these are notes on the first few."""
        notes = self._copy()
        for fact in facts[self.count :]:
            notes.add(fact)
        return notes

    def is_reported(self, name: SeatName) -> bool:
        """Return whether anybody told to have seen that `name` is a Werewolf."""
        return any(wolf for _, wolf in self.reported.get(name, ()))

    def precede(self, facts: Sequence[PublicFact]) -> bool:
        """Return whether these are notes on the first of such facts, or on all of them."""
        # facts are told in order, so who heard the same one last has heard the same
        return self.count == 0 or (self.count <= len(facts) and self.last is facts[self.count - 1])

    def _copy(self) -> PublicNotes:
        """Return notes that can grow apart from these."""
        notes = copy(self)
        for name, value in vars(self).items():
            if name in _NESTED:
                setattr(notes, name, {player: by_player.copy() for player, by_player in value.items()})
            elif isinstance(value, (dict, list, set)):
                setattr(notes, name, value.copy())
        return notes

    def add(self, fact: PublicFact) -> None:
        """Note down the next fact; nobody else may have these notes yet."""
        self.count += 1
        self.last = fact
        if fact.type == "statement":
            self._add_statement(fact)
        elif fact.type == "silence":
            self.floor = None
        elif fact.type == "tally":
            self.votes = fact.votes
            self.floor = None
        elif fact.type == "dawn":
            self._new_day(fact.died)

    def _new_day(self, died: SeatName | None) -> None:
        self.pressure = {}
        self.voices = {}
        self.spoken = {}
        self.floor = None
        self.died = died
        if died is not None:
            self.victims.append(died)

    def _add_statement(self, statement: Statement) -> None:
        number, speaker = statement.statement, statement.speaker
        cues = read(statement.text, self._names)
        self.cues[number] = cues
        self.skeletons.add(cues.skeleton)
        self.latest[speaker] = number
        if statement.phase == "debate":
            self.floor = statement
            self.spoken[speaker] = self.spoken.get(speaker, 0) + 1
        if cues.claimed == "Seer":
            self.seers.setdefault(speaker, number)
        elif cues.claimed == "Doctor":
            self.doctors.setdefault(speaker, number)
        for target, wolf in cues.results:
            if target != speaker and (speaker, target) not in self.results:
                self.results[speaker, target] = wolf
                self.reported.setdefault(target, []).append((speaker, wolf))
        for target in cues.accused:
            if target != speaker:
                self.pressure.setdefault(target, {})[speaker] = number
                self._take_side(number, speaker, target, against=True)
        for target in (*cues.accused, *cues.doubted):
            if target != speaker:
                self.voices.setdefault(target, {})[speaker] = number
        for target in cues.trusted:
            if target != speaker:
                self._take_side(number, speaker, target, against=False)

    def _take_side(self, number: int, speaker: SeatName, target: SeatName, *, against: bool) -> None:
        before = self._stance.get((speaker, target))
        self._stance[speaker, target] = against
        if before is not None and before != against:
            self.flips[number] = target
            self.flipped[speaker] = target


class GameNotes:
    """The latest notes on one game's public facts, for all its seats in this process.

    A seat that is asked no more, such as a dead one, holds no older ones.
    """

    __slots__ = ("__weakref__", "_first", "_latest", "_names")

    def __init__(self, names: tuple[SeatName, ...], first: PublicFact | None = None) -> None:
        self._names = names
        # kept, so that no other fact has its identity
        self._first = first
        self._latest = PublicNotes(names)

    @classmethod
    def of(cls, facts: Sequence[PublicFact], names: tuple[SeatName, ...]) -> GameNotes:
        """Return those that every seat keeps which was told the same first fact."""
        if not facts:
            return cls(names)
        key = (id(facts[0]), names)
        notes = _shared_notes.get(key)
        if notes is None:
            notes = _shared_notes[key] = cls(names, facts[0])
        return notes

    def on(self, facts: Sequence[PublicFact]) -> PublicNotes:
        """Return notes on all of these facts."""
        latest = self._latest
        if latest.count == len(facts) and (not facts or latest.last is facts[-1]):
            return latest
        if not latest.precede(facts):
            # somebody has heard more than this seat, or something else
            return PublicNotes(self._names).after(facts)
        latest = self._latest = latest.after(facts)
        return latest


_shared_notes: Final[WeakValueDictionary[tuple[int, tuple[SeatName, ...]], GameNotes]] = WeakValueDictionary()
"""Notes that somebody holds, by the identity of the first fact, and the players."""


class Player:
    """A seat that is asked: what it makes of its game.

    Everything here follows from the view and the request, so equal views and requests give equal answers.

    Args:
        view: what the seat knows.
        ask: the request.
        notes: a fold of the view's public facts.
        traits: remembers draws that stay the same for this seat and game; empty will do.
    """

    __slots__ = ("_leanings", "_traits", "ask", "me", "notes", "seed", "view", "wolf")

    def __init__(self, view: SeatView, ask: Ask, notes: PublicNotes, traits: dict[tuple[str, int], float]) -> None:
        self.view = view
        self.ask = ask
        self.notes = notes
        self.me = view.me
        # without a seed of its own, a seat is at least different from its neighbours
        self.seed = view.brain_seed or f"seat {view.me}"
        self.wolf = view.role == "Werewolf"
        self._traits = traits
        self._leanings = -1

    # --- draws

    def chance(self, purpose: str, n: int = 0) -> float:
        """Return this request's number in [0, 1) for `purpose`."""
        return unit(self.seed, purpose, self.ask.round, self.ask.turn, n)

    def trait(self, purpose: str, n: int = 0) -> float:
        """Return a number in [0, 1) that stays the same for the whole game, a trait of character."""
        key = (purpose, n)
        value = self._traits.get(key)
        if value is None:
            value = self._traits[key] = unit(self.seed, purpose, n=n)
        return value

    def pick(self, purpose: str, options: Sequence[T]) -> T:
        """Return one of `options`, each equally likely."""
        return choose(self.seed, purpose, options, self.ask.round, self.ask.turn)

    def weigh(self, purpose: str, options: Sequence[tuple[T, int]]) -> T:
        """Return one option of (option, weight) pairs."""
        return choose_weighted(self.seed, purpose, options, self.ask.round, self.ask.turn)

    def leaning(self, name: SeatName) -> float:
        """Return this round's whim about `name`, in [0, 1)."""
        if self._leanings < 0:
            self._leanings = draw(self.seed, "leanings", self.ask.round)
        # 16 bits for each of at most 16 seats: one draw serves the whole table
        return (self._leanings >> 16 * self.view.names.index(name) & 0xFFFF) / 0x10000

    # --- knowledge

    def is_wolf(self, name: SeatName) -> bool | None:
        """Return whether a player is known to be a Werewolf, or known not to be; None without certainty."""
        view = self.view
        if self.wolf:
            return name in view.partners or name == view.me
        knowledge = view.knowledge
        role = view.inspections.get(name) or knowledge.revealed.get(name)
        if role is not None:
            return role in {"Werewolf", "werewolves"}
        return False if name == view.me or knowledge.dead.get(name) == "night" else None

    def caught(self, name: SeatName) -> bool:
        """Return whether `name` said in public what this seat knows to be false."""
        notes, view = self.notes, self.view
        if view.role == "Seer" and view.config.seers == 1 and name in notes.seers and name != view.me:
            return True
        if view.role == "Doctor" and view.config.doctors == 1 and name in notes.doctors and name != view.me:
            return True
        if not notes.seers:
            return False
        if view.config.seers == 0 and name in notes.seers:
            return True
        for (reporter, target), wolf in notes.results.items():
            if reporter == name and self.is_wolf(target) is (not wolf):
                return True
        return False

    def credibility(self, seer: SeatName) -> float:
        """Return how far a report by `seer` is believed, in [0, 1]."""
        is_wolf = self.is_wolf(seer)
        if is_wolf or self.caught(seer):
            return 0.0
        if is_wolf is False and seer in self.notes.victims:
            return 1.0
        if self.contested():
            credibility = tuning.RIVAL_SEER * 2 * (1.0 - self.view.suspicion.of(self.me, seer))
            first = next(iter(self.notes.seers)) == seer
            return min(credibility + tuning.FIRST_SEER, 1.0) if first else credibility
        return tuning.LONE_SEER

    def contested(self) -> bool:
        """Return whether more players claimed to be the Seer than there are Seers."""
        return len(self.notes.seers) > self.view.config.seers

    def belief(self, name: SeatName) -> float:
        """Return how likely `name` seems to be a Werewolf, in [0, 1], from knowledge, reports, talk and votes."""
        is_wolf = self.is_wolf(name)
        if is_wolf is not None:
            return float(is_wolf)
        if self.caught(name):
            return 0.97
        notes = self.notes
        value = self.view.suspicion.of(self.me, name)
        if name in notes.seers and not self.contested():
            value *= 0.5
        for seer, wolf in notes.reported.get(name, ()):
            if seer == self.me:
                continue
            trust = self.credibility(seer)
            value = value + trust * (1.0 - value) if wolf else value * (1.0 - 0.8 * trust)
        value += tuning.BANDWAGON * self._weight_of_voices(name)
        against = notes.votes.get(name)
        if against is not None and (against == self.me or self.is_wolf(against) is False):
            value += tuning.VOTED_FOR_INNOCENT
        value += tuning.BELIEF_NOISE * (2.0 * self.leaning(name) - 1.0)
        return min(max(value, 0.01), 0.99)

    def belief_of(self, name: SeatName) -> float:
        """Return what is known of `name`, else the smoothed suspicion alone, in [0, 1]; a cheap sort of `belief`."""
        is_wolf = self.is_wolf(name)
        return self.view.suspicion.of(self.me, name) if is_wolf is None else float(is_wolf)

    def _weight_of_voices(self, name: SeatName) -> float:
        """Return how much weight today's voices against `name` carry: those of trusted players count, others turn."""
        voices = self.notes.voices.get(name)
        if not voices:
            return 0.0
        return min(sum(1.4 - 2.5 * self.belief_of(speaker) for speaker in voices if speaker != self.me), 3.0)

    def suspects(self) -> list[tuple[SeatName, float]]:
        """Return the living others with this seat's belief, most suspicious first, ties in seating order."""
        return sorted(((name, self.belief(name)) for name in self.view.others), key=lambda pair: -pair[1])

    # --- the table

    @property
    def floor(self) -> Statement | None:
        """The last statement of today's debate, unless this seat made it."""
        floor = self.notes.floor
        return None if floor is None or floor.speaker == self.me else floor

    def accusers(self, name: SeatName) -> list[SeatName]:
        """Return who accused `name` today and still lives."""
        return [accuser for accuser in self.notes.pressure.get(name, ()) if accuser not in self.view.dead]

    def reporters(self, name: SeatName) -> list[SeatName]:
        """Return the others who told everybody to have seen that `name` is a Werewolf."""
        return [seer for seer, wolf in self.notes.reported.get(name, ()) if wolf and seer != self.me]

    def voices(self, name: SeatName) -> int:
        """Return how many others spoke against `name` today, in doubt or certainty."""
        voices = self.notes.voices.get(name)
        return 0 if voices is None else len(voices) - (self.me in voices)

    def in_danger(self, name: SeatName) -> bool:
        """Return whether `name` may well be exiled today: several accusers, or a report by the only Seer."""
        return len(self.accusers(name)) >= tuning.ACCUSERS_IN_DANGER or self.notes.is_reported(name)

    def living_partners(self) -> list[SeatName]:
        """Return the Werewolf's partners who still live."""
        return [name for name in self.view.partners if name not in self.view.dead]
