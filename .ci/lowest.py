"""Print the lowest versions that pyproject.toml allows, as requirements for pip: of what wolfbus needs itself, and of
the extras that are named, on the Python that runs this.

    python .ci/lowest.py parquet > lowest.txt
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest(requirement: Requirement) -> str:
    """Return a requirement for just the lowest version that another one allows.

    Raises:
        SystemExit: it has no lower bound; the line names it.
    """
    bounds = [each.version for each in requirement.specifier if each.operator == ">="]
    if len(bounds) != 1:
        sys.exit(f"{PROJECT.name}: {requirement}: no lower bound, or more than one")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}=={bounds[0]}"


def main(extras: list[str]) -> None:
    """Print one requirement a line."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *(each for name in extras for each in project["optional-dependencies"][name])]
    for requirement in map(Requirement, needed):
        if requirement.marker is None or requirement.marker.evaluate():
            print(lowest(requirement))


if __name__ == "__main__":
    main(sys.argv[1:])
