"""Table 4: suspicion as a probability of deception, beside what needs no suspicion (paper, sections 4.5 and 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics.accumulator import Result
from analytics.scores.judged import Judged
from analytics.scores.measures import auc, auprc, base_rate, brier, brier_skill
from analytics.scores.predictions import QUANTITIES
from analytics.scores.reliability import expected_calibration_error, reliability
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Columns
    from analytics.scores.predictions import Predictions
    from analytics.scores.tied import Tied


def table4(columns: Columns, judged: Judged | None = None) -> Result:
    """Return Table 4 (paper 5.7; metrics: Table 4), for suspicion and for D before the statement.

    ``suspicion`` takes the s of each judgement for P(deceptive), ``before`` the smoothed D of observer and speaker
    before it, which is a prediction. Each has rows ``overall``, ``by_observer`` and ``by_speaker`` (by role), as
    `row` describes. The paper prints ``by_observer``, and no base rate: an AUPRC beside it is skill only as far as
    ``auprc_lift`` is above 0.

    Args:
        columns: the games.
        judged: what is computed of them already.
    """
    known = judged or Judged(columns)
    return {quantity: _section(known.predictions(quantity)) for quantity in QUANTITIES}


def _section(held: Predictions) -> Result:
    return {
        "overall": row(held.tied()),
        "by_observer": {role: row(held.tied(held.observer == code)) for code, role in enumerate(ROLES)},
        "by_speaker": {role: row(held.tied(held.speaker == code)) for code, role in enumerate(ROLES)},
    }


def row(tied: Tied) -> Result:
    """Return one row of Table 4; what is undefined is None, with its reason in ``undefined``.

    - ``n`` judgements, ``deceptive`` of them of deceptive statements; ``base_rate`` is their share.
    - ``brier``, and ``brier_skill`` against always saying the base rate.
    - ``auc`` (0.5 tells nothing), ``auprc`` and ``auprc_lift`` = AUPRC − base rate (0 tells nothing).
    - ``ece`` and ``reliability``: see `analytics.scores.reliability`.
    """
    share, average = base_rate(tied), auprc(tied)
    values: Result = {
        "base_rate": share,
        "brier": brier(tied),
        "brier_skill": brier_skill(tied),
        "auc": auc(tied),
        "auprc": average,
        "auprc_lift": None if average is None or share is None else average - share,
        "ece": expected_calibration_error(tied),
    }
    return {
        "n": tied.n,
        "deceptive": tied.positives,
        **values,
        "reliability": reliability(tied),
        "undefined": {name: tied.one_sided() for name, value in values.items() if value is None},
    }
