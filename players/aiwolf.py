"""Clients of AIWolf's natural language division take seats: the server side of their protocol, over WebSockets.

A client connects, tells its name, and is asked in JSON; it answers in bare text: what it says, or ``Agent[03]``. Here
players have names, so those are put for each other in what is said, both ways. Bids, labels, judgements and reasons of
votes have no word in that protocol: they are declined. What a Werewolf whispers is asked with WHISPER, whom it would
kill with ATTACK. Night n here follows AIWolf's day n - 1, and the day after it is AIWolf's day n.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from players.llm.keys import is_local
from wolfbus import __version__
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.agent.answer import worth_until
from wolfbus.agent.membership import Membership, introduce
from wolfbus.agent.router import Seats
from wolfbus.bus.url import host_in_url
from wolfbus.errors import ConfigError, WolfError, not_installed, reason_of
from wolfbus.files.printable import printable
from wolfbus.game.fresh import fresh_name
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import ROLES, Role
from wolfbus.knowledge.view import Memory, SeatView
from wolfbus.messages.content import Ballot, Choice, Proposal, Speech
from wolfbus.messages.events import Inspection
from wolfbus.messages.requests import Ask, PublicFact
from wolfbus.service.lifecycle import Stopping
from wolfbus.stage.answers import Guard, RequestRefused

if TYPE_CHECKING:
    from websockets.http11 import Request, Response
    from websockets.sync.server import Server, ServerConnection

logger = logging.getLogger(__name__)

_ROLE: Final[dict[Role, str]] = {"Werewolf": "WEREWOLF", "Seer": "SEER", "Doctor": "BODYGUARD"}
"""Roles as AIWolf calls them; any other is a VILLAGER there, or POSSESSED where it wins with the Werewolves."""
_AGENT: Final = re.compile(r"Agent\[(\d{1,3})\]")
_HUMP: Final = re.compile(r"(?<=[a-z])[A-Z]+")
_NOTHING: Final = frozenset({"", "Over", "Skip", "ForceSkip"})
"""What is said by who says nothing."""
_NAME_S: Final = 30.0
"""Seconds in which a client has to tell its name."""
_FAREWELL_S: Final = 5.0
"""Seconds in which a client reads what is left to be sent as its game is over."""
_LONGEST: Final = 1 << 16
"""Bytes of a client's message."""
_RAW_KEPT: Final = 4_096


class Client:
    """One connection: requests go out in order, answers come in one for one.

    Attributes:
        has_left: set once the client has left, or was sent away.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self.has_left = threading.Event()
        self._connection = connection
        self._outgoing: queue.Queue[str | None] = queue.Queue()
        self._incoming: queue.Queue[tuple[int, str] | None] = queue.Queue()
        self._requests_sent = self._answers_taken = 0
        self._writer = threading.Thread(target=self._write, name="aiwolf-writer", daemon=True)
        self._reader = threading.Thread(target=self._read, name="aiwolf-reader", daemon=True)
        self._writer.start()
        self._reader.start()

    def tell(self, request: str, **members: Any) -> None:
        """Send what wants no answer; returns at once."""
        packet = {"request": request, **{name: value for name, value in members.items() if value is not None}}
        self._outgoing.put(json.dumps(_in_both_spellings(packet), ensure_ascii=False))

    def ask(self, until: float, request: str, **members: Any) -> str | None:
        """Send a request, and return its answer; None where there is none in time, or the client is gone.

        Args:
            until: monotonic time.
            request: its word.
            members: what goes with it.
        """
        self._requests_sent += 1
        self.tell(request, **members)
        while not self.has_left.is_set():
            try:
                answer = self._incoming.get(timeout=max(until - time.monotonic(), 0.0))
            except queue.Empty:
                return None
            # answers name no request: those to what was asked before come first
            if answer is None or answer[0] == self._requests_sent:
                return answer and answer[1]
        return None

    def close(self) -> None:
        """Send what waits, and end the connection; a client that does not read misses it."""
        self._outgoing.put(None)
        self._writer.join(_FAREWELL_S)
        if self._writer.is_alive():
            # what is being sent would wait for ever for it to read, and keep the connection from being closed
            with contextlib.suppress(OSError):
                self._connection.socket.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _write(self) -> None:
        from websockets.exceptions import ConnectionClosed

        while (text := self._outgoing.get()) is not None:
            try:
                self._connection.send(text)
            except ConnectionClosed:
                return

    def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            for message in self._connection:
                # what nobody asked for is no answer to what comes next, and kept it would fill the memory
                if self._answers_taken < self._requests_sent:
                    self._answers_taken += 1
                    text = message if isinstance(message, str) else message.decode("utf-8", "replace")
                    self._incoming.put((self._answers_taken, text))
        except ConnectionClosed as closed:
            logger.debug("a client is gone: %s", closed)
        finally:
            self.has_left.set()
            self._incoming.put(None)


class AiwolfBrain(Agent):
    """A client's seat in one game."""

    version = __version__

    def __init__(self, client: Client) -> None:
        self._client = client
        self._day = 0
        self._is_day_over = False
        self._statements_told = self._whispers_told = 0

    def seated(self, view: SeatView, /) -> None:
        """Begin the game, with AIWolf's day 0, on which nobody talks."""
        setting = _setting(view)
        self._client.tell("INITIALIZE", info=self._info(view), setting=setting)
        self._client.tell("DAILY_INITIALIZE", info=self._info(view), setting=setting)
        self._finish_day(view)

    def heard(self, news: Sequence[PublicFact | Memory], view: SeatView, /) -> None:
        """Tell of a new day, and of the end of one."""
        for fact in news:
            kind = getattr(fact, "type", None)
            if kind == "tally":
                self._finish_day(view)
            elif kind == "dawn" and view.ended is None:
                self._day, self._is_day_over = self._day + 1, False
                self._client.tell("DAILY_INITIALIZE", info=self._info(view), setting=_setting(view))

    def ended(self, view: SeatView, /) -> None:
        """Tell the end, and who was what."""
        roles = next((fact.roles for fact in view.public if fact.type == "revealed"), {})
        info = self._info(view)
        info["roleMap"] |= {_agent(view, name): _role(role) for name, role in roles.items()}
        self._client.tell("FINISH", info=info)

    def speak(self, ask: Ask, view: SeatView, /) -> Answer:
        """Have the client talk."""
        text = self._ask(ask, "TALK", view, talkHistory=self._fresh_talk(view))
        if text is None:
            return self._no_answer()
        text = _from_agents(view, text.strip())
        return Answer(Speech(text="" if text in _NOTHING else text))

    def vote(self, ask: Ask, view: SeatView, /) -> Answer:
        """Have the client vote."""
        self._finish_day(view)
        return self._choose(ask, "VOTE", view)

    def inspect(self, ask: Ask, view: SeatView, /) -> Answer:
        """Have the client divine."""
        return self._choose(ask, "DIVINE", view)

    def protect(self, ask: Ask, view: SeatView, /) -> Answer:
        """Have the client guard."""
        return self._choose(ask, "GUARD", view)

    def kill(self, ask: Ask, view: SeatView, /) -> Answer:
        """Have the client attack."""
        return self._choose(ask, "ATTACK", view, whisperHistory=self._fresh_whispers(view))

    def whisper(self, ask: Ask, view: SeatView, /) -> Answer:
        """Have the client whisper, and then attack."""
        words = self._ask(ask, "WHISPER", view, whisperHistory=self._fresh_whispers(view))
        if words is None:
            return self._no_answer()
        answer = self._choose(ask, "ATTACK", view, whisperHistory=[])
        if isinstance(answer.content, Proposal) and words.strip() not in _NOTHING:
            return Answer(Proposal(target=answer.content.target, word=_from_agents(view, words.strip())))
        return answer

    def _choose(self, ask: Ask, request: str, view: SeatView, **members: Any) -> Answer:
        text = self._ask(ask, request, view, **members)
        if text is None:
            return self._no_answer()
        match = _AGENT.fullmatch(text.strip())
        if match is None or not 1 <= int(match[1]) <= len(view.names):
            note = f"{printable(text, 40)!r} names no agent of this game, as in Agent[01]"
            return Answer(None, fault="unparseable", raw=text[:_RAW_KEPT], note=note)
        target = view.names[int(match[1]) - 1]
        kinds = {"vote": Ballot, "whisper": Proposal}
        return Answer(kinds.get(ask.kind, Choice)(target=target))

    def _ask(self, ask: Ask, request: str, view: SeatView, **members: Any) -> str | None:
        return self._client.ask(worth_until(ask, view), request, info=self._info(view), **members)

    def _no_answer(self) -> Answer:
        return Answer(None, fault="failed", note="the client has left") if self._client.has_left.is_set() else NO_ANSWER

    def _finish_day(self, view: SeatView) -> None:
        if self._is_day_over:
            return
        self._is_day_over = True
        whispers = self._fresh_whispers(view) if view.role == "Werewolf" else None
        talk = self._fresh_talk(view)
        self._client.tell("DAILY_FINISH", info=self._info(view), talkHistory=talk, whisperHistory=whispers)

    def _fresh_talk(self, view: SeatView) -> list[dict[str, Any]]:
        """Return what was said since it was told last."""
        fresh = [*view.statements.values()][self._statements_told :]
        self._statements_told += len(fresh)
        return [
            _talk(view, spoken.statement - 1, spoken.round, spoken.turn, spoken.speaker, spoken.text)
            for spoken in fresh
        ]

    def _fresh_whispers(self, view: SeatView) -> list[dict[str, Any]]:
        """Return what partners whispered since it was told last, whom they would kill before it."""
        fresh = view.whispers[self._whispers_told :]
        first = self._whispers_told
        self._whispers_told += len(fresh)
        return [
            _talk(
                view,
                index,
                whisper.round - 1,
                whisper.turn,
                whisper.seat,
                f"{whisper.target or ''} {whisper.word}".strip(),
            )
            for index, whisper in enumerate(fresh, first)
        ]

    def _info(self, view: SeatView) -> dict[str, Any]:
        day = self._day
        roles = {view.me: view.role, **dict.fromkeys(view.partners, view.role)}
        info: dict[str, Any] = {
            "gameID": self.game,
            "day": day,
            "agent": _agent(view, view.me),
            "statusMap": {_agent(view, name): "DEAD" if name in view.dead else "ALIVE" for name in view.names},
            "roleMap": {_agent(view, name): _role(role) for name, role in roles.items()},
        }
        for left in view.departures.values():
            if left.how == "exile" and left.round == day - 1:
                info["executedAgent"] = _agent(view, left.seat)
            elif left.how == "night" and left.round == day:
                info["attackedAgent"] = _agent(view, left.seat)
        if votes := view.tallies.get(day - 1):
            info["voteList"] = [
                {"day": day - 1, "agent": _agent(view, voter), "target": _agent(view, target)}
                for voter, target in votes.items()
                if target is not None
            ]
        for fact in view.private:
            if isinstance(fact, Inspection) and fact.round == day:
                result = "WEREWOLF" if fact.role == "Werewolf" else "HUMAN"
                target = _agent(view, fact.target)
                me = _agent(view, view.me)
                info["divineResult"] = {"day": day - 1, "agent": me, "target": target, "result": result}
        return info


def _in_both_spellings(value: Any) -> Any:
    """Return what is sent with a ``status_map`` beside each ``statusMap``: aiwolf-nlp-common reads that since 0.6."""
    if isinstance(value, list):
        return [_in_both_spellings(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {name: _in_both_spellings(item) for name, item in value.items()}
    return members | {_HUMP.sub(lambda hump: f"_{hump[0].lower()}", name): item for name, item in members.items()}


def _setting(view: SeatView) -> dict[str, Any]:
    """Return the rules: first as aiwolf-nlp-common read them up to 0.5, then as it has done since."""
    config = view.config
    counts = dict.fromkeys([*_ROLE.values(), "VILLAGER", "POSSESSED", "MEDIUM"], 0)
    for role in ROLES:
        counts[_role(role)] += config.count(role)
    shortest_ms = int(min(config.deadlines.speak, config.deadlines.vote) * 1000)
    whispers = config.whispers * config.werewolves
    talk_counts = {"perAgent": config.debate_turns, "perDay": config.debate_turns}
    whisper_counts = {"perAgent": config.whispers, "perDay": whispers}
    return {
        "playerNum": config.seats,
        "roleNumMap": counts,
        "maxTalk": config.debate_turns,
        "maxTalkTurn": config.debate_turns,
        "maxWhisper": config.whispers,
        "maxWhisperTurn": whispers,
        "maxSkip": config.debate_turns,
        "isEnableNoAttack": config.kill_optional,
        "isVoteVisible": True,
        "isTalkOnFirstDay": False,
        "responseTimeout": shortest_ms,
        "actionTimeout": shortest_ms,
        "maxRevote": 1,
        "maxAttackRevote": 1,
        "agentCount": config.seats,
        "maxDay": config.max_rounds,
        "voteVisibility": True,
        "talkOnFirstDay": False,
        "talk": {"maxCount": talk_counts, "maxLength": {}, "maxSkip": config.debate_turns},
        "whisper": {"maxCount": whisper_counts, "maxLength": {}, "maxSkip": whispers},
        "vote": {"maxCount": 1, "allowSelfVote": config.self_vote},
        "attackVote": {"maxCount": 1, "allowSelfVote": False, "allowNoTarget": config.kill_optional},
        "timeout": {"action": shortest_ms, "response": shortest_ms},
    }


def _role(role: Role) -> str:
    return _ROLE.get(role, "VILLAGER" if team_of(role) == "villagers" else "POSSESSED")


def _talk(view: SeatView, index: int, day: int, turn: int, speaker: str, text: str) -> dict[str, Any]:
    words = _to_agents(view, text)
    return {
        "idx": index,
        "day": day,
        "turn": turn,
        "agent": _agent(view, speaker),
        "text": words,
        "skip": False,
        "over": False,
    }


def _agent(view: SeatView, name: str) -> str:
    return f"Agent[{view.names.index(name) + 1:02}]"


def _to_agents(view: SeatView, text: str) -> str:
    """Return a text in which players are called as AIWolf calls them."""
    longest_first: Iterable[str] = sorted(view.names, key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first))
    # names may stand in the middle of Japanese, where nothing is between words; but none within a word or a number
    begin, end = r"(?<![A-Za-z])(?:(?<!\d)|(?!\d))", r"(?:(?!\d)|(?<!\d))(?![A-Za-z])"
    return re.sub(rf"{begin}(?:{names}){end}", lambda match: _agent(view, match[0]), text)


def _from_agents(view: SeatView, text: str) -> str:
    """Return a text in which players are called by their names."""

    def name(match: re.Match[str]) -> str:
        place = int(match[1])
        return view.names[place - 1] if 1 <= place <= len(view.names) else match[0]

    return _AGENT.sub(name, text)


def _refuse_pages(host: str, connection: ServerConnection, request: Request) -> Response | None:
    """Refuse a page of a website that somebody visits: browsers let each of them connect to this machine."""
    host_asked = request.headers.get("Host", "")
    # elsewhere whoever reaches the port is a client, by whatever name it knows this machine
    names = () if is_local(f"http://{host}") else (host_asked.rpartition(":")[0] or host_asked,)
    try:
        Guard(host, names).check("GET", request.headers)
    except RequestRefused as refused:
        return connection.respond(
            HTTPStatus(refused.status), "a page of another site asks; only clients of AIWolf may\n"
        )
    return None


class Gateway:
    """Takes clients, and brings each into a house as an agent of its own, for one game.

    Args:
        url: the bus.
        house: the house's name.
        host: the address to listen on.
        port: its port; 0 for any that is free.
        grace_s: seconds that games under way are played on after a request to stop.

    Attributes:
        host: the address as it stands in a URL.

    Raises:
        ConfigError: the package that speaks WebSockets is not installed.
    """

    def __init__(self, url: str, house: str, host: str, port: int, grace_s: float) -> None:
        try:
            from websockets.sync.server import serve
        except ImportError as error:
            raise not_installed("websockets", "aiwolf") from error

        # it tells of every connection
        logging.getLogger("websockets").setLevel(logging.WARNING)
        self._url, self._house, self._grace_s = url, house, grace_s
        self.host = host_in_url(host)
        self._serve: Callable[[], Server] = partial(
            serve,
            self._handle,
            host,
            port,
            max_size=_LONGEST,
            compression=None,
            process_request=partial(_refuse_pages, self.host),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
        )
        self._sessions: dict[Stopping, threading.Thread] = {}

    def run(self, stopping: Stopping, listens: Callable[[int], None]) -> None:
        """Take clients until somebody asks to stop; their games are then played on for a while.

        Args:
            stopping: asked to stop.
            listens: told the port once clients are taken.

        Raises:
            ConfigError: the address cannot be listened on.
        """
        try:
            server = self._serve()
        except OSError as error:
            raise ConfigError(f"clients cannot be taken: {reason_of(error)}") from None
        listening = threading.Thread(target=server.serve_forever, name="aiwolf-gateway")
        listening.start()
        try:
            listens(server.socket.getsockname()[1])
            stopping.wait()
        finally:
            server.shutdown()
            listening.join()
            for session, thread in list(self._sessions.items()):
                session.ask(stopping.why or "the gateway is closed")
                thread.join()

    def _handle(self, connection: ServerConnection) -> None:
        client = Client(connection)
        with Stopping() as stopping:
            self._sessions[stopping] = threading.current_thread()
            try:
                self._play(client, stopping)
            except WolfError as error:
                logger.warning("%s", error)
            finally:
                del self._sessions[stopping]
                client.close()

    def _play(self, client: Client, stopping: Stopping) -> None:
        name = client.ask(time.monotonic() + _NAME_S, "NAME")
        if name is None or not (label := printable(name.strip(), 80)):
            logger.info("a client told no name, and is sent away")
            return
        words = re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-._")[:48]
        introduction = introduce(
            fresh_name(words or "aiwolf"),
            brain=f"outside:{label}",
            version=f"wolfbus gateway aiwolf {__version__}",
            declines=AiwolfBrain.declines(),
        )
        seats: list[AiwolfBrain] = []

        def sit(_label: str) -> AiwolfBrain:
            seats.append(AiwolfBrain(client))
            return seats[-1]

        def leave_if_unseated() -> None:
            client.has_left.wait()
            if not seats:
                stopping.ask("its client has left")

        threading.Thread(target=leave_if_unseated, name="aiwolf-client", daemon=True).start()
        logger.info("%s has come, and joins house %s as %s", label, self._house, introduction.agent)
        membership = Membership(self._url, self._house, introduction, once=True, grace_s=self._grace_s)
        ended = membership.run(lambda member: Seats(member, sit), stopping)
        logger.info("%s leaves: %s", label, ended.reason)
