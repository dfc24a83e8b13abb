"""A person takes a seat: at the terminal (`HumanBrain`) or at a page (`PageBrain`)."""

from players.human.brain import HumanBrain, PageBrain

__all__ = ["HumanBrain", "PageBrain"]
