// Where a game's data comes from: a server, or the file that the page is.
import { title } from "./terms.js";

export const LOST = "The connection is lost; trying again.";

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

export function fileFeed({ heads, beats, prompts, hide }) {
  const viewers = heads.map((head) => head.viewer);
  return {
    async load(as) {
      const place = Math.max(viewers.indexOf(as), 0);
      return { ...heads[place], hide, viewers, links: { prompts: Boolean(prompts) }, beats: beats.map((versions) => versions[place]).filter(Boolean) };
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
        notify(forGood ? "The server shows this no longer." : LOST, forGood);
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

// What those see who do not want to know how it ends: what everybody at the table hears, up to the place that
// they have come to; no judgement, suspicion or role. A hall sees who believes what, not who could know.
// Nothing is hidden from who has come to the end.
export function withoutSpoilers(data, reached, inHall) {
  if (data.over && reached >= data.beats.length - 1) return data;
  const publicSeat = ({ name, left, left_round, absent, ...seat }) => ({ name, left, left_round, absent, ...(left ? revealed(data, seat) : {}) });
  const hideBeat = (beat) => {
    const { marks = [], spoken, night, tally, unsaid, moves, suspicion, gap, ...rest } = beat;
    const publicBeat = { ...rest, seats: beat.seats.map(publicSeat), marks: marks.filter((mark) => mark === "death" || mark === "exile") };
    if (spoken) publicBeat.spoken = { statement: spoken.statement, speaker: spoken.speaker, text: spoken.text, vote: spoken.vote };
    if (spoken && inHall) publicBeat.spoken.judgements = spoken.judgements?.map(({ seat, outcome, deceptive, suspicion }) => ({ seat, outcome, deceptive, suspicion }));
    if (night) publicBeat.night = { died: night.died, role: night.role, team: night.team };
    if (tally) publicBeat.tally = { ...tally, ballots: [] };
    if (unsaid) publicBeat.unsaid = { seat: unsaid.seat };
    return publicBeat;
  };
  const live = data.live && { ...data.live, waiting: [], pending: data.live.pending.map(hideBeat) };
  // one more than was seen, so that there is a next one; the end itself is not shown before it is reached
  return { ...data, live, moments: [], story: null, viewers: [data.viewer], beats: data.beats.slice(0, reached + 2).map(hideBeat) };
}

// What the rules of the game reveal of those who left.
function revealed({ game }, { role, team }) {
  const reveal = game.config?.reveal_on_death;
  return reveal === "role" ? { role, team } : reveal === "team" ? { team } : {};
}
