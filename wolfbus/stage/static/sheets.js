// What the pages beside the game's have in common: their frame, tables of games, intervals as pictures.
import { h, fill, isolated } from "./dom.js";
import { day, pct, title, REASONS } from "./terms.js";
import { curve, points } from "./timeline.js";

export function frame(root, name, ...parts) {
  document.title = name === "wolfbus" ? name : `${name} · wolfbus`;
  const file = document.getElementById("wolfbus-data");
  fill(root, h("div.doc", h("header.top", !file && h("a.home", { href: "/" }, "wolfbus"), h("h1", name === "wolfbus" ? "Games and studies" : name), !file && h("a", { href: "/learn" }, "Learn")), h("main", parts)));
}

// Whether outcomes are hidden here, and in what is linked to.
export const hides = new URLSearchParams(location.search).has("hide");

export function gameLink(game, beat) {
  const fragment = hides ? "?hide=1" : beat == null ? "" : `#n=${beat}`;
  return document.getElementById("wolfbus-data") ? `#g=${encodeURIComponent(game)}${beat == null ? "" : `&n=${beat}`}` : `/g/${encodeURIComponent(game)}${fragment}`;
}

const STATES = { new: "not read yet", open: "not finished", stopped: "broken off", damaged: "damaged" };

export function outcome({ state, winner, error }) {
  if (error) return "damaged";
  return winner ? title(winner) : (STATES[state] ?? "Nobody");
}

export function gamesTable(games) {
  if (!games.length) return h("p.soft", "No games.");
  const brains = ({ players = [] }) => [...new Set(players.map((player) => player.model ?? player.brain))].join(", ");
  return h(
    "div.wide",
    { tabindex: 0 },
    h(
      "table.rows.games",
      { "aria-label": "Games" },
      h("thead", h("tr", ["Game", "Players", ...(hides ? [] : ["Result", "Rounds", "Lies", "Suspicion", "Best moment"])].map((name) => h("th", { scope: "col" }, name)))),
      h(
        "tbody",
        games.map((game) =>
          h(
            "tr",
            h("th", { scope: "row" }, h("a", { href: gameLink(game.id) }, game.title ?? day(game.started) ?? game.id), h("small", game.id)),
            h("td", brains(game)),
            !hides && [
              h("td", h("b", { class: game.winner }, outcome(game)), h("small", game.error ?? REASONS[game.reason])),
              h("td.number", game.rounds),
              h("td.number", game.lies),
              h("td", thumbnail(game.curve)),
              h("td", game.moment && h("a", { href: gameLink(game.id, game.moment_beat) }, isolated(title(game.moment)))),
            ],
          ),
        ),
      ),
    ),
  );
}

// A game's curve, small: above the line the Werewolves are suspected more than the others.
function thumbnail(gaps = []) {
  const drawn = points(gaps.map((gap) => ({ gap })), 120, 32, undefined, 8);
  return drawn.line && curve(drawn, 120, 32, { role: "img", "aria-label": `it ends at ${gaps.at(-1)} points` });
}

// A round number step that divides `span` into three to six.
export function ticks(low, high, least = 0) {
  const rough = Math.max((high - low) / 4 || 1, least);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((multiple) => multiple >= rough);
  const steps = [];
  for (let index = Math.ceil(low / step); index * step <= high; index++) steps.push(Number((index * step).toPrecision(6)));
  return steps;
}

export function rangeOf(estimates, ...always) {
  const values = [...always, ...estimates.flatMap((estimate) => (estimate ? [estimate.value, estimate.low, estimate.high] : [])).filter((value) => value != null)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = (high - low || 1) * 0.06;
  return [low - margin, high + margin];
}

// A value with its interval on a common axis; the line is `zero`.
export function forest(estimate, [low, high], zero = 0) {
  const x = (value) => (((value - low) / (high - low)) * 200).toFixed(1);
  return h(
    "svg.forest",
    { viewBox: "0 0 200 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("line.zero", { x1: x(zero), x2: x(zero), y1: 0, y2: 24 }),
    estimate?.low != null && h("line.interval", { x1: x(estimate.low), x2: x(estimate.high), y1: 12, y2: 12 }),
    estimate?.value != null && h("line.value", { x1: x(estimate.value), x2: x(estimate.value), y1: 5, y2: 19 }),
  );
}

// A value with its interval and n; the way to the statements behind it, if there is one.
export function estimateCell(estimate, unit, href) {
  const format = (value) => (unit === "share" || unit === "points" ? pct(value) : value.toFixed(unit === "probability" ? 3 : 2).replace(/^-(?=[0.]+$)/, "").replace("-", "−"));
  if (estimate?.value == null) return h("span.soft", { title: estimate?.reason }, "–");
  const n = `n ${estimate.n}`;
  return [h("b", format(estimate.value)), h("small", estimate.low == null ? " " : ` ${format(estimate.low)} to ${format(estimate.high)}, `, href ? h("a", { href }, n) : n)];
}

// Who won, as a bar.
export function shares(winners) {
  const all = Object.values(winners).reduce((sum, number) => sum + number, 0);
  return h("span.shares", ["werewolves", "villagers", "nobody"].map((who) => winners[who] > 0 && h("i", { class: who, "--v": winners[who] / all }, `${title(who)} ${winners[who]}`)));
}
