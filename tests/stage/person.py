"""A person at a page, played by a script that speaks what the page speaks."""

import json
import threading
from typing import Any
from urllib.parse import urlsplit

from tests.stage.served import Events, fetched

THOUGHT = "THOUGHT-of-a-person"
JUDGEMENT = {"deceptive": True, "suspicion": 0.7, "confidence": 0.6, "kind": "omission", "reasoning": "a feeling"}


def content_for(ask: dict[str, Any]) -> dict[str, Any]:
    """A legal answer to what is asked."""
    kind, legal = ask["kind"], ask.get("legal") or [None]
    if kind == "bid":
        return {"bid": 7}
    if kind == "speak":
        return {"text": f"I am here, in turn {ask['turn']}."}
    if kind == "assess_own":
        return {"deceptive": False, "confidence": 0.9, "kind": "none"}
    if kind == "assess_other":
        return JUDGEMENT
    if kind == "vote":
        return {"target": legal[0], "reason": "A feeling."}
    return {"target": legal[0]}


class Person(threading.Thread):
    """Sits down by a link and answers everything until the game is over.

    Attributes:
        raw: every byte that this browser received.
        kinds: kinds of what it answered.
        refused: answers that were refused.
        last: the data of its page, fetched after the end.
        consent: what it agreed to.
    """

    def __init__(self, link: str) -> None:
        super().__init__(daemon=True)
        parts = urlsplit(link)
        self.url, self.token = f"{parts.scheme}://{parts.netloc}", parts.fragment
        self.raw = b""
        self.consent = ""
        self.kinds: set[str] = set()
        self.refused: list[Any] = []
        self.last: dict[str, Any] = {}
        self.failure: BaseException | None = None
        self.asking = threading.Lock()
        self.left = False
        self.place = ""
        self.cookie = ""

    def sit(self) -> tuple[int, dict, bytes]:
        answer = self.post("/seat/sit", {"token": self.token})
        if answer[0] == 200:
            # nothing is used up before somebody agrees
            self.consent = json.loads(answer[2])["consent"]
            answer = self.post("/seat/sit", {"token": self.token, "agreed": self.consent})
        if answer[0] == 200:
            self.place = f"/seat/{json.loads(answer[2])['seat']}"
            self.cookie = answer[1]["Set-Cookie"].partition(";")[0]
        return answer

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict, bytes]:
        with self.asking:
            if self.left:
                return 409, {}, b""
            return self.keep(
                fetched(self.url, path, "POST", body, Origin=self.url, Content_Type="application/json",
                        Cookie=self.cookie, **headers)
            )  # fmt: skip

    def get(self, path: str) -> tuple[int, dict, bytes]:
        return self.keep(fetched(self.url, f"{self.place}{path}", Cookie=self.cookie))

    def keep(self, answer: tuple[int, dict, bytes]) -> tuple[int, dict, bytes]:
        self.raw += answer[2]
        return answer

    def leave(self) -> None:
        """Answer nothing more: asyncio never answers a connection that it takes up while its server closes."""
        with self.asking:
            self.left = True

    def run(self) -> None:
        try:
            self.play()
        except BaseException as failure:
            self.failure = failure

    def play(self) -> None:
        page = json.loads(self.get("/data.json")[2])
        self.answer(page["asks"])
        with self.asking:
            if self.left:
                return
            events = Events(self.url, f"{self.place}/events?after={page['line']}", Cookie=self.cookie)
        with events:
            for name, _, step in events:
                assert name == "step"
                self.answer(step["asks"])
                if step["over"]:
                    break
            else:
                return
            self.raw += events.raw
        self.last = json.loads(self.get("/data.json")[2])

    def answer(self, asks: list[dict[str, Any]]) -> None:
        # the last first: any order will do
        for ask in reversed(asks):
            message = {"id": ask["id"], "content": content_for(ask), "thought": THOUGHT}
            status, _, body = self.post(f"{self.place}/answer", message)
            if status == 200:
                self.kinds.add(ask["kind"])
            elif status != 409:
                self.refused.append((ask, body))
