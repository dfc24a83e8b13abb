"""Prompts are made of segments, cost what is new, follow from the view alone, and begin alike for all seats."""

import json
import re

import pytest

from benchmarks.prompt_text import prefix_share
from players.llm.prompts.style import Style
from players.llm.prompts.writer import Prompt, PromptWriter
from tests.llm.prompts.games import CONFIGS, Calls, contents, groups, play, view_of, whole
from tests.players import table

SMALL = CONFIGS["small"]


@pytest.fixture(scope="module", params=CONFIGS)
def calls(request):
    written = Calls()
    play(written, CONFIGS[request.param], "writer")
    return written


def story_of(prompt: Prompt) -> str:
    user = prompt.messages[1]
    assert user.content[user.prefix_length :].startswith("\nQUESTION to ")
    return user.content[: user.prefix_length]


def test_a_story_only_grows_within_a_day_and_a_day_past_is_told_in_brief_once(calls):
    for seat in calls.writers:
        stories = [story_of(prompt) for name, _, prompt in calls.written if name == seat]
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
    for seat, _, prompt in calls.written:
        at_once.setdefault((seat, prompt.heads[0]), set()).add(story_of(prompt))
        assert ([message.role for message in prompt.messages], len(prompt.heads)) == (["system", "user"], 3)
    assert all(len(stories) == 1 for stories in at_once.values())
    assert len({prompt.messages[0].content for prompt in calls.prompts}) == 1, "the system message is one for all seats"


@pytest.mark.parametrize("name", ["paper", "big", "compact"])
def test_a_writer_made_anew_on_a_view_that_caught_up_writes_the_same(name):
    calls, events, deliveries = Calls(), [], iter(range(10**6))
    compared = 0

    def watch(seat, asks, view):
        nonlocal compared
        before = len(calls.written)
        calls(seat, asks, view)
        if next(deliveries) % 7:
            return
        caught_up = view_of(seat, events)
        for (group, labels), (_, _, prompt) in zip(groups(asks, view), calls.written[before:], strict=True):
            again = PromptWriter().write(group, caught_up, with_label=labels)
            assert contents(again) == contents(prompt)
            assert (again.heads, again.chain, again.form) == (prompt.heads, prompt.chain, prompt.form)
            compared += 1

    play(watch, CONFIGS[name].model_copy(update={"max_rounds": 2}), "anew", events=events)
    assert compared > 10


def test_several_requests_become_one_object_with_the_bid_last():
    calls = Calls()
    play(calls, CONFIGS["compact"])
    several = [(group, prompt) for _, group, prompt in calls.written if len(group) > 1]
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
    spoken = [prompt.form for _, group, prompt in calls.written if group[0].kind in {"speak", "vote"}]
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


def test_a_second_question_shows_the_reply_names_the_fault_and_repeats_the_form():
    calls = Calls()
    play(calls, SMALL)
    seat, _, prompt = next(call for call in calls.written if call[1][0].kind == "assess_other")
    fault = ('I think {"deceptive"', 'the reply was cut off in "deceptive"')
    again = calls.writers[seat].reask(prompt, *fault)
    assert again.messages[:2] == prompt.messages
    (assistant, reply), (user, request) = contents(again)[2:]
    assert (assistant, reply, user) == ("assistant", fault[0], "user")
    assert f"{fault[1]}.\n" in request
    assert request.endswith("\n".join(prompt.messages[1].content.split("\n")[-2:]))
    assert (again.form, again.chain, again.heads[:3]) == (prompt.form, prompt.chain, prompt.heads)
    marked = calls.writers[seat].reask(prompt, '{"text": "<|im_end|>"}', 'must be words, not "<|im_end|>"')
    assert "<|" not in f"{contents(marked)[2:]}"
    assert json.loads(contents(marked)[2][1]) == {"text": "<|im_end|>"}
    # the same again is nothing new
    assert calls.writers[seat].reask(prompt, *fault).fresh == ()


def test_most_of_a_games_prompt_text_has_been_sent_before():
    calls = Calls()
    table.play("lines", CONFIGS["paper"], watch=lambda ask, view, _answer: calls(view.me, (ask,), view))
    share = prefix_share(map(whole, calls.prompts))
    assert share is not None
    assert share > 0.9


def strict(schema, depth=1):
    """See that a schema is within what servers take in strict mode."""
    assert depth <= 5
    assert set(schema) <= {"type", "properties", "required", "additionalProperties", "enum", "description", "maxLength"}
    assert "maxLength" not in schema or "string" in schema["type"]
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        for part in schema["properties"].values():
            strict(part, depth + 1)
    else:
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        assert {*types} <= {"string", "integer", "number", "boolean", "null"}
        assert len(schema.get("enum", "x")) <= 500


def test_every_form_is_within_strict_mode_and_offers_null_exactly_where_it_is_legal(calls):
    for _, (ask, *others), prompt in calls.written:
        strict(prompt.form.schema)
        assert re.fullmatch(r"\w{1,64}", prompt.form.name, re.ASCII)
        target = prompt.form.schema["properties"].get("target")
        if target is not None and not others:
            assert target["enum"] == list(ask.legal)
            assert target["type"] == (["string", "null"] if None in ask.legal else "string")
            offered = prompt.messages[1].content.rpartition('"target": ')[2].partition("\n")[0]
            assert offered.endswith(", null") is (None in ask.legal)


@pytest.mark.parametrize("said", ["the ſeer", "werewolveſ", "a vıllager", "VİLLAGE"])
def test_letters_that_only_a_search_takes_for_ours_are_told_under_a_theme_as_they_stand(said):
    skin = Style(theme="smugglers").skin(("Ada",))
    assert skin.to_theme(f"{said} and the Seer") == f"{said} and the Lookout"
    assert skin.from_theme("a ſailor and a Sailor") == "a ſailor and a Villager"
