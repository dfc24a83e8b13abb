"""What a machine can see of a page's usability."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def findings(page: Page, *, colours: bool = True) -> list[str]:
    """Return what axe-core finds to be an obstacle for somebody, however small.

    Args:
        page: the page.
        colours: whether contrast is measured, too, of which three quarters of the time go: not where the same page was
            measured on another screen.
    """
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": colours}}}
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:300]} {violation['nodes'][0]['failureSummary']}"
        for violation in Axe().run(page, options=options).response["violations"]
    ]
