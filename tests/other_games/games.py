"""One small game, as every kind of log has it: Ada, a Werewolf, kills Dan at night; Bea, who saw what Ada is, says so;
Ada is exiled, and the villagers win.
"""

import json
from typing import Any

BEA = "I am the Seer. I inspected Ada and she is a Werewolf."
ADA = "Bea lies, and I am a Villager."

AIWOLF = f"""\
0,status,1,WEREWOLF,ALIVE,team-a1,Ada
0,status,2,SEER,ALIVE,team-b1,Bea
0,status,3,BODYGUARD,ALIVE,team-a2,Cleo
0,status,4,VILLAGER,ALIVE,team-b2,Dan
0,status,5,VILLAGER,ALIVE,team-a3,Eve
0,whisper,0,0,1,Dan first
0,divine,2,1,WEREWOLF
0,guard,3,5,VILLAGER
0,attackVote,1,4
0,attack,4,true
1,status,1,WEREWOLF,ALIVE,team-a1,Ada
1,talk,0,0,2,{BEA}
1,talk,1,0,1,{ADA},1700000001
1,talk,2,0,3,Over
1,vote,1,2
1,vote,2,1
1,vote,3,1
1,vote,5,2
1,vote,1,2
1,vote,2,1
1,vote,3,1
1,vote,5,1
1,execute,1,WEREWOLF
2,result,3,0,VILLAGER
"""

ROLES = {"Ada": "Werewolf", "Bea": "Seer", "Cleo": "Doctor", "Dan": "Villager", "Eve": "Villager"}
VOTES = {"Ada": "Bea", "Bea": "Ada", "Cleo": "Ada", "Eve": "Ada"}


def kaggle() -> str:
    """Return a replay of Kaggle's environment."""
    seats = [("GameStartRoleDataEntry", {"player_id": name, "role": role, "team": "-"}) for name, role in ROLES.items()]
    votes = [("DayExileVoteDataEntry", {"actor_id": name, "target_id": target}) for name, target in VOTES.items()]
    entries: list[tuple[str, dict[str, Any]]] = [
        *seats,
        ("DoctorHealActionDataEntry", {"actor_id": "Cleo", "target_id": "Eve"}),
        ("SeerInspectResultDataEntry", {"actor_id": "Bea", "target_id": "Ada", "role": "Werewolf", "team": None}),
        ("WerewolfNightVoteDataEntry", {"actor_id": "Ada", "target_id": "Dan"}),
        ("WerewolfNightEliminationElectedDataEntry", {"elected_target_player_id": "Dan"}),
        ("WerewolfNightEliminationDataEntry", {"eliminated_player_id": "Dan"}),
        ("ChatDataEntry", {"actor_id": "Bea", "message": BEA, "reasoning": "They must hear it."}),
        ("ChatDataEntry", {"actor_id": "Ada", "message": ADA}),
        *votes,
        ("DayExileElectedDataEntry", {"elected_player_id": "Ada"}),
        ("GameEndResultsDataEntry", {"winner_team": "Villagers"}),
    ]
    step = [{"data_type": kind, "json_str": json.dumps({"day": 1, "data": data})} for kind, data in entries]
    agents = [{"id": name, "display_name": f"model-{name.lower()}"} for name in ROLES]
    return json.dumps(
        {
            "name": "werewolf",
            "configuration": {"agents": agents},
            "info": {"MODERATOR_OBSERVATION": [step[:5], step[5:]]},
        }
    )


def arena() -> str:
    """Return the state that Werewolf Arena saves."""
    night = {"eliminated": "Dan", "protected": "Eve", "unmasked": "Ada"}
    day = {
        "debate": [["Bea", BEA], ["Ada", ADA]],
        "votes": [{"Bea": "Eve"}, VOTES],
        "bids": [{"Ada": 2}],
        "exiled": "Ada",
    }
    players = {name: {"name": name, "role": role, "model": f"model-{role.lower()}"} for name, role in ROLES.items()}
    state = {"session_id": "s", "villagers": ["Dan", "Eve"], "players": players, "rounds": [{**night, **day}]}
    return json.dumps({**state, "winner": "Villagers"}, indent=4)


def agentbeats() -> str:
    """Return a result of the same table on AgentBeats, which keeps no words."""
    log = [
        {"event": "role_assignment", "roles": {name: role.lower() for name, role in ROLES.items()}},
        {"event": "night_phase", "round": 1, "target": "Dan", "protected": "Eve", "eliminated": "Dan"},
        {"event": "vote_exile", "round": 1, "votes": VOTES, "exiled": "Ada", "role": "werewolf"},
    ]
    acts = [
        {"round": 1, "player": "Bea", "action": "investigate", "decision": "Ada", "context": {"result": "WEREWOLF"}},
        {"round": 1, "player": "Bea", "action": "debate", "decision": "accuse Ada", "context": {}},
    ]
    results = [{"winner": "villagers", "game_log": log}, {"action_log": acts}]
    return json.dumps({"participants": {name: f"agent-{name}" for name in ROLES}, "results": results})


TABLE = f"""\
game,event,seat,target,text,result,role,side,agent
g1,seat,Ada,,,,Werewolf,,model-x
g1,seat,Bea,,,,Seer,,model-y
g1,seat,Cleo,,,,Doctor,,model-x
g1,seat,Dan,,,,Villager,,model-y
g1,seat,Eve,,,,Villager,,model-y
g1,attack,,Dan,,,,,
g1,protection,Cleo,Eve,,,,,
g1,inspection,Bea,Ada,,Werewolf,,,
g1,killed,Dan,,,,,,
g1,statement,Bea,,{BEA},,,,
g1,statement,Ada,,"{ADA}",,,,
g1,vote,Ada,Bea,,,,,
g1,vote,Bea,Ada,,,,,
g1,vote,Cleo,Ada,,,,,
g1,vote,Eve,Ada,,,,,
g1,exiled,Ada,,,,,,
g1,end,,,,villagers,,,
g1,cheer,Eve,,,,,,
"""


def files() -> dict[str, tuple[str, str]]:
    """Return what a file of each kind is called and holds, by a name for the test."""
    return {
        "aiwolf": ("game.log", AIWOLF),
        "kaggle": ("replay.json", kaggle()),
        "arena": ("game_complete.json", arena()),
        "arena on AgentBeats": ("result.json", agentbeats()),
        "table": ("table.csv", TABLE),
    }
