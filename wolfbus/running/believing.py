"""Asking seats' own models, when a study's games are over, what the seats believed at moments of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from analytics.annotations.beliefs import FILE, AskedModel, Belief, BeliefHeader, beliefs_beside, read_beliefs
from analytics.annotations.lines import Appender, PromptMark
from analytics.gather import Criteria, FileNote, Source, collect
from analytics.gather.reading import is_unfinished, read_game
from players.llm.beliefs import Inquiry, Interview, ask, prompt_mark
from players.llm.inquiry import Reply
from players.llm.settings import Model, model_of
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted, printable
from wolfbus.game.draws import unit
from wolfbus.knowledge.moments import When, moments
from wolfbus.record.reader import open_lines, read_record
from wolfbus.running.asking import AskingRun
from wolfbus.running.brains import estimate_of

if TYPE_CHECKING:
    from players.spec import BrainContext

_MODEL: Final = "llm:"


@dataclass(frozen=True, slots=True)
class Moments:
    """At which moments seats are asked.

    Attributes:
        whens: which of dawn and dusk.
        share: of the debate's statements, a share, before and after which listeners are asked.
        seed: what draws these statements: the same seed, the same statements.
    """

    whens: Collection[When]
    share: float = 0.0
    seed: str = "0"

    def is_chosen(self, game: str, statement: int) -> bool:
        """Return whether seats are asked around a statement."""
        return unit(f"{self.seed}|{game}", "beliefs", n=statement) < self.share


@dataclass(slots=True)
class BeliefRun(AskingRun):
    """One run over a study's games.

    Args:
        folder: the study's, or any folder of records.
        models: language models by alias.
        at: the moments.

    Attributes:
        games: the files of its games, with the head of each record.
        problems: files with which something is wrong.
        unfinished: games that have not ended; nobody is asked about them.
        respondents: the brains that are asked, with their models.
        not_asked: brains of seats that are no language models.
        count: questions that are still to be asked.
        before: answers that were there.
    """

    folder: Path
    models: Mapping[str, Model]
    at: Moments
    games: list[tuple[Source, str]] = field(default_factory=list)
    problems: list[FileNote] = field(default_factory=list)
    unfinished: int = 0
    respondents: dict[str, Model] = field(default_factory=dict)
    not_asked: set[str] = field(default_factory=set)
    count: int = 0
    before: int = 0
    _answered: set[object] = field(default_factory=set)

    @property
    def path(self) -> Path:
        """The file of beliefs."""
        return self.folder / FILE

    def prepare(self) -> None:
        """Find out which games and seats there are, and what was asked before.

        Raises:
            RecordError: there is nothing to read; or beliefs that are there are of other records.
            ConfigError: a seat's model is not known; the file was made with other settings, or is kept elsewhere.
        """
        for source in collect([self.folder]).files:
            note, rows = read_game(source, Criteria())
            if is_unfinished(note, rows):
                self.unfinished += 1
                continue
            if note.problem is not None:
                self.problems.append(note)
            if rows is None or source.kind != "record":
                continue
            if beliefs_beside(source.path).resolve() != self.path.resolve():
                elsewhere = beliefs_beside(source.path).parent
                raise ConfigError(
                    f"{self.folder}: beliefs of {source.path} are kept with {elsewhere}; name that folder"
                )
            self.games.append((source, note.head))
            for seat in rows.seats.values():
                if not seat.agent.startswith(_MODEL):
                    self.not_asked.add(seat.agent)
                elif seat.agent not in self.respondents:
                    self.respondents[seat.agent] = model_of(seat.agent.removeprefix(_MODEL), self.models)
        if not self.respondents:
            raise ConfigError(f"{self.folder}: no language model sits in a seat of its games; nobody can be asked")
        if self.path.exists():
            self._take_in()

    def _take_in(self) -> None:
        file, header = read_beliefs(self.path), self.header
        if file.header.prompt != header.prompt:
            raise ConfigError(f"{self.path}: was made with another prompt; move it away to ask anew")
        for agent, model in header.models.items():
            earlier = file.header.models.get(agent)
            if earlier != model:
                what = "does not know" if earlier is None else "was made with other settings of"
                raise ConfigError(f"{self.path}: {what} {printable(agent)}; move it away to ask anew")
        self._answered = {line.place for line in file.lines}

    @property
    def header(self) -> BeliefHeader:
        """The header of a new file."""
        return BeliefHeader(
            prompt=PromptMark(**prompt_mark()),
            models={
                agent: AskedModel(model=model.model, parameters=model.asked_with)
                for agent, model in sorted(self.respondents.items())
            },
        )

    def inquiries(self) -> Iterator[tuple[str, Inquiry]]:
        """Yield the head of a game's record, and a question that was not answered yet; a seat's one behind the other,
        for servers that keep the beginnings of prompts.
        """
        for source, head in self.games:
            by_seat: dict[str, list[Inquiry]] = {}
            interviews: dict[str, Interview] = {}
            with closing(open_lines(source.path)) as lines:
                events = (
                    (recorded.event, recorded.hash) for recorded in read_record(lines, tolerant=True, lenient=True)
                )
                for moment in moments(events, self.at.whens, partial(self.at.is_chosen, source.game or "")):
                    if moment.brain in self.respondents:
                        interview = interviews.setdefault(moment.seat, Interview(self.respondents[moment.brain]))
                        by_seat.setdefault(moment.seat, []).append(interview.inquiry(moment))
            for inquiries in by_seat.values():
                for inquiry in inquiries:
                    if (inquiry.game, inquiry.seat, inquiry.place) not in self._answered:
                        yield head, inquiry

    def estimate(self) -> str:
        """Return about what the questions take, in a line; counts them."""
        self.before = len(self._answered)
        self.count, words = estimate_of(inquiry.question for _, inquiry in self.inquiries())
        return f"{counted(len(self.games), 'game')}, {words}"

    def play(self, context: BrainContext, tell: Callable[[int], None]) -> None:
        """Ask, and add what is said to the file at once.

        Args:
            context: the way to the models.
            tell: called with the number of questions done.
        """
        endpoints = {model.endpoint.url: model.endpoint.at_once for model in self.respondents.values()}
        header, gateway = self.header, context.gateway
        with closing(Appender(self.path)) as file:
            self.ask_all(
                context,
                self.inquiries(),
                sum(endpoints.values()),
                answer=lambda item: ask(gateway, item[1]),
                keep=lambda item, reply: file.add(header, _belief(*item, reply)),
                name_of=lambda item: item[1].question.label,
                tell=tell,
            )


def _belief(head: str, inquiry: Inquiry, reply: Reply) -> Belief:
    place = inquiry.place
    return Belief(
        game=inquiry.game,
        round=place.round,
        when=place.when,
        statement=place.statement,
        seat=inquiry.seat,
        head=head,
        hash=inquiry.hash,
        served=reply.served,
        **reply.content,
    )
