"""What single facts and memories read like: outcomes, revealed roles, requests without an answer."""

from __future__ import annotations

import pytest

from players.llm.prompts.story import day_in_brief, private_piece
from wolfbus.messages.content import Ballot, Choice, Label, Proposal, Speech
from wolfbus.messages.events import Inspection, Statement
from wolfbus.messages.requests import Whispered
from wolfbus.view import OwnAnswer, OwnJudgement, SeatView


def own(kind, content=None, thought="Hm.", about=None):
    outcome = "accepted" if content is not None else "timed_out"
    return OwnAnswer(2, kind, about, outcome, content, thought)


PRIVATE = [
    (own("speak", Speech(text="I am Bo.")), '- Your thought before you spoke: "Hm."\n'),
    (own("speak", Speech(text="I am Bo."), None), ""),
    (own("speak", thought=None), "- Day 2: you had the floor and said nothing.\n"),
    (own("vote", Ballot(target="Bo")), '- Your thought at the vote: "Hm."\n'),
    (own("vote", Ballot(), " "), ""),
    (own("vote"), '- Day 2: you gave no valid vote, which counts as abstaining. Thought: "Hm."\n'),
    (own("kill", Choice(target="Bo")), '- Night 2: you chose to kill Bo. Thought: "Hm."\n'),
    (own("protect", Choice(), None), "- Night 2: you chose to protect nobody.\n"),
    (own("inspect", thought=None), "- Night 2: you gave no valid answer whom to inspect.\n"),
    (own("whisper", Proposal(target="Bo"), None), "- Night 2: you proposed to kill Bo.\n"),
    (own("whisper", Proposal(word="Wait"), None), '- Night 2: you proposed to kill nobody, saying "Wait"\n'),
    (own("whisper", thought=None), "- Night 2: you gave no valid proposal.\n"),
    (
        own("assess_own", Label(deceptive=True, confidence=0.5, kind="unspecified", reasoning="Why"), None, 4),
        '- [4] your own: deceptive 0.50 "Why"\n',
    ),
    (own("assess_own", thought=None, about=4), ""),
    (own("assess_own", about=4), '- [4] your own: no label. Thought: "Hm."\n'),
    (
        OwnJudgement(4, True, 0.756, 1.0, "distortion", "", None),
        "- [4] distortion 0.76/1.00\n",
    ),
    (
        Inspection(round=2, seat="Ada", target="Bo", role="Seer"),
        "- Night 2: your inspection shows that Bo is a Seer.\n",
    ),
    (
        Whispered(round=2, turn=1, seat="Bo", target=None, word="Wait"),
        '- Night 2, proposal 1: Bo proposed to kill nobody, saying "Wait"\n',
    ),
]


@pytest.mark.parametrize(("memory", "text"), PRIVATE)
def test_a_memory_is_one_line_or_nothing(memory, text):
    assert private_piece(memory) == text


def judged(statement, deceptive, reasoning, kind="none"):
    return OwnJudgement(statement, deceptive, 0.5, 0.25, kind, reasoning, "Hm.")


def test_a_day_in_brief_keeps_every_number_and_of_each_player_the_last_reason_for_distrust():
    statements = {
        number: Statement(statement=number, round=1, phase="debate", turn=1, speaker=speaker, text="I am here.")
        for number, speaker in ((1, "Bo"), (2, "Cy"), (3, "Bo"), (4, "Bo"))
    }
    memories = [
        Whispered(round=1, turn=1, seat="Cy", target="Bo", word="Now"),
        judged(1, True, "Why not", "omission"),
        judged(2, False, "He is calm"),
        own("speak", Speech(text="I am Ada.")),
        own("assess_own", Label(deceptive=False, confidence=0.5, reasoning="True"), about=5),
        judged(3, True, "x" * 100, "distortion"),
        judged(4, False, "Fine"),
        own("whisper", Proposal(word="Wait")),
    ]
    assert day_in_brief(memories, SeatView("Ada", statements=statements)) == (
        f'- You judged: Bo [1] omission 0.50/0.25, [3] distortion 0.50/0.25, [4] 0.50/0.25 "{"x" * 80}" '
        "[+20 characters]; Cy [2] 0.50/0.25; you [5] none.\n- Proposed at night: Cy Bo; you nobody.\n"
    )
    assert day_in_brief([], SeatView("Ada")) == ""
