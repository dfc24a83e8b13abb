"""One's own player of the game: subclass `Agent`; play with it here, or serve it to a house.

::

    from wolfbus.agent import Agent, Answer, serve

    class Quiet(Agent):
        name = "quiet"

        def bid(self, ask, view):
            return 1

        async def vote(self, ask, view):
            most = max(view.others, key=lambda name: view.suspicion.of(view.me, name))
            return Answer(most, thought="As always.")

    if __name__ == "__main__":
        serve(Quiet, "redis://127.0.0.1:6379", seats=2)
"""

from wolfbus.agent.agent import Agent
from wolfbus.agent.answer import NO_ANSWER, Answer
from wolfbus.agent.serving import serve

__all__ = ["NO_ANSWER", "Agent", "Answer", "serve"]
