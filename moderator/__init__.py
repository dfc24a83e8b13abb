"""The moderator: the rules, and the one authority over a game."""
