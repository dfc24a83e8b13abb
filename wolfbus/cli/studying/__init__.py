"""Playing a study: its file and folder, the processes that play, what they may spend, and how far they are."""
