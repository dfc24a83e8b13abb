"""A person takes a seat in the terminal; see `HumanBrain`."""

from players.human.brain import HumanBrain

__all__ = ["HumanBrain"]
