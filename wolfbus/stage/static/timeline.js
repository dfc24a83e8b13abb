// The bar below: a band per night and day, marks on it, and the slider.
import { h, unseen } from "./dom.js";
import { whenIs, eventText, title, MARKS } from "./terms.js";

export function bands(all) {
  const result = [];
  all.forEach((beat, n) => {
    const kind = beat.kind === "ended" || beat.kind === "stopped" || !beat.round ? null : beat.phase === "night" ? "N" : "D";
    const name = kind && `${kind}${beat.round}`;
    const last = result.at(-1);
    if (last && (last.name === name || !name)) last.to = n;
    else result.push({ name: name ?? "", from: n, to: n, night: kind === "N" });
  });
  return result;
}

export function track({ all, n, hide }) {
  const last = Math.max(all.length - 1, 1);
  const position = (place) => `${(place / last) * 100}%`;
  const marked = all.flatMap((beat, place) => (hide && place > n ? [] : (beat.marks ?? []).map((mark) => ({ mark, place, beat }))));
  return [
    h(
      "div.bands",
      bands(all).map(({ name, from, to, night }) =>
        h("button", { class: night ? "night" : null, "data-go": from, "--x": position(Math.max(from - 0.5, 0)), "--w": position(Math.min(to + 0.5, last) - Math.max(from - 0.5, 0)), "aria-label": name ? title(whenIs(all[from])) : "Start", title: title(whenIs(all[from])) }, h("span", { class: name.length > 2 && "three" }, name)),
      ),
    ),
    h(
      "div.marks",
      marked.map(({ mark, place, beat }) => h("button", { class: mark, "data-go": place, "--x": position(place), title: `${title(whenIs(beat))}: ${eventText(beat)}` }, h("span", { "aria-hidden": "true" }, MARKS[mark]), unseen(`${mark}, ${whenIs(beat)}: ${eventText(beat)}`))),
    ),
  ];
}

// The first beat of the phase before or after the one at place `n`.
export function phaseFrom(all, n, way) {
  const starts = bands(all).map((band) => band.from);
  if (way > 0) return starts.find((start) => start > n) ?? all.length - 1;
  return starts.findLast((start) => start < n) ?? 0;
}
