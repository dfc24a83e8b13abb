"""`Server`: an endpoint as all calls of the process share it: its limits, its circuit, its client, what it takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from players.llm.capability import Capability, Shape, TokensName
from players.llm.circuit import FAILURES, Circuit
from players.llm.client import CONNECT_S, Client
from players.llm.keys import Keys
from players.llm.limits import MINUTE, Gate
from players.llm.pace import Pace
from players.llm.retry import Backoff
from players.llm.settings import Endpoint


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast things go wrong, and right again; tests make it fast.

    Attributes:
        backoff: time between the attempts of a call.
        failures: so many in a row open an endpoint's circuit,
        lasting: if it is so many seconds since the first of them.
        first_trial: seconds from there to its first trial.
        longest_trial: seconds between trials at most.
        minute: seconds that limits per minute are about.
        connect_s: seconds for a connection to stand.
    """

    backoff: Backoff = field(default_factory=Backoff)
    failures: int = FAILURES
    lasting: float = 1.0
    first_trial: float = 0.5
    longest_trial: float = 30.0
    minute: float = MINUTE
    connect_s: float = CONNECT_S


class Server:
    """An endpoint in use, within the gateway's event loop.

    Args:
        endpoint: its settings.
        keys: where its key and address are looked up.
        tempo: how fast things go.

    Attributes:
        endpoint: its settings.
        url: its base URL.
        gate: its limits.
        circuit: whether it is down.
        pace: how long its replies take.

    Raises:
        PlayerError: there is no key, or no URL.
    """

    def __init__(self, endpoint: Endpoint, keys: Keys, tempo: Tempo) -> None:
        self.endpoint = endpoint
        self.url = keys.url(endpoint)
        self._key = keys.key(endpoint)
        self._key_env = keys.name(endpoint)
        self.gate = Gate(
            endpoint.at_once,
            endpoint.requests_per_minute,
            endpoint.tokens_per_minute,
            minute=tempo.minute,
            url=self.url,
        )
        self.circuit = Circuit(
            self.url,
            endpoint.patience,
            failures=tempo.failures,
            lasting=tempo.lasting,
            first=tempo.first_trial,
            longest=tempo.longest_trial,
        )
        self.pace = Pace()
        self._connect_s = tempo.connect_s
        self._client: Client | None = None
        self._capabilities: dict[str, Capability] = {}

    @property
    def client(self) -> Client:
        """The way to it; made on first use."""
        if self._client is None:
            self._client = Client(
                self.url,
                self._key,
                self._key_env,
                self.endpoint.at_once,
                connect_s=self._connect_s,
                follow_redirects=self.endpoint.follow_redirects,
            )
        return self._client

    def capability(self, model: str) -> Capability:
        """Return what is known of a model here."""
        if model not in self._capabilities:
            host = urlsplit(self.url).hostname or ""
            # OpenAI's newer models take no max_tokens, and many other servers nothing else
            tokens: TokensName = "max_completion_tokens" if host.endswith("openai.com") else "max_tokens"
            self._capabilities[model] = Capability(f"{model} at {self.url}", Shape(tokens=tokens))
        return self._capabilities[model]

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
