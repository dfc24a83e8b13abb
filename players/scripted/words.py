"""The sentences scripted players say. Placeholders: {t} the player meant, {o} another player, {d} who died last
night, {e} evidence (a clause that begins with {t}).

The patterns of `cues` must find in each sentence what the speaker claims beside it; a test holds them together.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from players.scripted.evidence import Ground

Intent: TypeAlias = Literal[
    "first day",
    "death",
    "quiet night",
    "hedge",
    "doubt",
    "accuse",
    "accuse boldly",
    "agree",
    "ask",
    "ask vote",
    "defend self",
    "defend self as villager",
    "deflect",
    "defend other",
    "back seer",
    "weigh seers",
    "reveal wolf",
    "report wolf",
    "reveal clear",
    "report clear",
    "counterclaim",
    "expose",
    "repeat seer",
    "hint trust",
    "doctor hint",
    "doctor claim",
    "doctor claim saved",
]
"""What a turn of the debate is used for."""

SENTENCES: Final[dict[Intent, tuple[str, ...]]] = {
    "first day": (
        "Morning, everybody. We know next to nothing yet, so let us hear each other out before we point a finger.",
        "It is the first day. I would like to hear one honest impression from each of you, even a small one.",
        "We have little to go on. I will listen for who talks a lot and says nothing.",
        "Before the guessing starts: who slept badly, and who seems a little too cheerful this morning?",
        "Let us keep it simple today. Say who you would keep an open mind about, and why.",
        "I have no great theory to offer. What counts on a first day is who commits to something and who waits.",
        "The first day is always thin. Give me a name and a reason, and we can compare them tomorrow.",
        "I suggest we go round once before anybody votes. Those who stay out of it will tell us something too.",
    ),
    "death": (
        "We lost {d} last night. Who had something to gain from that? I would begin there.",
        "{d} is dead. The Wolves did not pick that name by accident, so think back to what {d} said.",
        "Poor {d}. Whoever did this is sitting here and looking sad about it.",
        "They took {d} in the night. That tells me they were afraid of what {d} might notice.",
        "With {d} gone we are one honest voice short. We cannot afford a careless vote today.",
        "I keep asking myself why {d}. It might have been fear, or it might simply have been luck.",
        "{d} did not deserve that. Let us use the day better than we used the last one.",
        "So it was {d}. I would like each of you to say whom {d} was looking at before the night.",
        "Last night cost us {d}. Tonight it will be another of us unless we find somebody.",
        "I had hoped to hear more from {d}. Somebody here made sure that we will not.",
    ),
    "quiet night": (
        "Nobody died last night. Either the Doctor guessed well or the Wolves lost their nerve.",
        "A night without a death. That buys us a day, so let us not throw it away.",
        "We are all still here this morning. Somebody out there did good work in the dark.",
        "No victim this time. The Wolves will be in a bad mood, so look for short tempers.",
        "Everybody woke up. I would thank the Doctor if I knew whom to thank.",
        "A quiet night. It gives us one more vote than we expected, and we should spend it with care.",
    ),
    "hedge": (
        "I am not sure about anybody yet. Maybe the vote will tell us more than the talk does.",
        "Hard to say. Everybody sounds reasonable this morning, and that is perhaps the problem.",
        "I have two names in mind, but no proof. I would rather listen a little longer.",
        "It could be almost anyone. For now I am only collecting small things.",
        "Perhaps we are all overthinking this. Does anybody have something solid?",
        "I might change my mind before the vote. At the moment nothing quite fits together.",
        "I guess I am waiting for somebody to slip. So far it has not happened.",
        "There is probably a pattern in all this, though I do not see it yet.",
        "I do not want to guess loudly. A wrong exile helps nobody except the Wolves.",
        "Let us slow down. A hurried vote is exactly what the Wolves are hoping for.",
        "I have been counting who speaks up for whom. It might be nothing, it might be everything.",
        "My head says one thing and my gut another. I will decide when the ballots come.",
    ),
    "doubt": (
        "{e}, and that bothers me. I have no proof, only a doubt.",
        "I keep coming back to {t}. {e}.",
        "Something about {t} seems off to me. {e}.",
        "I am not convinced by {t}. {e}.",
        "{e}. It might mean nothing, but I dislike it.",
        "My eyes are on {t} for the moment. {e}.",
        "{t} worries me a little: {e}.",
        "If I had to name somebody, perhaps it is the obvious one. {e}, and that is odd.",
        "{e}. That sits badly with me.",
        "I am uneasy about {t}. {e}, and I would like to hear more.",
        "Call it a suspicion, no more. {e}.",
        "One thing nags at me. {e}.",
    ),
    "accuse": (
        "I think {t} is a Werewolf. {e}.",
        "My vote is for {t} today. {e}.",
        "{t} is lying to us. {e}.",
        "We should exile {t}. {e}.",
        "{e}. I am voting for {t}, and I hope you join me.",
        "I have seen enough: {t} is one of the Wolves. {e}.",
        "{e}. For me {t} is the Werewolf we are looking for.",
        "Put my name down against {t}. {e}. I vote for {t}.",
        "{t} has to go today. {e}.",
        "I do not say it lightly, but {t} is a Werewolf. {e}.",
        "Everything points one way. {e}. Let us exile {t}.",
    ),
    "accuse boldly": (
        "It is obvious by now. {t} is a Werewolf. {e}.",
        "No doubt about it: {t} is a Werewolf. {e}.",
        "{e}. That is clearly guilt. We exile {t} today, for sure.",
        "I swear {t} is a Werewolf. {e}, plain as day.",
        "{t} is definitely lying. {e}. Vote for {t} and thank me tomorrow.",
        "Clearly {t} is a Werewolf, and everybody knows it. {e}.",
        "{e}. That settles it beyond question: exile {t}.",
    ),
    "agree": (
        "I agree with {o}. {t} is a Werewolf, or plays like one. {e}.",
        "{o} put it well. I vote for {t} too. {e}.",
        "I was about to say the same as {o}. {e}. We exile {t}.",
        "Count me in with {o}. {e}. My vote is for {t}.",
        "What {o} said makes sense to me. {e}. I am voting for {t}.",
    ),
    "ask": (
        "{t}, we have not heard much from you. Whom do you suspect, and why?",
        "I would like a straight word from {t} before we vote. Where do you stand?",
        "{t}, what do you make of all this? You have been listening for long enough.",
        "Could {t} say something we can check? Anything at all would help.",
        "{t}, give us one name. Whom do you trust least at this table?",
        "And {t}? Silence is an answer too, just not a good one.",
    ),
    "ask vote": (
        "{t}, why did you vote for {o} yesterday? I would like to hear it in your own words.",
        "I looked at the last ballots again. {t}, what made you choose {o}?",
        "{t}, your vote against {o} still puzzles me. Can you explain it?",
        "Yesterday {t} voted for {o}. Was that conviction, {t}, or just going along?",
    ),
    "defend self": (
        "{o}, you have me wrong. Look at how I voted, and then at who gains when I am gone.",
        "I hear you, {o}, but you have it wrong. I am on your side, and I would ask the same questions.",
        "{o} is mistaken, nothing worse. I have nothing to hide; ask me what you like.",
        "Exile me if you must, and tomorrow you will see that {o} led you astray.",
        "You are wrong about me, {o}. I say what I think, and that is my whole crime.",
        "I can see why {o} would think so. Still, what is there against me apart from a feeling?",
        "Trust me or do not, {o}, but tell us what I should have said instead.",
        "Voting me out costs us a good voice. {o}, is that really the plan?",
    ),
    "defend self as villager": (
        "{o}, I am just a Villager. Voting me out does the Wolves a favour.",
        "I am a simple Villager, {o}. I have no power to prove it, only my votes.",
        "You have me wrong, {o}. I am a Villager and I want the same as you.",
        "There is no secret here. I am a plain Villager, and {o} is wasting a day on me.",
        "I am only a Villager, so I cannot prove a thing. Ask yourself why {o} goes after me.",
    ),
    "deflect": (
        "Why is everybody looking at me? I would rather hear from {t}. {e}.",
        "This is an easy target you have found. Look elsewhere: {e}.",
        "While you waste time on me, nobody asks about {t}. {e}.",
        "You are in the wrong place with me. The real question is {t}. {e}.",
        "Forget me for a moment. {e}, and nobody says a word about it.",
        "What a distraction. {e}, which is far more odd than anything I did.",
    ),
    "defend other": (
        "I trust {t} so far. I do not see what {o} sees.",
        "Leave {t} alone for today. {t} reads well to me.",
        "I would not follow {o} here. I believe {t}.",
        "I vouch for {t}, as far as anybody can. There are better names to look at.",
        "{t} sounds honest to me. What exactly is the case, {o}?",
        "I stand by {t}. Nothing said so far has changed that.",
    ),
    "back seer": (
        "I believe {o}. {t} has to go today.",
        "We have a Seer who speaks up. I trust {o}. Let us exile {t}.",
        "{o} took a risk by speaking. I vote for {t}, and I hope that we all do.",
        "Unless somebody else claims to be the Seer, it is simple: we exile {t}.",
        "That is the best lead we have had. I am voting for {t}.",
    ),
    "weigh seers": (
        "Two Seers cannot both be right. I believe {o}, and {t} is lying.",
        "One of our Seers is a fraud. To my ears {t} is the liar. I trust {o} more.",
        "We have too many Seers at this table. One of them made it all up. I vote for {t}.",
        "Compare the two stories. I believe {o}. My vote is for {t}.",
    ),
    "reveal wolf": (
        "I am the Seer. I inspected {t} and saw a Werewolf. Please vote for {t} today.",
        "It is time to speak: I am your Seer. I inspected {t}. {t} is a Werewolf.",
        "Listen, I am the Seer. I checked {t} in the night, and {t} is a Werewolf.",
        "I have kept quiet for long enough. I am the Seer, and I inspected {t}: a Werewolf.",
        "I am the Seer, and I know what this costs me. I inspected {t}. Werewolf. Exile {t} now.",
        "As your Seer I tell you what I saw. I inspected {t}, and {t} is a Werewolf.",
    ),
    "report wolf": (
        "I inspected {t} last night: a Werewolf. You know what to do.",
        "Another night, another answer. I inspected {t} and found a Werewolf.",
        "Your Seer again. I checked {t}, and {t} is a Werewolf. Exile {t}.",
        "I looked into {t} last night. {t} is a Werewolf, and I am as sure as I can be.",
    ),
    "reveal clear": (
        "I am the Seer. I inspected {t}, and {t} is not a Werewolf. Look at the others.",
        "You should know that I am the Seer. I checked {t}: no Werewolf. That narrows it down.",
        "I am your Seer, for what it is worth. I inspected {t}. {t} is one of us.",
        "Before I die with it: I am the Seer. I inspected {t}, who is no Werewolf.",
    ),
    "report clear": (
        "I inspected {t} last night. {t} is not a Werewolf, so leave {t} alone.",
        "News from your Seer. I checked {t}: no Werewolf. We are getting closer.",
        "I looked into {t} in the night. {t} is one of us.",
        "Strike {t} off your lists. I inspected {t}, who is not a Werewolf.",
    ),
    "counterclaim": (
        "{t} is lying. I am the Seer. I inspected {t} and saw a Werewolf.",
        "Do not fall for it. I am the real Seer, and I inspected {t}. {t} is a Werewolf.",
        "There is one Seer here and it is not {t}. I am the Seer. I checked {t}: a Werewolf.",
        "That claim is stolen. I am the true Seer. I inspected {t}, and {t} is a Werewolf.",
    ),
    "expose": (
        "{t} is lying. I am the Seer, and there is only one.",
        "I am the Seer. Whatever {t} claims to have seen is made up, so {t} has to go.",
        "That is my role {t} is wearing. I am the Seer, and {t} is a Werewolf.",
        "I had hoped to wait, but I am the Seer and {t} is a liar. Vote for {t}.",
    ),
    "repeat seer": (
        "I told you what I saw. I am the Seer, and {t} is a Werewolf. Vote for {t}.",
        "Nothing has changed since I spoke. I am the Seer. We exile {t} or we lose.",
        "I am the Seer, and I do not ask for trust, only for one vote against {t}. Exile {t}.",
        "Please do not let this day go by. As the Seer I ask you to vote for {t}.",
    ),
    "hint trust": (
        "I have good reason for trusting {t}. Please do not ask me how I know.",
        "Take it from me that {t} is on our side. I will explain another day.",
        "I would bet a lot on {t} being honest. Let us look at the rest of the table.",
    ),
    "doctor hint": (
        "Somebody's work in the night paid off. Let us just say that I am not surprised.",
        "I am glad that everybody woke up. Some of us sleep less than others.",
        "The Wolves wanted somebody last night and did not get them. I would not ask too loudly why.",
        "A night like that does not happen by itself. Be grateful, and do not go looking for the reason.",
    ),
    "doctor claim": (
        "I am the Doctor. I protected {t} last night. Exile me and nobody guards you.",
        "All right: I am the Doctor. I guarded {t} last night, and {t} can live with that.",
        "You are about to lose your Doctor. I watched over {t} last night; think again.",
        "I did not want to say it. I am your Doctor, and I protected {t} last night.",
    ),
    "doctor claim saved": (
        "I am the Doctor. I protected {t} last night, and nobody died. Draw your own conclusions.",
        "I am your Doctor. I saved {t} in the night, so spare me the accusations.",
        "Nobody died last night because I am the Doctor and I protected {t}. Now leave me be.",
    ),
}

EVIDENCE: Final[dict[Ground, tuple[str, ...]]] = {
    "result": (
        "{t} was inspected by {o}, and we all heard the result",
        "{t} had no good answer to what {o} saw",
        "{t} has the word of {o} standing against every excuse",
    ),
    "rival": (
        "{t} claims the same role as {o}, and one of them made it up",
        "{t} came forward with a story that does not fit the one {o} told",
    ),
    "voted me": (
        "{t} voted for me yesterday and never said why",
        "{t} voted against me and I know where I stand",
    ),
    "voted innocent": (
        "{t} voted for {o}, who was never our problem",
        "{t} voted for {o} and we know how that looks today",
    ),
    "voted": (
        "{t} voted for {o} yesterday, which still sits badly with me",
        "{t} wanted {o} gone yesterday and I suspect there is more to it",
        "{t} was quick to put a vote on {o}",
    ),
    "abstained": (
        "{t} would not even vote yesterday",
        "{t} let the others decide yesterday",
        "{t} kept a clean ballot while we were choosing",
    ),
    "flipped": (
        "{t} changed sides about {o}",
        "{t} told us one thing about {o} and now tells us another",
    ),
    "pressed me": (
        "{t} went straight for me with nothing in hand",
        "{t} needs me gone a little too much",
    ),
    "pressed": (
        "{t} went after {o} very quickly",
        "{t} was quick to point at {o}",
        "{t} made up a case against {o} in one breath",
    ),
    "deflects": (
        "{t} keeps steering us elsewhere",
        "{t} answers every question with another name",
    ),
    "certain": (
        "{t} sounds far too certain for somebody who saw nothing",
        "{t} is never in two minds about anything",
    ),
    "hedges": (
        "{t} hedges in every sentence",
        "{t} keeps every door open and commits to nothing",
    ),
    "silent": (
        "{t} has said almost nothing today",
        "{t} lets the others do all the talking",
        "{t} was very quiet while it mattered",
    ),
    "feeling": (
        "{t} rings false to me",
        "{t} smiles at the wrong moments",
        "{t} seems to know more than the rest of us",
        "{t} picks every word with care",
        "{t} looks relieved whenever the talk moves on",
        "{t} follows the crowd half a step behind",
        "{t} laughs a little late at every joke",
        "{t} asks a lot and answers little",
        "{t} stopped talking whenever it got serious",
        "{t} was calmer this morning than anybody should be",
        "{t} talks like somebody reading from a note",
        "{t} listens for names more than for reasons",
    ),
}

VoteReason: TypeAlias = Literal["own result", "wolf", "believe seer", "evidence", "feeling", "join", "abstain"]
"""What the reason of a ballot rests on."""

VOTE_REASONS: Final[dict[VoteReason, tuple[str, ...]]] = {
    "own result": (
        "I inspected {t} and saw a Werewolf. There is nothing more to say.",
        "I am the Seer and {t} is a Werewolf.",
        "I know what I saw in the night: I inspected {t}, a Werewolf.",
    ),
    "wolf": (
        "{t} is a Werewolf. {e}.",
        "{e}. I vote for {t} and I stand by it.",
        "I vote for {t}. {e}.",
        "Today {t} has to go. {e}.",
    ),
    "believe seer": (
        "I believe {o}. I vote for {t}.",
        "{o} spoke as the Seer and I follow. {t} has to go.",
        "I trust {o}, so my vote is for {t}.",
        "Nobody answered {o} convincingly. I vote for {t}.",
    ),
    "evidence": (
        "{e}. That is why I vote for {t}.",
        "I vote for {t}: {e}.",
        "{e}. My vote goes to {t}.",
        "My vote is for {t}. {e}.",
        "{e}, and nothing said today changed that. I am voting for {t}.",
    ),
    "feeling": (
        "No proof, but I vote for {t}. {e}.",
        "I might be wrong. My vote goes to {t}, since nobody else troubles me more.",
        "It is only a feeling. I vote for {t}.",
        "Somebody has to be named. My vote goes to {t}, perhaps unfairly.",
        "I am not sure at all. For now my vote is for {t}.",
    ),
    "join": (
        "I join the others. My vote is for {t}.",
        "A split vote helps the Wolves. I vote for {t}.",
        "Better one exile than none. I vote for {t}.",
        "Most of you seem settled on it, so my vote goes to {t}.",
    ),
    "abstain": (
        "I will not send anybody away on a guess.",
        "Nothing I heard today is enough for an exile.",
        "I would rather miss a day than hit the wrong one.",
        "No name convinced me today.",
    ),
}

WHISPERS: Final[dict[str, tuple[str, ...]]] = {
    "seer": ("Claims to be the Seer. We cannot let that go on.", "The Seer has to go before the next report."),
    "doctor": ("That one is the Doctor. Then nobody is safe.", "No Doctor, no more saved nights."),
    "hunter": (
        "Gets too close to us.",
        "Has been pointing at us all day.",
        "Asks the right questions. That is reason enough.",
    ),
    "trusted": ("Everybody trusts that one. Nobody will be exiled for it.", "A voice the village listens to."),
    "any": (
        "No strong reason. It will tell them nothing.",
        "Quiet, and nobody will look for a motive.",
        "As good as any.",
    ),
    "agreed": ("Agreed.", "Fine, let us be of one mind.", "Your choice is good; I follow.", "Together, then."),
    "firm": ("I stay with it.", "Same as before; come with me.", "Let us settle on this one."),
}
