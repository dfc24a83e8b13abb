"""Ugly replies, as models write them, with what they must be read as; all of them written for this test."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wolfbus.messages.claims import AccusationClaim, InspectionClaim, RoleClaim
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.vocabulary import Fault, Kind, Reading

NAMES = ("Ana", "Bram", "Chioma", "Dilara")
VOTABLE: tuple[str | None, ...] = ("Ana", "Bram", "Chioma", None)
"""Dilara is dead: known, but no legal answer."""


@dataclass(frozen=True)
class Ugly:
    """A reply and what it must be read as: content on a rung, or a fault."""

    name: str
    kind: Kind
    text: str
    content: Content | None = None
    rung: Reading | None = None
    fault: Fault | None = None
    thought: str | None = None
    legal: tuple[str | None, ...] = VOTABLE
    names: tuple[str, ...] = NAMES


def good(
    name: str,
    kind: Kind,
    text: str,
    content: Content,
    rung: Reading,
    *,
    thought: str | None = None,
    legal: tuple[str | None, ...] = VOTABLE,
    names: tuple[str, ...] = NAMES,
) -> Ugly:
    return Ugly(name, kind, text, content, rung, None, thought, legal, names)


def bad(
    name: str,
    kind: Kind,
    text: str,
    fault: Fault,
    *,
    thought: str | None = None,
    legal: tuple[str | None, ...] = VOTABLE,
    names: tuple[str, ...] = NAMES,
) -> Ugly:
    return Ugly(name, kind, text, None, None, fault, thought, legal, names)


SEVEN = Bid(bid=7)
SAID = Speech(text="Bram dodged my question.")
HONEST = Label(deceptive=False, confidence=0.9, reasoning="I meant it.")
LIE = Label(deceptive=True, confidence=0.8, kind="fabrication", reasoning="No such vision.")
DOUBT = Judgement(deceptive=True, suspicion=0.7, confidence=0.6, kind="misdirection", reasoning="He points elsewhere.")
FOR_BRAM = Ballot(target="Bram")
KILL = Choice(target="Chioma")

LIE_JSON = '{"deceptive": true, "confidence": 0.8, "kind": "fabrication", "reasoning": "No such vision."}'
DOUBT_JSON = (
    '{"deceptive": true, "suspicion": 0.7, "confidence": 0.6, "kind": "misdirection", '
    '"reasoning": "He points elsewhere."}'
)
PAPER_LIE = """{
    "chain_of_thought": "1. I want them to fear Bram. 2. I made it up.",
    "is_deceptive": 1,
    "confidence": 0.8,
    "deception_type": "fabrication",
    "reasoning": "No such vision."
}"""
PAPER_DOUBT = """{
    "chain_of_thought": "1. He was asked. 2. He asked back.",
    "is_deceptive": 1,
    "confidence": 0.6,
    "deception_type": "misdirection",
    "reasoning": "He points elsewhere.",
    "suspicion_level": 0.7
}"""
SAID_JSON = '{"statement": "Bram dodged my question."}'


def fenced(text: str, word: str = "json") -> str:
    return f"```{word}\n{text}\n```"


CLEAN = [
    good("a bare bid", "bid", '{"bid": 7}', SEVEN, "clean"),
    good("white space around", "bid", ' \n\t{"bid":7}\r\n', SEVEN, "clean"),
    good("fields nobody asked for", "bid", '{"bid": 7, "mood": "bold", "n": [1, 2]}', SEVEN, "clean"),
    good("a thought beside it", "bid", '{"thought": "now!", "bid": 7}', SEVEN, "clean", thought="now!"),
    good("a reason nobody asked for", "bid", '{"bid": 7, "reason": "now!"}', SEVEN, "clean", thought="now!"),
    good("the paper's statement", "speak", SAID_JSON, SAID, "clean"),
    good("our statement", "speak", '{"text": "Bram dodged my question."}', SAID, "clean"),
    good(
        "the paper's whole statement",
        "speak",
        '{"statement": "Bram dodged my question.", "is_deceptive": false, "analysis": "He is loud."}',
        SAID,
        "clean",
        thought="He is loud.",
    ),
    good("a blank statement is silence", "speak", '{"text": ""}', Speech(text=""), "clean"),
    good("a statement in Chinese", "speak", '{"text": "我怀疑 Bram。"}', Speech(text="我怀疑 Bram。"), "clean"),
    good("escapes", "speak", r'{"text": "\u00c4h \ud83d\ude00 \"so\"\n"}', Speech(text='Äh 😀 "so"\n'), "clean"),
    good("JSON in a statement stays words", "speak", r'{"text": "{\"bid\": 3}"}', Speech(text='{"bid": 3}'), "clean"),
    good("our label", "assess_own", LIE_JSON, LIE, "clean"),
    good(
        "the paper's label",
        "assess_own",
        PAPER_LIE,
        LIE,
        "clean",
        thought="1. I want them to fear Bram. 2. I made it up.",
    ),
    good("our judgement", "assess_other", DOUBT_JSON, DOUBT, "clean"),
    good(
        "the paper's judgement",
        "assess_other",
        PAPER_DOUBT,
        DOUBT,
        "clean",
        thought="1. He was asked. 2. He asked back.",
    ),
    good(
        "whole numbers where fractions are asked",
        "assess_own",
        '{"deceptive": false, "confidence": 1}',
        Label(deceptive=False, confidence=1.0),
        "clean",
    ),
    good(
        "deceptive decides over a kind",
        "assess_own",
        '{"deceptive": false, "confidence": 0.5, "kind": "omission"}',
        Label(deceptive=False, confidence=0.5, kind="none", stated_kind="omission"),
        "clean",
    ),
    good(
        "deceptive decides over none",
        "assess_own",
        '{"is_deceptive": 1, "confidence": 0.5, "deception_type": "none"}',
        Label(deceptive=True, confidence=0.5, kind="unspecified", stated_kind="none"),
        "clean",
    ),
    good(
        "deceptive without a kind",
        "assess_own",
        '{"deceptive": true, "confidence": 0.5}',
        Label(deceptive=True, confidence=0.5, kind="unspecified"),
        "clean",
    ),
    good(
        "thoughts as a list",
        "assess_own",
        '{"chain_of_thought": ["first", "second"], "deceptive": false, "confidence": 0.9, "reasoning": "I meant it."}',
        HONEST,
        "clean",
        thought="first\nsecond",
    ),
    good(
        "the paper's vote, with its public reason",
        "vote",
        '{"vote": "Bram", "is_deceptive": false, "analysis": "loud", "reasoning": "He dodged."}',
        Ballot(target="Bram", reason="He dodged."),
        "clean",
        thought="loud",
    ),
    good("null abstains", "vote", '{"target": null}', Ballot(target=None), "clean"),
    good("a kill", "kill", '{"target": "Chioma", "analysis": "strong"}', KILL, "clean", thought="strong"),
    good(
        "a whisper",
        "whisper",
        '{"target": "Chioma", "word": "She knows."}',
        Proposal(target="Chioma", word="She knows."),
        "clean",
    ),
    good(
        "claims",
        "speak",
        '{"text": "I am the Seer.", "claims": [{"claim": "role", "target": "Ana", "role": "Seer"}]}',
        Speech(text="I am the Seer.", claims=(RoleClaim(target="Ana", role="Seer"),)),
        "clean",
    ),
    good(
        "claims beside a vote",
        "vote",
        '{"target": "Bram", "reason": "Wolf!", "claims": [{"claim": "accusation", "target": "Bram"}]}',
        Ballot(target="Bram", reason="Wolf!", claims=(AccusationClaim(target="Bram"),)),
        "clean",
    ),
]

EXTRACTED = [
    good("a fence", "bid", fenced('{"bid": 7}'), SEVEN, "extracted"),
    good("a fence without a language", "bid", fenced('{"bid": 7}', ""), SEVEN, "extracted"),
    good("a fence of another language", "bid", fenced('{"bid": 7}', "python"), SEVEN, "extracted"),
    good("a fence that never closes", "bid", '```json\n{"bid": 7}', SEVEN, "extracted"),
    good("a fence on one line", "bid", '```{"bid": 7}```', SEVEN, "extracted"),
    good("a fence of tildes", "bid", '~~~json\n{"bid": 7}\n~~~', SEVEN, "extracted"),
    good("prose before", "bid", 'Here is my bid:\n{"bid": 7}', SEVEN, "extracted"),
    good("prose after", "bid", '{"bid": 7}\nI hope that helps!', SEVEN, "extracted"),
    good("prose around a fence", "bid", "Sure!\n" + fenced('{"bid": 7}') + "\nLet me know.", SEVEN, "extracted"),
    good("braces in the prose", "bid", 'I chose {carefully}: {"bid": 7}', SEVEN, "extracted"),
    good("doubled braces", "bid", '{{"bid": 7}}', SEVEN, "extracted"),
    good("a byte order mark", "bid", '\ufeff{"bid": 7}', SEVEN, "extracted"),
    good("a list around it", "bid", '[{"bid": 7}]', SEVEN, "extracted"),
    good("the same object twice", "bid", '{"bid": 7}\n{"bid": 7}', SEVEN, "extracted"),
    good("the same twice, differently laid out", "bid", '{"bid":7}\n\n{\n  "bid": 7\n}', SEVEN, "extracted"),
    good("a second object of another kind", "bid", '{"mood": "bold"} {"bid": 7}', SEVEN, "extracted"),
    good("a wrapper", "bid", '{"response": {"bid": 7}}', SEVEN, "extracted"),
    good("a deep wrapper", "bid", '{"data": {"answer": {"bid": 7}}}', SEVEN, "extracted"),
    good("a tool call", "bid", r'{"name": "bid", "arguments": "{\"bid\": 7}"}', SEVEN, "extracted"),
    good("JSON as a JSON string", "bid", json.dumps('{"bid": 7}'), SEVEN, "extracted"),
    good("JSON as a JSON string, twice over", "bid", json.dumps(json.dumps('{"bid": 7}')), SEVEN, "extracted"),
    good("an answer tag", "bid", '<answer>{"bid": 7}</answer>', SEVEN, "extracted"),
    good("thinking before", "bid", '<think>Loud or not?</think>{"bid": 7}', SEVEN, "extracted", thought="Loud or not?"),
    good(
        "a draft within the thinking",
        "bid",
        '<think>{"bid": 2}? No.</think>\n{"bid": 7}',
        SEVEN,
        "extracted",
        thought='{"bid": 2}? No.',
    ),
    good(
        "thinking that was opened elsewhere",
        "bid",
        'So I shall be loud.\n</think>\n\n{"bid": 7}',
        SEVEN,
        "extracted",
        thought="So I shall be loud.",
    ),
    good(
        "two kinds of thinking",
        "bid",
        '<thinking>one</thinking>\n<reflection>two</reflection>{"bid": 7, "thought": "three"}',
        SEVEN,
        "extracted",
        thought="one\n\ntwo\n\nthree",
    ),
    good("empty thinking", "bid", '<think>\n\n</think>\n\n{"bid": 7}', SEVEN, "extracted"),
    good("a chat message", "speak", json.dumps({"role": "assistant", "content": SAID_JSON}), SAID, "extracted"),
    good("a fenced label", "assess_own", fenced(LIE_JSON), LIE, "extracted"),
    good(
        "a fenced judgement of the paper's",
        "assess_other",
        fenced(PAPER_DOUBT),
        DOUBT,
        "extracted",
        thought="1. He was asked. 2. He asked back.",
    ),
    good(
        "the example is echoed first",
        "assess_own",
        f'Format: {{"deceptive": "<true or false>"}}\n{LIE_JSON}',
        LIE,
        "extracted",
    ),
    good("a vote in prose and JSON", "vote", 'I vote Ana? No: {"target": "Bram"}', FOR_BRAM, "extracted"),
    good(
        "an example with a placeholder first",
        "vote",
        '{"target": "name of a player"}\n{"target": "Bram"}',
        FOR_BRAM,
        "extracted",
    ),
    good("a headline", "kill", '**Decision**\n\n{"target": "Chioma"}', KILL, "extracted"),
]

REPAIRED = [
    good("a trailing comma", "bid", '{"bid": 7,}', SEVEN, "repaired"),
    good("single quotes", "bid", "{'bid': 7}", SEVEN, "repaired"),
    good("no quotes at the key", "bid", "{bid: 7}", SEVEN, "repaired"),
    good("typographic quotes", "bid", "{“bid”: 7}", SEVEN, "repaired"),
    good("no closing brace", "bid", '{"bid": 7\n', SEVEN, "repaired"),
    good("no closing brace in a fence", "bid", '```json\n{"bid": 7\n```', SEVEN, "repaired"),
    good("no opening brace", "bid", '"bid": 7}', SEVEN, "repaired"),
    good("a brace too many", "bid", '{"bid": 7}}', SEVEN, "extracted"),
    good("a line comment", "bid", '{"bid": 7 // loud\n}', SEVEN, "repaired"),
    good("a block comment", "bid", '{/* loud */ "bid": 7}', SEVEN, "repaired"),
    good("a missing comma", "bid", '{"bid": 7 "thought": "now"}', SEVEN, "repaired", thought="now"),
    good("an equals sign", "bid", '{"bid" = 7}', SEVEN, "repaired"),
    good("a leading zero", "bid", '{"bid": 07}', SEVEN, "repaired"),
    good("a plus sign", "bid", '{"bid": +7}', SEVEN, "repaired"),
    good("escaped quotes without a string around", "bid", r"{\"bid\": 7}", SEVEN, "repaired"),
    good("a list of a broken object", "bid", "[{'bid': 7}]", SEVEN, "repaired"),
    good("a NUL byte in it", "bid", '{"bid": 7\x00}', SEVEN, "repaired"),
    good("cut off after the value", "bid", '{"bid": 7, "thou', SEVEN, "repaired"),
    good("cut off in a thought", "bid", '{"bid": 7, "thought": "I wan', SEVEN, "repaired", thought="I wan"),
    good(
        "Python's literals",
        "assess_own",
        "{'deceptive': True, 'confidence': 0.8, 'kind': 'fabrication', 'reasoning': 'No such vision.'}",
        LIE,
        "repaired",
    ),
    good(
        "Python's None for a reason",
        "vote",
        "{'target': 'Bram', 'reason': None}",
        FOR_BRAM,
        "repaired",
    ),
    good("an apostrophe in single quotes", "speak", "{'text': 'It's Bram.'}", Speech(text="It's Bram."), "repaired"),
    good(
        "both kinds of quotes, in Python's way",
        "speak",
        "{'text': 'It\\'s \"Bram\", he said'}",
        Speech(text='It\'s "Bram", he said'),
        "repaired",
    ),
    good(
        "words of Python's within a statement",
        "speak",
        "{'text': 'True, 5% of us, None less',}",
        Speech(text="True, 5% of us, None less"),
        "repaired",
    ),
    good("a line break in a string", "speak", '{"text": "One.\nTwo."}', Speech(text="One.\nTwo."), "repaired"),
    good(
        "quotes that are not escaped",
        "speak",
        '{"text": "He said "trust me" and left."}',
        Speech(text='He said "trust me" and left.'),
        "repaired",
    ),
    good(
        "a lone surrogate",
        "speak",
        r'{"text": "oh \ud83d no"}',
        Speech(text="oh \ufffd no"),
        "repaired",
    ),
    good("a terminal's escape", "speak", r'{"text": "\u001b[31mred"}', Speech(text="[31mred"), "repaired"),
    good("a statement without braces", "speak", 'statement: "Bram dodged my question."', SAID, "repaired"),
    good(
        "lines of keys and values",
        "assess_own",
        "deceptive: true\nconfidence: 0.5",
        Label(deceptive=True, confidence=0.5, kind="unspecified"),
        "repaired",
    ),
    good(
        "a bare fraction",
        "assess_own",
        '{"deceptive": false, "confidence": .5}',
        Label(deceptive=False, confidence=0.5),
        "repaired",
    ),
    good(
        "cut off in the reasoning",
        "assess_own",
        LIE_JSON[:-9],
        Label(deceptive=True, confidence=0.8, kind="fabrication", reasoning="No such "),
        "repaired",
    ),
    good(
        "cut off in the kind",
        "assess_own",
        '{"deceptive": true, "confidence": 0.8, "kind": "fabr',
        Label(deceptive=True, confidence=0.8, kind="unspecified"),
        "repaired",
    ),
    good(
        "cut off within a fence",
        "assess_own",
        fenced(LIE_JSON)[:-13],
        Label(deceptive=True, confidence=0.8, kind="fabrication", reasoning="No such "),
        "repaired",
    ),
    good("cut off in a public reason", "vote", '{"target": "Bram", "reason": "He do', FOR_BRAM, "repaired"),
    good(
        "cut off in the claims",
        "speak",
        '{"statement": "Bram dodged my question.", "claims": [{"claim": "role", "target": "Ana", "role": "Se',
        SAID,
        "repaired",
    ),
    good(
        "cut off within a wrapper",
        "bid",
        '{"answer": {"bid": 7, "thought": "abc',
        SEVEN,
        "repaired",
    ),
    good(
        "a comma too many in a long reply",
        "bid",
        '{"thought": "' + "so, " * 5000 + '", "bid": 7,}',
        SEVEN,
        "repaired",
        thought=("so, " * 5000),
    ),
]

COERCED = [
    good("a number as a string", "bid", '{"bid": "7"}', SEVEN, "coerced"),
    good("a number as a word", "bid", '{"bid": "Seven"}', SEVEN, "coerced"),
    good("a number out of ten", "bid", '{"bid": "7/10"}', SEVEN, "coerced"),
    good("a number out of ten in words", "bid", '{"bid": "seven out of ten"}', SEVEN, "coerced"),
    good("a number with a remark", "bid", '{"bid": "7 (high)"}', SEVEN, "coerced"),
    good("a whole number as a fraction", "bid", '{"bid": 7.0}', SEVEN, "coerced"),
    good("a key in capitals", "bid", '{"BID": 7}', SEVEN, "coerced"),
    good("another word for a bid", "bid", '{"urgency": 7}', SEVEN, "coerced"),
    good("a lone number", "bid", "7", SEVEN, "coerced"),
    good("a lone number in bold", "bid", "**7**", SEVEN, "coerced"),
    good("a lone number in a sentence", "bid", "My bid is 7.", SEVEN, "coerced"),
    good("a lone number in words", "bid", "I would bid seven", SEVEN, "coerced"),
    good("a lone share", "bid", "Bid: 7/10", SEVEN, "coerced"),
    good("a lone number in a tag", "bid", "<bid>7</bid>", SEVEN, "coerced"),
    good("a lone number after thinking", "bid", "<think>3? 5?</think>7", SEVEN, "coerced", thought="3? 5?"),
    good("a full-width digit", "bid", '{"bid": "７"}', SEVEN, "coerced"),
    good("a fence and a word", "bid", fenced('{"bid": "seven"}'), SEVEN, "coerced"),
    good("plain prose", "speak", "Bram dodged my question.", SAID, "coerced"),
    good("prose in quotes", "speak", '"Bram dodged my question."', SAID, "coerced"),
    good("prose in a fence", "speak", "```\nBram dodged my question.\n```", SAID, "coerced"),
    good(
        "prose after thinking",
        "speak",
        "<think>Who?</think>\nBram dodged my question.",
        SAID,
        "coerced",
        thought="Who?",
    ),
    good("prose in German", "speak", "Ich traue Bram nicht.", Speech(text="Ich traue Bram nicht."), "coerced"),
    good("prose in Arabic", "speak", "أنا لا أثق في برام", Speech(text="أنا لا أثق في برام"), "coerced"),
    good(
        "prose with braces",
        "speak",
        "I trust {nobody} here.",
        Speech(text="I trust {nobody} here."),
        "coerced",
    ),
    good(
        "prose that begins like a key",
        "speak",
        "Listen: from now on, we vote Bram, right?",
        Speech(text="Listen: from now on, we vote Bram, right?"),
        "coerced",
    ),
    good(
        "prose that sounds like a refusal",
        "speak",
        "I can't help but notice how quiet Bram is.",
        Speech(text="I can't help but notice how quiet Bram is."),
        "coerced",
    ),
    good(
        "prose that refuses within the game",
        "speak",
        "I'm sorry, but I cannot trust Bram.",
        Speech(text="I'm sorry, but I cannot trust Bram."),
        "coerced",
    ),
    *(
        good(f"prose that refuses a player: {text[:24]}", "speak", text, Speech(text=text), "coerced")
        for text in (
            "I'm sorry, I can't say.",
            "I'm sorry, but I can't tell you my role.",
            "I cannot answer that without giving myself away.",
            "I won't do that. We lose if we exile nobody.",
            "I'm unable to trust anybody here.",
            "Sorry, I can't help it, I trust nobody.",
            "I won't vote with you. That goes against all that was said.",
            "That goes against my whole idea of the night.",
        )
    ),
    good("another word for a statement", "speak", '{"speech": "Bram dodged my question."}', SAID, "coerced"),
    good("a statement as a list", "speak", '{"text": ["One.", "Two."]}', Speech(text="One.\nTwo."), "coerced"),
    good(
        "claims in lower case",
        "speak",
        '{"text": "x", "claims": [{"claim": "inspection", "target": "bram", "role": "wolf", "round": "2"}]}',
        Speech(text="x", claims=(InspectionClaim(target="Bram", role="Werewolf", round=2),)),
        "coerced",
    ),
    good(
        "a claim that cannot be read",
        "speak",
        '{"text": "x", "claims": [{"claim": "accusation", "target": "Bram"}, {"claim": "feeling"}]}',
        Speech(text="x", claims=(AccusationClaim(target="Bram"),)),
        "coerced",
    ),
    good(
        "a claim about nobody who plays",
        "speak",
        '{"text": "x", "claims": [{"claim": "accusation", "target": "Zoe"}]}',
        Speech(text="x"),
        "coerced",
    ),
    good("claims that are no list", "speak", '{"text": "x", "claims": "none"}', Speech(text="x"), "coerced"),
    good(
        "yes and percent",
        "assess_own",
        '{"deceptive": "yes", "confidence": "80%", "kind": "fabrication", "reasoning": "No such vision."}',
        LIE,
        "coerced",
    ),
    good(
        "a percentage without its sign",
        "assess_own",
        '{"deceptive": true, "confidence": 80, "kind": "fabrication", "reasoning": "No such vision."}',
        LIE,
        "coerced",
    ),
    good(
        "a percentage without quotes",
        "assess_own",
        '{"deceptive": true, "confidence": 1%}',
        Label(deceptive=True, confidence=0.01, kind="unspecified"),
        "coerced",
    ),
    good(
        "a decimal comma",
        "assess_own",
        '{"deceptive": true, "confidence": 0,8}',
        Label(deceptive=True, confidence=0.8, kind="unspecified"),
        "coerced",
    ),
    good(
        "camel case",
        "assess_own",
        '{"isDeceptive": true, "confidence": 0.8, "deceptionType": "fabrication", "reasoning": "No such vision."}',
        LIE,
        "coerced",
    ),
    good(
        "booleans as strings",
        "assess_own",
        '{"deceptive": "False", "confidence": "0.9", "reasoning": "I meant it."}',
        HONEST,
        "coerced",
    ),
    good(
        "booleans as numbers as strings",
        "assess_own",
        '{"is_deceptive": "0", "confidence": 0.9, "reasoning": "I meant it."}',
        HONEST,
        "coerced",
    ),
    good(
        "no in German",
        "assess_own",
        '{"deceptive": "nein", "confidence": 0.9, "reasoning": "I meant it."}',
        HONEST,
        "coerced",
    ),
    good(
        "a kind in capitals",
        "assess_own",
        '{"deceptive": true, "confidence": 0.8, "kind": "Fabrication", "reasoning": "No such vision."}',
        LIE,
        "coerced",
    ),
    good(
        "a kind as a verb, in a list",
        "assess_own",
        '{"deceptive": true, "confidence": 0.8, "kind": ["fabricated"], "reasoning": "No such vision."}',
        LIE,
        "coerced",
    ),
    good(
        "a kind that could be any",
        "assess_own",
        '{"deceptive": true, "confidence": 0.8, "kind": "lie"}',
        Label(deceptive=True, confidence=0.8, kind="unspecified"),
        "coerced",
    ),
    good(
        "two kinds",
        "assess_own",
        '{"deceptive": true, "confidence": 0.8, "kind": "omission|distortion"}',
        Label(deceptive=True, confidence=0.8, kind="unspecified"),
        "coerced",
    ),
    good(
        "null for a kind",
        "assess_own",
        '{"deceptive": false, "confidence": 0.9, "kind": null, "reasoning": "I meant it."}',
        HONEST,
        "coerced",
    ),
    good(
        "another word for suspicion",
        "assess_other",
        DOUBT_JSON.replace('"suspicion"', '"suspicion_score"'),
        DOUBT,
        "coerced",
    ),
    good("suspicion out of ten, said so", "assess_other", DOUBT_JSON.replace("0.7", '"7/10"'), DOUBT, "coerced"),
    good("suspicion out of a hundred", "assess_other", DOUBT_JSON.replace("0.7", "70"), DOUBT, "coerced"),
    good(
        "another word for reasoning", "assess_other", DOUBT_JSON.replace("reasoning", "explanation"), DOUBT, "coerced"
    ),
    good("a name in lower case", "vote", '{"target": "bram"}', FOR_BRAM, "coerced"),
    good("a name in capitals", "vote", '{"target": "BRAM"}', FOR_BRAM, "coerced"),
    good("a name with stars", "vote", '{"target": "**Bram**"}', FOR_BRAM, "coerced"),
    good("a short name", "kill", '{"target": "Chi"}', KILL, "coerced"),
    good("a name in a sentence", "vote", '{"target": "I choose Bram."}', FOR_BRAM, "coerced"),
    good("a name with a remark", "vote", '{"target": "Bram (the quiet one)"}', FOR_BRAM, "coerced"),
    good("a name in an object", "vote", '{"target": {"name": "Bram"}}', FOR_BRAM, "coerced"),
    good("a name in a list", "vote", '{"target": ["Bram"]}', FOR_BRAM, "coerced"),
    good("another word for a target", "kill", '{"victim": "Chioma"}', KILL, "coerced"),
    good("a target for its action", "protect", '{"protect": "Chioma"}', KILL, "coerced"),
    good("nobody", "vote", '{"target": "nobody"}', Ballot(target=None), "coerced"),
    good("None as a string", "vote", '{"target": "None"}', Ballot(target=None), "coerced"),
    good("abstaining in a sentence", "vote", '{"target": "I abstain."}', Ballot(target=None), "coerced"),
    good("a lone name", "vote", "Bram", FOR_BRAM, "coerced"),
    good("a lone name in a sentence", "vote", "I vote for Bram because his story changed.", FOR_BRAM, "coerced"),
    good("a lone name as a JSON string", "vote", '"Bram"', FOR_BRAM, "coerced"),
    good("a lone name in a JSON list", "vote", '["Bram"]', FOR_BRAM, "coerced"),
    good("a lone null", "vote", "null", Ballot(target=None), "coerced"),
    good("a plain abstention", "vote", "I abstain.", Ballot(target=None), "coerced"),
    good("a lone victim", "kill", "Tonight: Chioma", KILL, "coerced"),
    good("a lone name among partners", "whisper", "Chioma, I say.", Proposal(target="Chioma"), "coerced"),
    good(
        "a name that is also a word",
        "vote",
        "To be frank, Bram lies.",
        FOR_BRAM,
        "coerced",
        legal=("Frank", "Bram"),
        names=("Frank", "Bram"),
    ),
    good(
        "an emoji in a name",
        "vote",
        "I pick 🐺Bo",
        Ballot(target="🐺Bo"),
        "coerced",
        legal=("🐺Bo", "Ana"),
        names=("🐺Bo", "Ana"),
    ),
    good(
        "a name of emoji only",
        "vote",
        '{"target": "🦊!"}',
        Ballot(target="🦊"),
        "coerced",
        legal=("🦊", "🐻"),
        names=("🦊", "🐻"),
    ),
    good(
        "a name with its accents apart",
        "vote",
        '{"target": "Jose\u0301"}',
        Ballot(target="José"),
        "coerced",
        legal=("José", "Ana"),
        names=("José", "Ana"),
    ),
    good(
        "one name within another",
        "vote",
        "It has to be Ann Lee.",
        Ballot(target="Ann Lee"),
        "coerced",
        legal=("Ann", "Ann Lee"),
        names=("Ann", "Ann Lee"),
    ),
]

UNPARSEABLE = [
    bad("nothing", "bid", "", "unparseable"),
    bad("white space", "speak", " \n\t ", "unparseable"),
    bad("an empty object", "bid", "{}", "unparseable"),
    bad("an empty list", "vote", "[]", "unparseable"),
    bad("a boolean", "speak", "true", "unparseable"),
    bad("null for a statement", "speak", "null", "unparseable"),
    bad("null for a bid", "bid", '{"bid": null}', "unparseable"),
    bad("NaN", "assess_own", '{"deceptive": true, "confidence": NaN}', "unparseable"),
    bad("infinity", "assess_own", '{"deceptive": true, "confidence": Infinity}', "unparseable"),
    bad("a number beyond all floats", "assess_own", '{"deceptive": true, "confidence": 1e999}', "unparseable"),
    bad("a missing field", "assess_own", '{"deceptive": true}', "unparseable"),
    bad("no suspicion", "assess_other", LIE_JSON, "unparseable"),
    bad("a boolean for a bid", "bid", '{"bid": true}', "unparseable"),
    bad("a mood for a bid", "bid", '{"bid": "high"}', "unparseable"),
    bad("a mood for a confidence", "assess_own", '{"deceptive": true, "confidence": "high"}', "unparseable"),
    bad("maybe", "assess_own", '{"deceptive": "maybe", "confidence": 0.5}', "unparseable"),
    bad("a probability for a flag", "assess_own", '{"deceptive": 0.6, "confidence": 0.5}', "unparseable"),
    bad("an object for a flag", "assess_own", '{"deceptive": {"x": 1}, "confidence": 0.5}', "unparseable"),
    bad("a number for a statement", "speak", '{"text": 5}', "unparseable"),
    bad("an empty target", "vote", '{"target": ""}', "unparseable"),
    bad("no target", "vote", '{"reason": "He dodged."}', "unparseable"),
    bad(
        "a claim is no vote",
        "vote",
        '{"reason": "x", "claims": [{"claim": "accusation", "target": "Bram"}]}',
        "unparseable",
    ),
    bad("prose for a label", "assess_own", "That was an honest statement.", "unparseable"),
    bad("prose for a bid", "bid", "I very much want to speak in round 3.", "unparseable"),
    bad("prose without a name", "kill", "Let us wait and see.", "unparseable"),
    bad("dots", "speak", "...", "unparseable"),
    bad("a refusal", "speak", "I'm sorry, but I can't assist with that.", "refused"),
    bad("a refusal of its makers'", "speak", "As an AI language model, I cannot deceive others.", "refused"),
    bad("a refusal that names a player", "vote", "I cannot participate in this vote against Bram.", "unparseable"),
    bad("a refusal to play", "speak", "I won't role-play a killer, since it is against my guidelines.", "refused"),
    bad("a refusal for a bid", "bid", "I’m sorry, but I can’t help with that.", "refused"),
    bad("a refusal for a vote", "vote", "I cannot fulfill this request.", "refused"),
    bad("a refusal for a judgement", "assess_other", "I'm unable to assist you with this task.", "refused"),
    bad("a refusal that offers more", "speak", "I can't help with that. Is there anything else you need?", "refused"),
    bad("a refusal behind an apology", "kill", "I'm sorry. I cannot participate in this kind of game.", "refused"),
    bad("a refusal in a fence", "speak", "```\nSorry, but I can't comply.\n```", "refused"),
    bad(
        "a refusal after thinking", "speak", "<think>No.</think>I must decline this request.", "refused", thought="No."
    ),
    bad("a refusal of policy", "whisper", "I'm sorry, but that goes against my content policy.", "refused"),
    bad("a refusal in a string", "speak", '"I cannot assist with that request."', "refused"),
    bad("a web page", "speak", "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>", "unparseable"),
    bad("a web page for a bid", "bid", "\n<html>\n<head><title>7</title></head></html>", "unparseable"),
    bad("an outage", "speak", "502 Bad Gateway", "unparseable"),
    bad("a time-out", "speak", "upstream connect error or disconnect before headers", "unparseable"),
    bad("a provider's complaint", "speak", '{"error": {"message": "Rate limit reached", "code": 429}}', "unparseable"),
    bad("only thinking", "bid", '<think>{"bid": 7}</think>', "unparseable", thought='{"bid": 7}'),
    bad("thinking that never ends", "bid", '<think>Perhaps {"bid": 7}', "unparseable", thought='Perhaps {"bid": 7}'),
    bad("cut off in a number", "bid", '{"bid": 1', "unparseable"),
    bad("cut off before the number", "bid", '{"bid": ', "unparseable"),
    bad("cut off in the key", "bid", '{"bi', "unparseable"),
    bad("cut off at once", "bid", "{", "unparseable"),
    bad("cut off in the fence", "bid", "```json\n", "unparseable"),
    bad("cut off in a statement", "speak", '{"statement": "I do not think Bram is', "unparseable"),
    bad("cut off in a statement with a brace", "speak", '{"statement": "I like {Bram}', "unparseable"),
    bad("cut off in a name", "vote", '{"target": "Bra', "unparseable"),
    bad(
        "cut off before suspicion",
        "assess_other",
        PAPER_DOUBT[:-28],
        "unparseable",
        thought="1. He was asked. 2. He asked back.",
    ),
    bad(
        "cut off in suspicion",
        "assess_other",
        PAPER_DOUBT[:-3],
        "unparseable",
        thought="1. He was asked. 2. He asked back.",
    ),
    bad("quotes that hide the end", "speak", '{"text": "I said: "trust me, {friend}" ok", "c": 1}', "unparseable"),
    bad("a template", "bid", '{"bid": <0-10>}', "unparseable"),
    bad("200 kB of one letter", "speak", "a" * 200_000, "unparseable"),
    bad("200 kB of braces", "bid", "{" * 200_000, "unparseable"),
    bad("200 kB of brackets", "vote", "[" * 200_000, "unparseable"),
    bad("100 thousand nested objects", "assess_own", '{"a":' * 100_000, "unparseable"),
    bad("a number of 200 kB", "bid", '{"bid": ' + "9" * 200_000 + "}", "unparseable"),
    bad("another language's answer", "bid", "Ich möchte gern reden.", "unparseable"),
]

ILLEGAL = [
    bad("a bid above the range", "bid", '{"bid": 15}', "illegal"),
    bad("a bid below the range", "bid", '{"bid": -1}', "illegal"),
    bad("a lone number below the range", "bid", "-3", "illegal"),
    bad("half a bid", "bid", '{"bid": 7.5}', "illegal"),
    bad("a huge bid", "bid", '{"bid": 100000000000000000000000}', "illegal"),
    bad("a confidence above the range", "assess_own", '{"deceptive": true, "confidence": 250}', "illegal"),
    bad("a confidence below the range", "assess_own", '{"deceptive": true, "confidence": -0.1}', "illegal"),
    bad("130 %", "assess_own", '{"deceptive": true, "confidence": "130%"}', "illegal"),
    bad("a dead player", "vote", '{"target": "Dilara"}', "illegal"),
    bad("a player nobody knows", "vote", '{"target": "Zoe"}', "illegal"),
    bad("a name with a slip", "vote", '{"target": "Brem"}', "illegal"),
    bad("two letters of a name", "vote", '{"target": "Br"}', "illegal"),
    bad("null where somebody must be named", "kill", '{"target": null}', "illegal", legal=("Ana", "Bram")),
    bad("nobody where somebody must be named", "kill", '{"target": "nobody"}', "illegal", legal=("Ana", "Bram")),
]

AMBIGUOUS = [
    bad("two different answers", "bid", '{"bid": 7}\n{"bid": 3}', "ambiguous"),
    bad("two different answers in a list", "bid", '[{"bid": 7}, {"bid": 3}]', "ambiguous"),
    bad("an answer and one that was cut off", "bid", '{"bid": 7}\nNo, wait: {"bid": ', "ambiguous"),
    bad("an answer and then a dead player", "vote", '{"target": "Bram"} No: {"target": "Dilara"}', "ambiguous"),
    bad("a broken answer and a whole one", "bid", "{'bid': 3} or rather {\"bid\": 7}", "ambiguous"),
    bad("a key twice", "bid", '{"bid": 7, "bid": 3}', "ambiguous"),
    bad(
        "two keys for one thing", "assess_own", '{"deceptive": true, "is_deceptive": 0, "confidence": 0.5}', "ambiguous"
    ),
    bad("suspicion on an unknown scale", "assess_other", DOUBT_JSON.replace("0.7", "7"), "ambiguous"),
    bad("confidence on an unknown scale", "assess_own", '{"deceptive": true, "confidence": "8"}', "ambiguous"),
    bad("two names", "vote", '{"target": "Ana or Bram"}', "ambiguous"),
    bad("two names in a list", "vote", '{"target": ["Ana", "Bram"]}', "ambiguous"),
    bad("two names in prose", "vote", "Ana told me that Bram lies.", "ambiguous"),
    bad("a name that is ruled out", "vote", "Anyone but Bram!", "ambiguous"),
    bad("a name that is refused", "vote", '{"target": "not Bram"}', "ambiguous"),
    bad(
        "a beginning of two names",
        "vote",
        '{"target": "Mar"}',
        "ambiguous",
        legal=("Maria", "Marek"),
        names=("Maria", "Marek"),
    ),
    bad("a crowd of answers", "bid", '{"bid": 7} ' * 40, "ambiguous"),
]

CORPUS: list[Ugly] = [*CLEAN, *EXTRACTED, *REPAIRED, *COERCED, *UNPARSEABLE, *ILLEGAL, *AMBIGUOUS]
