// Two studies beside each other: their differences, and games of the same seed.
import { h, fill } from "./dom.js";
import { fetchJson } from "./feed.js";
import { beatElement } from "./transcript.js";
import { title } from "./terms.js";
import { frame, gameLink, rangeOf, forest, estimateCell } from "./sheets.js";

export function openComparison(root, { a, b, comparison, pairs }) {
  const rows = Object.entries(comparison.metrics).filter(([name]) => !name.includes("/"));
  const range = (unit) => rangeOf(rows.map(([, row]) => row.unit === unit && row.difference), 0);
  const table = (metrics) =>
    h(
      "div.wide",
      { tabindex: 0 },
      h(
        "table.rows",
        h("thead", h("tr", ["Measure", a.name, b.name, "Difference", "p, adjusted"].map((name) => h("th", { scope: "col" }, name)))),
        h(
          "tbody",
          metrics.map(([, { label, unit, a: valueA, b: valueB, n_a: n, n_b: m, difference, p_adjusted: p }]) =>
            h("tr", h("th", { scope: "row" }, title(label)), h("td", estimateCell({ value: valueA, n }, unit)), h("td", estimateCell({ value: valueB, n: m }, unit)), h("td", forest(difference, range(unit)), h("div", estimateCell(difference, unit))), h("td.number", p == null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3))),
          ),
        ),
      ),
    );
  frame(
    root,
    `${a.name} and ${b.name}`,
    h("section", h("h2", "Differences"), table(rows), h("p.soft", "A bar is an interval of 95 % of the difference, the thin line none. p is adjusted for the primary measures together; every other is exploratory and has none.")),
    h("section", h("h2", "Same seed"), pairs.length ? pairs.map((pair) => h("details.twins", { "data-a": pair.a?.id ?? pair.a, "data-b": pair.b?.id ?? pair.b }, h("summary", `Seed ${pair.seed}`), h("div.pair"))) : h("p.soft", "The studies have no seed in common.")),
  );
  root.addEventListener("toggle", ({ target }) => target.open && showPair(target), true);
}

async function showPair(box) {
  const { a, b } = box.dataset;
  const games = await Promise.all([a, b].map((game) => fetchJson(`/g/${encodeURIComponent(game)}/data.json`)));
  fill(box.querySelector(".pair"), games.map((data, place) => h("div", h("h3", h("a", { href: gameLink([a, b][place]) }, data.game.id)), data.beats.map((beat, n) => beatElement(beat, data.beats[n - 1], data)))));
}
