// A wolfbus agent that joins a house over Redis, for node 20 with the packages `redis` and `@msgpack/msgpack` alone.
// node examples/bus_agent.js redis://127.0.0.1:6379 main my-agent 2 (bus, house, name, seats); see docs/protocol.md
"use strict";
const { createClient, RESP_TYPES } = require("redis");
const { decode, encode } = require("@msgpack/msgpack");
const [url = "redis://127.0.0.1:6379", house = "main", agent = "js-agent", seats = "1"] = process.argv.slice(2);
const [inbox, outbox, lobby] = [`in:${agent}`, `out:${agent}`, "lobby"].map((stream) => `wolf:{${house}}:${stream}`);
const writer = createClient({ url });
const reader = writer.duplicate().withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }); // apart, for its reads block
let [instance, incarnation, sent, seen, again] = ["", 0, 0, "0-0", 5000];
let games = new Map(); // id -> { facts, seats: name -> { facts, seated }, answered: ids of requests }
async function send(message, game = "") {
  const [id, body] = [`${incarnation}-${++sent}`, Buffer.from(encode({ v: 1, ...message }))];
  const entry = { type: message.type, from: agent, game, n: String(sent), body };
  await writer.xAdd(outbox, id, entry).catch(async (error) => {
    const [there] = await writer.xRange(outbox, id, id); // sent again after a break, it may have landed before
    if (there?.message.type !== message.type) throw error; // if not, a newer start of us has taken over
  });
  return entry;
}
const about = { agent, seats: Number(seats), version: "bus_agent.js 1.0", brain: "outside:bus_agent.js" };
const join = () => send({ type: "join", ...about, instance, seen });
async function comeIn() {
  [games, instance] = [new Map(), `${process.pid}-${incarnation}-${sent}`]; // a new instance is caught up on all games
  await writer.xAdd(lobby, "*", await join()).catch(() => {}); // closed with tickets: then our name is known already
}
function doubt({ seated, facts }, said, name) { // from 0 to 1: how much like a Werewolf a player looks to this seat
  if (name === seated.seat || seated.partners?.includes(name)) return 0;
  const inspected = facts.find((fact) => fact.type === "inspection" && fact.target === name);
  if (inspected) return Number(inspected.role === "Werewolf");
  const accusers = new Set(said.filter(({ text }) => text.includes(name)).map(({ speaker }) => speaker));
  return Math.min(0.9, 0.3 + 0.1 * accusers.size); // where others point, votes come together
}
function answer(ask, seat, facts) {
  const said = facts.filter((fact) => fact.type === "statement");
  const gone = facts.map((fact) => (fact.type === "dawn" ? fact.died : fact.type === "exile" ? fact.seat : null));
  const suspicion = (name) => doubt(seat, said, name);
  const most = (some, score) => some.reduce((best, name) => (score(name) > score(best) ? name : best), some[0] ?? null);
  const legal = (ask.legal ?? seat.seated.names).filter((name) => name !== null && !gone.includes(name));
  if (ask.kind === "bid") return { bid: said.at(-1)?.text.includes(seat.seated.seat) ? 6 : 2 };
  if (ask.kind === "speak") return { text: `I keep an eye on ${most(legal, suspicion)}. Who does not?` };
  if (ask.kind === "assess_own") return { deceptive: seat.seated.role === "Werewolf", confidence: 0.9 };
  const felt = suspicion(said.find((each) => each.statement === ask.about)?.speaker);
  if (ask.kind === "assess_other") return { deceptive: felt > 0.5, suspicion: felt, confidence: 0.5 };
  if (ask.kind === "vote") return { target: most(legal, suspicion), reason: "I trust that one least." };
  return { target: most(legal, ask.kind === "inspect" ? suspicion : (name) => -suspicion(name)) };
}
const add = (to, news) => news.every(({ n, fact }) => n <= to.length || (n === to.length + 1 && to.push(fact)));
async function hear({ type, game, facts = [], seats: parts = [] }) {
  const begins = games.get(game)?.facts.length > facts.length && parts.some((part) => part.facts?.[0]?.n === 1);
  if (begins || type === "catch_up") games.delete(game); // it is right where we have heard otherwise
  const table = games.get(game) ?? { facts: [], seats: new Map(), answered: new Set() };
  for (const { seat, facts: [{ fact } = {}] = [] } of parts)
    if (fact?.type === "seated" && !table.seats.has(seat)) table.seats.set(seat, { facts: [], seated: fact });
  const own = parts.filter(({ seat }) => table.seats.has(seat));
  if (table.seats.size === 0) return; // we were never seated there, or that game is over
  games.set(game, table);
  const heard = ({ seat, facts: news = [] }) => add(table.seats.get(seat).facts, news);
  if (!add(table.facts, facts) || !own.every(heard)) return comeIn(); // behind a gap only a catch_up helps
  for (const { seat, asks = [] } of own)
    for (const ask of asks.filter(({ id }) => !table.answered.has(id))) {
      const content = answer(ask, table.seats.get(seat), table.facts);
      await send({ type: "reply", kind: ask.kind, game, request: ask.id, seat, content }, game);
      table.answered.add(ask.id);
    }
  if (facts.some(({ fact }) => fact.type === "ended")) games.delete(game);
}
const order = (id) => id.split("-").reduce((time, n) => (BigInt(time) << 64n) + BigInt(n));
async function main() {
  for (const client of [reader, writer]) await client.on("error", () => {}).connect(); // it reconnects by itself
  const last = (stream, none) => writer.xInfoStream(stream).then((info) => info["last-generated-id"], () => none);
  [incarnation, seen] = [Math.max(Date.now(), parseInt(await last(outbox, "0")) + 1), await last(inbox, "0-0")];
  await comeIn();
  for (let due = Date.now() + again; ; ) {
    const found = await reader.xRead({ key: inbox, id: seen }, { BLOCK: Math.max(1, due - Date.now()), COUNT: 100 });
    for (const { id, message } of found?.[0].messages ?? []) {
      const read = decode(message.body), said = read.v === 1 ? read : {}; // another version is passed over
      if (said.type === "welcome") due = Math.min(due, Date.now() + (again = said.again_s * 1000));
      if (said.type === "roll_call") await join();
      if (said.type === "refused" && said.instance === instance) throw new Error(`refused: ${said.reason}`);
      if (said.type === "goodbye") return send({ type: "leave", agent, instance, reason: "goodbye" });
      if (["delivery", "catch_up"].includes(said.type)) await hear(said);
      seen = id.toString();
    }
    if (Date.now() < due) continue;
    const end = await last(inbox, seen); // below what we have read if Redis has lost data
    await (order(end) < order(seen) ? comeIn((seen = end)) : join()).then(() => (due = Date.now() + again));
  }
}
main().then(() => process.exit(0), (error) => (console.error(String(error)), process.exit(1)));
