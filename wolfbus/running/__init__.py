"""Getting games played: one game, or a study, its folder, the processes that play and what they may spend."""
