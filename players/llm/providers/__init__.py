"""Providers: one module for each way to speak to a server of language models."""
