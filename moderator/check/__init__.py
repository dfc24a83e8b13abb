"""A newcomer's agent on trial: every kind of request and every edge of the protocol, and what it did wrong.

`try_agent` moderates one agent, on a house of its own: it delivers real facts and questions, and the real referee
judges what comes back. See ``wolfbus check-agent``.
"""

from moderator.check.checks import try_agent
from moderator.check.finding import Finding
from moderator.check.trial import TrialTerms

__all__ = ["Finding", "TrialTerms", "try_agent"]
