"""Brains that are child processes, in any language: one JSON request a line in, one JSON reply a line out."""
