// The words that pages use for what the data says.
import { h } from "./dom.js";

export function pct(share) {
  return share == null ? "–" : `${Math.round(share * 100)}%`;
}

export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// "a Seer", "an Other villager"
export function article(noun) {
  return (/^[aeiou]/i.test(noun) ? "an " : "a ") + noun;
}

export function required(needed) {
  return needed ? `${needed} needed` : "how many exile, the log does not tell";
}

// Each stands for itself, whichever way its script runs.
export function listed(names) {
  return names.map((name, place) => [place > 0 && (place < names.length - 1 ? ", " : " and "), h("bdi", name)]);
}

export function listText(names) {
  return new Intl.ListFormat("en").format([...new Set(names)]);
}

export function day(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "";
}

// "day 2, turn 1"
export function whenIs({ kind, round, phase, turn }) {
  if (kind === "opened") return "before the game";
  if (kind === "ended" || kind === "stopped") return "the end";
  if (phase === "night") return `night ${round}`;
  return `day ${round}${phase === "vote" ? ", vote" : turn ? `, turn ${turn}` : ""}`;
}

export function eventText(beat) {
  switch (beat.kind) {
    case "opened": return "the players sit down";
    case "night": return beat.night.died ? `${beat.night.died} is killed` : "nobody dies";
    case "statement": return `${beat.spoken.speaker} ${beat.phase === "vote" ? "gives a reason" : "speaks"}`;
    case "silence": return `${beat.unsaid.seat} says nothing`;
    case "tally": return "the votes are opened";
    case "exile": return beat.exile.seat ? `${beat.exile.seat} is exiled` : "nobody is exiled";
    case "news": return beat.news;
    default: return result(beat.over);
  }
}

export function result(over) {
  return over.winner ? `the ${title(over.winner)} win` : over.stopped ? "the game was broken off" : "nobody wins";
}

export const REASONS = {
  no_wolves_left: "no Werewolf is left",
  wolves_reach_parity: "the Werewolves are as many as the others",
  max_rounds: "the last round is over",
};

export const MARKS = { death: "✝", exile: "×", claim: "◇", lie: "◆", blocked: "✚" };

const LEFT = { night: "✝ night", exile: "× day" };

// How and when a seat left, behind a mark: "✝ shot, round 2".
export function fate({ left, left_round }) {
  return left && `${LEFT[left] ?? `✝ ${left}, round`} ${left_round}`;
}

export const VERDICTS = { true: "✓ true", lie: "◆ lie", mistake: "≈ mistaken", uncheckable: "? cannot be checked", insincere: "◆ knows better" };

// What a listener could make of a statement, in the order in which they are shown.
export const LISTENERS = { finds_out: "had to find out", accused: "accused", knew: "knew" };

export const UNHEARD = { defaulted: "no usable answer", timed_out: "no answer in time", declined: "declined" };

export function title(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// "believes it", "calls it fabrication": what a judgement or a self-label says.
export function verdict({ outcome, deceptive, kind }, isOwn) {
  if (deceptive == null) return UNHEARD[outcome] ?? "no answer yet";
  if (!deceptive) return isOwn ? "honest" : "believes it";
  return kind && kind !== "unspecified" && kind !== "none" ? kind : isOwn ? "deceptive" : "a lie";
}
