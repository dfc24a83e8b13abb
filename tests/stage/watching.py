"""A page as a person has it before them, and what it did behind their back."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route


USUAL: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
"""How a page is looked at unless a test says otherwise."""


def sized(png: bytes) -> tuple[int, ...]:
    """Return width and height of a picture in PNG."""
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">2I", png[16:24])


@dataclass
class Watched:
    """A page that is open.

    Attributes:
        page: the page.
        shared: whether other tests look at other addresses on it.
        console: what it wrote to the console, errors included.
        requested: the addresses that it asked for.
    """

    page: Page
    shared: bool = False
    console: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listeners: dict[Any, Callable[[Any], None]] = {
            "console": lambda message: self.console.append(message.text),
            "pageerror": lambda error: self.console.append(str(error)),
            "request": lambda request: self.requested.append(request.url),
        }
        for listener in self.listeners.items():
            self.page.on(*listener)

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
        """Close it, or leave it to the next test, and see that it did nothing wrong."""
        if self.shared:
            self.page.unroute_all()
            self.page.goto("about:blank")
            self.page.emulate_media(media="null", color_scheme="light")
            self.page.set_viewport_size(USUAL["viewport"])
        else:
            self.page.context.close()
        for listener in self.listeners.items():
            self.page.remove_listener(*listener)
        assert self.console == []


def watch(
    browser: Browser,
    address: str,
    ready: str = ".beat",
    changed: Callable[[Any], Any] | None = None,
    page: Page | None = None,
    **context: Any,
) -> Watched:
    """Open a page.

    Args:
        browser: the browser.
        address: the page's address.
        ready: selector of what is there when it is drawn.
        changed: makes other data of the game's data on their way.
        page: where to open it, which tests share; a page of its own unless given.
        context: settings of the browser's context; of a page that tests share only its size and its colours.
    """
    if page is not None:
        # an address that differs by its fragment alone would leave the page as the test before left it
        page.goto("about:blank")
        page.set_viewport_size(context.get("viewport", USUAL["viewport"]))
        page.emulate_media(color_scheme=context.get("color_scheme", "light"))
    seen = Watched(page or browser.new_context(**{**USUAL, **context}).new_page(), page is not None)
    if changed is not None:

        def answer(route: Route) -> None:
            response = route.fetch()
            route.fulfill(response=response, body=json.dumps(changed(response.json())))

        seen.page.route("**/data.json*", answer)
    seen.page.goto(address)
    seen.page.locator(ready).first.wait_for(timeout=90_000)
    return seen
