"""One game on the bus: its actor, its referee, its commits, and its recovery from a record."""
