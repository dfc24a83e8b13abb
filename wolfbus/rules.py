"""The rules in words, written from the very `GameConfig` that the engine executes."""

from __future__ import annotations

from decimal import Decimal

from wolfbus.config import GameConfig
from wolfbus.vocabulary import KINDS, ROLES, Kind, Role

_ACTS: dict[Kind, str] = {
    "bid": "bid",
    "speak": "speak",
    "assess_own": "label a statement",
    "assess_other": "judge one",
    "vote": "vote",
    "kill": "kill",
    "protect": "protect",
    "inspect": "inspect",
    "whisper": "whisper",
}


def rules_text(config: GameConfig, *, technical: bool = True) -> str:
    """Return the rules of a game as plain text, sections under headings, for people and for prompts.

    Args:
        config: the rules.
        technical: whether to tell how answers are read and timed, too: what the form of an answer sees to, and what a
            language model cannot see.
    """
    sections = (
        ("Players", _players(config)),
        ("Night", _night(config)),
        ("Day: debate", _debate(config)),
        ("After every statement", _assessment(config, technical)),
        ("Day: vote", _vote(config)),
        ("End", _end(config)),
        *([("Answers", _answers(config)), ("Time", _time(config))] if technical else []),
    )
    return "\n\n".join(f"{title}\n" + "\n".join(f"- {line}" for line in lines) for title, lines in sections) + "\n"


def _players(config: GameConfig) -> list[str]:
    roles = ", ".join(_counted(config.count(role), role) for role in ROLES if config.count(role))
    lines = [f"{config.seats} players: {roles}."]
    lines.append("All but the Werewolves are the villagers' side.")
    if config.werewolves > 1:
        lines.append("The Werewolves know each other; nobody else knows any other role.")
    else:
        lines.append("Nobody knows another player's role.")
    lines.append(_reveal(config))
    return lines


def _night(config: GameConfig) -> list[str]:
    lines = ["All act at once, in secret; only the outcome is announced."]
    nobody = ", or nobody" if config.kill_optional else ""
    hunters = "The Werewolves choose" if config.werewolves > 1 else "The Werewolf chooses"
    if config.first_night_kill:
        lines.append(f"{hunters} a living player who is no Werewolf{nobody}; that player dies at dawn.")
    else:
        lines.append("In the first night nobody is killed.")
        lines.append(
            f"From the second night on, {hunters[0].lower()}{hunters[1:]} a living player who is no Werewolf{nobody}; "
            "that player dies at dawn."
        )
    if config.werewolves > 1:
        lines.append(f"One Werewolf decides alone; several {_whispering(config)}")
    lines.extend(_doctor(config) if config.doctors else [])
    lines.extend(_seer(config) if config.seers else [])
    return lines


def _whispering(config: GameConfig) -> str:
    plurality = "whom most proposed last is chosen, ties by lot."
    if config.whispers == 1:
        return f"make one proposal each, with a word to the others: {plurality}"
    turns = "twice" if config.whispers == 2 else f"{config.whispers} times"
    return f"propose {turns}, with a word to the others, knowing the proposals before: {plurality}"


def _doctor(config: GameConfig) -> list[str]:
    who = "any living player, itself included" if config.doctor_self else "any other living player"
    nobody = ", or nobody" if config.protect_optional else ""
    again = "" if config.doctor_repeat else " The player of the night before is no choice."
    name = "The Doctor protects" if config.doctors == 1 else "Each Doctor protects"
    return [
        f"{name} {who}{nobody}, for this night only: a protected player does not die.{again}",
        "A Doctor killed tonight still protects.",
    ]


def _seer(config: GameConfig) -> list[str]:
    nobody = ", or nobody" if config.inspect_optional else ""
    name = "The Seer inspects" if config.seers == 1 else "Each Seer inspects"
    return [
        f"{name} another living player it has not inspected before{nobody}, and learns its exact role at dawn.",
        "A Seer killed tonight learns nothing.",
    ]


def _debate(config: GameConfig) -> list[str]:
    if config.debate_turns == 0:
        return ["There is no debate."]
    lines = [
        f"Each day has {_counted(config.debate_turns, 'turn')} of debate.",
        f"Before each turn every living player but the last speaker bids 0 to {config.bid_max} for the floor.",
    ]
    if config.overbid_factor < 1:
        lines.append(
            f"A bid counts {config.overbid_factor!r} times as much for every bid of {config.overbid_at} or more "
            "made earlier that day."
        )
    weight = (
        f", players named in the previous statement weighing {config.mention_weight} to 1"
        if config.mention_weight > 1
        else ""
    )
    lines.append(f"The highest bid speaks, even 0; ties are decided by lot{weight}.")
    lines.append("Whoever has the floor may say nothing: nobody is judged, and it counts as the last speaker.")
    return lines


def _assessment(config: GameConfig, technical: bool) -> list[str]:
    first = "before anybody bids again"
    if config.overlap:
        first = "while the next bids, if any, are already being made"
    if config.debate_turns == 0:
        first = "before the exile takes effect"
    terms = [
        (
            "The speaker privately labels it: deceptive or not, how sure it is, and the kind of deception (omission, "
            "distortion, misdirection, fabrication, or none)."
        ),
        (
            "Every other living player privately judges it so, with a suspicion from 0 (full trust) to 1 (certainty "
            f"of deception), {first}."
        ),
    ]
    return [
        *(terms if technical else [f"The speaker privately labels it, the other living players judge it, {first}."]),
        (
            f"A player's suspicion of another is smoothed: it starts at {config.prior!r}, and each judgement moves it "
            f"to {config.alpha!r} times the new suspicion plus {1 - Decimal(repr(config.alpha))} times the old."
        ),
    ]


def _vote(config: GameConfig) -> list[str]:
    whom = "any living player, itself included" if config.self_vote else "another living player"
    lines = [
        f"After the debate all living players vote at once and sealed, for {whom} or for nobody (abstaining).",
        "A player named by a strict majority of the living is exiled; otherwise nobody is.",
    ]
    if config.vote_reasons:
        lines.append(
            "Votes are published together with their reasons; each given reason is a statement, labelled and judged "
            "before the exile takes effect."
        )
    else:
        lines.append("Votes are published together, without reasons.")
    return lines


def _end(config: GameConfig) -> list[str]:
    return [
        "Who has won is looked at after every night and every vote.",
        "The villagers' side wins when no Werewolf lives.",
        "The Werewolves win when they are at least as many as the other living players.",
        f"After {_counted(config.max_rounds, 'completed day')} the game ends without a winner.",
    ]


def _answers(config: GameConfig) -> list[str]:
    names = (
        "A name counts as named in a statement where it stands as a word of its own, in its own spelling, capitals "
        "included; a silence names nobody."
    )
    kinds = (
        "Whether a statement is called deceptive decides over the kind: not deceptive means kind none, deceptive "
        "without a kind means unspecified."
    )
    return [
        *([names] if config.debate_turns and config.mention_weight > 1 else []),
        kinds,
        "A vote for anybody else, such as an unknown or dead name, counts as abstaining.",
        (
            "A missing or unusable answer counts as: bid 0, silence, abstaining, no protection, no inspection, no "
            "proposal, no judgement. Without any valid proposal nobody is killed."
        ),
        f"Answers over {config.max_reply_bytes} bytes are not read.",
    ]


def _time(config: GameConfig) -> list[str]:
    by_length: dict[float, list[str]] = {}
    for kind in KINDS:
        by_length.setdefault(config.deadlines.of(kind), []).append(_ACTS[kind])
    allowed = "; ".join(f"{seconds:g} s to {', '.join(acts)}" for seconds, acts in by_length.items())
    compact = "A model may be asked to answer several of its requests at once (the compact protocol)."
    return [
        *([compact] if config.protocol == "compact" else []),
        f"Time for each answer: {allowed}.",
        (
            f"A player that lets {_counted(config.strikes, 'request')} in a row time out is absent: the game waits "
            f"only {config.absent_grace:g} s for each of its answers until it answers again."
        ),
    ]


def _reveal(config: GameConfig) -> str:
    if config.reveal_on_death == "none":
        return "The role of a player who dies or is exiled is not revealed."
    if config.reveal_on_death == "team":
        return "When a player dies or is exiled, everybody learns whether it was a Werewolf."
    return "When a player dies or is exiled, everybody learns its role."


def _counted(number: int, noun: str | Role) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} Werewolves" if noun == "Werewolf" else f"{number} {noun}s"
