"""A page as a person has it before them, and what it did behind their back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route


@dataclass
class Watched:
    """A page that is open.

    Attributes:
        page: the page.
        console: what it wrote to the console, errors included.
        requested: the addresses that it asked for.
    """

    page: Page
    console: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def at(self) -> str:
        """Where in the game the slider says that the page is."""
        return self.page.get_by_label("place in the game").get_attribute("aria-valuetext") or ""

    def place(self) -> int:
        """Number of the beat that is shown last."""
        return int(self.page.locator(".beat").last.get_attribute("data-beat") or -1)

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def overflows(self) -> bool:
        """Whether the page is wider than the screen."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def close(self) -> None:
        """Close it, and see that it did nothing wrong."""
        self.page.context.close()
        assert self.console == []


def watch(
    browser: Browser,
    address: str,
    ready: str = ".beat",
    changed: Callable[[Any], Any] | None = None,
    **context: Any,
) -> Watched:
    """Open a page.

    Args:
        browser: the browser.
        address: the page's address.
        ready: selector of what is there when it is drawn.
        changed: makes other data of the game's data on their way.
        context: settings of the browser's context.
    """
    page = browser.new_context(
        **{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **context}
    ).new_page()
    seen = Watched(page)
    page.on("console", lambda message: seen.console.append(message.text))
    page.on("pageerror", lambda error: seen.console.append(str(error)))
    page.on("request", lambda request: seen.requested.append(request.url))
    if changed is not None:

        def answer(route: Route) -> None:
            response = route.fetch()
            route.fulfill(response=response, body=json.dumps(changed(response.json())))

        page.route("**/data.json*", answer)
    page.goto(address)
    page.locator(ready).first.wait_for(timeout=90_000)
    return seen
