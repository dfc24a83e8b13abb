// Where a game's data comes from: a server, or the file that the page is.
import { title } from "./terms.js";

export async function fetchJson(url, options) {
  const answer = await fetch(url, options);
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(data.error ?? `The server answers ${answer.status}.`), { data, status: answer.status });
  return data;
}

// The data in this file; null when the page is served.
export async function fileData() {
  const element = document.getElementById("wolfbus-data");
  if (!element) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

export function fileFeed({ heads, beats, prompts }) {
  const viewers = heads.map((head) => head.viewer);
  return {
    async load(as) {
      const place = Math.max(viewers.indexOf(as), 0);
      return { ...heads[place], viewers, links: { prompts: Boolean(prompts) }, beats: beats.map((versions) => versions[place]).filter(Boolean) };
    },
    async call(line) {
      const call = prompts?.calls[line];
      if (!call) throw new Error("This file holds no prompts: write it with --prompts.");
      return { ...call, segments: call.segments.map((part) => ({ ...prompts.segments[part.i], ...part })) };
    },
  };
}

export function servedFeed(base) {
  let query = "";
  return {
    load(as) {
      query = as ? `as=${encodeURIComponent(as)}` : "";
      return fetchJson(`${base}/data.json?${query}`);
    },
    call: (line) => fetchJson(`${base}/call/${line}.json`),
    // Follows a game that goes on; returns what stops it. `notify` is told why nothing comes, null when it comes again.
    follow({ line }, { step, reload, notify }) {
      const events = new EventSource(`${base}/events?${query}&after=${line}`);
      const on = (name, act) => events.addEventListener(name, (event) => act(event.data ? JSON.parse(event.data) : {}));
      on("step", (data) => {
        step(data);
        if (data.over) events.close();
      });
      on("reload", () => (events.close(), reload()));
      on("gone", ({ words }) => (events.close(), notify(title(words), true)));
      let lost = false;
      events.onerror = () => {
        lost = true;
        const forGood = events.readyState === EventSource.CLOSED;
        notify(forGood ? "The server shows this no longer." : "The connection is lost; trying again.", forGood);
      };
      events.onopen = () => lost && ((lost = false), notify(null));
      return () => events.close();
    },
  };
}

// The data after a live event; null when events were lost and it must be loaded anew.
export function withStep(data, { from, beats, ...changed }) {
  if (from > data.beats.length) return null;
  return { ...data, ...changed, beats: [...data.beats.slice(0, from), ...beats] };
}

// What is left for those who do not want to know the roles: what everybody at the table hears, and how they judge it.
export function withoutRoles(data) {
  const isEnd = (beat) => beat.kind === "ended";
  const withoutRole = ({ role, team, ...seat }) => seat;
  const withoutReasons = ({ reasoning, thought, kind, ...judged }) => judged;
  const hideRoles = (beat) => {
    if (isEnd(beat)) return beat;
    const { marks = [], spoken, night, tally, unsaid, ...rest } = beat;
    const publicBeat = { ...rest, seats: beat.seats.map(withoutRole), marks: marks.filter((mark) => mark === "death" || mark === "exile") };
    if (spoken) {
      const { thought, label, claims, call, ...statement } = spoken;
      publicBeat.spoken = { ...statement, judgements: statement.judgements?.map(withoutReasons) };
    }
    if (night) publicBeat.night = { died: night.died, role: night.role, team: night.team };
    if (tally) publicBeat.tally = { ...tally, ballots: [] };
    if (unsaid) publicBeat.unsaid = { seat: unsaid.seat };
    return publicBeat;
  };
  const live = data.live && { ...data.live, waiting: [], pending: data.live.pending.map(hideRoles) };
  return { ...data, live, moments: [], beats: data.beats.map(hideRoles) };
}
