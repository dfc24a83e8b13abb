// A wolfbus agent in JavaScript, for node without any package: one JSON request a line on stdin, one JSON reply a
// line on stdout. Play it with: wolfbus play --players "exec:node examples/agent.js*2,scripted*6"
// The lines are described in docs/line-protocol.md. It remembers nothing: every request holds all that its seat knows.
"use strict";

// from 0 to 1: how much like a Werewolf a player looks to us
function doubt(ask, name) {
  const { partners, inspections, suspicion } = ask.you;
  if (name === ask.seat || partners.includes(name)) return 0;
  if (Object.hasOwn(inspections, name)) return inspections[name] === "Werewolf" ? 1 : 0;
  const seen = ({ text }) => text.includes("I am the Seer") && text.includes(`${name} is a Werewolf`);
  if (ask.statements.some(seen)) return 0.9;
  const today = ask.statements.filter((said) => said.round === ask.round && said.speaker !== name);
  const accusers = new Set(today.filter(({ text }) => text.includes(name)).map(({ speaker }) => speaker));
  return Math.min(0.8, suspicion[name] + 0.05 * accusers.size); // where others point, votes come together
}

const most = (some, score) => some.reduce((best, each) => (score(each) > score(best) ? each : best), some[0] ?? null);

const answers = {
  bid: (ask) => {
    const last = ask.statements.at(-1);
    return { bid: Math.min(ask.rules.bid_max, last?.text.includes(ask.seat) ? 6 : 2) };
  },
  speak: (ask) => {
    const rest = ask.living.filter((name) => name !== ask.seat && !ask.you.partners.includes(name));
    const suspect = most(rest, (name) => doubt(ask, name));
    if (ask.you.inspections[suspect] === "Werewolf") return { text: `I am the Seer: ${suspect} is a Werewolf.` };
    return { text: `Listen to ${suspect}: who talks like that has something to hide.` };
  },
  assess_own: (ask) =>
    ask.you.role === "Werewolf"
      ? { deceptive: true, confidence: 0.9, kind: "misdirection", reasoning: "I put the blame on another." }
      : { deceptive: false, confidence: 0.9, kind: "none", reasoning: "I said what I think." },
  assess_other: (ask) => {
    const { speaker, text } = ask.statements[ask.about - 1];
    const known = doubt(ask, speaker);
    const certain = known === 0 || known === 1;
    const suspicion = certain ? known : Math.min(1, 0.5 * known + (text.includes(ask.seat) ? 0.4 : 0.15));
    const deceptive = suspicion > 0.5;
    return { deceptive, suspicion, confidence: certain ? 1 : 0.5, kind: deceptive ? "distortion" : "none" };
  },
  vote: (ask) => {
    const target = most(ask.legal.filter((name) => name !== null), (name) => doubt(ask, name));
    return { target, reason: `${target} has earned my doubt.` };
  },
  inspect: (ask) => ({ target: most(ask.legal.filter((name) => name !== null), (name) => doubt(ask, name)) }),
};
// at night the trusted are worth most: the Doctor keeps them, the Werewolves take them
const trusted = (ask) => ({ target: most(ask.legal.filter((name) => name !== null), (name) => -doubt(ask, name)) });
Object.assign(answers, { protect: trusted, kill: trusted, whisper: trusted });

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const ask = JSON.parse(line);
  if (ask.type !== "ask") return;
  process.stdout.write(JSON.stringify({ id: ask.id, ...answers[ask.kind](ask) }) + "\n");
});
