"""Claims are scored against the hidden state, and lies told from mistakes by what the speaker itself knows."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from moderator.rules.table import Table
from wolfbus.config import GameConfig
from wolfbus.messages.content import AccusationClaim, InspectionClaim, ProtectionClaim, RoleClaim
from wolfbus.roles import team_of
from wolfbus.truth import entailed, thinkable, verdict
from wolfbus.vocabulary import ROLES

NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
ROLE_LIST = ("Werewolf", "Werewolf", "Seer", "Doctor", *["Villager"] * 4)


def table(**known) -> Table:
    return Table(
        config=GameConfig(),
        seed="1",
        roles=dict(zip(NAMES, ROLE_LIST, strict=True)),
        living=list(NAMES),
        round=1,
        **known,
    )


@pytest.mark.parametrize(
    ("speaker", "claim", "expected"),
    [
        ("Vic", RoleClaim(target="Vic", role="Villager"), "true"),
        ("Vic", RoleClaim(target="Vic", role="Seer"), "lie"),
        ("Wim", RoleClaim(target="Wim", role="Villager"), "lie"),
        ("Vic", RoleClaim(target="Val", role="Werewolf"), "mistake"),
        ("Wim", RoleClaim(target="Val", role="Werewolf"), "lie"),
        ("Wim", RoleClaim(target="Wes", role="Villager"), "lie"),
        ("Wim", RoleClaim(target="Val", role="Seer"), "mistake"),
        ("Sia", RoleClaim(target="Val", role="Seer"), "lie"),
        ("Sia", RoleClaim(target="Wim", role="Villager"), "lie"),
        ("Vic", AccusationClaim(target="Wim"), "true"),
        ("Vic", AccusationClaim(target="Von"), "mistake"),
        ("Wes", AccusationClaim(target="Von"), "lie"),
        ("Sia", InspectionClaim(target="Wim", role="Werewolf"), "true"),
        ("Sia", InspectionClaim(target="Wim", role="Werewolf", round=1), "true"),
        ("Sia", InspectionClaim(target="Wim", role="Werewolf", round=2), "lie"),
        ("Sia", InspectionClaim(target="Wim", role="Villager"), "lie"),
        ("Vic", InspectionClaim(target="Wim", role="Werewolf"), "lie"),
        ("Doc", ProtectionClaim(target="Vic"), "true"),
        ("Doc", ProtectionClaim(target="Vic", round=1), "true"),
        ("Doc", ProtectionClaim(target="Val"), "lie"),
        ("Vic", ProtectionClaim(target="Vic"), "lie"),
        ("Vic", RoleClaim(target="Nobody", role="Seer"), "uncheckable"),
    ],
)
def test_verdicts_follow_from_state_and_own_knowledge(speaker, claim, expected):
    state = table(
        inspected={"Sia": {"Wim": "Werewolf"}}, inspected_in={("Sia", "Wim"): 1}, protected={"Doc": {1: "Vic"}}
    )
    assert verdict(state, speaker, claim) == expected


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_what_is_thinkable_and_what_is_entailed_equal_a_search_over_all_deals(data):
    state = table()
    state.config = GameConfig(reveal_on_death=data.draw(st.sampled_from(["none", "team", "role"])))
    if data.draw(st.booleans()):
        state.inspected = {
            "Sia": {
                name: state.roles[name]
                for name in data.draw(st.sets(st.sampled_from(NAMES[:2] + NAMES[3:]), max_size=3))
            }
        }
    victims = data.draw(st.lists(st.sampled_from(NAMES[3:]), unique=True, max_size=2))
    exiled = [
        name for name in data.draw(st.lists(st.sampled_from(NAMES[1:]), unique=True, max_size=2)) if name not in victims
    ]
    for name in victims + exiled:
        if len(state.living) > 4:
            state.remove(name)
    state.night_victims = [name for name in victims if name not in state.living]
    assume(state.verdict() is None)
    observer = data.draw(st.sampled_from(state.living))
    target, role = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(ROLES))
    fitting = [deal for deal in DEALS if agrees(state, observer, deal)]
    assert thinkable(state, observer, target, role) == any(deal[target] == role for deal in fitting)
    assert (target in entailed(state, observer)) == (len({deal[target] == "Werewolf" for deal in fitting}) == 1)


DEALS = [dict(zip(NAMES, deal, strict=True)) for deal in sorted(set(permutations(ROLE_LIST)))]


def agrees(state: Table, observer: str, deal: dict[str, str]) -> bool:
    own = state.roles[observer]
    if deal[observer] != own:
        return False
    if own == "Werewolf" and any((deal[name] == "Werewolf") != (state.roles[name] == "Werewolf") for name in NAMES):
        return False
    if any(deal[name] != role for name, role in state.inspected.get(observer, {}).items()):
        return False
    if any(deal[name] == "Werewolf" for name in state.night_victims):
        return False
    for name, shown in state.revealed.items():
        if shown not in (deal[name], team_of(deal[name])):
            return False
    wolves = sum(1 for name in state.living if deal[name] == "Werewolf")
    return 1 <= wolves < len(state.living) - wolves
