"""Rewrites the pinned values and prints what changed: `python -m tests.golden.make [GROUP…]`."""

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from tests.golden import store
from tests.golden.groups import ALONE, GROUPS, ON_REDIS
from wolfbus.testing.redis_server import RedisServer


def main() -> int:
    """Rewrite the groups that are named, all of them unless told; or show one value."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.make", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--show", metavar="NAME", help="print one value, such as findings/models.json")
    told = parser.parse_args()
    if unknown := sorted(set(told.groups) - set(GROUPS)):
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    if told.show is not None:
        value = store.read(told.show)
        if value is None:
            parser.error(f"no value {told.show}")
        sys.stdout.write(value)
        return 0
    for group in told.groups or GROUPS:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if group in ALONE:
                values = ALONE[group](folder)
            else:
                values = ON_REDIS[group](folder, stack.enter_context(RedisServer()).url)
            changed = store.write(group, values)
        print(f"{group}: {'changed' if changed else 'as it was'}", *changed, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
