"""The rules of the night, one claim each: who is asked, what is legal, and whom it hits."""

import pytest

from tests.game.driver import NAMES, TABLE, Answerer, Missing, Played, Question, hunting, play
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Kind, Role
from wolfbus.messages.content import Choice, Proposal
from wolfbus.messages.events import Asked, Dawn, Exile, Inspection

SHORT = {"max_rounds": 2, "debate_turns": 1, "vote_reasons": False}
HUNT = {"whisper", "kill"}


def table(**changes: object) -> GameConfig:
    """The usual eight seats and two short days; only what a test is about differs."""
    return TABLE.model_copy(update=SHORT | changes)


def seated(roles: dict[str, Role], **changes: object) -> GameConfig:
    """Other seats and two short days."""
    dealt = list(roles.values())
    return GameConfig(
        names=tuple(roles),
        roles=roles,
        villagers=dealt.count("Villager"),
        werewolves=dealt.count("Werewolf"),
        seers=dealt.count("Seer"),
        doctors=dealt.count("Doctor"),
        **SHORT | changes,
    )


def acting(choices: dict[tuple[str, int], str | None], votes: dict[int, str] | None = None) -> Answerer:
    """Seats choose by (seat, round); other wolves propose nothing, and nobody is exiled but by `votes`."""
    otherwise = hunting({}, votes=votes)

    def answer(question: Question):
        if question.kind not in {*HUNT, "protect", "inspect"}:
            return otherwise(question)
        if (question.seat, question.round) not in choices:
            return Missing() if question.kind in HUNT else None
        target = choices[question.seat, question.round]
        assert target in question.legal, question
        return Proposal(target=target) if question.kind == "whisper" else Choice(target=target)

    return answer


def proposing(*turns: dict[str, str]) -> Answerer:
    """Wolves propose by turn in the first night; a wolf that is not named there misses its time."""

    def answer(question: Question):
        if question.kind not in HUNT:
            return hunting({})(question)
        target = turns[question.turn - 1].get(question.seat) if question.round == 1 else None
        return Missing() if target is None else Proposal(target=target)

    return answer


def legal(played: Played, kind: Kind, round_: int, seat: str) -> set[str | None]:
    (question,) = [q for q in played.asked(kind, round_) if q.seat == seat and q.turn == 1]
    return set(question.legal)


def learned(played: Played, seer: str) -> list[tuple[int, str, str]]:
    return [
        (event.round, event.target, event.role)
        for event in played.of("inspection")
        if isinstance(event, Inspection) and event.seat == seer
    ]


@pytest.mark.parametrize("allowed", [True, False])
def test_a_doctor_may_protect_itself_only_under_doctor_self(allowed):
    played = play(table(doctor_self=allowed), answer=acting({}))
    for round_ in (1, 2):
        assert legal(played, "protect", round_, "Doc") == set(NAMES) - (set() if allowed else {"Doc"})


@pytest.mark.parametrize("allowed", [True, False])
def test_a_doctor_may_repeat_last_nights_choice_only_under_doctor_repeat(allowed):
    choices = {("Doc", 1): "Vic", ("Doc", 2): "Val"}
    played = play(table(doctor_repeat=allowed, max_rounds=3), answer=acting(choices))
    for round_, before in ((2, "Vic"), (3, "Val")):
        # the night before the last is forgotten: Vic is legal again in night 3
        assert legal(played, "protect", round_, "Doc") == set(NAMES) - (set() if allowed else {before})


@pytest.mark.parametrize(
    ("switch", "kind", "seat"),
    [
        ("kill_optional", "whisper", "Wim"),
        ("protect_optional", "protect", "Doc"),
        ("inspect_optional", "inspect", "Sia"),
    ],
)
def test_nobody_is_a_legal_answer_only_where_its_own_switch_says_so(switch, kind, seat):
    assert None in legal(play(table(**{switch: True}), answer=acting({})), kind, 1, seat)
    others = {name: True for name in ("kill_optional", "protect_optional", "inspect_optional") if name != switch}
    assert None not in legal(play(table(**others), answer=acting({})), kind, 1, seat)


def test_nobody_chosen_hits_protects_and_inspects_nobody():
    config = table(kill_optional=True, protect_optional=True, inspect_optional=True)
    played = play(config, answer=acting({("Wim", 1): None, ("Wes", 1): None, ("Doc", 1): None, ("Sia", 1): None}))
    assert (played.nights[1].target, played.nights[1].protected, played.nights[1].died) == (None, (), None)
    assert learned(played, "Sia")[0][0] == 2


@pytest.mark.parametrize(("allowed", "hunts"), [(True, [1, 2]), (False, [2])])
def test_wolves_hunt_in_the_first_night_only_under_first_night_kill(allowed, hunts):
    played = play(table(first_night_kill=allowed), answer=hunting({1: "Vic", 2: "Val"}, protect={1: "Von", 2: "Von"}))
    assert sorted({question.round for question in played.asked("whisper")}) == hunts
    assert (played.nights[1].died, played.nights[2].died) == ("Vic" if allowed else None, "Val")
    assert {question.seat for question in played.asked("protect", 1) + played.asked("inspect", 1)} == {"Doc", "Sia"}


def test_an_earlier_proposal_still_counts_when_the_last_is_missing():
    played = play(table(), answer=proposing({"Wim": "Vic", "Wes": "Vic"}, {}))
    assert played.nights[1].target == "Vic"


def test_the_last_proposals_count_where_they_differ_from_the_first():
    for seed in "12345678":
        played = play(table(), seed, proposing({"Wim": "Vic", "Wes": "Vic"}, {"Wim": "Val", "Wes": "Val"}))
        assert played.nights[1].target == "Val"


def test_without_any_proposal_nobody_is_hunted():
    played = play(table(), answer=proposing({}, {}))
    assert played.nights[1].target is None


PACK: dict[str, Role] = dict.fromkeys(("W1", "W2", "W3", "W4", "W5"), "Werewolf") | dict.fromkeys(
    ("P1", "P2", "P3", "P4", "P5", "P6", "P7"), "Villager"
)


def test_the_player_most_wolves_proposed_last_is_the_prey():
    last = {"W1": "P1", "W2": "P2", "W3": "P2", "W4": "P2", "W5": "P1"}
    for seed in "12345678":
        assert play(seated(PACK, whispers=1, max_rounds=1), seed, proposing(last)).nights[1].target == "P2"


def test_a_tie_is_drawn_among_the_most_proposed_only():
    last = {"W1": "P3", "W2": "P1", "W3": "P2", "W4": "P2", "W5": "P1"}
    config = seated(PACK, whispers=1, max_rounds=1)
    drawn = [play(config, str(seed), proposing(last)).nights[1].target for seed in range(16)]
    assert set(drawn) == {"P1", "P2"}
    assert drawn == [play(config, str(seed), proposing(last)).nights[1].target for seed in range(16)]


@pytest.mark.parametrize("whispers", [1, 2, 3])
def test_every_wolf_proposes_as_often_as_whispers_says_and_the_last_time_counts(whispers):
    turns = [dict.fromkeys(("Wim", "Wes"), prey) for prey in ("Vic", "Val", "Vox")[:whispers]]
    played = play(table(whispers=whispers), "1", proposing(*turns))
    assert [(q.turn, q.seat) for q in played.asked("whisper", 1)] == [
        (turn, wolf) for turn in range(1, whispers + 1) for wolf in ("Wim", "Wes")
    ]
    assert played.nights[1].target == turns[-1]["Wim"]


@pytest.mark.parametrize("round_", [1, 2])
def test_a_lone_wolf_is_asked_once_to_kill(round_):
    if round_ == 1:
        roles: dict[str, Role] = {"Wim": "Werewolf"} | dict.fromkeys(("Vic", "Val", "Vox", "Von"), "Villager")
        played = play(seated(roles), answer=hunting({1: "Vic"}))
    else:
        played = play(table(), answer=hunting({2: "Vic"}, votes={1: "Wes"}, protect={2: "Val"}))
    assert [(q.seat, q.turn) for q in played.asked("kill", round_)] == [("Wim", 1)]
    assert not played.asked("whisper", round_)
    assert played.nights[round_].died == "Vic"


@pytest.mark.parametrize(
    ("prey", "protect", "died"),
    [
        ({1: "Doc", 2: "Vic"}, {1: "Val"}, ["Doc", "Vic"]),  # a dead Doctor protects nobody
        ({1: "Doc"}, {1: "Doc"}, [None]),  # one that is hunted protects itself
        ({1: "Val", 2: "Vic"}, {1: "Vic", 2: "Von"}, ["Val", "Vic"]),  # protection is for its own night
        ({1: "Val", 2: "Vic"}, {1: "Vic", 2: None}, ["Val", "Vic"]),  # and is none without a usable answer
        ({1: "Sia", 2: "Doc", 3: "Vic"}, {1: "Doc", 2: "Sia"}, ["Sia", "Doc", "Vic"]),
    ],
)
def test_the_prey_dies_unless_a_doctor_who_lives_protects_it_tonight(prey, protect, died):
    def answer(question: Question):
        if question.kind == "protect" and protect.get(question.round, "") is None:
            return Missing()
        return hunting(prey, protect)(question)

    played = play(table(max_rounds=3), answer=answer)
    assert [played.nights[round_].died for round_ in range(1, len(died) + 1)] == died
    asked = {question.round for question in played.asked("protect")}
    assert asked == set(range(1, (died.index("Doc") + 1 if "Doc" in died else played.ended.rounds) + 1))


def test_a_saved_player_stays_in_play():
    played = play(table(), answer=hunting({1: "Vic"}, protect={1: "Vic"}))
    assert (played.nights[1].target, played.nights[1].died) == ("Vic", None)
    assert "Vic" in {question.seat for question in played.asked("vote", 1)}


DOUBLED: dict[str, Role] = {
    "Wim": "Werewolf", "Dan": "Doctor", "Deb": "Doctor", "Sam": "Seer", "Sue": "Seer", "Vic": "Villager",
    "Val": "Villager", "Vox": "Villager",
}  # fmt: skip


@pytest.mark.parametrize("prey", ["Vic", "Val"])
def test_both_of_two_doctors_protect(prey):
    choices = {("Wim", 1): prey, ("Dan", 1): "Vic", ("Deb", 1): "Val"}
    played = play(seated(DOUBLED), answer=acting(choices))
    assert played.nights[1].protected == ("Vic", "Val")
    assert played.nights[1].died is None


def test_each_doctor_repeats_only_what_itself_did():
    played = play(seated(DOUBLED, doctor_repeat=False), answer=acting({("Dan", 1): "Vic", ("Deb", 1): "Val"}))
    assert legal(played, "protect", 2, "Dan") == set(DOUBLED) - {"Vic"}
    assert legal(played, "protect", 2, "Deb") == set(DOUBLED) - {"Val"}


def test_each_of_two_seers_learns_what_itself_inspected():
    played = play(seated(DOUBLED), answer=acting({("Sam", 1): "Wim", ("Sue", 1): "Dan"}))
    assert [event.seat for event in played.of("inspection")][:2] == ["Sam", "Sue"]
    assert learned(played, "Sam")[0] == (1, "Wim", "Werewolf")
    assert learned(played, "Sue")[0] == (1, "Dan", "Doctor")
    # and neither is barred from what only the other has seen
    assert legal(played, "inspect", 2, "Sam") == set(DOUBLED) - {"Sam", "Wim"}
    assert legal(played, "inspect", 2, "Sue") == set(DOUBLED) - {"Sue", "Dan"}


def test_a_seer_inspects_nobody_twice_and_never_itself():
    played = play(table(max_rounds=4), answer=acting({}))
    seen: set[str] = set()
    for round_ in (1, 2, 3, 4):
        assert legal(played, "inspect", round_, "Sia") == set(NAMES) - {"Sia"} - seen
        seen.add(learned(played, "Sia")[round_ - 1][1])
    assert len(seen) == 4


def test_a_seer_killed_tonight_learns_nothing():
    played = play(table(), answer=hunting({1: "Sia"}, protect={1: "Vic"}))
    assert played.asked("inspect", 1)
    assert not learned(played, "Sia")


def test_a_seer_that_has_seen_everybody_alive_is_not_asked():
    answer = acting({})
    played = play(TABLE.model_copy(update={"first_night_kill": False, "max_rounds": 10}), "1", answer)
    assert played.ended.reason == "max_rounds"
    assert len(learned(played, "Sia")) == 7
    assert not played.asked("inspect", 8)


def test_a_seer_without_a_usable_answer_learns_nothing_and_may_ask_for_anybody_later():
    def answer(question: Question):
        return Missing() if question.kind == "inspect" and question.round == 1 else acting({})(question)

    played = play(table(), answer=answer)
    assert [round_ for round_, _, _ in learned(played, "Sia")] == [2]
    assert legal(played, "inspect", 2, "Sia") == set(NAMES) - {"Sia"}


@pytest.mark.parametrize(
    ("reveal", "villager", "wolf"),
    [
        ("none", (None, None), (None, None)),
        ("team", (None, "villagers"), (None, "werewolves")),
        ("role", ("Seer", None), ("Werewolf", None)),
    ],
)
def test_a_death_and_an_exile_reveal_what_reveal_on_death_says(reveal, villager, wolf):
    played = play(table(reveal_on_death=reveal), answer=hunting({1: "Sia"}, protect={1: "Vic"}, votes={1: "Wes"}))
    (dawn, later), (exile, nobody) = played.of("dawn"), played.of("exile")
    assert isinstance(dawn, Dawn)
    assert isinstance(exile, Exile)
    assert (dawn.died, dawn.role, dawn.team) == ("Sia", *villager)
    assert (exile.seat, exile.role, exile.team) == ("Wes", *wolf)
    for event in (later, nobody):
        if (event.died if isinstance(event, Dawn) else event.seat) is None:
            assert (event.role, event.team) == (None, None)


def test_every_night_uses_up_as_many_batch_numbers_whoever_is_asked():
    lone: dict[str, Role] = {"Wim": "Werewolf"} | dict.fromkeys(("Vic", "Val", "Vox", "Von"), "Villager")
    tables = (table(), table(first_night_kill=False), seated(lone), seated(DOUBLED), seated(PACK))
    assert {first_of_the_day(play(config, answer=acting({}))) for config in tables} == {4}
    assert first_of_the_day(play(table(whispers=3), answer=acting({}))) == 5


def first_of_the_day(played: Played) -> int:
    return next(event.batch for event in played.of("asked") if isinstance(event, Asked) and event.phase == "debate")
