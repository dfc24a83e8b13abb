"""A newcomer's agent on trial: every kind of request and every edge of the protocol, and what it did wrong.

`Trial` is a moderator of one agent, on a house of its own: it delivers real facts and questions, and the real referee
judges what comes back. See ``wolfbus check-agent``.
"""

from moderator.check.finding import Finding
from moderator.check.stage import TrialTerms
from moderator.check.trial import Trial

__all__ = ["Finding", "Trial", "TrialTerms"]
