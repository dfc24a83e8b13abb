"""A game in words and settings: what is played, by which rules and roles, and what is drawn by its seed."""
