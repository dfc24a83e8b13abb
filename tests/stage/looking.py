"""What a machine can see of a page's usability."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def findings(page: Page) -> list[str]:
    """Return what axe-core finds to be an obstacle for somebody, however small."""
    from axe_playwright_python.sync_playwright import Axe

    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:300]} {violation['nodes'][0]['failureSummary']}"
        for violation in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    ]
