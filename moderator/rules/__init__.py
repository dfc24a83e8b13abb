"""The rules of the game: a pure coroutine and the state it changes."""
