"""`wolfbus fake-model`: a server that stands in for a language model."""

from __future__ import annotations

from typing import Any

import click

from wolfbus.cli.options import Number, checked, negated_flag


@checked
def _ugly(text: str) -> float | dict[str, float]:
    from wolfbus.testing.model_behaviour import UGLY, parse_shares

    return parse_shares(text, UGLY)


@checked
def _errors(text: str) -> float | dict[str, float]:
    from wolfbus.testing.model_behaviour import ERRORS, parse_shares

    return parse_shares(text, (*ERRORS, "hang"))


_SHARE = Number(0, 1)
_SECONDS = Number(0, 3600)


@click.command("fake-model")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="Port; 0 takes a free one."
)
@click.option("--latency", type=_SECONDS, default=0.2, show_default=True, help="Seconds until it answers.")
@click.option("--jitter", type=_SECONDS, default=0.0, show_default=True, help="Up to so many seconds more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides every answer and every mishap.")
@click.option(
    "--ugly",
    callback=_ugly,
    default="0",
    show_default=True,
    metavar="SHARE|SORT=SHARE,…",
    help="Share of ugly replies, of all sorts or of named ones: fence, cut, two, empty, refusal, …",
)
@click.option(
    "--errors",
    callback=_errors,
    default="0",
    show_default=True,
    metavar="SHARE|SORT=SHARE,…",
    help="Share of requests that meet an error, of all sorts or of named ones: 429, 500, 502, 503, 408, reset, …",
)
@click.option("--hangs", type=_SHARE, default=0.0, show_default=True, help="Share of requests that get no answer.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="A model it has; repeatable. Any, unless given.")
@negated_flag("--no-schema", "takes_schema", "Refuse JSON Schema as response_format.")
@negated_flag("--ignore-schema", "keeps_schema", "Take JSON Schema as response_format, and answer without it.")
@negated_flag("--no-json-mode", "takes_json_mode", "Refuse JSON mode as response_format.")
@negated_flag("--no-system", "takes_system", "Refuse messages of the system.")
@negated_flag("--no-temperature", "takes_temperature", "Refuse temperature and top_p.")
@click.option(
    "--needs",
    type=click.Choice(["max_tokens", "max_completion_tokens"]),
    help="Take only this name for the longest reply.",
)
@click.option("--reasoning", is_flag=True, help="Think first, and spend completion tokens on that.")
@click.option("--key", metavar="KEY", envvar="WOLFBUS_FAKE_MODEL_KEY", help="Ask clients for this key.")
def fake_model(host: str, port: int, **traits: Any) -> None:
    """Run an OpenAI-compatible server that answers wolfbus's prompts plausibly, and misbehaves as asked.

    Answers depend on the seed and the prompt alone, so the same game is answered alike. GET /stats tells what was
    counted, POST /reset begins anew; Ctrl-C ends it.
    """
    from wolfbus.testing.model_behaviour import behaviour_of
    from wolfbus.testing.model_server import serve

    # click.echo flushes: a parent process waits for the line
    stats = serve(behaviour_of(traits), host, port, lambda url: click.echo(f"fake model: listening at {url}"))
    met = sum(stats.errors.values())
    click.echo(
        f"fake model: {stats.calls} calls, at most {stats.peak} at once; {met} met errors, "
        f"{sum(stats.ugly.values())} replies were ugly; {stats.prompt_tokens} prompt tokens "
        f"({stats.cached_tokens} cached), {stats.completion_tokens} completion tokens"
    )
