"""wolfbus: the WOLF benchmark of deception among language models, as independent actors on a message bus.

This package is the shared language: messages, bus, actors, rules in words, records. The services that speak it are
the packages ``moderator`` (decides), ``players`` (answer as a seat) and ``analytics`` (watches).
"""

__version__ = "0.1.0"
