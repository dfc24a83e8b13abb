"""Games as a log of the evaluation tool Inspect (inspect_ai), written by its own log API."""
