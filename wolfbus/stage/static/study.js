// A study: the report's first screen, its main numbers explained, and its games, to be watched.
import { h, dialog, fill } from "./dom.js";
import { counted, title } from "./terms.js";
import { frame, gamesTable, gameLink, outcome, shares, rangeOf, forest, estimateCell, ticks } from "./sheets.js";

const COLUMNS = [["role_auc", "Detects", "AUC of suspicion", 0.5], ["concealment", "Conceals", "d′", 0]];

export class StudyPage {
  // `measure` tells meanwhile how far it is; `again` gives the data once more games are read.
  constructor(root, data, { measure, again, loadGame }) {
    Object.assign(this, { root, data, measure, again, loadGame, order: "role_auc", agent: "", winner: "", lies: false });
  }

  async open() {
    this.root.addEventListener("click", ({ target }) => {
      const { order, agent, number } = target.closest("button")?.dataset ?? {};
      if (order) this.order = order;
      if (agent != null) this.agent = agent === this.agent ? "" : agent;
      if (number) this.explain(this.measured.numbers[number]);
      if (order || agent != null) this.draw();
    });
    this.root.addEventListener("input", ({ target }) => {
      this[target.name] = target.type === "checkbox" ? target.checked : target.value;
      this.draw();
    });
    this.draw();
    // before a game has ended there is nothing to measure, and games to watch
    this.measured = await this.measure((progress) => this.draw(progress)).catch((error) => void (this.problem = title(error.message)));
    this.draw();
    await this.readOn();
  }

  async readOn() {
    while (this.data.games.some((game) => game.state === "new")) {
      this.data = await this.again();
      this.draw();
    }
  }

  draw(progress) {
    const { games, ended, winners, cost_usd: cost, name, id, report } = this.data;
    const { measured } = this;
    const chosen = games.filter((game) => (!this.agent || game.players?.some(({ brain }) => brain === this.agent)) && (!this.winner || outcome(game).toLowerCase() === this.winner) && (!this.lies || game.lies));
    frame(
      this.root,
      name ?? id,
      h("p.soft", `${counted(ended, "game")} finished`, cost != null && ` · $${cost.toFixed(2)}`, report && [" · ", h("a", { href: report }, "Full report")], " · ", shares(winners)),
      measured ? this.answer(measured) : this.problem ? h("p.problem", this.problem) : waiting(progress),
      measured && h("section.pair", h("div", h("h2", "Suspicion by round"), rounds(measured.findings.figure1)), meetings(measured.findings.studies)),
      h(
        "section",
        h("h2", "Games"),
        h("p.filters", h("label", "Won by ", h("select", { name: "winner" }, ["", "werewolves", "villagers", "nobody"].map((value) => h("option", { value, selected: value === this.winner }, value || "anybody")))), h("label", h("input", { type: "checkbox", name: "lies", checked: this.lies }), " with a lie"), this.agent && h("button", { "data-agent": this.agent }, `with ${this.agent} ✕`), h("span.soft", `${chosen.length} of ${games.length}${chosen[200] ? ", 200 listed" : ""}`)),
        h("div.squares", chosen.map((game) => h("a", { href: gameLink(game.id, game.moment_beat), class: game.winner ?? "nobody", title: `Game ${game.number ?? game.id}: ${outcome(game)}${game.moment ? `, ${game.moment}` : ""}` }, game.number ?? "•"))),
        gamesTable(chosen.slice(0, 200)),
      ),
    );
  }

  // What the report opens with: one sentence, what to know before believing it, the agents.
  answer({ answer, numbers }) {
    const [sentence, ...others] = answer.filter((block) => block.parts);
    return h(
      "section",
      h("h2", "In short"),
      h("p.headline", this.words(sentence.parts)),
      others.map((block) => h(block.tone === "warning" ? "p.problem" : "p.soft", this.words(block.parts))),
      h("ul.numbers", numbers.map(({ title, unit, value, interval, n }, place) => h("li", h("span", title), h("b", value), h("small", unit), h("small", interval && `${interval} · `, `n ${n.toLocaleString("en")}`), h("button.link", { "data-number": place, "aria-label": `What is this? ${title}` }, "What is this?")))),
      this.agents(answer.find((block) => block.figure)?.caption),
      answer.filter((block) => block.rows).map((block) => this.table(block)),
    );
  }

  words(parts) {
    return parts.map((part) => (part.strong ? h("b", part.text) : part.text ? this.linked(part) : part));
  }

  linked({ text, to }) {
    return to && this.data.report ? h("a", { href: `${this.data.report}#${to}` }, text) : text;
  }

  table({ caption, columns, rows, remarks }) {
    const cell = (value) => [h("b", this.linked(value)), value.under && h("small", value.under)];
    return [
      h("h3", caption),
      h("div.wide", { tabindex: 0 }, h("table.rows", { "aria-label": caption }, h("thead", h("tr", columns.map((name) => h("th", { scope: "col" }, name)))), h("tbody", rows.map(([head, ...cells]) => h("tr", h("th", { scope: "row" }, this.linked(head)), cells.map((value) => h("td", cell(value)))))))),
      h("details", h("summary", "How to read it"), remarks.map((remark) => h("p.soft", remark))),
    ];
  }

  estimates() {
    const { agents, abilities } = this.measured.findings;
    return Object.entries(agents ?? {}).map(([name, row]) => ({ name, games: row.games, role_auc: row.role_auc, concealment: abilities?.role?.agents?.[name]?.concealment }));
  }

  // Agents' intervals on common axes; a place only for who stands apart.
  agents(caption) {
    const order = this.order;
    const rows = this.estimates().sort((a, b) => (b[order]?.value ?? -9) - (a[order]?.value ?? -9));
    const apart = (a, b) => a === b || (a[order]?.low != null && b[order]?.low != null && (a[order].low > b[order].high || b[order].low > a[order].high));
    const place = (row, index) => rows.length > 1 && rows.every((other) => apart(row, other)) && h("small", `place ${index + 1}`);
    const head = ([name, words, unit]) => h("th", { scope: "col", "aria-sort": name === order ? "descending" : "none" }, h("button", { "data-order": name }, words, name === order && " ↓"), h("small", unit));
    // the report names agents by their places
    const behind = (name, agent) => this.data.report && `${this.data.report}#statements?${name === "role_auc" ? `by=${agent}&judged=judged` : `agent=${agent}`}`;
    const agentPlaces = Object.keys(this.measured.findings.agents ?? {});
    const cells = (row) => COLUMNS.map(([name, , , chance]) => h("td", forest(row[name], rangeOf(rows.map((other) => other[name]), chance), chance), h("div", estimateCell(row[name], name === "role_auc" ? "probability" : "", behind(name, agentPlaces.indexOf(row.name))))));
    return [
      h("h3", "Who detects, who conceals"),
      h("p.soft", caption),
      h("div.wide", { tabindex: 0 }, h("table.rows.board", { "aria-label": "Who detects, who conceals" }, h("thead", h("tr", h("th", { scope: "col" }, "Agent"), COLUMNS.map(head))), h("tbody", rows.map((row, index) => h("tr", h("th", { scope: "row" }, h("button.link", { "data-agent": row.name, "aria-pressed": String(row.name === this.agent), title: "its games" }, row.name), h("small", counted(row.games, "game")), place(row, index)), cells(row)))))),
    ];
  }

  async explain({ title, value, interval, n, is, sum, examples }) {
    const places = examples.map(({ speaker, role, words }) => h("li", h("b", speaker), h("small", ` ${role}`), h("p.text", "…"), h("p", words)));
    dialog("number", `${title}: ${value}`, h("p", is), h("ol.examples", places), h("p.soft", `${sum}.`), h("p.soft", interval ? `95 % interval ${interval}, from games drawn again; n ${n.toLocaleString("en")}.` : "Too few games for an interval."));
    for (const [index, { game, statement }] of examples.entries()) {
      const find = () => this.data.games.find((row) => row.game === game);
      if (!find()) await this.readOn();
      const { id } = find() ?? {};
      const beat = id && (await this.loadGame(id)).beats.find(({ spoken }) => spoken?.statement === statement);
      if (beat) fill(places[index].querySelector(".text"), h("a", { href: gameLink(id, beat.n) }, `“${beat.spoken.text}”`));
    }
  }
}

function waiting({ read, of } = {}) {
  const words = !of ? "Looking for what was measured…" : read < of ? `Reading the records: ${Math.round(read / 1e6)} of ${Math.round(of / 1e6)} MB` : "Computing the numbers and their intervals…";
  return h("section", h("h2", "In short"), h("p.soft", { role: "status" }, words), h("progress", { "aria-label": "progress", ...(of && read < of ? { max: of, value: read } : {}) }));
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
    "div",
    h("h2", "Meetings"),
    h("div.wide", { tabindex: 0 }, h("table.rows", h("caption", "Pairs of seats in which the row is a Werewolf and the column is not"), h("thead", h("tr", h("td"), names.map((name) => h("th", { scope: "col" }, name)))), h("tbody", names.map((wolf) => h("tr", h("th", { scope: "row" }, wolf), names.map((opponent) => h("td.number", count(wolf, opponent)))))))),
  );
}
