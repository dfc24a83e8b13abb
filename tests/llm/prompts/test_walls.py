"""No prompt holds what its seat must not know: canaries in everything private, and games that differ in it."""

import re

import pytest

from tests.llm.prompts.games import CANARY, CONFIGS, Calls, canary, contents, play, whole
from wolfbus.messages.content import Judgement
from wolfbus.messages.events import Opened

SEED = "SEEDCANARY{}"


@pytest.fixture(scope="module", params=[(name, number) for number, name in enumerate(CONFIGS)], ids=str)
def game(request):
    name, number = request.param
    calls = Calls()
    events = play(calls, CONFIGS[name], SEED.format(number))
    opened = events[0]
    assert isinstance(opened, Opened)
    return calls, opened


def test_a_prompt_holds_only_its_seats_canaries_and_its_partners_words(game):
    calls, opened = game
    roles = {seat.name: seat.role for seat in opened.seats}
    own_canaries = 0
    for seat, _, prompt in calls.written:
        texts = [whole(prompt), *(text.text for text in prompt.fresh), repr(prompt.form)]
        for author, kind, field in {match for text in texts for match in CANARY.findall(text)}:
            partners = roles[seat] == roles[author] == "Werewolf"
            assert author == seat or (partners and (kind, field) == ("whisper", "word")), (seat, author, kind, field)
            assert field not in {"raw", "note"}
            assert (kind, field) != ("bid", "thought")
            own_canaries += author == seat
    assert own_canaries > 20


def test_the_system_message_and_public_lines_hold_no_canary_and_no_role(game):
    calls, opened = game
    for seat, _, prompt in calls.written:
        system, user = prompt.messages
        assert not CANARY.search(system.content)
        assert not re.search(r"[Yy]ou(?:r role is|'re| are) an? (?:Villager|Werewolf|Seer|Doctor)", system.content)
        public = [line for line in user.content[: user.prefix_length].split("\n")[3:] if not line.startswith("- ")]
        assert not CANARY.search("\n".join(public))
        if opened.config.reveal_on_death == "none":
            lines = "\n".join(public).replace("as the Seer", "")
            assert not re.search(r"Villager|Werewolf|Seer|Doctor", lines), seat


def test_no_prompt_holds_the_seed_an_id_or_a_hash(game):
    calls, _ = game
    for prompt in calls.prompts:
        text = whole(prompt)
        assert "SEEDCANARY" not in text
        assert "game-id" not in text
        assert not re.search(r"[0-9a-f]{16}", text)


@pytest.mark.parametrize("name", ["paper", "big", "compact"])
def test_prompts_do_not_change_with_what_other_seats_keep_to_themselves(name):
    config = CONFIGS[name].model_copy(update={"max_rounds": 2})

    def prompts(kept_seat: str | None) -> list[tuple[str, list[tuple[str, str]]]]:
        def private(seat, kind, field):
            # what wolves tell each other is known to both
            if seat == kept_seat or field == "word" or kept_seat is None:
                return canary(seat, kind, field)
            return f"Something else altogether, {len(seat)} {field}!"

        def assess(question, content):
            if question.seat == kept_seat or kept_seat is None:
                return content
            more = {"suspicion": 0.01 * len(question.seat)} if isinstance(content, Judgement) else {}
            return content.model_copy(update={"deceptive": not content.deceptive, "confidence": 0.9, **more})

        calls = Calls()
        play(calls, config, "same", private, assess=assess)
        return [(seat, contents(prompt)) for seat, _, prompt in calls.written]

    as_it_was = prompts(None)
    for kept_seat in {seat for seat, _ in as_it_was}:
        assert [p for p in prompts(kept_seat) if p[0] == kept_seat] == [p for p in as_it_was if p[0] == kept_seat]
