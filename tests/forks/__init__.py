"""Forks: games that are played on from one of another game's statements."""
