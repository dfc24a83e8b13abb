"""What commands print: games, their calls and their ends, in words, lines and panels."""
