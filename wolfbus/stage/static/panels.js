// Cards of the players, panels beside the transcript; each a function of the beats up to the place.
import { h, unseen, cut, direction, isolated } from "./dom.js";
import { face } from "./faces.js";
import { bars } from "./transcript.js";
import { pct, required, whenIs, title, fate } from "./terms.js";

const WAITS = { bid: "bids", speak: "speaks", assess_own: "looks back", assess_other: "judges", vote: "votes" };

const waitingSince = new Map();

// "12 s": how long this page has seen that somebody is waited for.
function since(waitId) {
  if (!waitingSince.has(waitId)) waitingSince.set(waitId, Date.now());
  const seconds = Math.round((Date.now() - waitingSince.get(waitId)) / 1000);
  return seconds ? `${seconds} s` : "";
}

export function cards({ beat, game, viewer, live, viewers }) {
  const waiting = new Map(live?.waiting.flatMap(({ kind, seats }) => seats.map((name) => [name, kind])) ?? []);
  return beat.seats.map((seat, place) => {
    const { brain, model } = game.seats[place] ?? {};
    const as = `seat:${seat.name}`;
    const detail = fate(seat) || (seat.absent && "absent") || model || brain;
    const speaks = beat.spoken?.speaker === seat.name;
    return h(
      "li",
      h(
        "button.player",
        { class: `player${seat.left ? " gone" : ""}${speaks ? " speaks" : ""}`, "data-as": viewers.includes(as) && as, disabled: !viewers.includes(as), "aria-pressed": String(viewer === as), title: "see as this player" },
        face(beat.seats, seat.name),
        h("span.name", h("b", seat.name), h("small", seat.role, detail && h("span", seat.role && " · ", detail))),
        waiting.has(seat.name) && h("small.wait", `${WAITS[waiting.get(seat.name)] ?? "thinks"} … ${since(`${live.round} ${live.turn} ${waiting.get(seat.name)} ${seat.name}`)}`),
        seat.suspected != null && !seat.left && meter("suspected", seat.suspected, pct(seat.suspected), "mean suspicion"),
        seat.bid != null && !seat.left && meter("bid", seat.bid / game.config.bid_max, seat.bid, "bid"),
      ),
    );
  });
}

function meter(kind, share, value, label) {
  return h(`span.meter.${kind}`, { "--v": share }, h("em", label), h("i"), h("b", value));
}

export function heat({ beat, game, pair }) {
  const { suspicion, seats } = beat;
  if (!suspicion.some(Boolean)) return h("p.soft", "Nobody has judged anything yet.");
  return h(
    "table.heat",
    h("caption", "How much each row suspects each column, in percent"),
    h("thead", h("tr", h("td"), seats.map((seat) => h("th", { scope: "col", title: seat.name, class: seat.left && "gone" }, face(seats, seat.name), unseen(seat.name))))),
    h(
      "tbody",
      seats.map((observer, row) =>
        h(
          "tr",
          { class: observer.left && "gone" },
          h("th", { scope: "row" }, observer.name),
          seats.map((target, column) => {
            const value = suspicion[row]?.[column];
            const chosen = pair?.[0] === observer.name && pair?.[1] === target.name;
            if (row === column) return h("td.self");
            if (value == null) return h("td", "·", unseen("not judged yet, ", pct(game.config.prior)));
            const moved = beat.spoken?.moved?.some((step) => step.observer === observer.name && step.target === target.name);
            const label = `${observer.name} about ${target.name}: ${pct(value)}`;
            return h("td", { "--s": value, class: `value${target.left ? " gone" : ""}${moved ? " moved" : ""}` }, h("button", { "data-pair": JSON.stringify([observer.name, target.name]), "aria-label": label, "aria-expanded": String(chosen) }, Math.round(value * 100)));
          }),
        ),
      ),
    ),
  );
}

// The steps of one observer's suspicion of one target, with the statements that moved it.
export function history({ beats, game, pair }) {
  if (!pair) return h("p.hint", "Choose a number for the statements behind it.");
  const [observer, target] = pair;
  const steps = beats.flatMap((beat) => {
    const judged = beat.spoken?.speaker === target && beat.spoken.judgements?.find((judgement) => judgement.seat === observer);
    return judged && judged.after != null ? [{ beat, ...judged }] : [];
  });
  return h(
    "div.history",
    h("h3", h("span", h("bdi", observer), " about ", h("bdi", target)), h("button.link", { "data-do": "unpair" }, "close")),
    steps.length > 0 && spark([game.config.prior, ...steps.map((step) => step.after)]),
    h("p.soft", `Starts at ${pct(game.config.prior)}.`, !steps.length && " No statement has moved it yet."),
    h(
      "ol",
      steps.map(({ beat, before, after }) =>
        h("li", h("button.step", { "data-go": beat.n }, h("small", title(whenIs(beat))), change(before, after), h("span.cut", { dir: direction(beat.spoken.text) }, cut(beat.spoken.text, 160)))),
      ),
    ),
  );
}

function change(before, after) {
  return h(`b.${after > before ? "up" : "down"}`, `${pct(before)} ${after > before ? "↗" : "↘"} ${pct(after)}`);
}

function spark(values, marks = [], [low, high] = [0, 1]) {
  const x = (place) => (values.length < 2 ? 0 : (place / (values.length - 1)) * 100).toFixed(2);
  const y = (value) => (29 - ((value - low) / (high - low)) * 28).toFixed(2);
  const points = values.flatMap((value, place) => (value == null ? [] : [`${x(place)},${y(value)}`]));
  return h(
    "svg.spark",
    { viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("line.half", { x1: 0, x2: 100, y1: y(0.5), y2: y(0.5) }),
    marks.map((place) => h("line.dawn", { x1: x(place), x2: x(place), y1: 0, y2: 30 })),
    h("polyline", { points: points.join(" ") }),
  );
}

export function overTime({ all, n, beat: current, viewer }) {
  const suspicions = all.slice(0, n + 1).flatMap((beat) => beat.seats.flatMap((seat) => seat.suspected ?? []));
  const range = [Math.min(0.4, ...suspicions), Math.max(0.6, ...suspicions)];
  const dawns = all.flatMap((beat, place) => (beat.kind === "night" ? [place] : []));
  return h(
    "ul.lines",
    h("li.soft", `${viewer === "everything" ? "Mean suspicion of each player by those who had to find out" : "This player's suspicion of the others"}, from ${pct(range[0])} to ${pct(range[1])}; 50% is dashed, a night is a line`),
    current.seats.map((seat, place) => {
      const values = all.map((beat, index) => (index > n || beat.seats[place].left ? null : beat.seats[place].suspected));
      return h("li", { class: seat.left && "gone" }, face(current.seats, seat.name), h("span", seat.name), spark(values, dawns, range), h("b", fate(seat)?.[0] ?? pct(seat.suspected)));
    }),
  );
}

export function movers({ beats, beat: current }) {
  const last = beats.findLast((beat) => beat.spoken?.moved?.length);
  if (!last) return h("p.soft", "Nobody has judged anything yet.");
  return h(
    "ul.movers",
    h("li.soft", last === current ? "The largest changes by this statement" : `The largest changes by the last statement (${whenIs(last)})`),
    last.spoken.moved.map((step) =>
      h("li", h("button.step", { "data-pair": JSON.stringify([step.observer, step.target]) }, face(current.seats, step.observer), h("span", h("bdi", step.observer), " about ", h("bdi", step.target)), change(step.before, step.after))),
    ),
  );
}

export function votes({ beats, beat: current }) {
  const last = beats.findLast((beat) => beat.kind === "tally");
  if (!last) return h("p.soft", "No vote yet.");
  return [h("p.soft", `Day ${last.round} · ${required(last.tally.needed)}`), bars(last.tally, current.seats)];
}

const KINDS = { false_seer_claim: "◆", suspicion_rises: "↗", suspicion_drops: "↘", one_vote: "½", special_exiled: "×", kill_blocked: "✚" };

export function moments({ moments: items, n, all }) {
  if (!items.length) return h("p.soft", "None yet.");
  return [
    all.some((beat) => beat.gap != null) && h("p.soft", "The curve below: suspicion of the Werewolves minus of the others, in points of 100, by those who could not know."),
    h(
      "ol.moments",
      items.map((moment) =>
        h("li", h("button.step", { "data-go": moment.beat, "aria-current": moment.beat === n && "true" }, h("i", { "aria-hidden": "true" }, KINDS[moment.kind] ?? "•"), h("span", isolated(title(moment.words))), h("small", all[moment.beat] && title(whenIs(all[moment.beat]))))),
      ),
    ),
  ];
}
