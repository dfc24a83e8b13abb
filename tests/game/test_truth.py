"""Claims are scored against the hidden state, and lies told from mistakes by what the speaker itself knows."""

from itertools import permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.llm.tables import tables
from wolfbus.claims import verdict
from wolfbus.game.vocabulary import ROLES
from wolfbus.knowledge.truth import GameFacts, entailed, thinkable
from wolfbus.messages.content import Claim

NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
ROLE_LIST = ("Werewolf", "Werewolf", "Seer", "Doctor", *["Villager"] * 4)


TABLES = tables(__file__)
CLAIM = TypeAdapter(Claim)
DEAL = dict(zip(NAMES, ROLE_LIST, strict=True))


@pytest.mark.parametrize(("speaker", "claim", "expected"), TABLES["verdicts"])
def test_verdicts_follow_from_state_and_own_knowledge(speaker, claim, expected):
    facts = GameFacts(DEAL)
    facts.inspect(1, "Sia", "Wim", "Werewolf")
    facts.protect(1, "Doc", "Vic")
    assert verdict(facts, speaker, CLAIM.validate_python(claim)) == expected


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_what_is_thinkable_and_what_is_entailed_equal_a_search_over_all_deals(data):
    facts = GameFacts(DEAL, data.draw(st.sampled_from(["none", "team", "role"])))
    for name in data.draw(st.sets(st.sampled_from(NAMES[:2] + NAMES[3:]), max_size=3)):
        facts.inspect(1, "Sia", name, DEAL[name])
    victims = data.draw(st.lists(st.sampled_from(NAMES[3:]), unique=True, max_size=2))
    exiled = [
        name for name in data.draw(st.lists(st.sampled_from(NAMES[1:]), unique=True, max_size=2)) if name not in victims
    ]
    for name in victims + exiled:
        if len(facts.living) > 4:
            facts.leave(name, "night" if name in victims else "exile")
    assume(goes_on(facts, DEAL))
    observer = data.draw(st.sampled_from(facts.living))
    target, role = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(ROLES))
    fitting = [deal for deal in DEALS if agrees(facts, observer, deal)]
    assert thinkable(facts, observer, target, role) == any(deal[target] == role for deal in fitting)
    assert (target in entailed(facts, observer)) == (len({deal[target] == "Werewolf" for deal in fitting}) == 1)


WITH_WOLVES = {"Werewolf", "Possessed"}
WITH_ACCOMPLICE = dict(
    zip(NAMES[:6], ("Werewolf", "Werewolf", "Seer", "Possessed", "Villager", "Villager"), strict=True)
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_revealed_side_is_not_taken_for_a_role_where_the_werewolves_have_accomplices(data):
    facts, roles = GameFacts(WITH_ACCOMPLICE, "team"), WITH_ACCOMPLICE
    for name in data.draw(st.lists(st.sampled_from([*roles]), unique=True, min_size=1, max_size=3)):
        facts.leave(name, "exile")
    assume(goes_on(facts, roles))
    observer = data.draw(st.sampled_from(facts.living))
    deals = [dict(zip(roles, deal, strict=True)) for deal in set(permutations(roles.values()))]
    wolves = {name for name in roles if roles[name] == "Werewolf"}
    fitting = [
        deal
        for deal in deals
        if deal[observer] == roles[observer]
        and (observer not in wolves or wolves == {name for name in deal if deal[name] == "Werewolf"})
        and all((deal[name] in WITH_WOLVES) == (side == "werewolves") for name, side in facts.revealed.items())
        and goes_on(facts, deal)
    ]
    for target in roles:
        for role in {deal[target] for deal in fitting}:
            assert thinkable(facts, observer, target, role)
        if len({deal[target] == "Werewolf" for deal in fitting}) > 1:
            assert target not in entailed(facts, observer)
        for role in roles.values() if target in facts.revealed else ():
            if (role in WITH_WOLVES) != (facts.revealed[target] == "werewolves"):
                assert not thinkable(facts, observer, target, role)


DEALS = [dict(zip(NAMES, deal, strict=True)) for deal in sorted(set(permutations(ROLE_LIST)))]


def goes_on(facts: GameFacts, deal: dict[str, str]) -> bool:
    wolves = sum(deal[name] == "Werewolf" for name in facts.living)
    return 1 <= wolves < len(facts.living) - wolves


def agrees(facts: GameFacts, observer: str, deal: dict[str, str]) -> bool:
    own = facts.roles[observer]
    if deal[observer] != own:
        return False
    if own == "Werewolf" and any((deal[name] == "Werewolf") != (facts.roles[name] == "Werewolf") for name in NAMES):
        return False
    if any(deal[name] != role for name, role in facts.inspected.get(observer, {}).items()):
        return False
    if any(deal[name] == "Werewolf" for name in facts.night_victims):
        return False
    for name, shown in facts.revealed.items():
        team = "werewolves" if deal[name] == "Werewolf" else "villagers"
        if shown not in {deal[name], team}:
            return False
    return goes_on(facts, deal)
