"""Claims in words are scored as the moderator would have scored them, and never change a record."""

import pytest

from analytics.findings import Metrics
from analytics.gather import fold
from tests.analytics.script import Script, measured, tables_of
from tests.claims.scores import asserted
from tests.llm.tables import tables
from tests.players.table import CONFIGS, Played, play
from wolfbus.game.vocabulary import Verdict
from wolfbus.knowledge.truth import GameFacts
from wolfbus.messages.content import AccusationClaim, InspectionClaim, RoleClaim, ScoredClaim, StanceClaim
from wolfbus.messages.events import ClaimTruth, Inspection

TABLES = tables(__file__)


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(f"truth {name} {seed}", config) for name, config in CONFIGS.items() for seed in range(2)]


def test_what_scripted_players_claim_can_be_heard_and_they_say_little_else(games: list[Played]):
    borne_out, unheard, extracted = [], [], []
    for game in games:
        attached_by_number = {event.statement: event.claims for event in game.events if event.type == "claim_truth"}
        for row in fold(game.events).statements:
            attached = attached_by_number.get(row.number, ())
            assert [*row.unheard, *(scored for scored in row.claims if not scored.extracted)] == sorted(
                attached, key=lambda scored, row=row: scored in row.claims
            )
            borne_out += [scored for scored in row.claims if not scored.extracted]
            unheard += row.unheard
            # they attach no stances, but take some
            extracted += [scored for scored in row.claims if scored.extracted and scored.claim.claim != "stance"]
    # names that are words of the game ("as the Seer") cannot be told from them
    assert len(borne_out) > 20 * len(unheard)
    assert len(borne_out) > 50 * len(extracted)


def test_without_attached_claims_most_are_found_in_the_words_with_the_same_verdicts(games: list[Played]):
    count = expected = 0
    for game in games:
        attached_by_number = {event.statement: event.claims for event in game.events if event.type == "claim_truth"}
        for row in fold([event for event in game.events if event.type != "claim_truth"]).statements:
            attached = {
                asserted(scored.claim): scored.verdict
                for scored in attached_by_number.get(row.number, ())
                if isinstance(scored.claim, RoleClaim | InspectionClaim)
                and getattr(scored.claim, "round", None) is None
            }
            for scored in row.claims:
                assert scored.extracted
                key = asserted(scored.claim)
                count += key in attached
                assert attached.get(key, scored.verdict) == scored.verdict
            expected += len(attached)
    assert count > 0.5 * expected > 10


def statement(speaker: str, text: str, *attached: ScoredClaim):
    """A statement of the first day, after Sia has inspected Wim, with the claims that the speaker attaches."""
    game = Script().dawn()
    game.events.insert(-1, Inspection(round=1, seat="Sia", target="Wim", role="Werewolf"))
    number = game.say(speaker, text=text)
    if attached:
        game.events.append(ClaimTruth(statement=number, claims=attached))
    return game.rows().statements[0]


def seer_speaks(text: str, *attached: ScoredClaim) -> tuple[ScoredClaim, ...]:
    return statement("Sia", text, *attached).claims


def test_a_claim_in_words_is_scored_and_marked():
    assert seer_speaks("I am the Seer. I inspected Wim last night and he is a Werewolf.") == (
        ScoredClaim(claim=RoleClaim(target="Sia", role="Seer"), verdict="true", extracted=True),
        ScoredClaim(claim=InspectionClaim(target="Wim", role="Werewolf"), verdict="true", extracted=True),
    )
    (claim,) = seer_speaks("I inspected Vic and he is a Werewolf.")
    assert claim.verdict == "lie"


def test_what_the_speaker_attached_is_not_found_again():
    attached = ScoredClaim(claim=InspectionClaim(target="Wim", role="Werewolf", round=1), verdict="true")
    opinion = ScoredClaim(claim=AccusationClaim(target="Wim"), verdict="true")
    seer = ScoredClaim(claim=RoleClaim(target="Sia", role="Seer"), verdict="true", extracted=True)
    for night in ("", "on night 1 "):
        text = f"I am the Seer. I inspected Wim {night}and he is a Werewolf."
        assert seer_speaks(text, attached, opinion) == (attached, opinion, seer)
    *_, another = seer_speaks("I am the Seer. I inspected Wim on night 2 and he is a Werewolf.", attached, opinion)
    assert (another.claim, another.verdict) == (attached.claim.model_copy(update={"round": 2}), "lie")


@pytest.mark.parametrize(("text", "borne_out"), TABLES["borne_out"])
def test_what_a_speaker_attaches_counts_only_if_the_words_bear_it_out(text: str, borne_out: bool):
    attached = ScoredClaim(claim=AccusationClaim(target="Wim"), verdict="true")
    row = statement("Vic", text, attached)
    assert (row.claims, row.unheard) == (((attached,), ()) if borne_out else ((), (attached,)))
    assert row.truth == ("true" if borne_out else None)


@pytest.mark.parametrize(("verdicts", "truth"), TABLES["truths"])
def test_one_lie_makes_a_statement_a_lie(verdicts: tuple[Verdict, ...], truth: str | None):
    claims = [AccusationClaim(target=name) for name in ("Wim", "Wes", "Vic")[: len(verdicts)]]
    scored = [ScoredClaim(claim=claim, verdict=verdict) for claim, verdict in zip(claims, verdicts, strict=True)]
    text = " ".join(f"{claim.target} is a Werewolf." for claim in claims) or "Well."
    assert statement("Von", text, *scored).truth == (truth or None)


def test_whoever_accuses_a_player_it_knows_to_be_innocent_lies_and_who_may_think_so_errs():
    assert [statement(speaker, "Vic is a Werewolf.").truth for speaker in ("Wim", "Sia")] == ["lie", "mistake"]


@pytest.mark.parametrize(("speaker", "text", "insincere", "truth"), TABLES["sincerity"])
def test_who_speaks_against_what_it_knows_is_insincere_and_that_is_no_lie(speaker, text, insincere, truth):
    row = statement(speaker, text)
    assert (row.insincere, row.truth) == (None if insincere == "" else insincere, truth or None)


def test_an_attached_stance_counts_once_if_the_words_bear_it_out():
    stance = ScoredClaim(claim=StanceClaim(target="Vic", side="against"), verdict="insincere")
    for text in ("Vic has to go.", "Vic seems nervous to me.", "I think Vic is a Werewolf."):
        row = statement("Wim", text, stance)
        assert row.claims[0] == stance
        assert row.unheard == ()
        assert [claim.claim for claim in row.claims[1:] if isinstance(claim.claim, StanceClaim)] == []
    row = statement("Wim", "Good morning, Vic.", stance)
    assert (row.claims, row.unheard, row.insincere) == ((), (stance,), None)


def test_an_accusation_that_is_attached_hedged_is_flat_if_the_words_are():
    hedged = ScoredClaim(claim=AccusationClaim(target="Vic", strength="hedged"), verdict="insincere")
    assert statement("Wim", "Vic is a Werewolf.", hedged).truth == "lie"
    assert statement("Wim", "I think Vic is a Werewolf.", hedged).truth is None


def test_a_result_that_names_the_role_also_rules_out_the_others():
    attached = ScoredClaim(claim=InspectionClaim(target="Vic", role="Villager"), verdict="lie")
    assert seer_speaks("I inspected Vic, who is not a Werewolf.", attached) == (attached,)


def test_a_claim_is_scored_with_what_was_known_when_it_was_made():
    game = Script().dawn()
    game.say("Vic", text="Val is the Seer.")
    game.events.append(Inspection(round=2, seat="Sia", target="Wim", role="Werewolf"))
    game.say("Sia", text="I inspected Wim and he is a Werewolf.")
    assert [row.claims[0].verdict for row in game.rows().statements] == ["mistake", "true"]
    (claim,) = seer_speaks("I inspected Wes and he is a Werewolf.")
    assert claim.verdict == "lie"


def test_who_left_is_revealed_only_where_the_rules_say_so():
    roles = {"Wim": "Werewolf", "Sia": "Seer", "Vic": "Villager"}
    for reveal, revealed in (("none", {}), ("team", {"Wim": "werewolves"}), ("role", {"Wim": "Werewolf"})):
        facts = GameFacts(roles, reveal)
        facts.leave("Wim", "exile")
        facts.leave("Wim", "exile")
        assert (facts.living, facts.revealed, facts.night_victims) == (["Sia", "Vic"], revealed, [])


def test_claims_are_counted_by_source_kind_and_verdict():
    game = Script().dawn()
    first = game.say("Sia", text="I am the Seer.")
    attached = ScoredClaim(claim=RoleClaim(target="Sia", role="Seer"), verdict="true")
    game.events.append(ClaimTruth(statement=first, claims=(attached,)))
    game.say("Wim", text="I am the Doctor. I checked Vic and he is a Werewolf.")
    third = game.say("Wes", text="Good morning.")
    silent = ScoredClaim(claim=AccusationClaim(target="Vic"), verdict="lie")
    game.events.append(ClaimTruth(statement=third, claims=(silent,)))
    game.say("Wim", text="I trust Wes.")
    one, both = Metrics(), Metrics()
    one.add(game.rows())
    both.add(game.rows())
    both.add(game.rows())
    result = one.result()["claims"]
    assert (result["given"], result["unheard"], result["extracted"]) == (1, 1, 3)
    assert result["by_kind"]["accusation"]["unheard"]["lie"] == 1
    assert result["by_kind"]["role"]["extracted"] == {
        "n": 1,
        "true": 0,
        "lie": 1,
        "mistake": 0,
        "uncheckable": 0,
        "insincere": 0,
    }
    assert result["by_kind"]["inspection"]["extracted"]["lie"] == 1
    assert result["by_kind"]["role"]["given"]["true"] == 1
    assert result["by_kind"]["stance"]["extracted"]["insincere"] == 1
    honesty = measured("truth", tables_of([game.rows()]))["by_role"]["Werewolf"]
    assert (honesty["statements"], honesty["checkable"], honesty["stances"], honesty["insincere"]) == (3, 1, 1, 1)
    assert honesty["stance_coverage"] == pytest.approx(1 / 3)
    assert both.result()["claims"]["by_kind"]["role"]["given"]["true"] == 2
    assert Metrics().result()["claims"]["given"] == 0
