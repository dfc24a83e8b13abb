"""`wolfbus fake-model`: a server that stands in for a language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import click


def _shares(_ctx: click.Context, param: click.Parameter, value: str) -> float | dict[str, float]:
    """Read ``0.05`` for a mix, or ``SORT=SHARE,…``."""
    from wolfbus.testing.model_behaviour import ERRORS, UGLY, parse_shares

    try:
        return parse_shares(value, UGLY if param.name == "ugly" else (*ERRORS, "hang"))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_SHARE = click.FloatRange(0, 1)
_SECONDS = click.FloatRange(0, 3600)


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
    callback=_shares,
    default="0",
    show_default=True,
    metavar="SHARE|SORT=SHARE,…",
    help="Share of ugly replies, of all sorts or of named ones: fence, cut, two, empty, refusal, …",
)
@click.option(
    "--errors",
    callback=_shares,
    default="0",
    show_default=True,
    metavar="SHARE|SORT=SHARE,…",
    help="Share of requests that meet an error, of all sorts or of named ones: 429, 500, 502, 503, 408, reset, …",
)
@click.option("--hangs", type=_SHARE, default=0.0, show_default=True, help="Share of requests that get no answer.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="A model it has; repeatable. Any, unless given.")
@click.option("--no-schema", is_flag=True, help="Refuse JSON Schema as response_format.")
@click.option("--ignore-schema", is_flag=True, help="Take JSON Schema as response_format, and answer without it.")
@click.option("--no-json-mode", is_flag=True, help="Refuse JSON mode as response_format.")
@click.option("--no-system", is_flag=True, help="Refuse messages of the system.")
@click.option("--no-temperature", is_flag=True, help="Refuse temperature and top_p.")
@click.option(
    "--needs",
    type=click.Choice(["max_tokens", "max_completion_tokens"]),
    help="Take only this name for the longest reply.",
)
@click.option("--reasoning", is_flag=True, help="Think first, and spend completion tokens on that.")
@click.option("--key", metavar="KEY", envvar="WOLFBUS_FAKE_MODEL_KEY", help="Ask clients for this key.")
def fake_model(
    host: str,
    port: int,
    latency: float,
    jitter: float,
    seed: int,
    ugly: float | Mapping[Any, float],
    errors: float | Mapping[Any, float],
    hangs: float,
    models: tuple[str, ...],
    needs: Literal["max_tokens", "max_completion_tokens"] | None,
    key: str | None,
    *,
    no_schema: bool,
    ignore_schema: bool,
    no_json_mode: bool,
    no_system: bool,
    no_temperature: bool,
    reasoning: bool,
) -> None:
    """Run an OpenAI-compatible server that answers wolfbus's prompts plausibly, and misbehaves as asked.

    Answers depend on the seed and the prompt alone, so the same game is answered alike. GET /stats tells what was
    counted, POST /reset begins anew; Ctrl-C ends it.
    """
    from wolfbus.testing.model_behaviour import behaviour_of
    from wolfbus.testing.model_server import serve

    behaviour = behaviour_of(
        {
            "latency": latency,
            "jitter": jitter,
            "seed": seed,
            "ugly": ugly,
            "errors": errors,
            "hangs": hangs,
            "models": models,
            "takes_schema": not no_schema,
            "keeps_schema": not ignore_schema,
            "takes_json_mode": not no_json_mode,
            "takes_system": not no_system,
            "takes_temperature": not no_temperature,
            "needs": needs,
            "reasoning": reasoning,
            "key": key,
        }
    )
    # click.echo flushes: whoever started this waits for the line
    stats = serve(behaviour, host, port, lambda url: click.echo(f"fake model: listening at {url}"))
    met = sum(stats.errors.values())
    click.echo(
        f"fake model: {stats.calls} calls, at most {stats.peak} at once; {met} met errors, "
        f"{sum(stats.ugly.values())} replies were ugly; {stats.prompt_tokens} prompt tokens "
        f"({stats.cached_tokens} cached), {stats.completion_tokens} completion tokens"
    )
