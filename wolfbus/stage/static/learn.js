// The rules, the words, and how suspicion is computed.
import { h, fill } from "./dom.js";
import { pct, listed } from "./terms.js";
import { frame } from "./sheets.js";

const DAY = [["Dawn", "the victim is told, if there is one"], ["Debate", "all bid, the highest speaks, all others judge what was said"], ["Vote", "in secret; reasons are published"], ["Exile", "whoever has a majority goes"]];

export function openLearn(root, { rules, night, glossary, alpha, example }) {
  const shownCurve = h("div");
  const slider = h("input", { type: "range", min: 0, max: example.curves.length - 1, step: 1, "aria-label": "weight of a new judgement" });
  const draw = () => {
    const { alpha: weight, values } = example.curves[slider.valueAsNumber];
    slider.setAttribute("aria-valuetext", weight.toFixed(1));
    fill(shownCurve, curve(weight, values, example.judgements));
  };
  slider.addEventListener("input", draw);
  slider.value = example.curves.findIndex((entry) => entry.alpha === alpha);
  draw();
  const part = (text) => {
    const [head, ...lines] = text.split("\n");
    return h("div", h("h3", head), h("ul.rules", lines.map((line) => h("li", line.replace(/^- /, "")))));
  };
  frame(
    root,
    "Learn",
    h("section", h("h2", "A round"), h("ol.round", [["Night", listed(night)], ...DAY].map(([name, does]) => h("li", { class: name.toLowerCase() }, h("b", name), h("span", does))))),
    h("section", h("h2", "How suspicion is computed"), h("p", "Each judgement gives a suspicion s from 0 to 1. What a player thinks of another is smoothed: D becomes α·s + (1 − α)·D, from a prior of ", h("b", pct(example.prior)), ". A large α forgets fast."), h("label.weight", "α ", slider), shownCurve),
    h("section", h("h2", "Rules"), h("div.columns", rules.split("\n\n").map(part))),
    h("section", h("h2", "Words"), h("dl.columns", glossary.map(({ term, words }) => h("div", h("dt", h("b", term)), h("dd", words))))),
  );
}

function curve(weight, values, judgements) {
  const x = (place) => 46 + (place / judgements.length) * 544;
  const y = (value) => 150 - value * 140;
  return [
    h("p.soft", `α = ${weight.toFixed(1)}: dots are judgements, the line is D`),
    h(
      "svg.plot",
      { viewBox: "0 0 600 170", role: "img", "aria-label": `with α ${weight.toFixed(1)} suspicion goes ${values.map((value) => pct(value)).join(", ")}` },
      [0, 0.5, 1].map((level) => [h("line.tick", { x1: 46, x2: 590, y1: y(level), y2: y(level) }), h("text.axis", { x: 40, y: y(level) + 4, "text-anchor": "end" }, pct(level))]),
      h("polyline.Werewolf", { points: values.map((value, place) => `${x(place)},${y(value)}`).join(" ") }),
      judgements.map((value, place) => h("circle", { cx: x(place + 1), cy: y(value), r: 4 })),
    ),
  ];
}
