"""`python -m wolfbus` is the `wolfbus` command."""

from wolfbus.cli import main

main()
