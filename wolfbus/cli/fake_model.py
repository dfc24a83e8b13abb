"""`wolfbus fake-model`: a server that stands in for a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from wolfbus.cli.options import Number, checked, negated_flag


@checked
def _ugly(text: str) -> float | dict[str, float]:
    from wolfbus.testing.model_reply import UGLY

    return _shares(text, UGLY)


@checked
def _errors(text: str) -> float | dict[str, float]:
    from wolfbus.testing.model_reply import ERRORS

    return _shares(text, ERRORS)


def _shares(text: str, sorts: Sequence[str]) -> float | dict[str, float]:
    """Read ``0.05`` or ``429=0.2,500=0.1``; raises ValueError."""
    if "=" not in text:
        return _share(text)
    shares: dict[str, float] = {}
    for part in text.split(","):
        sort, _, share = part.partition("=")
        if sort.strip() not in sorts:
            raise ValueError(f"{sort.strip()!r} is none of {', '.join(sorts)}")
        shares[sort.strip()] = _share(share)
    if sum(shares.values()) > 1:
        raise ValueError(f"{text}: more than 1 in all")
    return shares


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise ValueError(f"{text.strip()!r} is neither a share from 0 to 1 nor SORT=SHARE,…") from None
    if not 0 <= share <= 1:
        raise ValueError(f"{text.strip()} is no share from 0 to 1")
    return share


@click.command("fake-model")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--latency", type=Number(0, 3600), default=0.2, show_default=True, help="Seconds until it answers.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides every answer and every mishap.")
@click.option(
    "--ugly",
    callback=_ugly,
    default="0",
    show_default=True,
    metavar="SHARE|SORT=SHARE,…",
    help="Share of ugly replies, of all sorts or of named ones: fence, cut, keys, empty, refusal, …",
)
@click.option(
    "--errors",
    callback=_errors,
    default="0",
    show_default=True,
    metavar="SHARE|SORT=SHARE,…",
    help="Share of requests that meet an error, of all sorts or of named ones: 429, 500, reset; and hang, which "
    "only comes where it is named: no answer.",
)
@negated_flag("--no-schema", "takes_schema", "Refuse JSON Schema as response_format.")
@click.option("--key", metavar="KEY", envvar="WOLFBUS_FAKE_MODEL_KEY", help="Ask clients for this key.")
def fake_model(host: str, port: int, **traits: Any) -> None:
    """Run an OpenAI-compatible server that answers wolfbus's prompts plausibly, and misbehaves as asked.

    Answers depend on the seed and the prompt alone, so the same game is answered alike. GET /stats tells what was
    counted; Ctrl-C ends it.
    """
    from wolfbus.testing.model_reply import Behaviour
    from wolfbus.testing.model_server import serve

    # click.echo flushes: a parent process waits for the line
    stats = serve(Behaviour(**traits), host, port, lambda url: click.echo(f"fake model: listening at {url}"))
    met = sum(stats.errors.values())
    click.echo(
        f"fake model: {stats.calls} calls; {met} met errors, "
        f"{sum(stats.ugly.values())} replies were ugly; {stats.prompt_tokens} prompt tokens, "
        f"{stats.completion_tokens} completion tokens"
    )
