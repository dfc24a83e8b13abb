"""What a listener notes down of the public talk: claims, reports, who pressed whom, who voted how."""

from __future__ import annotations

from collections.abc import Sequence

from players.scripted.cues import Cues, read
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import PublicFact


class Notes:
    """Notes on one game's public facts, grown as facts come in; equal facts make equal notes.

    Attributes:
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
        said: skeletons of all statements; membership only.
        latest: each player's last statement.
        floor: the last statement of today's debate, None after a silence or before anybody spoke.
        victims: who died at night, in order.
        died: the last night's victim, None where nobody died.
        votes: the last opened votes.
    """

    def __init__(self, names: tuple[SeatName, ...]) -> None:
        self._names = names
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
        self.said: set[str] = set()
        self.latest: dict[SeatName, int] = {}
        self.floor: Statement | None = None
        self.victims: list[SeatName] = []
        self.died: SeatName | None = None
        self.votes: dict[SeatName, SeatName | None] = {}

    def take_in(self, facts: Sequence[PublicFact]) -> None:
        """Note down further facts, in order."""
        for fact in facts:
            if fact.type == "statement":
                self._listen(fact)
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

    def _listen(self, statement: Statement) -> None:
        number, speaker = statement.statement, statement.speaker
        cues = read(statement.text, self._names)
        self.cues[number] = cues
        self.said.add(cues.skeleton)
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
