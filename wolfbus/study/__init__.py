"""What an experiment is: its settings, who sits where in which game, its plan, and the manifest of its folder."""
