"""Games as a log of the evaluation tool Inspect (inspect_ai), written by its own log API."""

from analytics.export.inspect_log.writing import write_inspect

__all__ = ["write_inspect"]
