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

// The curve as points in a box, its zero line, and how high it is at each beat; nothing where it is not measured.
export function points(all, width, height, last = Math.max(all.length - 1, 1), least = 0.08) {
  const measured = all.flatMap(({ gap }, place) => (gap == null ? [] : [{ place, gap }]));
  if (measured.length < 2) return {};
  const reach = Math.max(least, ...measured.map(({ gap }) => Math.abs(gap)));
  const y = (gap) => height / 2 - (gap / reach) * (height / 2 - 2);
  const at = (keep) => measured.map(({ place, gap }) => `${((place / last) * width).toFixed(1)},${y(keep(gap)).toFixed(1)}`).join(" ");
  const area = (keep) => `${((measured[0].place / last) * width).toFixed(1)},${y(0)} ${at(keep)} ${((measured.at(-1).place / last) * width).toFixed(1)},${y(0)}`;
  return { line: at((gap) => gap), zero: y(0), above: area((gap) => Math.max(gap, 0)), below: area((gap) => Math.min(gap, 0)), heightAt: (place) => y(measured.findLast((point) => point.place <= place)?.gap ?? 0) / height };
}

export function curve({ line, zero, above, below }, width, height, attributes) {
  return h(
    "svg.curve",
    { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", ...attributes },
    h("polygon.above", { points: above }),
    h("polygon.below", { points: below }),
    h("line", { x1: 0, x2: width, y1: zero, y2: zero }),
    h("polyline", { points: line }),
  );
}

export function track({ all, until }) {
  const last = Math.max(all.length - 1, 1);
  const position = (place) => `${(place / last) * 100}%`;
  const visible = all.slice(0, until);
  const marked = visible.flatMap((beat, place) => (beat.marks ?? []).map((mark) => ({ mark, place, beat })));
  const drawn = points(visible, 1000, 40, last);
  const { heightAt = () => 0.5 } = drawn;
  return [
    drawn.line && curve(drawn, 1000, 40, { "aria-hidden": "true", "data-curve": last }),
    h(
      "div.bands",
      bands(visible).map(({ name, from, to, night }) =>
        h("button", { class: night ? "night" : null, "data-go": from, "--x": position(Math.max(from - 0.5, 0)), "--w": position(Math.min(to + 0.5, last) - Math.max(from - 0.5, 0)), "aria-label": name ? title(whenIs(all[from])) : "Start", title: title(whenIs(all[from])) }, h("span", { class: name.length > 2 && "three" }, name)),
      ),
    ),
    h(
      "div.marks",
      marked.map(({ mark, place, beat }) => h("button", { class: mark, "data-go": place, "--x": position(place), "--y": heightAt(place), title: `${title(whenIs(beat))}: ${eventText(beat)}` }, h("span", { "aria-hidden": "true" }, MARKS[mark]), unseen(`${mark}, ${whenIs(beat)}: ${eventText(beat)}`))),
    ),
  ];
}

// The first beat of the phase before or after the one at place `n`.
export function phaseFrom(all, n, way) {
  const starts = bands(all).map((band) => band.from);
  if (way > 0) return starts.find((start) => start > n) ?? all.length - 1;
  return starts.findLast((start) => start < n) ?? 0;
}
