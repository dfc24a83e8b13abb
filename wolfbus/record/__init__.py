"""The record of a game: numbered, hash-chained events; NDJSON on disk, msgpack on the bus, equal in content."""
