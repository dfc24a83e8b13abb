"""Prompts are made of segments, cost what is new, follow from the view alone, and begin alike for all seats."""

from __future__ import annotations

import pytest

from players.llm.prompts.forms import FORM_LINE
from players.llm.prompts.writer import Prompt, PromptWriter
from tests.llm.prompts.calls import Calls, Shelf, contents, groups
from tests.llm.prompts.games import CONFIGS, play, view_of
from wolfbus.rules import rules_text
from wolfbus.view import SeatView

SMALL = CONFIGS["small"]


@pytest.fixture(scope="module", params=CONFIGS)
def calls(request):
    config = CONFIGS[request.param]
    made = Calls(compact=config.protocol == "compact")
    play(made, config, "writer")
    return made


def test_every_prompt_is_rebuilt_from_the_segments_reported_by_then(calls):
    # a shelf per seat: what another seat's prompts reported is not needed
    shelves = {seat: Shelf() for seat in calls.writers}
    for seat, _, prompt in calls.made:
        shelves[seat].add(prompt.fresh)
        assert shelves[seat].messages(prompt.heads) == contents(prompt)
        assert [message.role for message in prompt.messages] == ["system", "user"]
        assert len(prompt.heads) == 3


def story_of(prompt: Prompt) -> str:
    user = prompt.messages[1]
    assert user.content[user.kept :].startswith("\nQUESTION, ")
    return user.content[: user.kept]


def test_a_story_only_grows_within_a_day_and_a_day_past_is_told_in_brief_once(calls):
    for seat in calls.writers:
        stories = [story_of(prompt) for name, _, prompt in calls.made if name == seat]
        before, cuts = "", 0
        for story in stories:
            if not story.startswith(before):
                cuts += 1
                # all up to the last dawn stands as it was, and another dawn has come
                assert story.startswith(before[: max(before.rfind("\nDawn of "), 0)])
                assert story.count("\nDawn of ") == before.count("\nDawn of ") + 1
            before = story
        assert cuts <= before.count("\nDawn of ")


def test_questions_put_at_once_have_everything_but_the_question_in_common(calls):
    at_once: dict[tuple[str, str], set[str]] = {}
    for seat, _, prompt in calls.made:
        at_once.setdefault((seat, prompt.heads[0]), set()).add(story_of(prompt))
    assert all(len(stories) == 1 for stories in at_once.values())


@pytest.mark.parametrize("name", ["paper", "big", "compact"])
def test_a_writer_made_anew_on_a_view_that_caught_up_writes_the_same(name):
    events, compared = [], 0
    config = CONFIGS[name].model_copy(update={"max_rounds": 2})
    everything = play(lambda *_: None, config, "anew")
    calls, at = Calls(compact=name == "compact"), iter(range(10**6))

    def watch(seat, asks, view):
        nonlocal compared
        made = len(calls.made)
        calls(seat, asks, view)
        if next(at) % 7:
            return
        while len(events) < len(everything) and not same_knowledge(view_of(seat, events), view):
            events.append(everything[len(events)])
        caught_up = view_of(seat, events)
        for (group, labels), (_, _, prompt) in zip(
            groups(asks, view, compact=calls.compact), calls.made[made:], strict=True
        ):
            again = PromptWriter().write(group, caught_up, with_label=labels)
            assert contents(again) == contents(prompt)
            assert (again.heads, again.chain, again.form) == (prompt.heads, prompt.chain, prompt.form)
            compared += 1

    play(watch, config, "anew")
    assert compared > 10


def same_knowledge(one: SeatView, other: SeatView) -> bool:
    return (one.public, one.private, one.role, one.names) == (other.public, other.private, other.role, other.names)


def test_the_system_message_is_one_for_all_seats_with_the_rules_as_they_are_printed():
    calls, configs = Calls(), set()

    def watch(seat, asks, view):
        calls(seat, asks, view)
        configs.add(rules_text(view.config, technical=False))

    play(watch, SMALL)
    (system,) = {prompt.messages[0].content for prompt in calls.prompts}
    (rules,) = configs
    assert f"\nRULES\n\n{rules}\nLiving players as it begins, in seating order: " in system


def test_several_requests_become_one_object_with_the_bid_last():
    calls = Calls(compact=True)
    play(calls, CONFIGS["compact"])
    several = [(group, prompt) for _, group, prompt in calls.made if len(group) > 1]
    assert several
    for group, prompt in several:
        names = list(prompt.form.schema["properties"])
        assert names == prompt.form.schema["required"]
        judged = [f"judgement_{ask.about}" for ask in group if ask.kind == "assess_other"]
        assert [name for name in names if name.startswith("judgement")] == judged
        if any(ask.kind == "bid" for ask in group):
            assert names[-1] == "bid"
        for name in names:
            assert f"\n{name}: " in prompt.messages[-1].content
    spoken = [prompt.form for _, group, prompt in calls.made if group[0].kind in {"speak", "vote"}]
    assert {tuple(form.schema["properties"]) for form in spoken} == {("speech", "label"), ("vote", "label")}


def test_requests_that_cannot_go_together_are_refused():
    refused = set()

    def watch(seat, asks, view):
        ask = asks[0]
        for wrong, labels in (((), False), ((ask, ask), False), ((ask,), True)):
            if labels and ask.kind in {"speak", "vote"}:
                continue
            with pytest.raises(ValueError, match=r"request|cannot ask|label"):
                PromptWriter().write(wrong, view, with_label=labels)
            refused.add(ask.kind)

    play(watch, SMALL)
    assert {"bid", "vote", "kill", "speak", "assess_own", "assess_other"} <= refused


def first_prompt() -> tuple[PromptWriter, Prompt, Shelf]:
    """A prompt that asks for a judgement, its writer, and the segments that were reported by then."""
    calls, shelf = Calls(), Shelf()
    play(calls, SMALL)
    seat = next(seat for seat, (ask,), _ in calls.made if ask.kind == "assess_other")
    for name, (ask,), prompt in calls.made:
        if name == seat:
            shelf.add(prompt.fresh)
            if ask.kind == "assess_other":
                return calls.writers[seat], prompt, shelf
    raise AssertionError


def test_a_second_question_shows_the_reply_names_the_fault_and_repeats_the_form():
    writer, prompt, shelf = first_prompt()
    again = writer.reask(prompt, 'I think {"deceptive"', 'the reply was cut off in "deceptive"')
    assert again.messages[:2] == prompt.messages
    assert [message.role for message in again.messages[2:]] == ["assistant", "user"]
    assert again.messages[2].content == 'I think {"deceptive"'
    assert 'the reply was cut off in "deceptive".\n' in again.messages[3].content
    assert again.messages[3].content.endswith(prompt.messages[1].content[-200:].split("\n")[-1])
    assert f"\n{FORM_LINE}\n" in again.messages[3].content
    assert (again.form, again.chain) == (prompt.form, prompt.chain)
    assert again.heads[:3] == prompt.heads
    shelf.add(again.fresh)
    assert shelf.messages(again.heads) == contents(again)
    # the same again is nothing new
    assert writer.reask(prompt, 'I think {"deceptive"', 'the reply was cut off in "deceptive"').fresh == ()
