"""One's own player as a process of its own: subclass `Agent`, and serve it to a house.

::

    from wolfbus.agent import Agent, Reply

    class Quiet(Agent):
        name = "quiet"

        def bid(self, ask, view):
            return 1

        async def vote(self, ask, view):
            most = max(view.others, key=lambda name: view.suspicion.of(view.me, name))
            return Reply(most, thought="As always.")

    if __name__ == "__main__":
        Quiet.serve("redis://127.0.0.1:6379", seats=2)
"""

from wolfbus.agent.agent import Agent
from wolfbus.agent.said import Reply

__all__ = ["Agent", "Reply"]
