"""Photographs the page of seed 7, docs/page.png and docs/phone.png: ``python docs/make/pages.py``; needs Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

from wolfbus.cli import run

DOCS: Final = Path(__file__).parents[1]
MOMENT: Final = "#n=16"
"""A Werewolf plays the Seer."""
SCREENS: Final = {"page": (1280, 800, "light"), "phone": (390, 844, "dark")}


def main() -> None:
    """Play the game, write its page, and photograph it."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run(["play", "--seed", "7", "--game", "seven", "--out", folder, "--quiet", "--json"])
        run(["page", f"{folder}/seven.ndjson", "-o", f"{folder}/page.html"])
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height, scheme) in SCREENS.items():
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
            page.goto(f"file://{folder}/page.html{MOMENT}")
            page.locator(".now .dot").first.wait_for()
            page.screenshot(path=DOCS / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
