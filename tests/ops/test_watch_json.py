"""Pictures for programs are JSON, whoever posted them."""

from __future__ import annotations

import json

import pytest

from wolfbus.cli.watch import Shown, _print_json


@pytest.mark.parametrize("strange", [float("nan"), float("inf"), b"\xff"])
def test_a_picture_that_json_cannot_hold_is_told_and_not_printed(
    capsys: pytest.CaptureFixture[str], strange: object
) -> None:
    _print_json(Shown({"over": strange}, closed=False))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wolfbus: a picture cannot be told as JSON: ")
    _print_json(Shown({"over": 2}, closed=True))
    assert json.loads(capsys.readouterr().out) == {"over": 2, "closed": True}
