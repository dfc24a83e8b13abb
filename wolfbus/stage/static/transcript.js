// What was said and done: one element a beat.
import { h, morph, words, unseen, direction } from "./dom.js";
import { face } from "./faces.js";
import { storyParts } from "./story.js";
import { pct, counted, article, required, listed, whenIs, title, result, verdict, day, VERDICTS, REASONS, UNHEARD, LISTENERS } from "./terms.js";

// Shows beats in a log and keeps an element per beat, made once, so that a step adds one.
export class Transcript {
  constructor(log) {
    this.log = log;
    this.elements = new WeakMap();
  }

  // `why` changes when the last beat is to be brought into view again.
  draw(beats, data, why) {
    const { log, elements } = this;
    beats.forEach((beat, place) => {
      const old = log.children[place];
      let element = elements.get(beat);
      if (!element) {
        element = beatElement(beat, beats[place - 1], data);
        if (old?.dataset.beat === String(beat.n) && old.classList.contains("pending")) {
          morph(old, element);
          element = old;
        }
        elements.set(beat, element);
      }
      if (!old) log.append(element);
      else if (old !== element) old.replaceWith(element);
    });
    while (log.children.length > beats.length) log.lastChild.remove();
    this.last?.classList.remove("now");
    const now = log.lastChild;
    now.classList.add("now");
    if (this.last === now && this.why === why) return;
    const jumped = Math.abs(beats.length - (this.length ?? 0)) > 1;
    Object.assign(this, { last: now, why, length: beats.length });
    const top = Math.min(now.offsetTop - 12, log.scrollHeight - log.clientHeight);
    log.scrollTo({ top, behavior: jumped || matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth" });
  }
}

export function beatElement(beat, before, game) {
  const draw = { statement, silence, night, tally, exile, news, opened }[beat.kind] ?? over;
  const chapter = beat.round > 0 && (beat.round !== before?.round || beat.phase !== before?.phase) && beat.phase;
  return h(
    `article.beat.${beat.kind}${beat.complete ? "" : ".pending"}`,
    { "data-beat": beat.n, "data-statement": beat.spoken?.statement, tabindex: -1, "aria-label": whenIs(beat) },
    chapter && chapter !== "night" && h("h2.chapter", h("span", `Day ${beat.round} · ${chapter}`)),
    draw(beat, game),
    listOfMoves(beat.seats, beat.moves),
  );
}

function opened({ seats }, { game, story, links }) {
  // a spectator of a house is told neither who plays nor by which rules
  if (!seats.length) return h("div.card", h("h2", "The players sit down"));
  const { config, roles } = game;
  const cast = roles.map(({ role, plural, number }) => `${number} ${number === 1 ? role : plural}`);
  // the first frame tells the story of a game that is over; of another, and without spoilers, who plays
  const players = [h("h2", `${counted(seats.length, "player")} sit down`), h("div.cast", seats.map((seat) => h("span", face(seats, seat.name), seat.name)))];
  return h(
    "div.card",
    story ? storyParts(story, seats) : players,
    h("p.soft", listed(cast), ". ", game.fork && [h("a", { href: links?.page && `/f/${links.page.split("/")[2]}` }, game.fork.words), ". "], game.origin?.words ?? `${counted(config.debate_turns, "statement")} a day.`, game.seed != null && ` Seed ${game.seed}.`, game.started && ` ${day(game.started)}.`),
    h("p.soft.hint", "Press ", h("kbd", "→"), " for the first sentence, ", story && [h("kbd", "m"), " for the next key moment, "], "or ", h("kbd", "space"), " to play."),
  );
}

function statement(beat) {
  const { speaker, text, vote, thought, label, intended, claims = [], judgements = [], call, reading, took_s: took } = beat.spoken;
  const seat = beat.seats.find((player) => player.name === speaker) ?? {};
  return h(
    "div.said",
    face(beat.seats, speaker),
    h(
      "div.bubble",
      h(
        "header",
        h("b", speaker),
        seat.role && h("small", seat.role),
        beat.phase === "vote" && h("small.vote", vote ? `votes for ${vote}` : "abstains"),
        took != null && h("small", `${took.toFixed(1)} s`),
        reading && h("small", `reply ${reading}`),
      ),
      words(text),
      thought && h("div.thought", unseen("thinks: "), words(thought)),
      (label || intended || claims.length > 0) &&
        h(
          "ul.chips",
          labelChip("says with it: ", intended),
          labelChip(intended ? "says afterwards: " : "says of itself: ", label, label?.confidence != null && `, ${pct(label.confidence)} sure`),
          claims.map((claim) => h("li", { class: `chip ${claim.verdict}` }, `${claim.says}${claim.round ? `, night ${claim.round}` : ""} `, h("b", VERDICTS[claim.verdict] ?? claim.verdict), claim.found && h("small", " found by pattern"))),
        ),
      judgements.length > 0 && listeners(beat),
      h(
        "footer",
        (judgements.length > 0 || label?.reasoning) && reasons(beat),
        call != null && h("button.link", { "data-call": call }, "prompt"),
        h("button.link", { "data-copy": beat.n, "aria-label": `link to this statement of ${speaker}` }, "link"),
      ),
    ),
  );
}

function labelChip(says, label, sure) {
  return label && h("li", { class: `chip own ${label.deceptive ? "false" : ""}` }, says, h("b", verdict(label, true)), sure);
}

function listeners({ seats, spoken }) {
  const { judgements, judged, flagged, mean } = spoken;
  const dot = (judgement) => {
    const kind = judgement.deceptive == null ? "mute" : judgement.deceptive ? "flag" : "trust";
    return h(
      `li.dot.${kind}`,
      { title: `${judgement.seat}: ${verdict(judgement)}`, "--s": judgement.suspicion ?? 0 },
      face(seats, judgement.seat),
      h("span", { "aria-hidden": "true" }, h("i", kind === "flag" ? "⚑" : kind === "trust" ? "○" : "–"), judgement.suspicion != null && Math.round(judgement.suspicion * 100)),
      unseen(`${judgement.seat}: ${verdict(judgement)}${judgement.suspicion == null ? "" : `, suspicion ${pct(judgement.suspicion)}`}`),
    );
  };
  const group = (name, words) => {
    const members = judgements.filter((judgement) => (judgement.listener ?? "") === name);
    return members.length > 0 && h("div.group", words && h("small", { "aria-hidden": "true" }, words), h("ul.dots", { "aria-label": `how those who ${words ?? "heard it"} judge it` }, members.map(dot)));
  };
  return h(
    "div.heard",
    [["", null], ...Object.entries(LISTENERS)].map(([name, words]) => group(name, words)),
    judged > 0 && h("span.mean", h("b", `${flagged || "None"} of ${judged}`), `${judgements[0].listener ? " who had to find out" : ""} ${flagged === 1 || !flagged ? "calls" : "call"} it a lie`, mean != null && ` · mean ${pct(mean)}`),
  );
}

function reasons({ seats, spoken }) {
  const { label, judgements = [] } = spoken;
  const line = (name, assessment, isOwn) => {
    const sure = assessment.confidence == null ? "" : `, ${pct(assessment.confidence)} sure`;
    const moved = assessment.after == null ? "" : `; suspicion ${pct(assessment.before)} → ${pct(assessment.after)}`;
    return h(
      "li",
      face(seats, name),
      h(
        "div",
        h("b", name),
        h("small", ` ${isOwn ? "of itself: " : ""}${verdict(assessment, isOwn)}${sure}${moved} `, assessment.call != null && h("button.link", { "data-call": assessment.call }, "prompt")),
        assessment.reasoning && words(assessment.reasoning, "p"),
        assessment.thought && words(assessment.thought, "p.thought"),
      ),
    );
  };
  return h(
    "details.why",
    h("summary", judgements.some((judgement) => judgement.deceptive === false) ? "why did they believe it?" : "why?"),
    h("ul", label && line(spoken.speaker, label, true), judgements.map((judgement) => line(judgement.seat, judgement))),
  );
}

function silence({ seats, unsaid }) {
  const why = unsaid.fault ?? UNHEARD[unsaid.outcome];
  return h(
    "div.said",
    face(seats, unsaid.seat),
    h(
      "div.bubble",
      h("p.soft", h("b", unsaid.seat), ` says nothing${why ? ` (${why})` : ""}.`),
      unsaid.thought && h("div.thought", words(unsaid.thought)),
      unsaid.call != null && h("footer", h("button.link", { "data-call": unsaid.call }, "prompt")),
    ),
  );
}

const DEEDS = { kill: "chooses", whisper: "whispers" };

function night({ round, seats, night: { died, role, target, blocked, moves } }) {
  return h(
    "div.card.dark",
    h("h2", h("span.moon", { "aria-hidden": "true" }), `Night ${round}`),
    h("p.big", died ? [h("b", died), ` is killed${role ? `: ${article(role)}` : ""}.`] : blocked ? [`The Werewolves come for `, h("b", target), `, who is protected. Nobody dies.`] : "Nobody dies."),
    listOfMoves(seats, moves),
  );
}

function listOfMoves(seats, moves) {
  const item = (move) =>
    h(
      "li",
      face(seats, move.seat),
      h(
        "div",
        h("b", move.seat),
        ` ${DEEDS[move.kind] ?? `${move.kind}s`} ${move.target ?? (move.kind === "whisper" ? "" : "nobody")}`,
        move.role && [": ", h("b", move.role)],
        UNHEARD[move.outcome] && h("small", ` (${UNHEARD[move.outcome]})`),
        move.word && [": ", h("q", { dir: direction(move.word) }, move.word)],
        move.call != null && [" ", h("button.link", { "data-call": move.call }, "prompt")],
        move.thought && h("div.thought", words(move.thought)),
      ),
    );
  return moves && h("ul.moves", moves.map(item));
}

// The votes as bars: who voted for whom.
export function bars({ bars: shownBars, needed }, seats) {
  const most = Math.max(needed, ...shownBars.map((bar) => bar.voters.length));
  return h(
    "ul.bars",
    shownBars.map((bar) =>
      h(
        "li",
        { class: bar.target && needed && bar.voters.length >= needed ? "enough" : null },
        h("span.for", bar.target ? [face(seats, bar.target), h("b", bar.target)] : h("span.soft", "abstain")),
        h("span.bar", { "--v": bar.voters.length / most, "--need": needed / most || null }, h("i"), h("b", bar.voters.length)),
        h("small", listed(bar.voters)),
      ),
    ),
  );
}

function tally({ round, seats, tally: votes }) {
  const thoughts = votes.ballots.filter((ballot) => ballot.thought || ballot.call != null || UNHEARD[ballot.outcome]);
  return h(
    "div.card",
    h("h3", `The votes of day ${round} `, h("small", required(votes.needed))),
    bars(votes, seats),
    thoughts.length > 0 &&
      h(
        "details.why.thoughts",
        h("summary", "what did they think?"),
        h(
          "ul",
          thoughts.map((ballot) =>
            h(
              "li",
              face(seats, ballot.seat),
              h("div", h("b", ballot.seat), h("small", ` ${ballot.target ? `for ${ballot.target}` : (UNHEARD[ballot.outcome] ?? "abstains")} `, ballot.call != null && h("button.link", { "data-call": ballot.call }, "prompt")), ballot.thought && words(ballot.thought, "p.thought")),
            ),
          ),
        ),
      ),
  );
}

function exile({ seats, exile: { seat, votes, needed, role } }) {
  if (!seat) return h("p.event", `Nobody is exiled: ${counted(votes, "vote")} at most; ${required(needed)}.`);
  return h("p.event", face(seats, seat), h("span", h("b", seat), ` is exiled by ${counted(votes, "vote")}${role ? `: ${article(role)}` : ""}.`));
}

function news({ news: text }) {
  return h("p.event", `${title(text)}.`);
}

function over({ seats, over: end }, { story }) {
  return h(
    `div.card.end.${end.winner ?? "nobody"}`,
    h("h2", title(result(end))),
    h("p", title(end.stopped ?? REASONS[end.reason] ?? "over"), end.rounds && ` · ${counted(end.rounds, "round")}`),
    story && storyParts(story, seats),
    h("div.cast", seats.map((seat) => h("span", face(seats, seat.name), seat.name, seat.role && h("small", seat.role)))),
  );
}
