"""OpenEnv's own client plays two games over the network, and its own validator looks at the server.

pip install "wolfbus[openenv]" && python benchmarks/openenv_check.py
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from typing import Any

import uvicorn
from openenv import GenericEnvClient

from wolfbus.env.openenv import app


def main() -> int:
    """Serve, play, validate; returns 0 if all went well."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        for result in asyncio.run(played(url, seeds=(1, 2))):
            print(json.dumps(result))
        validator = "from openenv.cli.__main__ import main; main()"
        return subprocess.run([sys.executable, "-c", validator, "validate", "--url", url], check=False).returncode
    finally:
        server.should_exit = True
        thread.join()


async def played(url: str, seeds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Play games, and return what came of each."""
    results = []
    async with GenericEnvClient(base_url=url) as client:
        for seed in seeds:
            result = await client.reset(seed=seed)
            steps = 0
            while not result.done:
                steps += 1
                bids = result.observation["kind"] == "bid"
                result = await client.step({"bid": 3} if bids else {"answer": "I saw nothing."})
            state = await client.state()
            results.append({"seed": seed, "steps": steps, "reward": result.reward, "winner": state["winner"]})
    return results


if __name__ == "__main__":
    sys.exit(main())
