"""What the double says: sentences about the players that a prompt names, by the member of the reply they fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

THOUGHTS: Final = (
    "{t} has changed their story since this morning. I want to see how {o} takes that before I commit to anything.",
    "If I push {t} now, {o} will have to take a side, and that tells me more than another quiet turn would.",
    "Too early to be sure. {t} is loud without saying much; {o} listens, which is either wise or careful.",
    "I should not draw attention to myself. Let {t} and {o} argue, and count who joins in on which side.",
    "The vote decides this. I need {o} with me, and for that my reason against {t} has to be a plain one.",
)
STATEMENTS: Final = (
    "I have listened closely, and {t} still owes us an answer to a simple question.",
    "{t}, whom did you trust yesterday, and why not today?",
    "I'd rather hear from {o} before we all jump on {t}.",
    "We are wasting time on {o}; look at how {t} voted and with whom.",
    "I don't think {t} is a Werewolf. A wolf would have stayed quieter.",
    "Something in {t}'s last words does not fit what {o} told us.",
    "Let's not split the vote. If it comes to that, I am with {o} against {t}.",
    "I have nothing to hide; ask me anything, but ask {t} first.",
    "{o} makes sense to me so far, {t} does not.",
    "Whoever died last night had doubts about {t}. That may mean something, or be what the wolves want us to think.",
)
REASONS: Final = (
    "The words about {t} leave out what was known by then.",
    "It fits what everybody could see, and nothing in it can be refuted.",
    "It turns the talk away from {t} and towards {o} without giving a ground.",
    "The tone is calm and the ground is one that {o} can check.",
    "It asserts something about {t} that the speaker cannot know.",
)
VOTES: Final = (
    "{t} never answered the question put to them.",
    "Of all of us {t} gains most from the confusion.",
    "I follow the votes: {t} always lands on the winning side a moment too late.",
    "{t} accused {o} and gave no ground for it.",
)
WHISPERS: Final = (
    "{t} is listened to; without {t} they will quarrel.",
    "{t} could be the Seer. Better now than later.",
    "Nobody will look at us if it is {t}.",
)
FOREIGN: Final = (
    "Ich traue {t} nicht, {o} hat recht.",
    "Je ne crois pas un mot de ce que dit {t}.",
    "No confío en {t}; prefiero escuchar a {o}.",
    "我觉得 {t} 在说谎。",
    "Я не верю {t}.",
)
NOBODY: Final = "somebody here"
"""Stands for a player where the prompt names none."""

_POOLS: Final[Mapping[str, Sequence[str]]] = {
    "thought": THOUGHTS,
    "thoughts": THOUGHTS,
    "thinking": THOUGHTS,
    "analysis": THOUGHTS,
    "chain_of_thought": THOUGHTS,
    "scratchpad": THOUGHTS,
    "reasoning": REASONS,
    "reason": VOTES,
    "word": WHISPERS,
}
_LONGER: Final = frozenset({"text", "statement"})


def pool(key: str) -> Sequence[str]:
    """Return the sentences that a member of a reply is made of, with ``{t}`` and ``{o}`` for two players."""
    return _POOLS.get(key, STATEMENTS)


def most_sentences(key: str) -> int:
    """Return how many sentences such a member has at most."""
    return 2 if key in _LONGER else 1
