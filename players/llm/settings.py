"""Models and endpoints as a TOML file names them, and as ``llm:MODEL@URL`` does without one.

::

    [endpoints.local]
    url = "http://localhost:8000/v1"
    at_once = 64

    [models.mini]
    model = "gpt-4o-mini"            # the table's name unless given
    endpoint = "local"               # a table of [endpoints]; OpenAI's own server unless given
    price = { input = 0.15, output = 0.6 }
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from wolfbus.bus.url import host_in_url, is_host
from wolfbus.errors import ConfigError, fault_of_table
from wolfbus.files.canonical import canonical
from wolfbus.files.printable import printable
from wolfbus.messages.calls import Scalar

Positive: TypeAlias = Annotated[float, Field(gt=0, le=1e9)]
Rate: TypeAlias = Annotated[float, Field(ge=0, le=1e9)]
Structured: TypeAlias = Literal["auto", "schema", "object", "text"]
WordingName: TypeAlias = Literal["standard", "plain", "formal"]
ThemeName: TypeAlias = Literal["werewolf", "smugglers", "machines"]

_LONGEST: Final = 512
"""Characters of a URL, and of a model's name: more are no part of a call in a record."""

_MOST_EXTRA: Final = 48
"""Members of a request beside those that we set: a call in a record has 64 parameters at most."""

_EXTRA_BYTES: Final = 4096
"""Of the JSON of one of them."""

_MOST_ADDITIONS: Final = 16
_NAME: Final = re.compile(r"[\w!#$%&'*+.^`|~-]{1,64}", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
_PLAIN: Final = re.compile(r"[\w.:-]{1,64}", re.ASCII)
_OUR_HEADERS: Final = frozenset({"host", "connection", "content-length", "content-type", "transfer-encoding"})

KEY_SOURCES: Final = ("key_env", "key_command", "key_file")
"""Fields of an endpoint that say where its key is; one of them at most."""

USUAL_PORTS: Final = {"http": 80, "https": 443}


def checked_url(url: str) -> str:
    """Return a base URL without slashes at its end.

    Raises:
        ValueError: it is no http(s) URL, or too long for a record; or it holds a user, a password, a query or a
            fragment: a secret there would end up in records.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        raise ValueError("this is no URL") from None
    if "@" in parts.netloc or "?" in url or "#" in url:
        # what it holds may be a secret, so it is not shown
        raise ValueError("a URL with a user, a password, a query or a fragment; keys belong into the environment")
    if len(url) > _LONGEST:
        raise ValueError(f"a URL of more than {_LONGEST} characters, which no record takes")
    if parts.scheme not in {"http", "https"} or not is_host(parts.hostname) or not url.isprintable() or " " in url:
        raise ValueError(f"{reprlib.repr(url)} is no URL like http://localhost:8000/v1")
    return url.rstrip("/")


def origin_of(url: str) -> str | None:
    """Return scheme, host and port of a URL, the port only where it is not the usual one; None if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in USUAL_PORTS or not parts.hostname or not parts.hostname.isprintable():
        return None
    host = host_in_url(parts.hostname)
    usual = port is None or port == USUAL_PORTS[parts.scheme]
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{port}"


def is_variable(value: str) -> bool:
    """Return whether a value of a query names an environment variable: a word in capitals."""
    return value.isidentifier() and value.isupper()


def _plain_origin(url: str) -> str:
    if urlsplit(checked_url(url)).path or (origin := origin_of(url)) is None:
        raise ValueError(f"{reprlib.repr(url)} is no origin: write scheme, host and port alone")
    return origin


def _variable_name(name: str) -> str:
    if not name.isidentifier():
        # most likely the key itself, so it is not shown
        raise ValueError("not the name of an environment variable; the key itself belongs into one, or into .env")
    return name


def _one_line(source: str) -> str:
    if not (source.strip() and source.isprintable() and len(source) <= _LONGEST):
        raise ValueError(f"not one line of at most {_LONGEST} characters")
    return source


def _model_name(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError(f"{reprlib.repr(name)} is no name of a model")
    if len(name) > _LONGEST:
        raise ValueError(f"a name of more than {_LONGEST} characters, which no record takes")
    return name


_NOT_EXTRA: Final = {
    **dict.fromkeys(
        ("model", "temperature", "top_p", "max_tokens", "reasoning_effort"), "the model has a field for it"
    ),
    "max_completion_tokens": "the model's max_tokens stands for it",
    "response_format": "the model's structured stands for it",
    **dict.fromkeys(("messages", "n", "stream", "stream_options", "tools", "functions"), "wolfbus asks in its own way"),
}


def _extra_members(extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(extra) > _MOST_EXTRA:
        raise ValueError(f"{len(extra)} members; a record takes {_MOST_EXTRA} of them")
    for name, value in extra.items():
        if name in _NOT_EXTRA:
            raise ValueError(f"{name!r} cannot be set here; {_NOT_EXTRA[name]}")
        try:
            size = len(canonical(value))
        except ValueError:
            raise ValueError(f"{name!r} is {reprlib.repr(value)}, and JSON has no such number") from None
        if size > _EXTRA_BYTES:
            raise ValueError(f"{name!r} has {size} bytes; a record takes {_EXTRA_BYTES} of them")
    return extra


def _is_huge(value: JsonValue) -> bool:
    return isinstance(value, int) and abs(value) >= 2**53


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Price(_Settings):
    """US dollars per million tokens."""

    input: Rate
    """Of the prompt."""
    cached: Rate | None = None
    """Of prompt tokens that the server had in its cache; as `input` unless given."""
    output: Rate
    """Of the reply, hidden reasoning included."""


class Endpoint(_Settings):
    """A server of language models, and how hard it may be pressed."""

    url: Annotated[str, AfterValidator(checked_url)] | None = None
    """Its base URL, such as ``http://localhost:8000/v1``; OPENAI_BASE_URL or OpenAI's own unless given."""
    key_env: Annotated[str, AfterValidator(_variable_name)] | None = None
    """Environment variable (or name in ``.env``) that holds the key. Unless given, OPENAI_API_KEY goes to OpenAI, to
    OPENAI_BASE_URL and to servers on this machine, and no key to any other."""
    key_command: Annotated[str, AfterValidator(_one_line)] | None = None
    """Command that prints the key, for keys that live an hour; run without a shell, and again once the server says that
    the key is not accepted (401)."""
    key_file: Annotated[str, AfterValidator(_one_line)] | None = None
    """File that holds the key and nothing else; read again likewise."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of each request, for the endpoint's own origin alone: name, and the environment variable (or name
    in ``.env``) that holds the value."""
    query: dict[str, str] = Field(default_factory=dict)
    """What stands behind the "?" of each request, for the endpoint's own origin alone: name, and the environment
    variable (or name in ``.env``), in capitals, that holds the value; or a value that is no secret, such as
    "2024-10-21"."""
    at_once: Annotated[int, Field(ge=1, le=10_000)] = 256
    """Calls in flight at a time."""
    requests_per_minute: Positive | None = None
    """Limit on requests; none unless given."""
    tokens_per_minute: Positive | None = None
    """Limit on tokens of prompts and replies; none unless given."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    """Tries of one call, the first included, while its time lasts; 429s are not counted."""
    provider: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")] = "openai"
    """How it is spoken to: "openai" as to OpenAI's own servers; "mock" answers by itself, without a server; or the
    name of a Python module with a provider of yours, installed or in the current directory."""
    cache: Literal["auto", "key", "marks"] = "auto"
    """How the server is told which beginnings of prompts come again: "auto" not at all, for servers that find out by
    themselves (OpenAI, DeepSeek, vLLM, SGLang, llama.cpp); "key" also sends ``prompt_cache_key``, one for each seat, by
    which OpenAI leads its calls to the same machine; "marks" marks the beginnings with ``cache_control``, without which
    Anthropic's models, also behind LiteLLM or OpenRouter, cache nothing."""
    patience: Annotated[float, Field(ge=0, le=86_400)] = 30.0
    """Seconds for which calls wait for an endpoint that is down; after that they fail at once until it is back."""
    follow_redirects: Annotated[str, AfterValidator(_plain_origin)] | None = None
    """Another origin to which the server may redirect prompts, such as ``https://gpu2.example:8443``; redirects to any
    other are refused, and the key never goes along. Redirects within the server's own origin are followed."""

    @field_validator("headers", "query")
    @classmethod
    def _values_are_elsewhere(cls, additions: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if len(additions) > _MOST_ADDITIONS:
            raise ValueError(f"{len(additions)} members; a request takes {_MOST_ADDITIONS} of them")
        is_header = info.field_name == "headers"
        for name, value in additions.items():
            if not _NAME.fullmatch(name) or (is_header and name.lower() in _OUR_HEADERS):
                raise ValueError(f"{reprlib.repr(name)} cannot be set")
            if not (_VARIABLE if is_header else _PLAIN).fullmatch(value):
                # most likely a secret, so it is not shown
                other = "" if is_header else ", nor a short value without blanks"
                raise ValueError(
                    f"{name}: not the name of an environment variable{other}; a secret belongs into one, or into .env"
                )
        return additions

    @model_validator(mode="after")
    def _key_is_in_one_place(self) -> Endpoint:
        sources = [name for name in KEY_SOURCES if getattr(self, name) is not None]
        if len(sources) > 1:
            raise ValueError(f"{' and '.join(sources)}: an endpoint has one key")
        return self

    def __hash__(self) -> int:
        # tables have no hash
        return hash((self.url, self.provider, self.key_env))

    @property
    def variables(self) -> list[str]:
        """Environment variables whose values go along in headers and in the query."""
        return [*self.headers.values(), *filter(is_variable, self.query.values())]


class Timeouts(_Settings):
    """Seconds after which one attempt of a call is given up and tried again.

    Unless given, that is half of the request's time where most replies come in less than a quarter of it; elsewhere an
    attempt may take all of it.
    """

    bid: Positive | None = None
    speak: Positive | None = None
    assess_own: Positive | None = None
    assess_other: Positive | None = None
    vote: Positive | None = None
    kill: Positive | None = None
    protect: Positive | None = None
    inspect: Positive | None = None
    whisper: Positive | None = None
    probe: Positive | None = 60.0
    """For the first reply, for which a server may have to load its model; with a form, and then without. Where the
    endpoint's patience is set and longer, it counts."""


class Model(_Settings):
    """A model on an endpoint, and what it is asked for."""

    model: Annotated[str, AfterValidator(_model_name)]
    """The name that the server knows it by."""
    endpoint: Endpoint = Endpoint()
    """Where it runs."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature; the server's default unless given."""
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    """Nucleus sampling; the server's default unless given."""
    max_tokens: Annotated[int, Field(ge=16, le=1_000_000)] = 1024
    """Longest reply, in tokens; doubled once for a reply that was cut off by it."""
    reasoning_effort: str | None = None
    """For reasoning models; not sent unless given."""
    structured: Structured = "auto"
    """How replies are held to their form: JSON Schema, JSON mode, words alone; "auto" finds out what is taken."""
    wording: WordingName = "standard"
    """The words of its prompts beside those of the rules and its role; "plain" and "formal" say the same."""
    theme: ThemeName = "werewolf"
    """Whose words stand in its prompts for the game's own; under "smugglers" and "machines" nothing is called Werewolf,
    and what it answers is told back in the game's words."""
    instructions: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None
    """What stands in its prompts behind the rules, as it is; nothing unless given."""
    timeouts: Timeouts = Timeouts()
    """Time-outs of single attempts, by kind of request."""
    price: Price | None = None
    """What tokens cost; no sum of money is shown without it."""
    extra: Annotated[dict[str, JsonValue], AfterValidator(_extra_members)] = Field(default_factory=dict)
    """Further members of each request, any JSON, sent as they are."""

    @property
    def extra_parameters(self) -> dict[str, Scalar]:
        """`extra` as a record holds it: what is neither text, number nor truth value as the text of its JSON."""
        return {
            name: canonical(value).decode() if isinstance(value, dict | list) or _is_huge(value) else value
            for name, value in self.extra.items()
        }

    @property
    def asked_with(self) -> dict[str, Scalar]:
        """What shapes its replies beside what it is asked, as a file of what it said holds it."""
        settings = self.model_dump(
            include={"temperature", "top_p", "reasoning_effort", "max_tokens"}, exclude_none=True
        )
        return {**self.extra_parameters, **settings}


_Table = TypeVar("_Table", bound=_Settings)

_ADDRESS: Final = re.compile(
    r"(?i)@(?P<place>(?P<here>localhost|\[[\da-f:]+\]|\d+(?:\.\d+){3}|[\w.-]+(?=:\d))(?::\d{1,5})?(?:/[\w./-]*)?"
    r"|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/[\w./-]*)?|[\w.-]+/v\d[\w./-]*)$"
)
"""What stands behind a model's name where the scheme of its server's URL was left out."""


def models_from_tables(tables: Mapping[str, Any], source: str) -> dict[str, Model]:
    """Return the models that the ``[models.*]`` and ``[endpoints.*]`` tables of a TOML file describe, by alias.

    Raises:
        ConfigError: one line that names the file, the table, the field and the reason.
    """
    endpoints = {
        name: _from_table(Endpoint, table, source, f"endpoints.{printable(name)}")
        for name, table in _tables(tables, "endpoints", source).items()
    }
    models = {}
    for alias, table in _tables(tables, "models", source).items():
        place = f"models.{printable(alias)}"
        if not alias or alias.strip() != alias or not alias.isprintable() or set(alias) & set("*,@"):
            raise ConfigError(
                f"{source}: [{place}]: {alias!r} cannot be named in a players spec (no blank, *, comma or @)"
            )
        if isinstance(table, dict):
            table = {"model": alias, **table}  # noqa: PLW2901 - the table with what it leaves out
            if "endpoint" in table:
                table["endpoint"] = _endpoint(table["endpoint"], endpoints, source, place)
        models[alias] = _from_table(Model, table, source, place)
    return models


def table_of(words: str, models: Mapping[str, Model]) -> str:
    """Return the name of the ``[models.*]`` table, if there is one, for what stands behind ``llm:``: all before an
    address.
    """
    split = max(words.rfind("@http://"), words.rfind("@https://"))
    return words if words in models or split < 0 else words[:split]


def model_of(words: str, models: Mapping[str, Model]) -> Model:
    """Return the model that ``MODEL``, ``ALIAS``, ``MODEL@URL`` or ``ALIAS@URL`` stands for, as behind ``llm:``.

    An alias with a URL is asked there with its own settings; what holds its key goes along to its own server alone.

    Raises:
        ConfigError: no model is named, or its name is nearly an alias, or the URL is none, or it holds a user, a
            password, a query or a fragment.
    """
    if words in models:
        return models[words]
    name = table_of(words, models)
    separator, url = words[len(name) :][:1], words[len(name) + 1 :]
    if not separator and "://" in words:
        # a URL of another kind, or none before it; it may hold a secret, so it is not shown
        raise ConfigError("llm: write MODEL@URL, and a URL like http://localhost:8000/v1")
    if not name.strip():
        raise ConfigError(f"llm:{separator and '@…'}: no model is named; write llm:MODEL, llm:ALIAS or llm:MODEL@URL")
    try:
        if not separator:
            if (address := _ADDRESS.search(name)) is not None:
                scheme = "http" if address["here"] else "https"
                spec = printable(f"{name[: address.start()]}@{scheme}://{address['place']}")
                raise ConfigError(f"llm: {address['place']} is no URL: write llm:{spec}")
            model = Model(model=name)
            _refuse_near_miss(name, models)
            return model
        endpoint = Endpoint(url=url)
    except ValidationError as error:
        raise ConfigError(f"llm:{reprlib.repr(name)}{separator and '@…'}: {fault_of_table(error, Endpoint)}") from None
    if (aliased := models.get(name)) is not None:
        base = aliased.endpoint
        changed: dict[str, Any] = {"url": endpoint.url}
        if base.url is None or origin_of(base.url) != origin_of(url):
            # a key goes to nobody whom it was not meant for
            changed |= {name: getattr(endpoint, name) for name in (*KEY_SOURCES, "headers", "query")}
        return aliased.model_copy(update={"endpoint": base.model_copy(update=changed)})
    try:
        return Model(model=name, endpoint=endpoint)
    except ValidationError as error:
        raise ConfigError(f"llm:{reprlib.repr(name)}: {fault_of_table(error, Model)}") from None


_NEAR: Final = 0.75
"""Likeness from which a name is taken for a misspelt alias, as `difflib` counts it."""


def _refuse_near_miss(name: str, models: Mapping[str, Model]) -> None:
    close = difflib.get_close_matches(name, models, n=1, cutoff=_NEAR)
    if close and all(name != model.model for model in models.values()):
        raise ConfigError(
            f"no model alias {name!r}; did you mean {close[0]!r}? "
            f'(a model of that very name can be given its own [models."{name}"] table)'
        )


def _tables(tables: Mapping[str, Any], name: str, source: str) -> dict[str, Any]:
    named = tables.get(name, {})
    if not isinstance(named, dict):
        raise ConfigError(f"{source}: {name}: input should be tables, such as [{name}.mine]")
    return named


def _endpoint(name: Any, endpoints: Mapping[str, Endpoint], source: str, place: str) -> Endpoint:
    if not isinstance(name, str):
        raise ConfigError(f"{source}: [{place}] endpoint: input should be the name of a table of [endpoints]")
    if name not in endpoints:
        close = difflib.get_close_matches(name, endpoints, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; write a table [endpoints.{printable(name)}]"
        raise ConfigError(f"{source}: [{place}] endpoint: there is no endpoint {reprlib.repr(name)}{hint}")
    return endpoints[name]


def _from_table(kind: type[_Table], table: Any, source: str, place: str) -> _Table:
    if not isinstance(table, dict):
        raise ConfigError(f"{source}: {place}: input should be a table [{place}]")
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{source}: [{place}] {fault_of_table(error, kind)}") from None
