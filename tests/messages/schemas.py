"""The schema as `wolfbus schema` prints it, and what checks values against it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from tests.golden.running import wolfbus


@cache
def schema(*name: str) -> Any:
    """Return what `wolfbus schema` prints."""
    result = wolfbus(Path(), "schema", *name)
    assert result.code == 0
    return json.loads(result.out)


@cache
def validator(*name: str) -> Any:
    return jsonschema.Draft202012Validator(schema(*name))
