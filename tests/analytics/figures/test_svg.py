"""What is made of matplotlib's SVG."""

from __future__ import annotations

import pytest

from analytics.figures.palette import sentinel
from analytics.figures.svg import page_svg

SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
HEAD = f'<svg {SPACES} viewBox="0 0 72 36" width="1pt">'


def page(body):
    return page_svg(f"{HEAD}{body}</svg>", "wb-x", "A < B", "one & two")


def test_title_and_description_are_escaped_and_the_size_is_in_pixels():
    svg = page("")
    assert '<title id="wb-x-title">A &lt; B</title><desc id="wb-x-desc">one &amp; two</desc>' in svg
    assert 'viewBox="0 0 72 36" width="96" height="48"' in svg


def test_styles_become_attributes_and_colours_variables():
    ink = sentinel("ink")
    svg = page(f'<path d="M 1.23456 -0.001 \nL 2 3" style="fill: none; stroke: {ink}; stroke-width: 2; opacity: 0.5"/>')
    stroke = 'stroke="var(--wb-ink, #1b1f24)"'
    assert f'<path d="M 1.23 0 L 2 3" fill="none" {stroke} stroke-width="2" opacity="0.5"></path>' in svg


def test_fonts_are_the_pages_and_empty_groups_are_left_out():
    svg = page("<g id='text_1'><text style=\"font-size: 9px; font-family: 'X'\" x='1'>a &lt; b</text></g>")
    assert '<text font-size="9px" x="1">a &lt; b</text>' in svg
    assert "<g" not in svg


def test_ids_are_renamed_with_their_references_and_style_sheets_dropped():
    svg = page(
        "<defs><style>* { x: y }</style><path id='m1' d='M 0 0'/></defs><use xlink:href='#m1' x='1'/>"
        "<path clip-path='url(#c1)' d='M 0 0'/><clipPath id='c1'><rect x='0'/></clipPath>"
    )
    assert '<path id="wb-x-1" d="M 0 0">' in svg
    assert '<use href="#wb-x-1" x="1">' in svg
    assert 'clip-path="url(#wb-x-2)"' in svg
    assert '<clipPath id="wb-x-2">' in svg
    assert "y }" not in svg


@pytest.mark.parametrize(
    "body",
    [
        "<script>1</script>",
        "<image xlink:href='http://x'/>",
        "<g onclick='1'/>",
        "<path style='fill: #123456'/>",
        "<path style='filter: url(http://x)'/>",
        "<path fill='red'/>",
    ],
)
def test_what_is_not_known_to_be_harmless_is_refused(body):
    with pytest.raises(ValueError, match="a figure "):
        page(body)
