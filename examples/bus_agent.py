"""An agent of one's own on the bus, with the Python SDK: subclass `Agent`, implement what you want, serve it.

Run it beside a moderator: python examples/bus_agent.py redis://127.0.0.1:6379 main 2
(the bus, the house, and how many seats to take).
"""

import sys

from wolfbus.agent import Agent, Reply


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
        return max((name for name in legal if name not in (None, view.me)), key=lambda name: self.doubt(view, name))

    def bid(self, _ask, view):
        return 7 if "Werewolf" in view.inspections.values() else 3

    def speak(self, _ask, view):
        suspect = self.suspect(view, view.others)
        if view.inspections.get(suspect) == "Werewolf":
            return f"I am the Seer, and {suspect} is a Werewolf."
        return Reply(f"I do not trust {suspect}.", thought="Say no more than that.")

    def assess_own(self, _ask, view):
        lied = view.role == "Werewolf"
        return {"deceptive": lied, "confidence": 0.9, "kind": "misdirection" if lied else "none"}

    def assess_other(self, ask, view):
        statement = view.statements[ask.about]
        doubt = min(1.0, self.doubt(view, statement.speaker) + 0.3 * (view.me in statement.text))
        return {"deceptive": doubt > 0.5, "suspicion": doubt, "confidence": 0.6, "reasoning": "its words and its past"}

    async def vote(self, ask, view):  # a coroutine does as well: ask a model, a database, a colleague
        suspect = self.suspect(view, ask.legal)
        return {"target": suspect, "reason": f"I trust {suspect} least."}

    def kill(self, ask, view):
        return min((name for name in ask.legal if name), key=lambda name: self.doubt(view, name))

    whisper = protect = kill

    def inspect(self, ask, view):
        return self.suspect(view, ask.legal)


if __name__ == "__main__":
    url, house, seats = sys.argv[1:] + ["redis://127.0.0.1:6379", "main", "1"][len(sys.argv) - 1 :]
    print(Follower.serve(url, house, seats=int(seats)))
