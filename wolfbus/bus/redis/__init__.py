"""The bus on Redis Streams: connections, reading, atomic commits and ownership."""
