"""``python -m analytics``: the same as ``wolfbus analytics``."""

import sys

from wolfbus.cli import main

if __name__ == "__main__":
    main(["analytics", *sys.argv[1:]])
