"""Sentences with the claims that are in them. The speaker is Ana; Raj, Bea, Tom, Mia and "Old Joe" play with her."""

from __future__ import annotations

from wolfbus.messages.claims import InspectionClaim, RoleClaim
from wolfbus.vocabulary import Role

SPEAKER = "Ana"
NAMES = ("Ana", "Raj", "Bea", "Tom", "Mia", "Old Joe")


def me(role: Role) -> RoleClaim:
    return RoleClaim(target=SPEAKER, role=role)


def is_(target: str, role: Role) -> RoleClaim:
    return RoleClaim(target=target, role=role)


def saw(target: str, role: Role, round_: int | None = None) -> InspectionClaim:
    return InspectionClaim(target=target, role=role, round=round_)


CLAIMS: tuple[tuple[str, tuple[RoleClaim | InspectionClaim, ...]], ...] = (
    # of oneself
    ("I am the Seer.", (me("Seer"),)),
    ("I'm the doctor, so leave me alone.", (me("Doctor"),)),
    ("I\u2019m the Seer \u2014 believe me.", (me("Seer"),)),
    ("**I am the Seer!**", (me("Seer"),)),
    ('"I am the Seer."', (me("Seer"),)),
    ("I am just a Villager.", (me("Villager"),)),
    ("I'm a simple villager and I have nothing to hide.", (me("Villager"),)),
    ("Fine: I am a Werewolf.", (me("Werewolf"),)),
    ("Raj claims to be the Seer, but I am the real Seer.", (me("Seer"),)),
    ("I must confess that I am the Doctor.", (me("Doctor"),)),
    ("I have to tell you all that I'm your Seer.", (me("Seer"),)),
    ("Trust me, I'm the Doctor.", (me("Doctor"),)),
    ("Vote for Raj because I am the Seer.", (me("Seer"),)),
    ("As the Seer, I can tell you a lot.", (me("Seer"),)),
    ("As the doctor, my duty is to keep you alive.", (me("Doctor"),)),
    ("Speaking as the Doctor, I protect whom I want.", (me("Doctor"),)),
    ("I, the Seer, have news.", (me("Seer"),)),
    ("My role is Seer.", (me("Seer"),)),
    ("I'm claiming Seer now.", (me("Seer"),)),
    ("I claim to be the Doctor.", (me("Doctor"),)),
    ("Seer here, listen.", (me("Seer"),)),
    ("The Seer is me.", (me("Seer"),)),
    ("Raj, I am the Seer.", (me("Seer"),)),
    ("As I said, I am the Doctor.", (me("Doctor"),)),
    ("I already told you that I am the Seer.", (me("Seer"),)),
    ("I'm the Seer and Raj knows it.", (me("Seer"),)),
    ("I am not lying. I am the Seer.", (me("Seer"),)),
    ("Who did it? I am the Doctor.", (me("Doctor"),)),
    ("I am the Seer, not Raj.", (me("Seer"),)),
    # of others
    ("Raj is the Seer.", (is_("Raj", "Seer"),)),
    ("Raj is our Doctor and we must keep him.", (is_("Raj", "Doctor"),)),
    ("Bea was the Doctor.", (is_("Bea", "Doctor"),)),
    ("Old Joe is the real Seer.", (is_("Old Joe", "Seer"),)),
    ("I know that Raj is the Doctor.", (is_("Raj", "Doctor"),)),
    ("The Seer is Raj.", (is_("Raj", "Seer"),)),
    ("Our doctor was Mia.", (is_("Mia", "Doctor"),)),
    ("Raj is the Seer and Tom is the Doctor.", (is_("Raj", "Seer"), is_("Tom", "Doctor"))),
    ("Ana is the Seer.", (me("Seer"),)),
    # inspections
    ("I checked Raj last night and he is a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I inspected Bea, and she's the Doctor.", (saw("Bea", "Doctor"),)),
    ("I investigated Tom last night: he's a Villager.", (saw("Tom", "Villager"),)),
    ("I have inspected Old Joe and he is a wolf!", (saw("Old Joe", "Werewolf"),)),
    ("I've checked Raj; he is a Villager.", (saw("Raj", "Villager"),)),
    ("I checked Raj: Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I checked Raj \u2014 Werewolf!", (saw("Raj", "Werewolf"),)),
    ("I checked Raj - Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I checked Raj last night. He is a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I inspected Mia. Mia is a Villager.", (saw("Mia", "Villager"),)),
    ("I inspected Mia. Result: Villager.", (saw("Mia", "Villager"),)),
    ("I inspected Raj on night 2 and he is a Werewolf.", (saw("Raj", "Werewolf", 2),)),
    ("On night one I inspected Raj and he is the Doctor.", (saw("Raj", "Doctor", 1),)),
    ("I inspected Raj the first night, he is a Werewolf.", (saw("Raj", "Werewolf", 1),)),
    ("Last night I checked Raj and found out that he is a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I checked Raj and found a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I inspected Raj and found him to be a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I inspected Raj and the result was Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I inspected Raj and he came back as a Villager.", (saw("Raj", "Villager"),)),
    ("I inspected Raj, who is a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("I used my power on Raj last night and he is a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("My inspection of Raj showed a Werewolf.", (saw("Raj", "Werewolf"),)),
    ("My check on Raj last night revealed that he is the Doctor.", (saw("Raj", "Doctor"),)),
    ("Raj is a Werewolf: I inspected him last night.", (saw("Raj", "Werewolf"),)),
    ("Raj is a Werewolf. I checked him.", (saw("Raj", "Werewolf"),)),
    ("I am the Seer. I checked Raj last night and he is a Werewolf.", (me("Seer"), saw("Raj", "Werewolf"))),
    ("I'm the Seer and inspected Raj, he is a Werewolf.", (me("Seer"), saw("Raj", "Werewolf"))),
    ("As the Seer, I inspected Raj and he's a Werewolf.", (me("Seer"), saw("Raj", "Werewolf"))),
    ("I, the Seer, checked Raj, and he is a Villager.", (me("Seer"), saw("Raj", "Villager"))),
    (
        "I checked Raj and he is a Werewolf. I checked Bea and she is a Villager.",
        (saw("Raj", "Werewolf"), saw("Bea", "Villager")),
    ),
)

NOTHING: tuple[str, ...] = (
    "",
    "Good morning, everybody.",
    # denials
    "I am not the Seer.",
    "I'm no Werewolf.",
    "I never said I am the Seer.",
    "It is not true that I am the Doctor.",
    "Raj is not the Seer.",
    "Neither Raj nor I am the Seer.",
    "I checked Raj and he is not a Werewolf.",
    "I never checked Raj and he is a Werewolf.",
    # questions
    "Am I the Seer?",
    "Is Raj the Seer?",
    "Raj is the Seer?",
    "Do you think I am the Seer?",
    "Why would I say I am the Doctor?",
    # conditions and hypotheses
    "If I am the Seer, you will regret this.",
    "If I were the Seer, I would have told you.",
    "I would have checked Raj, and he is a Werewolf.",
    "Suppose I am the Seer.",
    "Pretend I am the Doctor.",
    "Let's say I am the Seer.",
    "Imagine that Raj is the Seer.",
    "Unless Raj is the Seer, we lose.",
    "As the Seer, I would never lie.",
    "As the Seer, Raj should have told us.",
    "I could be the Seer.",
    "I might be the Doctor.",
    "I wish I were the Seer.",
    "If I checked Raj and he is a Werewolf, we win.",
    "I am the Seer, or so Raj says.",
    "I am the Seer if you like.",
    "I am the Seer. Just kidding.",
    # what others say
    "Raj claims to be the Seer.",
    "Raj says he is the Seer.",
    "Raj said that Bea is the Doctor.",
    "Raj said, I am the Seer.",
    "Raj says I am the Werewolf.",
    "According to Raj, Bea is the Seer.",
    "Someone said I am the Seer.",
    'Raj said "I am the Seer".',
    "Raj told us: \u201cI checked Bea and she is a Werewolf.\u201d",
    "He said 'I am the Seer' yesterday.",
    "You all think I am the Werewolf.",
    "Raj checked Bea and she is a Werewolf.",
    "Raj is the Seer, he claims.",
    "Tom lied when he told us Raj is the Doctor.",
    # opinions
    "I think Raj is the Seer.",
    "I believe Raj is the Doctor.",
    "Maybe Raj is the Seer.",
    "Raj is probably the Seer.",
    "Raj is the Seer, I think.",
    "Raj is the Seer, probably.",
    "It looks as if Raj is the Seer.",
    "I am sure Raj is the Doctor.",
    "Raj is a Werewolf.",
    "I think Raj is a Werewolf because I checked him.",
    "Raj is a Villager.",
    "Raj is a Werewolf, and I checked the votes.",
    # other words
    "I am the Seer's friend.",
    "I am the Seer-killer.",
    "I am the one who trusts the Seer.",
    "I am the Doctor's target.",
    "I am the wolf hunter.",
    "I am a loyal villager.",
    "I am sure about the Seer.",
    "Raj is the Seer candidate.",
    "Raj is the fake Seer.",
    "Raj's Seer claim is odd.",
    "The Seer is dead.",
    "The Seer should speak.",
    "We need the Doctor.",
    "Rajiv is the Seer.",
    "raj is the Seer.",
    "Somebody is the Seer.",
    "As the Doctor said, we wait.",
    # results that are no role
    "I checked Raj and he is innocent.",
    "I checked Raj and he is clean.",
    "I checked Raj last night.",
    "I checked Raj's votes and he is a Werewolf.",
    "I checked Raj and Bea is a Werewolf.",
    "I checked Raj and Bea, and they are Villagers.",
    "I checked Raj and he might be a Werewolf.",
    "I checked Raj and he is a Werewolf or the Doctor.",
    "I checked Ana and she is a Werewolf.",
    "I checked Raj. Bea is a Villager.",
    "I checked Raj. Is he a Werewolf?",
    "I protected Raj last night.",
)
