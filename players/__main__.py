"""``python -m players``: the player service."""

import importlib
import sys

# the command line is above us: looked up by name, so that nothing here is built on it
importlib.import_module("wolfbus.cli").main(["player", *sys.argv[1:]])
