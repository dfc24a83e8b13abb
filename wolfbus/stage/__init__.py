"""The stage: what a person sees of a game, as beats; computed here, shown by the page and never by rules of its own."""
