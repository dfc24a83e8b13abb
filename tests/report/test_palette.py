"""Colours that can be told from their ground and from each other, in light and dark."""

from __future__ import annotations

import itertools

import pytest

from analytics.figures.chart import DARK_HEATS, HEATS, css, palette
from wolfbus.roles import FACTS
from wolfbus.vocabulary import ROLES

LIGHT, DARK = palette().light, palette().dark
GROUNDS = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])

SEEING = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""Colour blindness at its strongest as matrices on linear RGB (Machado, Oliveira and Fernandes 2009)."""


def linear(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb):
    x, y, z = (
        sum(weight * max(0.0, part) for weight, part in zip(row, rgb, strict=True)) / white
        for row, white in zip(
            ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)),
            (0.9505, 1.0, 1.089),
            strict=True,
        )
    )
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, matrix):
    seen = [
        lab([sum(w * p for w, p in zip(row, linear(colour), strict=True)) for row in matrix]) for colour in (one, other)
    ]
    return sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5


def test_light_and_dark_have_the_same_names():
    assert list(LIGHT) == list(DARK)


@GROUNDS
def test_words_and_marks_stand_out_from_their_ground(colours):
    for name in ("ink", "muted"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    for name in ("villager", "werewolf", "seer", "doctor", "flag", "pass", "nobody", "accent"):
        assert contrast(colours[name], colours["paper"]) >= 3, name
    # names of roles are also written in their colours
    for name in ("villager", "werewolf", "seer", "doctor", "accent"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name


@GROUNDS
def test_words_within_bars_and_cells_can_be_read(colours):
    assert contrast(colours["flag"], colours["paper"]) >= 4.5
    assert contrast(colours["pass"], colours["paper"]) >= 4.5
    for step in range(HEATS):
        ink = colours["paper" if step >= DARK_HEATS else "ink"]
        assert contrast(colours[f"heat-{step}"], ink) >= 4.5, step


@GROUNDS
def test_the_heat_scale_goes_one_way(colours):
    steps = [luminance(colours[f"heat-{step}"]) for step in range(HEATS)]
    assert steps in (sorted(steps), sorted(steps, reverse=True))


@GROUNDS
@pytest.mark.parametrize("sight", SEEING)
def test_colour_blind_readers_tell_roles_and_flags_apart(colours, sight):
    pairs = [
        *itertools.combinations((colours[role.lower()] for role in ROLES), 2),
        (colours["flag"], colours["pass"]),
    ]
    assert min(distance(one, other, SEEING[sight]) for one, other in pairs) > 10


def test_every_role_also_has_a_marker_and_a_dash_of_its_own():
    assert len({facts.figure.marker for facts in FACTS.values()}) == len(ROLES)
    assert len({facts.figure.dash for facts in FACTS.values()}) == len(ROLES)


def test_the_stylesheet_sets_every_variable_for_light_dark_and_print():
    rules = css()
    for name in LIGHT:
        assert rules.count(f"--wb-{name}:") == 2
    assert "@media screen and (prefers-color-scheme: dark)" in rules
    assert rules.count("{") == rules.count("}")
    assert "url(" not in rules
    assert "@import" not in rules
