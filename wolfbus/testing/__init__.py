"""Parts for tests, ours and yours: a private Redis server, and a double of a language model."""
