"""Who may know what of a game, and who knew it: audiences, departures, views of seats, truth, suspicion."""
