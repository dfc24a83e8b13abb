"""An agent at an address, with nothing but Python: start it, and give it seats.

    python3 examples/http_agent.py 9000
    wolfbus play --players "http://127.0.0.1:9000/*2,scripted*6"

Every request is one POST of JSON with all that the seat knows; the answer is JSON, and needs to name nothing.
"""

import json
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(ask):
    """Return the answer to one request; docs/line-protocol.md says what each kind may answer."""
    me, suspicion = ask["you"], ask["you"]["suspicion"]
    # the same request gets the same answer, though it may be sent twice
    chance = random.Random(ask["id"].partition("/")[2])
    others = [name for name in ask.get("legal") or ask["living"] if name not in (None, ask["seat"], *me["partners"])]
    if ask["kind"] == "bid":
        return {"bid": chance.randint(0, 5)}
    if ask["kind"] == "speak":
        worst = max(others, key=suspicion.get)
        return {"thought": f"I doubt {worst} most.", "text": f"{worst}, what did you make of last night?"}
    if ask["kind"] == "assess_own":
        return {"deceptive": False, "kind": "none", "confidence": 0.9}
    if ask["kind"] == "assess_other":
        return {"deceptive": False, "kind": "none", "suspicion": round(chance.random(), 2), "confidence": 0.3}
    # a vote, or a choice at night
    return {"target": max(others, key=suspicion.get) if others else None}


class Handler(BaseHTTPRequestHandler):
    """Answers one POST."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Read the request, and write the answer."""
        ask = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(answer(ask)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        """Say nothing of single requests."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    print(f"listening on http://127.0.0.1:{port}/", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
