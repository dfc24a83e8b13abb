"""One analysis of a paper's log: the fields its code stored, and what our reading finds in the raw reply.

The paper's code asked for bare JSON and gave up on anything else. It then stored "truthful", confidence 0 and suspicion
0.5, with an error text for the reasoning; the model's reply is kept beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wolfbus.errors import RecordError
from wolfbus.reading import read_fields
from wolfbus.reading.labels import kind_of, settle
from wolfbus.reading.values import Got, unit
from wolfbus.record.published_log.log import PaperAnalysis, PaperLabel
from wolfbus.vocabulary import Deception, Kind

_UNPARSED = "Failed to parse response: "
_FILLED = ("JSON parsing error", "Analysis error")
_FILLED_THOUGHT = (_UNPARSED.rstrip(), "Analysis failed")


def read_analysis(kind: Kind, stored: Any, whose: str, line: int) -> PaperAnalysis:
    """Read one analysis.

    Args:
        kind: "assess_own" or "assess_other".
        stored: the analysis object of the log.
        whose: who made it, for error messages.
        line: 1-based line of the log.

    Raises:
        RecordError: it is no object, or does not say whether the statement is deceptive.
    """
    if not isinstance(stored, dict):
        raise RecordError(f"the analysis by {whose} is no object", line)
    flag = stored.get("is_deceptive")
    if not isinstance(flag, bool | int) or flag not in {0, 1}:
        raise RecordError(f"the analysis by {whose} has no is_deceptive of 0 or 1", line)
    recorded = _recorded(kind, stored, bool(flag))
    filler = _is_filler(stored)
    raw = _raw(stored, filler=filler)
    if raw is None:
        reread = None if filler else _clean(recorded)
        return PaperAnalysis(recorded, filler, None, reread, None)
    fields = read_fields(kind, raw)
    found = PaperLabel(**_known(fields.values), reading=fields.reading) if fields.values else None
    return PaperAnalysis(recorded, filler, raw, found, fields.read)


def _recorded(kind: Kind, stored: Mapping[str, Any], deceptive: bool) -> PaperLabel:
    word = stored.get("deception_type")
    known = kind_of(word) if isinstance(word, str) else None
    unstated: Deception = "unspecified" if deceptive else "none"
    settled, stated = settle(deceptive, known or unstated)
    return PaperLabel(
        deceptive,
        _number(stored.get("suspicion_level")) if kind == "assess_other" else None,
        _number(stored.get("confidence")),
        settled,
        stated,
        _text(stored.get("reasoning")),
    )


def _clean(recorded: PaperLabel) -> PaperLabel:
    fields = {name: getattr(recorded, name) for name in PaperLabel.__slots__}
    return PaperLabel(**(fields | {"reading": "clean"}))


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"deceptive": None} | {name: value for name, value in values.items() if name in PaperLabel.__slots__}


def _is_filler(stored: Mapping[str, Any]) -> bool:
    reasoning, thought = _text(stored.get("reasoning")), _text(stored.get("chain_of_thought"))
    return reasoning.startswith(_FILLED) or thought.startswith(_FILLED_THOUGHT)


def _raw(stored: Mapping[str, Any], *, filler: bool) -> str | None:
    for key in ("_raw_response", "raw_response"):
        if isinstance(stored.get(key), str):
            return str(stored[key])
    thought = _text(stored.get("chain_of_thought"))
    return thought.removeprefix(_UNPARSED) if filler and thought.startswith(_UNPARSED) else None


def _number(value: Any) -> float | None:
    read = unit(value)
    return float(read.value) if isinstance(read, Got) and not read.coerced else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
