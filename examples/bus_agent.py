"""An agent of one's own on the bus, with the Python SDK: subclass `Agent`, implement what you want, serve it.

Run it beside a moderator: python examples/bus_agent.py redis://127.0.0.1:6379 main 2 (bus, house, how many seats).
"""

import sys

from wolfbus.agent import Agent, Answer, serve


class Follower(Agent):
    """Trusts what it saw, follows its suspicion, and says so."""

    name = "follower"
    version = "1.0"
    quick = True  # every method is done in microseconds

    def doubt(self, view, name):  # from 0 to 1: how much like a Werewolf a player looks
        if name in view.partners or name in view.inspections:
            return float(view.inspections.get(name) == "Werewolf")
        return view.suspicion.of(view.me, name)

    def suspect(self, view, legal):
        names = [name for name in legal if name not in (None, view.me)]
        return max(names, key=lambda name: self.doubt(view, name), default=None)

    def bid(self, _ask, view):
        return 7 if "Werewolf" in view.inspections.values() else 3

    def speak(self, _ask, view):
        suspect = self.suspect(view, view.others)
        if view.inspections.get(suspect) == "Werewolf":
            return f"I am the Seer, and {suspect} is a Werewolf."
        return Answer(f"I do not trust {suspect or 'the silence'}.", thought="Say no more than that.")

    def assess_own(self, _ask, view):
        lied = view.role == "Werewolf"
        return {"deceptive": lied, "confidence": 0.9, "kind": "misdirection" if lied else "none"}

    def assess_other(self, ask, view):
        statement = view.statements[ask.about]
        doubt = min(1.0, self.doubt(view, statement.speaker) + 0.3 * (view.me in statement.text))
        return {"deceptive": doubt > 0.5, "suspicion": doubt, "confidence": 0.6, "reasoning": "its words and its past"}

    async def vote(self, ask, view):  # a coroutine does as well: ask a model, a database, a colleague
        suspect = self.suspect(view, ask.legal)
        return {"target": suspect, "reason": f"I trust {suspect} least." if suspect else None}

    def kill(self, ask, view):
        return min(filter(None, ask.legal), key=lambda name: self.doubt(view, name), default=None)

    whisper = protect = kill

    def inspect(self, ask, view):
        return self.suspect(view, ask.legal)


if __name__ == "__main__":
    url, house, seats = [*sys.argv[1:], None, None, None][:3]
    print(serve(Follower, url, house, seats=int(seats or 1)))
