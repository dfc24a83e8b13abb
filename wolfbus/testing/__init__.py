"""Parts for tests, ours and yours: a private Redis server, and a proxy that breaks connections on command."""
