"""The report's figures: what they say, that a page may take them as they stand, and that their colours can be told."""

import copy
import functools
import itertools
import re
import unicodedata
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from analytics.findings import metrics
from analytics.report.report import Report
from tests.analytics.script import gathered
from tests.report import sample
from tests.report.sample import drawn
from wolfbus.game.vocabulary import ROLES

KEYS = (
    *("answer-figure", "wins", "production-figure", "heatmap", "confusion", "figure1-figure"),
    *("reliability-suspicion", "reliability-before", "roc"),
)
HOSTILE = (
    "<script>alert(1)</script>",
    'a"b\' onload="x" & <b>',
    "cost$\\frac{1}{2}$_x^2",
    "\u202eevil\u202c\x1b[31m\x00name",
    "日本語のモデル🎲",
    "openai:a-model-with-a-name-that-goes-on-and-on-and-never-ends-2026-01-01",
    "openai:a-model-with-a-name-that-goes-on-and-on-and-never-ends-2026-01-02",
    "",
)
SVG = "{http://www.w3.org/2000/svg}"
STYLE = Report({}, gathered([])).html().partition("<style>")[2].partition("</style>")[0]


def agent(sensitivity, concealment, half=0.2):
    values = {"sensitivity": sensitivity, "concealment": concealment}
    return {
        name: sample.estimate(value, half) if half is not None else {"value": value, "low": None, "high": None}
        for name, value in values.items()
    }


@functools.cache
def whole():
    """Findings in which every figure has something to draw, an agent for every hostile name."""
    findings = sample.findings()
    findings["abilities"]["role"]["agents"] = {
        name: agent(0.1 * place - 0.3, 0.2 - 0.1 * place) for place, name in enumerate(HOSTILE)
    }
    return findings


@functools.cache
def figures():
    """All figures of these findings."""
    return drawn(whole())


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def described(svg):
    return ET.fromstring(svg).findtext(f"{SVG}desc")


def width_of(words: str, size: float) -> float:
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.6 for letter in words)


@pytest.mark.parametrize("key", KEYS)
def test_a_figure_is_one_svg_element_that_a_strict_page_takes_and_that_stands_in_words_too(key):
    svg = figures()[key]
    assert svg.startswith("<svg ")
    assert not re.search(r"<!|<\?|metadata|20\d\d-\d\d-\d\dT", svg)
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    root = ET.fromstring(svg)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "title", "desc", "path", "rect", "text"}
        assert not {"style", "href"} & set(element.attrib)
        assert element.get("class", "wb-figure") == "wb-figure"
        assert not any(name.startswith("on") or "url(" in value for name, value in element.attrib.items())
    for value in re.findall(r'\b(?:fill|stroke)="([^"]*)"', svg):
        assert value == "none" or re.fullmatch(r"var\(--wb-[a-z0-9-]+, #[0-9a-f]{6}\)", value)
    for variable in re.findall(r"var\((--wb-[a-z0-9-]+)", svg):
        assert f"{variable}:" in STYLE
    ids = {element.get("id"): element for element in root.iter() if element.get("id")}
    title, description = (ids[name] for name in root.get("aria-labelledby").split())
    assert (root.get("role"), title.tag, description.tag) == ("img", f"{SVG}title", f"{SVG}desc")
    assert len(title.text) > 5
    assert len(description.text) > 40
    assert re.search(r"\d", description.text)
    # no word leaves it
    for element in root.iter(f"{SVG}text"):
        if element.get("transform") is None:
            wide = width_of(element.text, float(element.get("font-size", 13)))
            start = float(element.get("x")) - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor"), 0)
            assert -0.1 <= start <= float(root.get("width")) + 0.1 - wide
            assert 0 <= float(element.get("y")) <= float(root.get("height"))


def test_equal_findings_give_equal_bytes_and_figures_share_a_page_without_sharing_an_id():
    assert drawn(copy.deepcopy(whole())) == figures()
    other = drawn({**whole(), "figure1": {**whole()["figure1"], "flagged": []}})["figure1-figure"]
    ids = Counter(re.findall(r'\bid="([^"]+)"', "".join([*figures().values(), other])))
    assert set(ids.values()) == {1}


def test_over_no_games_there_is_nothing_to_draw():
    none = {"n": 0, "roc": [], "reliability": []}
    scores = {score: {"overall": none} for score in ("suspicion", "before")}
    empty = {**metrics([]), "table4": scores, "curves": scores, "abilities": {"role": {"agents": {}}}}
    assert drawn(empty) == dict.fromkeys(KEYS, "")


def test_hostile_names_are_text_on_one_line_and_stay_apart():
    svg = figures()["answer-figure"]
    assert "<script" not in svg
    assert "<b>" not in svg
    names = texts(svg)[: len(HOSTILE)]
    assert len(set(names)) == len(HOSTILE)
    assert "<script>alert(1)" in " ".join(names)
    assert not set("\u202e\u202c\x1b\x00") & set(svg)
    assert all(len(text) <= 25 for text in names)


def test_a_forest_has_a_line_for_whoever_has_an_estimate_and_says_its_interval():
    agents = {"e": agent(None, 0.1), "f": agent(0.3, 0.1, half=None), "g": agent(None, None)}
    areas = {"f": {"role_auc": {"value": 0.62, "low": None, "high": None}}}
    svg = drawn({"abilities": {"role": {"agents": agents}}, "agents": areas})["answer-figure"]
    assert [text for text in texts(svg) if text in agents] == ["f", "e"]
    assert texts(svg).count("undefined") == 1
    # a point without an interval would be taken for one that says something
    assert {"0.620, no interval", "+0.10, no interval"} <= set(texts(svg))
    assert svg.count("a4.5 4.5") == 2, "a circle is two arcs, and there is one"
    assert "f: detects 0.620, conceals +0.10" in described(svg)
    assert drawn({"abilities": {"role": {"agents": {"g": agents["g"]}}}})["answer-figure"] == ""


def points(*rows):
    return [dict(zip(("round", "mean", "sem", "n"), row, strict=True)) for row in rows]


def figure1(lines, flags=(), **settings):
    none = {role: [] for role in ROLES}
    return drawn({"figure1": {"suspicion": none | lines, "flagged": list(flags)}, "settings": settings})[
        "figure1-figure"
    ]


def test_figure_1_says_every_point_with_its_games():
    flags = [{"round": 1, "share": 0.35, "flagged": 7, "n": 20}]
    svg = figure1({"Werewolf": points((1, 0.52, 0.01, 20), (2, 0.62, None, 1))}, flags, prior=[0.5])
    assert "Werewolf role: round 1 52\u00a0% (n 20), round 2 62\u00a0% (n 1)" in described(svg)
    assert "No judgement of a Seer counts." in described(svg)
    assert {"20", "1", "prior 0.5"} <= set(texts(svg))
    # mixed priors have no line
    mixed = figure1({role: points((1, 0.4, 0.1, 3)) for role in ROLES}, prior=[0.3, 0.5])
    assert not any("prior" in text for text in texts(mixed))


@pytest.mark.parametrize("rounds", [1, 30])
def test_figure_1_of_one_round_and_of_thirty(rounds):
    rows = [(at, 0.3 + at / 100, 0.05 if rounds > 1 else None, 9999) for at in range(1, rounds + 1)]
    flags = [{"round": at, "share": 1.0, "flagged": 9, "n": 9} for at in range(1, rounds + 1)]
    assert figure1({role: points(*rows) for role in ROLES}, flags)


def test_the_heat_map_says_mean_and_games_of_every_cell_and_where_there_is_none():
    svg = figures()["heatmap"]
    labels, cells = texts(svg), [cell for row in whole()["table2"].values() for cell in row.values()]
    for cell in cells:
        if cell["mean"] is not None:
            assert f"{cell['mean']:.2f}" in labels
            assert (f"{cell['n']} games" if cell["n"] != 1 else "1 game") in labels
    assert labels.count("no pair") == sum(cell["mean"] is None for cell in cells)
    assert "Seer observers suspect" in described(svg)


@pytest.mark.parametrize("means", [(0.0,), (1.0,), (0.5, 0.5), (0.0, 1.0), (0.449, 0.451)])
def test_the_heat_maps_scale_holds_every_mean_and_is_never_narrow(means):
    none = {"mean": None, "n": 0, "pairs": 0}
    table = {observer: dict.fromkeys(ROLES, none) for observer in ROLES}
    for mean, target in zip(means, ROLES, strict=False):
        table["Seer"][target] = {"mean": mean, "n": 1, "pairs": 1}
    labels = texts(drawn({"table2": table})["heatmap"])
    at = labels.index("mean final D")
    low, _, high = map(float, labels[at - 3 : at])
    assert 0 <= low <= min(means) <= max(means) <= high <= 1
    assert high - low >= 0.2 - 1e-9


def test_bars_say_their_counts_and_intervals():
    row = whole()["table3"]["Villager"]
    assert f"Villager observers flag {row['tp']} of {row['tp'] + row['fn']} deceptive" in described(
        figures()["confusion"]
    )
    table = copy.deepcopy(whole()["table3"])
    table["Seer"] |= dict.fromkeys(("tp", "tn", "fp", "fn", "n"), 0)
    assert texts(drawn({"table3": table})["confusion"]).count("none judged") == 2
    won = whole()["outcomes"]["winners"]["werewolves"]
    assert f"{won['k']} of {won['n']}: {100 * won['share']:.0f}\u00a0%" in texts(figures()["wins"])
    assert f"Werewolves {won['k']} of {won['n']}" in described(figures()["wins"])
    outcomes = copy.deepcopy(whole()["outcomes"])
    for side in outcomes["winners"].values():
        side.update(low=None)
    unknown = drawn(whole() | {"outcomes": outcomes})["wins"]
    assert ["interval" in described(svg) for svg in (figures()["wins"], unknown)] == [True, False]
    produced = whole()["production"]["by_role"]["Doctor"]
    without = {name: part for name, part in whole().items() if name != "variability"}
    assert f"{produced['deceptive']} of {produced['n']}" in texts(drawn(without)["production-figure"])


def test_curves_say_every_bin_even_of_one_tied_value_and_name_their_areas():
    row = {"low": 0.5, "high": 0.5, "mean_score": 0.5, "share": 0.4, "n": 12345}
    findings = {
        "table4": {"suspicion": {"overall": {"reliability": [row], "base_rate": 0.4, "ece": 0.1, "brier": 0.26}}}
    }
    svg = drawn(findings)["reliability-suspicion"]
    assert "12345" in texts(svg)
    assert "at 0.50 40\u00a0% deceptive (n 12345)" in described(svg)
    labels = " ".join(texts(figures()["roc"]))
    assert "stated suspicion:" in labels
    assert f"area {whole()['curves']['suspicion']['overall']['auc']:.2f}" in labels
    assert "guessing: area 0.50" in labels


LIGHT, DARK = (
    dict(re.findall(r"--wb-([\w-]+): (#[0-9a-f]{6})", part))
    for part in STYLE.split("@media screen and (prefers-color-scheme: dark)", 1)
)
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


@GROUNDS
def test_words_and_marks_stand_out_from_their_ground(colours):
    assert list(LIGHT) == list(DARK)
    # names of roles are also written in their colours
    words = ("ink", "muted", "villager", "werewolf", "seer", "doctor", "accent", "flag", "pass")
    for name, least in {**dict.fromkeys(words, 4.5), "nobody": 3}.items():
        assert contrast(colours[name], colours["paper"]) >= least, name
    heats = [colour for name, colour in colours.items() if name.startswith("heat-")]
    # the scale goes one way, and its words are in the colour of the paper from a step on
    assert [luminance(heat) for heat in heats] in [sorted(map(luminance, heats), reverse=way) for way in (False, True)]
    words = [max(("ink", "paper"), key=lambda ink: contrast(colours[ink], heat)) for heat in heats]
    assert all(contrast(colours[ink], heat) >= 4.5 for ink, heat in zip(words, heats, strict=True))
    assert len(list(itertools.groupby(words))) == 2


@GROUNDS
def test_words_in_a_cell_of_the_heat_map_can_be_read(colours):
    cell = r'<rect [^>]*fill="var\(--wb-(heat-\d)[^>]*/><text [^>]*fill="var\(--wb-(\w+)'
    # the words beside the scale stand on the paper
    pairs = {(ground, ink) for ground, ink in re.findall(cell, figures()["heatmap"]) if ink != "muted"}
    assert pairs
    assert all(contrast(colours[ground], colours[ink]) >= 4.5 for ground, ink in pairs)


@GROUNDS
@pytest.mark.parametrize("sight", SEEING)
def test_colour_blind_readers_tell_roles_and_flags_apart(colours, sight):
    def seen(colour):
        return lab([sum(w * p for w, p in zip(row, linear(colour), strict=True)) for row in SEEING[sight]])

    pairs = [*itertools.combinations((colours[role.lower()] for role in ROLES), 2), (colours["flag"], colours["pass"])]
    for one, other in pairs:
        assert sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5 > 10


def test_roles_are_told_apart_by_the_dash_of_their_line_and_the_shape_of_its_points():
    svg = figures()["figure1-figure"]
    lines, shapes = [], []
    for role in ROLES:
        ink = rf'stroke="var\(--wb-{role.lower()}\b[^"]*"'
        lines += set(re.findall(rf'{ink} stroke-width="2.4"( stroke-dasharray="[^"]+")?/>', svg))
        shapes += set(re.findall(rf'd="M[\d.]+ [\d.]+([a-z][^"]+)"[^>]* {ink}', svg))
    assert len(lines) == len(set(lines)) == len(shapes) == len(set(shapes)) == len(ROLES)
