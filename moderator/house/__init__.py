"""A house: who is in it, which games it plays, and how it is held, kept and closed."""
