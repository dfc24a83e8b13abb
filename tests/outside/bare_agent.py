"""An agent in plain Python, with redis-py and msgpack and nothing of wolfbus, written from docs/protocol.md alone.

The tests run it in a thread. It proves that the document suffices.
"""

import contextlib
import os
import sys
import threading
import time

import msgpack
import redis


class BareAgent:
    """Plays any number of seats. Its methods can be replaced one by one, to make agents that do it wrong."""

    version = "bare 1.0"

    def __init__(self, url, house, name, seats=2):
        self.redis = redis.Redis.from_url(url, socket_timeout=10, health_check_interval=0)
        self.house, self.name, self.seats = house, name, seats
        self.inbox, self.outbox = f"wolf:{{{house}}}:in:{name}", f"wolf:{{{house}}}:out:{name}"
        self.again_s = 5.0
        self.sent = 0
        self.games = {}
        self.starts = 0
        self.stop = threading.Event()  # for those who run it in a thread
        self.faults = []
        self.ended = []

    def run(self):
        self.incarnation = max(int(time.time() * 1000), int(self.last(self.outbox).partition("-")[0]) + 1)
        self.seen = self.last(self.inbox)  # what is older comes by catch_up
        self.come_in()
        due = time.monotonic() + self.again_s
        while not self.stop.is_set():
            wait = max(1, int((due - time.monotonic()) * 1000))
            for _, entries in self.redis.xread({self.inbox: self.seen}, count=100, block=min(wait, 1000)) or ():
                for entry_id, fields in entries:
                    message = msgpack.unpackb(fields[b"body"])
                    self.seen = entry_id.decode()
                    if message.get("v") != 1:
                        continue
                    if message["type"] == "goodbye":
                        self.leave()
                        return
                    if message["type"] == "welcome":
                        self.again_s = message["again_s"]
                        due = min(due, time.monotonic() + self.again_s)
                    self.hear(message)
            if time.monotonic() >= due:
                due = time.monotonic() + self.again_s
                end = self.last(self.inbox)
                if self.order(end) < self.order(self.seen):  # Redis has lost data
                    self.seen = end
                    self.come_in()
                else:
                    self.join()

    @staticmethod
    def order(entry_id):
        return tuple(map(int, entry_id.split("-")))

    def last(self, stream):
        try:
            return self.redis.xinfo_stream(stream)["last-generated-id"].decode()
        except redis.ResponseError:  # no such key
            return "0-0"

    def send(self, message, game=""):
        self.sent += 1
        fields = {"type": message["type"], "from": self.name, "game": game, "n": self.sent}
        self.write({**fields, "body": msgpack.packb({"v": 1, **message})}, f"{self.incarnation}-{self.sent}")

    def write(self, fields, entry_id):
        try:
            self.redis.xadd(self.outbox, fields, entry_id)
        except redis.ResponseError:
            # the client sends again after a break; if it had landed, all is well
            if not self.redis.xrange(self.outbox, entry_id, entry_id):
                raise

    def introduction(self):
        about = {"type": "join", "agent": self.name, "instance": self.instance, "version": self.version}
        return {**about, "brain": "outside:bare", "seats": self.seats, "seen": self.seen}

    def join(self):
        self.send(self.introduction())

    def leave(self):
        self.send({"type": "leave", "agent": self.name, "instance": self.instance, "reason": "goodbye"})

    def come_in(self):
        self.starts += 1
        self.instance = f"{os.getpid()}-{self.incarnation}-{self.starts}"
        self.games.clear()
        self.join()
        body = msgpack.packb({"v": 1, **self.introduction()})
        knock = {"type": "join", "from": self.name, "game": "", "n": 0, "body": body}
        with contextlib.suppress(redis.exceptions.NoPermissionError):  # with tickets our name is known already
            self.redis.xadd(f"wolf:{{{self.house}}}:lobby", knock)

    def hear(self, message):
        if message["type"] == "roll_call":
            self.join()
        elif message["type"] == "refused" and message["instance"] == self.instance:
            self.faults.append(message["reason"])
            self.stop.set()
        elif message["type"] in ("delivery", "catch_up"):
            self.take(message)

    def take(self, message):
        known = len(self.games.get(message["game"], {"facts": ()})["facts"])
        begins = any(fact["n"] == 1 for part in message.get("seats", ()) for fact in part.get("facts", ())[:1])
        if (begins and known > len(message.get("facts", ()))) or message[
            "type"
        ] == "catch_up":  # it holds all, and is right where we have heard otherwise
            self.forget(message["game"])
        game = self.games.get(message["game"], {"facts": [], "seats": {}, "answered": set()})
        parts = [part for part in message.get("seats", ()) if self.sit_down(game, part)]
        if not game["seats"]:
            return
        self.games[message["game"]] = game
        whole = self.add(game["facts"], message.get("facts", ()))
        for part in parts:
            whole = self.add(game["seats"][part["seat"]], part.get("facts", ())) and whole
        if not whole:
            self.come_in()
            return
        for part in parts:
            for ask in part.get("asks", ()):
                if ask["id"] not in game["answered"]:
                    game["answered"].add(ask["id"])
                    self.answer(message["game"], part["seat"], ask, game)
        for news in message.get("facts", ()):
            if news["fact"]["type"] == "ended":
                self.ended.append(news["fact"])
                self.game_over(message["game"])

    def forget(self, name):
        self.games.pop(name, None)

    def game_over(self, name):
        self.games.pop(name, None)

    def sit_down(self, game, part):
        first = (part.get("facts") or [{"fact": {"type": ""}}])[0]["fact"]
        if part["seat"] not in game["seats"] and first["type"] == "seated":
            game["seats"][part["seat"]] = []
        return part["seat"] in game["seats"]

    @staticmethod
    def add(known, news):
        for each in news:
            if each["n"] == len(known) + 1:
                known.append(each["fact"])
            elif each["n"] > len(known):
                return False
        return True

    def answer(self, name, seat, ask, game):
        content = self.content(seat, ask, game)
        reply = {"type": "reply", "kind": ask["kind"], "game": name, "request": ask["id"], "seat": seat}
        self.send({**reply, "content": content}, name)

    def content(self, seat, ask, game):
        seated = game["seats"][seat][0]
        named = [each for each in ask.get("legal") or () if each is not None]
        strangers = [each for each in named if each != seat and each not in seated.get("partners", ())] or named
        target = strangers[0] if strangers else None
        wolf = seated["role"] == "Werewolf"
        if ask["kind"] == "bid":
            return {"bid": 3}
        if ask["kind"] == "speak":
            return {"text": f"This is {seat}, and I am no Werewolf."}
        if ask["kind"] == "assess_own":
            return {"deceptive": wolf, "confidence": 0.9, "kind": "fabrication" if wolf else "none"}
        if ask["kind"] == "assess_other":
            (about,) = (fact for fact in game["facts"] if fact.get("statement") == ask["about"])
            sly = "Werewolf" in about["text"]
            return {"deceptive": sly, "suspicion": 0.7 if sly else 0.2, "confidence": 0.5, "reasoning": "its words"}
        if ask["kind"] == "vote":
            return {"target": target, "reason": f"{target} is too quiet."}
        return {"target": target, "word": "That one."} if ask["kind"] == "whisper" else {"target": target}


if __name__ == "__main__":
    BareAgent(*sys.argv[1:3], "bare").run()
