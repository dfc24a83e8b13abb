"""Scripts in place of a language model: the scripted player, with everything a model does, from bids to self-labels;
`BayesBrain` (`players.scripted.bayes`), which decides by what could be known; and baselines, which play at random or
not at all.

The scripted player is the paper's deterministic control (section 4.4): labels, confidences and suspicion come by fixed
rules from text cues, so a game's numbers are the same on every run.
"""

from players.scripted.baselines import RandomBrain, SilentBrain
from players.scripted.brain import ScriptedBrain

__all__ = ["RandomBrain", "ScriptedBrain", "SilentBrain"]
