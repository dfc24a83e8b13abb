"""The rules of the day, one claim each: who gets the floor, in which order a statement is judged, and who is exiled."""

import pytest

from tests.game.driver import NAMES, TABLE, Answerer, Given, Missing, Played, Question, hunting, play
from tests.llm.tables import tables
from wolfbus.game.config import GameConfig
from wolfbus.messages.content import Ballot, Bid, Speech
from wolfbus.messages.events import Answered, Asked, Exile, Silence, Statement, Tally
from wolfbus.record.line import Recorded, parse_line, seal

QUIET = {"first_night_kill": False, "max_rounds": 1, "vote_reasons": False}
MANY = [str(seed) for seed in range(8)]


def table(**changes: object) -> GameConfig:
    """The usual eight seats and one day without a death before it; only what a test is about differs."""
    return TABLE.model_copy(update=QUIET | changes)


def bidding(
    *turns: dict[str, int], says: dict[int, Given] | None = None, later: tuple[dict[str, int], ...] | None = None
) -> Answerer:
    """Seats bid by turn on day 1 (and `later` on day 2), 0 unless named; nobody is hunted or exiled."""
    days = {1: turns, 2: later or ()}

    def answer(question: Question):
        if question.kind == "bid":
            day = days[question.round]
            return Bid(bid=day[question.turn - 1].get(question.seat, 0) if question.turn <= len(day) else 0)
        if question.kind == "speak":
            return (says or {}).get(question.turn, Speech(text="Well."))
        return Missing() if question.kind in {"whisper", "kill"} else hunting({})(question)

    return answer


def floor(played: Played, round_: int = 1) -> list[str]:
    """Return who had the floor, turn by turn."""
    return [
        event.speaker if isinstance(event, Statement) else event.seat
        for event in played.events
        if (isinstance(event, Silence) or (isinstance(event, Statement) and event.phase == "debate"))
        and event.round == round_
    ]


def bidders(played: Played, turn: int, round_: int = 1) -> set[str]:
    return {question.seat for question in played.asked("bid", round_) if question.turn == turn}


@pytest.mark.parametrize(("rules", "bids", "speakers"), tables(__file__)["floors"])
def test_the_highest_bid_has_the_floor_and_those_after_an_overbid_count_for_less(rules, bids, speakers):
    for seed in MANY[:4]:
        assert floor(play(table(debate_turns=len(bids), **rules), seed, bidding(*bids))) == speakers.split()


def test_effective_bids_are_compared_exactly():
    # 400 · 0.85² is 289, though not in floating point: a real tie, so that each wins sometimes
    bids = {"Vic": 900, "Val": 1000}, {"Vic": 900, "Wim": 1000}, {"Vic": 400, "Vox": 289}
    config = table(debate_turns=3, bid_max=1000)
    assert {floor(play(config, seed, bidding(*bids)))[2] for seed in MANY} == {"Vic", "Vox"}


def test_overbids_and_the_last_speaker_are_forgotten_overnight():
    config = table(debate_turns=2, max_rounds=2)
    for seed in MANY:
        played = play(config, seed, bidding({"Vic": 10}, {"Val": 10}, later=({"Val": 10, "Vox": 9}, {"Vic": 1})))
        assert bidders(played, 1, round_=2) == set(NAMES)
        assert floor(played, 2) == ["Val", "Vic"]


@pytest.mark.parametrize("said", [Speech(text="Well."), Missing()])
@pytest.mark.parametrize("overlap", [True, False])
def test_the_last_speaker_may_not_bid_even_if_it_was_silent(said, overlap):
    played = play(table(debate_turns=3, overlap=overlap), "1", bidding({"Vic": 5}, {"Val": 5}, says={1: said}))
    assert bidders(played, 1) == set(NAMES)
    assert bidders(played, 2) == set(NAMES) - {"Vic"}
    assert bidders(played, 3) == set(NAMES) - {"Val"}


def test_a_missing_bid_counts_as_zero():
    def answer(question: Question):
        return Missing() if question.kind == "bid" and question.seat != "Von" else bidding({"Von": 1})(question)

    assert floor(play(table(debate_turns=1), "1", answer)) == ["Von"]


@pytest.mark.parametrize("bid", [0, 6])
def test_equal_bids_are_a_tie_among_those_who_bid_them_also_at_zero(bid):
    named = dict.fromkeys(("Wim", "Sia", "Vox", "Von"), bid)
    config = table(debate_turns=1)
    drawn = {floor(play(config, str(seed), bidding(named)))[0] for seed in range(30)}
    assert drawn == (set(NAMES) if bid == 0 else set(named))


VIC = "It is Vic; not Victor, nor val."


@pytest.mark.parametrize(
    ("weight", "said", "least", "most"),
    [
        (1000, [VIC], 7, 8),
        (1, [VIC], 0, 4),
        # a whole word in its own spelling
        *((1000, [text], 0, 4) for text in ("Victor, or Ludovic.", "vic", "VIC", "Vic2 and _Vic")),
        # of the previous statement alone; a silence names nobody
        (1000, [VIC, "Well."], 0, 4),
        (1000, [VIC, None], 0, 4),
    ],
)
def test_mention_weight_favours_the_player_just_named(weight, said, least, most):
    config = table(debate_turns=len(said) + 1, mention_weight=weight)
    says = {turn: Missing() if text is None else Speech(text=text) for turn, text in enumerate(said, 1)}
    answer = bidding({"Wim": 5}, *({"Wes": 5},) * (len(said) - 1), says=says)
    assert least <= [floor(play(config, seed, answer))[-1] for seed in MANY].count("Vic") <= most


@pytest.mark.parametrize("turns", [0, 1, 4])
def test_a_day_has_as_many_turns_as_debate_turns_says(turns):
    config = table(debate_turns=turns, max_rounds=2, vote_reasons=True)
    played = play(config, "1", bidding({}))
    assert (len(floor(played, 1)), len(floor(played, 2))) == (turns, turns)
    assert {question.turn for question in played.asked("bid", 1)} == set(range(1, turns + 1))


def course(played: Played) -> list[str]:
    """Return batches asked, statements, and judgements taken in (once per statement), in record order."""
    told: list[str] = []
    for event in played.events:
        if isinstance(event, Asked) and event.phase != "night":
            told.append(f"ask {event.asks[0].kind}" + (f" {event.about}" if event.about else ""))
        elif isinstance(event, Statement):
            told.append(f"statement {event.statement}")
        elif isinstance(event, Answered) and event.about and told[-1] != f"judged {event.about}":
            told.append(f"judged {event.about}")
    return told


def test_without_overlap_a_statement_is_judged_before_anybody_bids_again():
    assert course(play(table(debate_turns=2, overlap=False), "1", bidding({"Vic": 5}, {"Val": 5}))) == [
        "ask bid", "ask speak", "statement 1", "ask assess_own 1", "judged 1",
        "ask bid", "ask speak", "statement 2", "ask assess_own 2", "judged 2",
        "ask vote",
    ]  # fmt: skip


def test_with_overlap_the_next_bids_go_out_first_and_all_is_judged_before_the_vote():
    assert course(play(table(debate_turns=3, overlap=True), "1", bidding({"Vic": 5}, {"Val": 5}))) == [
        "ask bid", "ask speak", "statement 1", "ask bid", "ask assess_own 1", "ask speak", "judged 1",
        "statement 2", "ask bid", "ask assess_own 2", "ask speak", "judged 2",
        "statement 3", "ask assess_own 3", "judged 3",
        "ask vote",
    ]  # fmt: skip


@pytest.mark.parametrize("overlap", [True, False])
def test_the_speaker_labels_its_statement_and_every_other_living_player_judges_it(overlap):
    played = play(table(debate_turns=2, overlap=overlap), "1", bidding({"Vic": 5}, {"Val": 5}))
    for number, speaker in ((1, "Vic"), (2, "Val")):
        assert [q.seat for q in played.asked("assess_own") if q.about == number] == [speaker]
        assert {q.seat for q in played.asked("assess_other") if q.about == number} == set(NAMES) - {speaker}


def test_a_silence_is_no_statement_and_nobody_is_judged():
    played = play(table(debate_turns=2), "1", bidding({}, says={1: Missing(), 2: Missing()}))
    assert len(played.of("silence")) == 2
    assert not played.of("statement")
    assert not played.asked("assess_other")


def voting(**votes: str | None) -> Answerer:
    """Everybody votes as told, abstains unless named, and gives a reason."""

    def answer(question: Question):
        if question.kind == "vote":
            return Ballot(target=votes.get(question.seat), reason=f"So says {question.seat}.")
        return bidding()(question)

    return answer


def exile(played: Played) -> Exile:
    first = played.of("exile")[0]
    assert isinstance(first, Exile)
    return first


def tally(played: Played) -> Tally:
    first = played.of("tally")[0]
    assert isinstance(first, Tally)
    return first


@pytest.mark.parametrize(
    ("living", "voices", "exiled"), [(8, 4, None), (8, 5, "Von"), (7, 3, None), (7, 4, "Von"), (7, 1, None)]
)
def test_only_a_strict_majority_of_the_living_exiles(living, voices, exiled):
    voters = ("Wim", "Wes", "Sia", "Doc", "Vic")[:voices]
    config = table(debate_turns=1, first_night_kill=living == 7)
    hunt = hunting({1: "Val"}, protect={1: "Vic"})

    def answer(question: Question):
        if question.kind in {"whisper", "protect"}:
            return hunt(question)
        return voting(**dict.fromkeys(voters, "Von"))(question)

    played = play(config, "1", answer)
    assert len(tally(played).votes) == living
    assert tally(played).needed == living // 2 + 1
    assert exile(played).seat == exiled


def test_abstaining_is_legal_and_its_votes_count_for_nobody():
    played = play(table(debate_turns=1), "1", voting())
    assert all(None in question.legal for question in played.asked("vote"))
    assert set(tally(played).votes.values()) == {None}
    assert exile(played).seat is None


def test_votes_stand_in_the_order_in_which_they_are_read_back_from_the_record():
    # a line of the record is canonical JSON, sorted by name; who reads on from it sees what the others saw
    shown = tally(play(table(debate_turns=1), "1", voting()))
    _, line = seal("", Recorded(1, 0.0, "everybody", shown))
    again = parse_line(line, 1).event
    assert isinstance(again, Tally)
    assert list(again.votes.items()) == list(shown.votes.items())
    assert sorted(NAMES) != list(NAMES), "seats in order of name would show nothing"


def test_an_unusable_vote_is_an_abstention():
    def answer(question: Question):
        return Missing("defaulted", "illegal") if question.seat == "Vic" else voting(Val="Von")(question)

    assert tally(play(table(debate_turns=1), "1", answer)).votes == dict.fromkeys(NAMES) | {"Val": "Von"}


@pytest.mark.parametrize("allowed", [True, False])
def test_a_player_may_vote_for_itself_only_under_self_vote(allowed):
    for question in play(table(debate_turns=1, self_vote=allowed), "1", voting()).asked("vote"):
        assert set(question.legal) - {None} == set(NAMES) - (set() if allowed else {question.seat})


def test_without_vote_reasons_a_vote_makes_no_statement():
    played = play(table(debate_turns=0, vote_reasons=False), "1", voting(Vic="Von"))
    assert not played.of("statement")
    assert not played.asked("assess_other")


def test_a_blank_reason_is_no_statement_and_a_given_one_is_told_without_its_blanks():
    reasons = {"Wim": None, "Wes": "", "Sia": " \n\t", "Doc": "  Because.  "}

    def answer(question: Question):
        if question.kind == "vote" and question.seat in reasons:
            return Ballot(target=None, reason=reasons[question.seat])
        return Missing() if question.kind == "vote" else voting()(question)

    (statement,) = play(table(debate_turns=0, vote_reasons=True), "1", answer).of("statement")
    assert (statement.speaker, statement.phase, statement.text, statement.turn) == ("Doc", "vote", "Because.", 1)


def test_reasons_are_judged_by_all_who_voted_the_exiled_among_them_before_the_exile():
    votes = dict.fromkeys(("Wim", "Wes", "Sia", "Doc", "Vic"), "Von")
    played = play(table(debate_turns=1, vote_reasons=True), "1", voting(**votes))
    reasons = {e.statement: e.speaker for e in played.of("statement") if e.phase == "vote"}
    assert set(reasons.values()) == set(NAMES)
    assert exile(played).seat == "Von"
    for number, speaker in reasons.items():
        assert [q.seat for q in played.asked("assess_own") if q.about == number] == [speaker]
        assert {q.seat for q in played.asked("assess_other") if q.about == number} == set(NAMES) - {speaker}
    order = [event.type for event in played.events if event.type in {"tally", "exile"} or is_reason(event, reasons)]
    assert order[0] == "tally"
    assert order[-1] == "exile"
    assert order.count("answered") == 8 * 8


def is_reason(event: object, reasons: dict[int, str]) -> bool:
    if isinstance(event, Statement):
        return event.statement in reasons
    return isinstance(event, Answered) and event.about in reasons
