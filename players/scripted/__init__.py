"""The scripted player: deterministic rules in place of a language model, with everything a model does, from bids to
self-labels.

It is the paper's deterministic control (section 4.4): labels, confidences and suspicion come by fixed rules from
text cues, so a game's numbers are the same on every run.
"""

from players.scripted.brain import ScriptedBrain

__all__ = ["ScriptedBrain"]
