// Two studies, or a fork and its parent, beside each other.
import { h, fill } from "./dom.js";
import { fetchJson } from "./feed.js";
import { beatElement } from "./transcript.js";
import { title } from "./terms.js";
import { frame, gameLink, rangeOf, forest, estimateCell } from "./sheets.js";

export function openComparison(root, { a, b, comparison, pairs }) {
  const rows = Object.entries(comparison.metrics).filter(([name]) => !name.includes("/"));
  const range = (unit) => rangeOf(rows.map(([, row]) => row.unit === unit && row.difference), 0);
  frame(
    root,
    `${a.name} and ${b.name}`,
    h(
      "section",
      h("h2", "Differences"),
      h(
        "div.wide",
        { tabindex: 0 },
        h(
          "table.rows",
          h("thead", h("tr", ["Measure", a.name, b.name, "Difference", "p, adjusted"].map((name) => h("th", { scope: "col" }, name)))),
          h(
            "tbody",
            rows.map(([, { label, unit, a: valueA, b: valueB, n_a: n, n_b: m, difference, p_adjusted: p }]) =>
              h("tr", h("th", { scope: "row" }, title(label)), h("td", estimateCell({ value: valueA, n }, unit)), h("td", estimateCell({ value: valueB, n: m }, unit)), h("td", forest(difference, range(unit)), h("div", estimateCell(difference, unit))), h("td.number", p == null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3))),
            ),
          ),
        ),
      ),
      h("p.soft", "A bar is an interval of 95 % of the difference, the thin line none. p is adjusted for the primary measures together; every other is exploratory and has none."),
    ),
    h("section", h("h2", "Same seed"), pairs.length ? pairs.map(({ a, b, seed }) => h("details.twins", { "data-a": a, "data-b": b }, h("summary", `Seed ${seed}`), h("div.pair"))) : h("p.soft", "The studies have no seed in common.")),
  );
  root.addEventListener("toggle", ({ target }) => target.open && pair(target.lastChild, ...Object.values(target.dataset)), true);
}

export const loadGame = (id) => fetchJson(`/g/${encodeURIComponent(id)}/data.json`);

async function pair(box, ...ids) {
  const games = await Promise.all(ids.map(loadGame));
  const fork = games[1].game.fork;
  const from = fork ? games[0].beats.findIndex(({ spoken }) => spoken?.statement === fork.statement) : 0;
  fill(box, games.map(({ game, beats }, place) => h("div", h("h3", h("a", { href: gameLink(ids[place]) }, game.id)), beats.slice(from).map((beat, n) => beatElement(beat, beats[from + n - 1], games[place])))));
}

export async function openFork(root, id) {
  const { fork } = (await loadGame(id)).game;
  if (!fork) throw Error("this is no fork");
  const box = h("div.pair");
  frame(root, "A fork", h("section", h("h2", fork.words), box));
  await pair(box, fork.parent, id).catch((error) => {
    if (error.status !== 404) throw error;
    fill(box, h("p", `Its parent, ${fork.parent}, is not here, or more than once. `, h("a", { href: gameLink(id) }, "The fork alone")));
  });
}
