"""The patterns of role and inspection claims, over sentences as `analytics.claims.words` yields them.

They are strict: a claim is believed to be one only in a clause that begins with it, or with words that merely announce
it ("I must tell you that"), and that ends, or goes on with words that do not take it back. No pattern repeats another
repetition, so none takes more than linear time.
"""

from __future__ import annotations

import re
from typing import Final

from wolfbus.marks import MARK

NIGHT_OF: Final = {str(number): number for number in range(1, 21)}
for _number, _words in enumerate(("one first", "two second", "three third", "four fourth", "five fifth"), 1):
    NIGHT_OF.update(dict.fromkeys(_words.split(), _number))
"""Rounds by the word for a night."""

_ROLE = r"(?P<role>seer|doctor|villager|werewolf|wolf)\b(?!['\-])"
_POWER = r"(?P<role>seer|doctor)\b(?!['\-])"
_NAME = rf"(?P<name>{MARK})(?!['\-\w])"
_TRUE = r"(?:real |true |actual |only |one and only |one true |village |)"
_PLAIN = r"(?:real |true |actual |only |simple |plain |ordinary |regular |normal |mere |humble |)"
_ADVERB = r"(?:indeed |in fact |actually |really |truly |also |still |)"
_A = r"(?:the |our |a |an |one |)"

OWN = re.compile(
    r"seer|doctor|\bi(?:['\u2018\u2019\u201b\u02bc\u00b4`]m| am| claim|,)|checked|inspected|investigated|examined|"
    r"scanned|divined|peeked|used my|\bmy |\bas (?:a|the|your|our) "
)
"""A text in lower case without any of these, as most accusations are, claims nothing that is looked for."""

SELF = re.compile(
    r"\b(?:i'm |i am |i claim (?:to be )?|(?:i'm|i am) claiming (?:to be )?|my (?:true |real )?role is )"
    rf"{_ADVERB}(?:the |your |our |a |an |just a |only a |simply a |just |){_PLAIN}{_ROLE}"
)
"""I am the Seer."""
SPEAKING_AS = re.compile(
    rf"\bas (?:the |your |our |a ){_TRUE}{_ROLE},? (?=(?:i|i've|i'm|my|let me)\b)"
    r"(?!(?:i|my \w+)(?:'d| would| could| might| should)\b)"
)
"""As the Doctor, I …"""
I_THE = re.compile(rf"\bi, (?:as )?(?:the |your |our ){_TRUE}{_ROLE},")
"""I, the Seer, …"""
HERE = re.compile(rf"\b{_POWER} here\b")
"""Seer here."""
OTHER = re.compile(rf"(?P<name>{MARK})(?: is| was|'s) {_ADVERB}(?:the |our |your ){_TRUE}{_POWER}")
"""Raj is the Seer. Seers and Doctors only: "Raj is a Villager" is said of anybody who is trusted, and "Raj is a
Werewolf" accuses, which is an opinion."""
ROLE_IS = re.compile(rf"\b(?:the|our|your) {_TRUE}{_POWER} (?:is|was) {_ADVERB}(?P<name>me|{MARK})(?!['\-\w])")
"""The Seer is Raj; the Seer is me."""

_INSPECT = r"(?:checked|inspected|investigated|examined|scanned|divined|peeked at)"
_DONE = r"(?:also |just |then |already |personally |secretly |actually |successfully |)"
_NTH = r"(?:first|second|third|fourth|fifth|last|previous)"
_WHEN = (
    r"(?P<when> (?:last night|tonight|yesterday|overnight|myself|during the night|in the night"
    rf"|(?:(?:on|during|in) )?(?:the )?{_NTH} night"
    r"|(?:(?:on|during|in) )?(?:night|round) (?:\d\d?|one|two|three|four|five))|)"
)
INSPECTED = re.compile(rf"\b(?:i|i've|i have) {_DONE}{_INSPECT} {_NAME}{_WHEN}")
"""I inspected Raj last night …"""
USED_POWER = re.compile(
    r"\bi used my (?:power|powers|ability|inspection|check|vision|gift)(?: last night)? "
    rf"(?:on|to (?:check|inspect|investigate)) {_NAME}{_WHEN}"
)
"""I used my power on Raj …"""
WENT_ON = re.compile(rf"(?:(?<=\bseer and )|(?<=\bseer, and )|(?<=\bseer, )|(?<=\bseer who )){_INSPECT} {_NAME}{_WHEN}")
"""I am the Seer and inspected Raj …"""

_LEARNED = (
    r"(?:(?:and |but )?(?:now )?(?:i )?(?:found|saw|learned|learnt|discovered|confirmed|know|can confirm|can tell you|"
    r"can now confirm)(?: out)?(?: that)? |)"
)
_IT_IS = (
    rf"(?:(?P<who>he|she|they|it|who|{MARK})(?:'s |'re | is | are | was | were | came back as | came back |"
    r" came up as | turned out to be | turned out | turns out to be | showed up as )"
    r"|(?:my |the )?result (?:is |was |came back |came back as |says |said ))"
)
RESULT = re.compile(
    r"[,:;\u2014\-]{0,2} ?(?:and |)(?:it turns out |turns out |it turned out |)(?:that |)"
    rf"{_LEARNED}{_IT_IS}{_ADVERB}{_A}{_TRUE}{_ROLE}"
)
"""… and he is a Werewolf."""
FOUND = re.compile(
    rf",? and (?:i )?(?:got |saw |found )(?:out )?(?:(?P<who>him|her|them|{MARK}) to be )?{_A}{_TRUE}{_ROLE}"
)
"""… and found a Werewolf."""
BARE_RESULT = re.compile(rf"(?: ?[:\u2014] ?| --? )(?:result: ?|the result: ?|)(?:the |a |an |){_ROLE}")
"""… : Werewolf."""
NEXT_RESULT = re.compile(
    rf"(?:and |)(?:it turns out (?:that |)|)(?:{_LEARNED}{_IT_IS}{_ADVERB}{_A}{_TRUE}|(?:the )?result: ?){_ROLE}"
)
"""I inspected Raj. He is a Werewolf."""
REVERSED = re.compile(
    rf"(?P<name>{MARK})(?: is| was|'s) {_ADVERB}(?:the |our |a |an ){_TRUE}{_ROLE}[,;:.!\u2014\- ]{{1,3}}"
    rf"(?:and |because |since |as |)(?:i|i've|i have) {_DONE}{_INSPECT} (?P<who>him|her|them|{MARK})(?!['\-\w]){_WHEN}"
)
"""Raj is a Werewolf: I inspected him last night."""
FINDING = re.compile(
    r"\bmy (?:inspection|investigation|check|vision|reading|result)(?: last night)? (?:of|on|into|for) "
    rf"{_NAME}{_WHEN} (?:showed|shows|revealed|reveals|came back|returned|returns|says|said|confirmed|confirms|was|is)"
    rf"(?: me)?(?: that)?(?: as)?:? ?(?:(?P<who>he|she|they|{MARK})(?: is| are| was|'s) |){_A}{_ROLE}"
)
"""My inspection of Raj showed a Werewolf."""

NEEDED: Final[dict[re.Pattern[str], tuple[str, ...]]] = {
    SELF: ("i am ", "i'm ", "i claim ", "role is "),
    SPEAKING_AS: ("as ",),
    I_THE: ("i, ",),
    HERE: (" here",),
    OTHER: ("seer", "doctor"),
    ROLE_IS: ("seer is", "doctor is", "seer was", "doctor was"),
    INSPECTED: ("ed ",),
    USED_POWER: ("used my ",),
    WENT_ON: ("seer and ", "seer, ", "seer who "),
    REVERSED: ("ed ",),
    FINDING: ("my ",),
}
"""For each pattern, words of which a sentence must have one."""

BREAK = re.compile(
    r"[,;:()\[\]\u2014]| - |--|\b(?:and|but|so|because|since|while|yet|then|plus|however|though|although)\b"
)
"""Where a clause ends."""
STRONG_BREAK = re.compile(r"[;\u2014]| - |--|\b(?:but|however|yet|though|although)\b")
"""Where what was said before loses its hold on what follows: "Raj claims …, but I am the Seer"."""

OPENING = re.compile(
    r"(?:(?:yes|no|well|ok|okay|look|listen|honestly|frankly|actually|indeed|finally|now|today|here|also|again|first|"
    r"everyone|everybody|folks|friends|villagers|all right|alright|in fact|in truth|the truth is|truth is|the fact is|"
    r"fact is|to be clear|for the record|believe me|trust me|yeah|hello|hi|good morning|speaking|as i said|like i said|"
    rf"last night|on night \w+|during the night|in the night|on the \w+ night|{MARK}|the simple truth is) ?){{0,4}}"
    r"(?:(?:i|we) (?:all )?(?:can |will |must |have to |need to |want to |shall |do |)"
    r"(?:now |just |also |finally |hereby |)"
    r"(?:reveal|confirm|admit|confess|swear|repeat|declare|announce|promise|say|state|disclose|share|tell you|"
    r"tell everyone|tell everybody|know|told you|said|already said|already told you|revealed|am telling you)"
    r"(?: now| again| all| openly| publicly| to you| to you all| to everyone| to all of you)?"
    r"(?: that)? ?|i'm telling you(?: that)? ?|i'll (?:say|admit|confess|tell you|be honest)(?: it)?(?: that)? ?)?"
    r"(?:that )?"
)
"""What may stand before a claim in its clause."""
LONGEST_OPENING: Final = 80
"""Characters of a clause before a claim; longer ones do more than announce it."""

REPORTED = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|imagine|imagining|assume|assuming|assumes|pretend\w*|hypothetical\w*|"
    r"says|claims|claimed|tells|told me|told us|saying|thinks|believes|insists|insisted|argues|argued|suggests|"
    r"suggested|accuses|accused|wish|wishes|according|lied|lies|lying|lie|story|false|untrue|nonsense|not true|"
    r"(?<!\bi )(?<!\bi already )said)\b|\bas (?:if|though)\b"
)
"""Before a claim, these make it somebody else's, or no claim at all."""
UNSURE = re.compile(
    r"\b(?:think|thinking|guess|suspect|believe(?! me)|bet|feel|feeling|hope|doubt|would|could|might|may|perhaps|maybe|"
    r"probably|possibly|likely|seems?|sounds?|looks?|theory|either|convinced|sure|certain|apparently|chance|supposedly|"
    r"allegedly|suggest|assumed|feels)\b"
)
"""Before a claim about another player, these make it an opinion."""
JEST = re.compile(
    r"\b(?:kidding|joking|joke|jk|hypothetical(?:ly)?|in theory|role-?play|sarcas\w+|for example|for instance|"
    r"let's say)\b"
)
"""Anywhere in a statement, these make nothing in it a claim."""
CLOSING = re.compile(
    r" ?(?:$|[.!,;:)\]\u2014]|- |--| (?:and|but|so|because|since|who|which|here|now|today|in this game|this game|"
    r"of this village|of this town|of the village|of this game|not|for real|as you know|you know|"
    r"i (?:checked|inspected|investigated|protected|saved|guarded)|last night|on night|during the night)\b)"
)
"""What may follow a claim."""
TAKEN_BACK = re.compile(
    r"[ ,;\u2014\-]{0,3}(?:if|unless|or|nor|assuming|suppos\w+|according|says|said|claims|claimed|right(?! now)|"
    r"huh|not really|in (?:your|his|her|their)|he (?:says|said|claims|claimed)|she (?:says|said|claims|claimed)|"
    rf"they (?:say|said|claim|claimed)|{MARK} (?:says|said|claims|claimed))\b"
)
"""What turns a claim around after the fact."""
DOUBTED = re.compile(
    r"[ ,;\u2014\-]{0,3}(?:(?:at least )?(?:i|we) (?:\w+ )?(?:think|guess|believe|suspect|bet|suppose|assume|hope|"
    r"feel)|maybe|perhaps|probably|apparently|supposedly|allegedly|it seems|in my (?:view|opinion))\b"
)
"""What makes a claim about another player an opinion after the fact."""
ROUND = re.compile(rf"\b(?:night|round) (\w+)|\b({'|'.join(word for word in NIGHT_OF if word.isalpha())}) night\b")
"""The night that is named."""
