"""A wolfbus agent in plain Python: one JSON request a line on stdin, one JSON reply a line on stdout.

Play it with: wolfbus play --players "exec:python3 examples/agent.py*2,scripted*6"
The lines are described in docs/line-protocol.md. Every request holds all that we know, so nothing is kept here.
"""

import json
import sys


def doubt(ask, name):
    """Return from 0 to 1 how much like a Werewolf a player looks to us."""
    me, you, said = ask["seat"], ask["you"], ask["statements"]
    if name == me or name in you["partners"]:
        return 0.0
    if name in you["inspections"]:
        return 1.0 if you["inspections"][name] == "Werewolf" else 0.0
    if any("I am the Seer" in each["text"] and f"{name} is a Werewolf" in each["text"] for each in said):
        return 0.9
    today = {each["speaker"] for each in said if each["round"] == ask["round"] and name in each["text"]}
    return min(0.8, you["suspicion"][name] + 0.05 * len(today - {name}))  # where others point, votes come together


def answer(ask):
    me, you, kind = ask["seat"], ask["you"], ask["kind"]
    said = ask["statements"]
    others = [name for name in ask["living"] if name != me and name not in you["partners"]]
    suspect = max(others, key=lambda name: doubt(ask, name), default="nobody")
    caught = you["inspections"].get(suspect) == "Werewolf"
    if kind == "bid":
        eager = caught or (said and me in said[-1]["text"])
        return {"bid": min(ask["rules"]["bid_max"], 7 if eager else 3), "thought": f"I doubt {suspect} most."}
    if kind == "speak":
        if caught:
            return {"text": f"I am the Seer, and I saw it: {suspect} is a Werewolf. Vote for {suspect}."}
        return {"text": f"I find it hard to trust {suspect}. What do the rest of you think?"}
    if kind == "assess_own":
        lied = you["role"] == "Werewolf"
        return {"deceptive": lied, "confidence": 0.9, "kind": "misdirection" if lied else "none"}
    if kind == "assess_other":
        statement = said[ask["about"] - 1]
        known = doubt(ask, statement["speaker"])  # whoever accuses me errs or lies, and the past counts too
        seems = 0.2 + 0.3 * (me in statement["text"]) + 0.3 * known if 0.0 < known < 1.0 else known
        return {"deceptive": seems > 0.5, "suspicion": seems, "confidence": 0.6,
                "kind": "misdirection" if seems > 0.5 else "none", "reasoning": "its words and its past"}  # fmt: skip
    legal = [name for name in ask["legal"] if name is not None]
    target = max(legal, key=lambda name: doubt(ask, name), default=None)  # vote, inspect
    if kind in ("kill", "whisper", "protect"):  # who matters most to the village: a Seer, or one that is trusted
        claimed = [each["speaker"] for each in said if "I am the Seer" in each["text"]]
        target = min(legal, key=lambda name: (name not in claimed, name == me, doubt(ask, name)))
    return {"target": target, **({"reason": f"I trust {target} least."} if kind == "vote" else {})}


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "ask":
        print(json.dumps({"id": message["id"], **answer(message)}), flush=True)
