"""``python -m moderator``: the moderator service."""

import importlib
import sys

# the command line is above us: looked up by name, so that nothing here is built on it
importlib.import_module("wolfbus.cli").main(["moderator", *sys.argv[1:]])
