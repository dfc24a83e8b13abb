// A study: who deceives and who detects, with intervals; and its games, to be watched.
import { h } from "./dom.js";
import { counted } from "./terms.js";
import { frame, gamesTable, gameLink, outcome, shares, rangeOf, forest, estimateCell, ticks } from "./sheets.js";

const BASES = { role: "Statements of Werewolves", truth: "Claims known to be false", label: "Statements called deceptive by their speakers" };
const COLUMNS = [["sensitivity", "Detects lies"], ["concealment", "Hides lies"], ["balanced_accuracy", "Balanced accuracy"], ["vote_hit", "Votes that hit a Werewolf"]];

export class StudyPage {
  constructor(root, data) {
    Object.assign(this, { root, data, base: "role", order: "sensitivity", agent: "", winner: "", lies: false });
  }

  open() {
    this.root.addEventListener("click", ({ target }) => {
      const { base, order, agent } = target.closest("button")?.dataset ?? {};
      if (base) this.base = base;
      if (order) this.order = order;
      if (agent != null) this.agent = agent === this.agent ? "" : agent;
      if (base || order || agent != null) this.draw();
    });
    this.root.addEventListener("input", ({ target }) => {
      this[target.name] = target.type === "checkbox" ? target.checked : target.value;
      this.draw();
    });
    this.draw();
  }

  draw() {
    const { findings, games, cost_usd: cost, name, id, report } = this.data;
    const { winners } = findings.outcomes;
    const agents = findings.agents ?? {};
    const chosen = games.filter((game) => (!this.agent || game.players?.some((player) => player.brain === this.agent)) && (!this.winner || outcome(game).toLowerCase() === this.winner) && (!this.lies || game.lies > 0));
    const option = (value, words) => h("option", { value, selected: value === this.winner }, words);
    frame(
      this.root,
      name ?? id,
      h("p.soft", `${counted(findings.outcomes.finished, "game")} finished`, cost != null && ` · $${cost.toFixed(2)}`, report && [" · ", h("a", { href: report }, "full report")], " · ", shares(Object.fromEntries(Object.entries(winners).map(([who, wins]) => [who, wins.k])))),
      h("section", h("h2", "Leaderboard"), h("nav.views", Object.entries(BASES).map(([base, words]) => findings.abilities[base] && h("button", { "data-base": base, "aria-pressed": String(base === this.base) }, words))), this.leaderboard(agents)),
      h("section.pair", h("div", h("h2", "Deceivers and detectors"), abilityPlot(this.abilities())), h("div", h("h2", "Suspicion by round"), rounds(findings.figure1))),
      meetings(findings.studies),
      h(
        "section",
        h("h2", "Games"),
        h("p.filters", h("label", "Won by ", h("select", { name: "winner" }, option("", "anybody"), ["werewolves", "villagers", "nobody"].map((who) => option(who, who)))), h("label", h("input", { type: "checkbox", name: "lies", checked: this.lies }), " with a lie"), this.agent && h("button", { "data-agent": this.agent }, `with ${this.agent} ✕`), h("span.soft", `${chosen.length} of ${games.length}`)),
        h("div.squares", chosen.map((game) => h("a", { href: gameLink(game.id, game.moment_beat), class: game.winner ?? "nobody", title: `Game ${game.number ?? game.id}: ${outcome(game)}${game.moment ? `, ${game.moment}` : ""}` }, game.number ?? "•"))),
        gamesTable(chosen.slice(0, 200)),
      ),
    );
  }

  abilities() {
    return this.data.findings.abilities[this.base]?.agents ?? {};
  }

  // Where the report shows the statements that a number counts.
  statements(agent, name) {
    if (!this.data.report) return null;
    // the report names agents by their places
    const place = Object.keys(this.data.findings.agents).indexOf(agent);
    const filters = { sensitivity: { by: place, judged: "judged" }, balanced_accuracy: { by: place, judged: "scored" }, concealment: { agent: place }, vote_hit: { agent: place, phase: "vote" } };
    return `${this.data.report}#statements?${new URLSearchParams(filters[name])}`;
  }

  leaderboard(agents) {
    const abilities = this.abilities();
    const chances = { balanced_accuracy: 0.5, vote_hit: this.data.findings.votes?.hits?.chance };
    const estimateOf = (agent, name) => (name === "sensitivity" || name === "concealment" ? abilities[agent]?.[name] : agents[agent]?.[name]);
    const names = Object.keys(agents).sort((a, b) => (estimateOf(b, this.order)?.value ?? -9) - (estimateOf(a, this.order)?.value ?? -9));
    return [
      h(
        "div.wide",
        { tabindex: 0 },
        h(
          "table.rows.board",
          h("thead", h("tr", h("th", { scope: "col" }, "Agent"), COLUMNS.map(([name, words]) => h("th", { scope: "col", "aria-sort": name === this.order ? "descending" : "none" }, h("button", { "data-order": name }, words, name === this.order && " ↓"))))),
          h(
            "tbody",
            names.map((agent) =>
              h(
                "tr",
                h("th", { scope: "row" }, h("button.link", { "data-agent": agent, "aria-pressed": String(agent === this.agent), title: "its games" }, agent), h("small", counted(agents[agent].games, "game"))),
                COLUMNS.map(([name]) => {
                  const chance = chances[name] ?? 0;
                  return h("td", forest(estimateOf(agent, name), rangeOf(names.map((agentName) => estimateOf(agentName, name)), chance), chance), h("div", estimateCell(estimateOf(agent, name), name.includes("_") ? "share" : "", this.statements(agent, name))));
                }),
              ),
            ),
          ),
        ),
      ),
      h("p.soft", "A bar is an interval of 95 %, from games drawn again; the thin line is chance, or for hiding lies the mean of the agents. n counts judgements, statements or votes. Without an interval there are too few games."),
    ];
  }
}

// Every agent with its intervals: to the right it detects, upwards it hides.
function abilityPlot(abilities) {
  const agents = Object.entries(abilities).filter(([, ability]) => ability.sensitivity.value != null && ability.concealment.value != null);
  if (!agents.length) return h("p.soft", "There are no two agents to compare.");
  // at least so wide that what is next to nothing looks it
  const xs = rangeOf(agents.map(([, ability]) => ability.sensitivity), -0.1, 0.1);
  const ys = rangeOf(agents.map(([, ability]) => ability.concealment), -0.1, 0.1);
  const x = (value) => 40 + ((value - xs[0]) / (xs[1] - xs[0])) * 340;
  const y = (value) => 240 - ((value - ys[0]) / (ys[1] - ys[0])) * 220;
  const line = (kind, x1, x2, y1, y2) => h(`line.${kind}`, { x1, x2, y1, y2 });
  return h(
    "svg.plot",
    { viewBox: "0 0 400 280", role: "img", "aria-label": "detects lies against hides lies; the table above has the numbers" },
    axes(xs, ys, x, y),
    agents.map(([name, { sensitivity: a, concealment: b }]) => [
      a.low != null && line("interval", x(a.low), x(a.high), y(b.value), y(b.value)),
      b.low != null && line("interval", x(a.value), x(a.value), y(b.low), y(b.high)),
      h("circle", { cx: x(a.value), cy: y(b.value), r: 4 }),
      h("text", { x: Math.min(x(a.value) + 7, 320), y: y(b.value) - 7 }, name.slice(0, 24)),
    ]),
    h("text.axis", { x: 380, y: 276, "text-anchor": "end" }, "detects lies →"),
    h("text.axis", { x: 2, y: 12 }, "↑ hides lies"),
  );
}

function axes(xs, ys, x, y, least) {
  return [
    ticks(...xs, least).map((tick) => [h("line.tick", { x1: x(tick), x2: x(tick), y1: 20, y2: 240 }), h("text.axis", { x: x(tick), y: 256, "text-anchor": "middle" }, tick)]),
    ticks(...ys).map((tick) => [h("line.tick", { x1: 40, x2: 380, y1: y(tick), y2: y(tick) }), h("text.axis", { x: 34, y: y(tick) + 4, "text-anchor": "end" }, tick)]),
  ];
}

function rounds({ suspicion }) {
  const roles = Object.entries(suspicion).filter(([, points]) => points.length);
  if (!roles.length) return h("p.soft", "No judgements.");
  const all = roles.flatMap(([, points]) => points);
  const last = Math.max(2, ...all.map((point) => point.round));
  const ys = rangeOf(all.map(({ mean, sem }) => ({ value: mean, low: mean - (sem ?? 0), high: mean + (sem ?? 0) })), 0.5);
  const x = (round) => 40 + ((round - 1) / (last - 1)) * 270;
  const y = (value) => 240 - ((value - ys[0]) / (ys[1] - ys[0])) * 220;
  const places = new Map();
  const ends = roles.map(([role, points]) => [role, y(points.at(-1).mean)]).sort((a, b) => a[1] - b[1]);
  ends.reduce((above, [role, labelY]) => places.set(role, Math.max(above + 13, labelY)).get(role), -99);
  return h(
    "svg.plot",
    { viewBox: "0 0 400 280", role: "img", "aria-label": "mean suspicion that each role meets, by round" },
    axes([1, last], ys, x, y, 1),
    roles.map(([role, points]) => [
      h(`polyline.${role}`, { points: points.map((point) => `${x(point.round)},${y(point.mean)}`).join(" ") }),
      points.map((point) => [point.sem != null && h(`line.interval.${role}`, { x1: x(point.round), x2: x(point.round), y1: y(point.mean - point.sem), y2: y(point.mean + point.sem) }), h(`circle.${role}`, { cx: x(point.round), cy: y(point.mean), r: 3 })]),
      h(`text.${role}`, { x: x(points.at(-1).round) + 8, y: places.get(role) + 4 }, role),
    ]),
    h("text.axis", { x: 310, y: 276, "text-anchor": "end" }, "round"),
  );
}

// How often agents met, by side.
function meetings(studies) {
  const pairs = studies?.flatMap((study) => study.design?.pairs ?? []) ?? [];
  if (!pairs.length) return null;
  const names = [...new Set(pairs.flatMap((pair) => pair.agents))];
  const count = (wolf, opponent) => pairs.reduce((sum, { agents: [a, b], first_wolf: first = 0, second_wolf: second = 0 }) => sum + (a === wolf && b === opponent ? first : 0) + (b === wolf && a === opponent && a !== b ? second : 0), 0);
  return h(
    "section",
    h("h2", "Meetings"),
    h("div.wide", { tabindex: 0 }, h("table.rows", h("caption", "Pairs of seats in which the row is a Werewolf and the column is not"), h("thead", h("tr", h("td"), names.map((name) => h("th", { scope: "col" }, name)))), h("tbody", names.map((wolf) => h("tr", h("th", { scope: "row" }, wolf), names.map((opponent) => h("td.number", count(wolf, opponent)))))))),
  );
}
