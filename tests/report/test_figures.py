"""The report's figures: what they say, and that a page may take them as they stand."""

from __future__ import annotations

import copy
import html
import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from analytics import figures
from analytics.figures import chart
from analytics.findings import metrics
from tests.report import sample
from wolfbus.vocabulary import ROLES

DRAWN = {
    "figure1": figures.figure1,
    "heatmap": figures.suspicion_heatmap,
    "wins": figures.win_shares,
    "production": figures.production_by_role,
    "confusion": figures.confusion,
    "reliability": lambda findings: figures.reliability(findings, "suspicion"),
    "reliability-before": lambda findings: figures.reliability(findings, "before"),
    "roc": figures.roc,
    "forest": lambda findings: abilities(findings["abilities"]["role"]["agents"]),
}
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


def agent(sensitivity, concealment, half=0.2):
    values = {"sensitivity": sensitivity, "concealment": concealment}
    return {
        name: sample.estimate(value, half) if half is not None else {"value": value, "low": None, "high": None}
        for name, value in values.items()
    }


def whole():
    """Findings in which every figure has something to draw, an agent for every hostile name."""
    found = sample.findings()
    for ground in found["abilities"].values():
        ground["agents"] = {name: agent(0.1 * place - 0.3, 0.2 - 0.1 * place) for place, name in enumerate(HOSTILE)}
    return found


def empty():
    """Findings over no games."""
    none = {"n": 0, "roc": [], "reliability": []}
    scores = {score: {"overall": none} for score in ("suspicion", "before")}
    return {**metrics([]), "table4": scores, "curves": scores, "abilities": {"role": {"agents": {}}}}


def abilities(agents):
    """Both abilities of some agents."""
    names = ("sensitivity", "concealment")
    panels = [figures.Panel(name, "d′", "logit", {agent: agents[agent][name] for agent in agents}) for name in names]
    return figures.forest("abilities", "Agents", panels)


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def findings():
    return whole()


@pytest.fixture(scope="module")
def drawn(findings):
    return {name: draw(findings) for name, draw in DRAWN.items()}


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def described(svg):
    return ET.fromstring(svg).findtext(f"{SVG}desc")


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_one_svg_element_without_anything_that_a_strict_page_forbids(drawn, name):
    svg = drawn[name]
    assert svg.startswith("<svg ")
    assert svg.endswith("</svg>")
    root = ET.fromstring(svg)
    allowed = {"svg", "title", "desc", "path", "rect", "text"}
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in allowed
        for key, value in element.attrib.items():
            assert key not in {"style", "onload", "class"} or (key, value) == ("class", "wb-figure")
            assert not key.startswith("on")
            assert key != "href"
            assert "url(" not in value
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"<!|<\?|metadata|20\d\d-\d\d-\d\dT", svg)


@pytest.mark.parametrize("name", DRAWN)
def test_every_colour_is_a_variable_that_the_stylesheet_sets(drawn, name):
    rules = figures.css()
    for _, value in re.findall(r'\b(fill|stroke)="([^"]*)"', drawn[name]):
        assert value == "none" or re.fullmatch(r"var\(--wb-[a-z0-9-]+, #[0-9a-f]{6}\)", value)
    for variable in re.findall(r"var\((--wb-[a-z0-9-]+)", drawn[name]):
        assert f"{variable}:" in rules


@pytest.mark.parametrize("name", DRAWN)
def test_its_title_and_description_stand_in_for_it(drawn, name):
    root = ET.fromstring(drawn[name])
    assert root.get("role") == "img"
    ids = {element.get("id"): element for element in root.iter() if element.get("id")}
    title, description = (ids[key] for key in root.get("aria-labelledby").split())
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert len(title.text) > 5
    assert len(description.text) > 40
    assert re.search(r"\d", description.text)


@pytest.mark.parametrize("name", DRAWN)
def test_equal_findings_give_equal_bytes(findings, drawn, name):
    assert DRAWN[name](copy.deepcopy(findings)) == drawn[name]


def test_many_figures_share_a_page_without_sharing_an_id(drawn):
    other = DRAWN["figure1"]({**whole(), "figure1": {**whole()["figure1"], "flagged": []}})
    ids = Counter(re.findall(r'\bid="([^"]+)"', "".join([*drawn.values(), other])))
    assert set(ids.values()) == {1}


@pytest.mark.parametrize("name", DRAWN)
def test_no_word_leaves_the_figure(drawn, name):
    root = ET.fromstring(drawn[name])
    for element in root.iter(f"{SVG}text"):
        if element.get("transform") is None:
            wide = chart.width_of(element.text, float(element.get("font-size", chart.SIZE)))
            start = float(element.get("x")) - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor"), 0)
            assert start >= -0.1
            assert start + wide <= chart.WIDTH + 0.1
            assert 0 <= float(element.get("y")) <= float(root.get("height"))


@pytest.mark.parametrize("name", DRAWN)
def test_over_no_games_there_is_nothing_to_draw(name):
    assert DRAWN[name](empty()) is None


def test_hostile_names_are_text_on_one_line_and_stay_apart(drawn):
    svg = drawn["forest"]
    assert "<script" not in svg
    assert "<b>" not in svg
    said = texts(svg)
    shown = said[: len(HOSTILE)]
    assert len(set(shown)) == len(HOSTILE)
    joined = " ".join(shown)
    assert "<script>alert(1)" in joined
    assert not set("\u202e\u202c\x1b\x00") & set(svg)
    assert all(len(text) <= 25 for text in shown)


def test_a_forest_has_a_line_for_whoever_has_an_estimate_and_says_its_interval():
    held = {"e": agent(None, 0.1), "f": agent(0.3, 0.1, half=None), "g": agent(None, None)}
    svg = abilities(held)
    said = texts(svg)
    assert said[:2] == ["e", "f"]
    assert said.count("undefined") == 1
    assert "f: sensitivity +0.30, concealment +0.10" in described(svg)
    assert abilities({"g": held["g"]}) is None


def points(*rows):
    return [dict(zip(("round", "mean", "sem", "n"), row, strict=True)) for row in rows]


def test_figure_1_says_every_point_with_its_games():
    lines = {role: [] for role in ROLES}
    lines["Werewolf"] = points((1, 0.52, 0.01, 20), (2, 0.62, None, 1))
    flags = [{"round": 1, "share": 0.35, "flagged": 7, "n": 20}]
    svg = figures.figure1({"figure1": {"suspicion": lines, "flagged": flags}, "settings": {"prior": [0.5]}})
    assert "Werewolf role: round 1 52\u00a0% (n 20), round 2 62\u00a0% (n 1)" in described(svg)
    assert "No judgement of a Seer counts." in described(svg)
    assert {"20", "1", "prior 0.5"} <= set(texts(svg))


def test_figure_1_of_one_round_and_of_thirty():
    one = {role: points((1, 0.9, None, 1)) for role in ROLES}
    many = {role: points(*((each, 0.3 + each / 100, 0.05, 9999) for each in range(1, 31))) for role in ROLES}
    for lines in (one, many):
        flags = [{"round": p["round"], "share": 1.0, "flagged": 9, "n": 9} for p in lines["Seer"]]
        assert figures.figure1({"figure1": {"suspicion": lines, "flagged": flags}})


def test_mixed_priors_have_no_line():
    lines = {role: points((1, 0.4, 0.1, 3)) for role in ROLES}
    svg = figures.figure1({"figure1": {"suspicion": lines, "flagged": []}, "settings": {"prior": [0.3, 0.5]}})
    assert not any("prior" in text for text in texts(svg))


def test_the_heat_map_says_mean_and_games_of_every_cell_and_where_there_is_none(findings):
    svg = figures.suspicion_heatmap(findings)
    said = texts(svg)
    for row in findings["table2"].values():
        for cell in row.values():
            if cell["mean"] is not None:
                assert f"{cell['mean']:.2f}" in said
                assert (f"{cell['n']} games" if cell["n"] != 1 else "1 game") in said
    assert said.count("no pair") == sum(c["mean"] is None for row in findings["table2"].values() for c in row.values())
    assert "Seer observers suspect" in described(svg)


@pytest.mark.parametrize("means", [(0.0,), (1.0,), (0.5, 0.5), (0.0, 1.0), (0.449, 0.451)])
def test_the_heat_maps_scale_holds_every_mean_and_is_never_narrow(means):
    none = {"mean": None, "n": 0, "pairs": 0}
    table = {observer: dict.fromkeys(ROLES, none) for observer in ROLES}
    for mean, target in zip(means, ROLES, strict=False):
        table["Seer"][target] = {"mean": mean, "n": 1, "pairs": 1}
    svg = figures.suspicion_heatmap({"table2": table})
    low, _, high = _scale(texts(svg))
    assert low <= min(means)
    assert max(means) <= high
    assert high - low >= 0.2 - 1e-9
    assert 0 <= low < high <= 1


def _scale(said):
    return [float(text) for text in said[said.index("mean final D") - 3 : said.index("mean final D")]]


def test_the_confusion_figure_says_all_counts(findings):
    description = described(figures.confusion(findings))
    row = findings["table3"]["Villager"]
    assert f"Villager observers flag {row['tp']} of {row['tp'] + row['fn']} deceptive" in description


def test_a_role_that_judged_nothing_is_said_to():
    table = copy.deepcopy(whole()["table3"])
    table["Seer"] |= dict.fromkeys(("tp", "tn", "fp", "fn", "n"), 0)
    assert texts(figures.confusion({"table3": table})).count("none judged") == 2


def test_win_shares_say_counts_and_intervals(findings):
    row = findings["outcomes"]["winners"]["werewolves"]
    svg = figures.win_shares(findings)
    assert f"{row['k']} of {row['n']}: {100 * row['share']:.0f}\u00a0%" in texts(svg)
    assert f"Werewolves {row['k']} of {row['n']}" in described(svg)


def test_production_needs_no_intervals():
    found = whole()
    del found["variability"]
    row = found["production"]["by_role"]["Doctor"]
    assert f"{row['deceptive']} of {row['n']}" in texts(figures.production_by_role(found))


def test_reliability_says_every_bin_even_of_one_tied_value():
    row = {"low": 0.5, "high": 0.5, "mean_score": 0.5, "share": 0.4, "n": 12345}
    overall = {"reliability": [row], "base_rate": 0.4, "ece": 0.1, "brier": 0.26}
    found = {"table4": {"suspicion": {"overall": overall}}}
    svg = figures.reliability(found, "suspicion")
    assert "12345" in texts(svg)
    assert "at 0.50 40\u00a0% deceptive (n 12345)" in described(svg)


def test_the_roc_curves_name_their_areas(findings):
    said = " ".join(texts(figures.roc(findings)))
    assert "stated suspicion:" in said
    assert f"area {findings['curves']['suspicion']['overall']['auc']:.2f}" in said
    assert "guessing: area 0.50" in said


def test_figures_escape_into_html_as_they_stand(drawn):
    for svg in drawn.values():
        assert html.unescape(svg).count("</svg>") == 1
