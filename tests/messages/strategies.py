"""Hypothesis strategies for every message, derived from the models: a new field is tested from its first day."""

import types
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wolfbus.game.config import Deadlines, GameConfig

NAMES = tuple("ABCDEFGH")
CONFIGS = (
    GameConfig(),
    GameConfig(names=NAMES),
    GameConfig(
        names=NAMES, roles=dict(zip(NAMES, ["Villager"] * 4 + ["Werewolf"] * 2 + ["Seer", "Doctor"], strict=True))
    ),
    GameConfig(alpha=0.1, overbid_factor=0.3, deadlines=Deadlines(bid=0.25), reveal_on_death="team", overlap=False),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
GAME_IDS = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")

HASHES = st.sampled_from(["0" * 64, "0123456789abcdef" * 4])


def of(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    """Return a strategy for instances of a model."""
    return _of_model(model)


def an_example(model: type[BaseModel]) -> BaseModel:
    """Return one instance of a model, the same one every time."""
    examples: list[BaseModel] = []

    @settings(max_examples=1, database=None, derandomize=True)
    @given(of(model))
    def draw(message: BaseModel) -> None:
        examples.append(message)

    draw()
    return examples[0]


@cache
def _of_model(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    if model is GameConfig:
        return st.sampled_from(CONFIGS)
    fields = {name: _of_type(field.annotation, tuple(field.metadata)) for name, field in model.model_fields.items()}
    return st.fixed_dictionaries(fields).map(lambda values: model(**values))


def _of_type(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        flat = tuple(item for meta in args[1:] for item in (meta.metadata if isinstance(meta, FieldInfo) else (meta,)))
        return _of_type(args[0], flat)
    if origin in (Union, types.UnionType):
        return st.one_of([_of_type(arm) for arm in args])
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        fewest = next((item.min_length for item in metadata if isinstance(item, MinLen)), 0)
        return st.lists(_of_type(args[0]), min_size=fewest, max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(_of_type(args[0]), _of_type(args[1]), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return st.deferred(lambda: _of_model(annotation))
    return _of_plain(annotation, metadata)


def _of_plain(annotation: Any, metadata: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    low = next((item.ge for item in metadata if isinstance(item, Ge)), None)
    high = next((item.le for item in metadata if isinstance(item, Le)), None)
    if annotation is int:
        return st.integers(low, high)
    if annotation is float:
        return st.floats(low, high, allow_nan=False, allow_infinity=False)
    if annotation is bool:
        return st.booleans()
    if annotation is type(None):
        return st.none()
    assert annotation is str, annotation
    pattern = next((item.pattern for item in metadata if getattr(item, "pattern", None)), None)
    if pattern is not None:
        return HASHES if "0-9a-f" in pattern else GAME_IDS
    shortest = next((item.min_length for item in metadata if isinstance(item, MinLen)), 0)
    longest = next((item.max_length for item in metadata if isinstance(item, MaxLen)), 12)
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=shortest, max_size=min(longest, 12))
