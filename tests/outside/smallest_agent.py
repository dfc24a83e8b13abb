"""The smallest agent of docs/protocol.md, line for line as its pseudo-code has it, with redis-py and msgpack alone.

It proves that the document suffices. The tests run it in a thread, and replace its methods one by one to make agents
that do it wrong.
"""

import random
import sys
import time

import msgpack
import redis


class SmallestAgent:
    """Plays any number of seats until the house closes; the names are those of the pseudo-code."""

    def __init__(self, url, house, name, seats=2):
        self.redis = redis.Redis.from_url(url, socket_timeout=60)
        self.house, self.name, self.seats = house, name, seats
        self.inbox, self.outbox = f"wolf:{{{house}}}:in:{name}", f"wolf:{{{house}}}:out:{name}"

    def run(self):
        self.start, self.count = max(int(time.time() * 1000), first_half(self.last_id(self.outbox)) + 1), 0
        self.last, self.instance, self.again_s, self.games = self.last_id(self.inbox), self.fresh(), 5.0, {}
        self.join()
        self.knock()
        while True:
            wait = max(1, int((self.due - time.monotonic()) * 1000))
            for _, entries in self.redis.xread({self.inbox: self.last}, block=wait) or ():
                for entry_id, fields in entries:
                    message = msgpack.unpackb(fields[b"body"])
                    self.last = entry_id.decode()
                    if message["v"] == 1 and not self.hear(message):
                        return
            if time.monotonic() >= self.due:
                if order(self.last_id(self.inbox)) < order(self.last):
                    self.last, self.instance = self.last_id(self.inbox), self.fresh()
                self.join()
                if self.count % 6 == 0:
                    self.knock()

    def hear(self, message):
        """Take in one message; False where it ends the stay."""
        sort = message["type"]
        if sort == "welcome":
            self.again_s = message["again_s"]
        elif sort == "roll_call":
            self.join()
        elif sort == "goodbye" or (sort == "refused" and message["instance"] == self.instance):
            return False
        elif sort in ("delivery", "catch_up"):
            if sort == "catch_up" or self.begins_anew(message):
                self.games.pop(message["game"], None)
            self.deliver(message)
        return True

    def begins_anew(self, message):
        """Return whether private fact 1 is there of a seat that I have, and not all that I know of the game."""
        game = self.games.get(message["game"], {"facts": [], "seats": {}})
        parts = {part["seat"]: part.get("facts", ()) for part in message.get("seats", ())}
        again = any(facts and facts[0]["n"] == 1 and seat in game["seats"] for seat, facts in parts.items())
        pairs = [(game["facts"], message.get("facts", ()))]
        pairs += [(facts, parts.get(seat, ())) for seat, facts in game["seats"].items()]
        return again and any(facts != [item["fact"] for item in news][: len(facts)] for facts, news in pairs)

    def deliver(self, message):
        game = self.games.get(message["game"], {"facts": [], "seats": {}, "asked": set()})
        for part in message.get("seats", ()):
            facts = part.get("facts", ())
            if facts and facts[0]["fact"]["type"] == "seated":
                game["seats"].setdefault(part["seat"], [])
        parts = [part for part in message.get("seats", ()) if part["seat"] in game["seats"]]
        if not game["seats"]:
            return
        self.games[message["game"]] = game
        pairs = [(game["facts"], message.get("facts", ()))]
        pairs += [(game["seats"][part["seat"]], part.get("facts", ())) for part in parts]
        if not all(self.take(facts, news) for facts, news in pairs):
            self.instance = self.fresh()
            self.join()
            return
        for part in parts:
            for ask in part.get("asks", ()):
                if ask["id"] not in game["asked"]:
                    game["asked"].add(ask["id"])
                    self.answer(message["game"], part["seat"], ask, game["facts"])
        if any(fact["fact"]["type"] == "ended" for fact in message.get("facts", ())):
            del self.games[message["game"]]

    def introduction(self):
        about = {"type": "join", "agent": self.name, "instance": self.instance, "version": "smallest 1"}
        return {**about, "brain": "outside:smallest", "seats": self.seats, "seen": self.last}

    def join(self):
        self.say(self.introduction())
        self.due = time.monotonic() + self.again_s

    def knock(self):
        knock = {"type": "join", "from": self.name, "game": "", "n": 0}
        body = msgpack.packb({"v": 1, **self.introduction()})
        self.redis.xadd(f"wolf:{{{self.house}}}:lobby", {**knock, "body": body})

    def say(self, message, game=""):
        self.count += 1
        beside = {"game": game} if game else {}
        body = msgpack.packb({"v": 1, **message, **beside})
        fields = {"type": message["type"], "from": self.name, "game": game, "n": self.count, "body": body}
        self.write(fields)

    def write(self, fields):
        self.redis.xadd(self.outbox, fields, f"{self.start}-{self.count}")

    def answer(self, game, seat, ask, facts):
        reply = {"type": "reply", "request": ask["id"], "seat": seat, "kind": ask["kind"]}
        self.say({**reply, "content": content(ask, facts)}, game)

    @staticmethod
    def take(facts, news):
        for item in news:
            if item["n"] == len(facts) + 1:
                facts.append(item["fact"])
            elif item["n"] > len(facts):
                return False
        return True

    def last_id(self, stream):
        try:
            return self.redis.xinfo_stream(stream)["last-generated-id"].decode()
        except redis.ResponseError:  # no such key
            return "0-0"

    @staticmethod
    def fresh():
        return f"{random.getrandbits(64):x}"


def first_half(entry_id):
    return int(entry_id.partition("-")[0])


def order(entry_id):
    return tuple(map(int, entry_id.split("-")))


def content(ask, facts):
    target = next((name for name in ask.get("legal", ()) if name is not None), None)
    about = next((fact for fact in facts if fact.get("statement") == ask.get("about")), {})
    sly = "Werewolf" in about.get("text", "")
    return {
        "bid": {"bid": 3},
        "speak": {"text": "I am here."},
        "assess_own": {"deceptive": False, "confidence": 0.9},
        "assess_other": {"deceptive": sly, "suspicion": 0.7 if sly else 0.2, "confidence": 0.5},
    }.get(ask["kind"], {"target": target})


if __name__ == "__main__":
    SmallestAgent(*sys.argv[1:4]).run()
