// A game before a hall: large type, and a question before the table's judgement.
import { h } from "./dom.js";
import { counted } from "./terms.js";

export class Hall {
  constructor(on) {
    this.on = on;
    this.hands = new Map();
    this.seen = new Set();
  }

  // Whether the hall is to say what it thinks before more is shown.
  asks(beat) {
    return this.on && Boolean(beat?.spoken) && beat.complete !== false && !this.seen.has(beat.n);
  }

  show(beat) {
    this.seen.add(beat.n);
  }

  count(beat, side) {
    if (!this.asks(beat)) return;
    const hands = this.hands.get(beat.n) ?? { believe: 0, lie: 0 };
    this.hands.set(beat.n, { ...hands, [side]: hands[side] + 1 });
  }

  // What is questions, or how many hands there were; at the end, how often the hall was right.
  draw(beat, beats) {
    if (!this.on) return [];
    if (beat.over) return this.verdict(beats);
    const { believe = 0, lie = 0 } = this.hands.get(beat.n) ?? {};
    if (this.asks(beat)) {
      const hand = (act, words, key, count) => h("button", { "data-do": act }, words, " ", h("kbd", key), " ", h("b", count));
      return [h("b", "What do you think?"), hand("believe", "Believe it", "b", believe), hand("lie", "A lie", "l", lie), h("button.go", { "data-do": "on" }, "Show")];
    }
    return believe + lie > 0 ? h("span", "The hall: ", h("b", believe), " believe it, ", h("b", lie), " call it a lie") : [];
  }

  verdict(beats) {
    const right = { true: 0, false: 0 };
    const questions = { true: 0, false: 0 };
    for (const { n, spoken } of beats) {
      const hands = this.hands.get(n);
      if (!spoken || !hands) continue;
      const isLie = Boolean(spoken.claims?.some((claim) => claim.verdict === "lie"));
      questions[isLie] += 1;
      right[isLie] += hands.lie > hands.believe;
    }
    if (!questions.true && !questions.false) return [];
    return h("span", `The hall called ${right.true} of ${counted(questions.true, "lie")} a lie, and ${right.false} of ${counted(questions.false, "other statement")}.`);
  }
}
