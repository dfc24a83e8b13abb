// The page of a game: its state is (data, place, viewer) and what is switched on; every panel is drawn from it.
import { h, copyText, part, fill, dialog, isolated, isolatedText } from "./dom.js";
import { withStep, withoutSpoilers } from "./feed.js";
import { Transcript } from "./transcript.js";
import { cards, heat, history, overTime, movers, votes, moments } from "./panels.js";
import { track, phaseFrom } from "./timeline.js";
import { shareDialog, proofDialog } from "./share.js";
import { savePicture, statementPicture, storyPicture } from "./story.js";
import { Hall } from "./hall.js";
import { whenIs, eventText, title, counted } from "./terms.js";

const VIEWS = [["table", "Table"], ["time", "Over time"], ["moved", "Who moved"]];
const SHEETS = ["Suspicion", "Votes", "Moments"];
const HELP = [["space", "play or pause"], ["← →", "sentence back, on"], ["Shift ← →", "phase back, on"], ["Home End", "start, end"], ["1–9", "see as a player"], ["0", "see everything"], ["t", "thoughts"], ["h", "hide or show what comes"], ["p", "prompt of this sentence"], ["m", "next key moment"], ["b l", "in a hall: a hand for “believe it”, “a lie”"], ["?", "help"]];

export class GamePage {
  constructor(root, feed, { home = null, call = null, game = null, inspect = null } = {}) {
    const params = new URLSearchParams(location.search);
    const prefix = game ? `g=${encodeURIComponent(game)}&` : "";
    Object.assign(this, { root, feed, home, inspect, prefix, openCall: call, loaded: new Map(), hide: params.has("hide"), hall: new Hall(params.has("hall")) });
    Object.assign(this, { n: 0, reached: 0, thoughts: true, view: "table", sheet: null, pair: null, speed: 1, timer: null, notice: null, version: 0, keys: {} });
  }

  async open() {
    const params = new URLSearchParams(location.hash.slice(1));
    await this.load(params.get("as")).catch(async (error) => {
      if (error.status !== 400) throw error;
      await this.load(null);
      this.notice = title(error.message);
    });
    if (this.data.viewer !== params.get("as") && params.get("as")) this.notice ??= "This page does not show that player's view.";
    this.hide ||= Boolean(this.data.hide);
    if (params.has("picture") && this.data.story) return void fill(this.root, storyPicture(this.state()));
    // of a game that goes on nobody knows what comes
    this.reached = !this.data.over ? Infinity : this.spares ? Number(params.get("n")) || 0 : 0;
    this.n = params.has("n") ? this.within(Number(params.get("n")) || 0) : this.data.over ? 0 : this.all.length - 1;
    if (this.openCall != null) {
      const beat = this.all.find(({ spoken }) => spoken?.call === this.openCall || spoken?.judgements?.some((judgement) => judgement.call === this.openCall));
      // who went on from there is at the place in the address
      if (params.has("n") && this.n !== beat?.n) this.openCall = null;
      else this.n = beat?.n ?? this.n;
    }
    fill(this.root, this.skeleton());
    for (const node of this.root.querySelectorAll("[data-part]")) this[`${node.dataset.part}Part`] = node;
    this.transcript = new Transcript(this.logPart);
    this.listen();
    setInterval(() => this.data.live?.waiting.length && this.drawPlayers(), 1000);
    this.draw();
    if (this.openCall != null) this.prompt(this.openCall);
  }

  async load(as) {
    this.requestedViewer = as;
    const data = this.loaded.get(as) ?? (await this.feed.load(as));
    if (this.requestedViewer !== as) return;
    data.viewers ??= [data.viewer];
    this.loaded.set(data.viewer, data);
    this.data = data;
    this.follow();
  }

  // Takes what happens in a game that goes on.
  follow() {
    this.stop?.();
    this.stop = null;
    if (this.data.over || !this.feed.follow) return;
    this.loaded.clear();
    const { viewer } = this.data;
    const reload = async () => {
      await this.load(viewer);
      this.draw();
    };
    this.stop = this.feed.follow(this.data, {
      step: (event) => {
        const atEnd = this.atEnd;
        const next = withStep(this.data, event);
        if (!next) return reload();
        this.data = next;
        if (atEnd) this.n = this.all.length - 1;
        this.draw();
        if (next.over) this.load(viewer).then(() => this.draw());
      },
      reload,
      notify: (words, forGood) => {
        this.notice = words;
        if (forGood) this.stop = null;
        this.draw();
      },
    });
  }

  get visible() {
    const reached = this.spares ? this.reached : -1;
    const inHall = this.hall.on && !this.hide;
    if (this.cache?.data !== this.data || this.cache.reached !== reached || this.cache.inHall !== inHall) {
      this.cache = { data: this.data, reached, inHall, result: this.spares ? withoutSpoilers(this.data, reached, inHall) : this.data };
      this.version += 1;
    }
    return this.cache.result;
  }

  get all() {
    const { beats, live } = this.visible;
    return live?.pending.length ? [...beats, ...live.pending] : beats;
  }

  // Whether more may come: not in a file, nor of a record that is cut off or that nobody writes.
  get goesOn() {
    return Boolean(this.stop) && !this.data.over && !this.data.stalled && !this.data.problems?.length;
  }

  get atEnd() {
    return this.n >= this.all.length - 1;
  }

  // Whether what comes is not to be told: a hall that knows the roles has nothing to guess.
  get spares() {
    return this.hide || this.hall.on;
  }

  // Whether anything is hidden: who has come to the end may see all.
  get hides() {
    return this.visible !== this.data;
  }

  within(n) {
    return Math.min(Math.max(Math.trunc(n), 0), this.all.length - 1);
  }

  state() {
    const all = this.all;
    const beats = all.slice(0, this.n + 1);
    return { ...this.visible, all, beats, beat: beats.at(-1), n: this.n, hide: this.hides, pair: this.pair };
  }

  // ---- what can be done

  go(n) {
    // before a hall sees what the table made of a statement, it is asked itself
    if (n > this.n && this.hall.asks(this.all[this.n])) this.hall.show(this.all[this.n]);
    else this.n = this.within(n);
    this.draw();
  }

  async seeAs(viewer) {
    if (!this.data.viewers.includes(viewer)) return;
    const wasEnd = this.atEnd && !this.data.over;
    try {
      await this.load(viewer);
      this.notice = null;
    } catch (error) {
      this.notice = error.message;
    }
    this.n = wasEnd ? this.all.length - 1 : this.within(this.n);
    this.draw();
  }

  play(on = !this.timer) {
    clearTimeout(this.timer);
    this.timer = null;
    if (on) {
      if (this.atEnd && this.data.over) this.n = 0;
      this.next();
    }
    this.draw();
  }

  next() {
    const length = this.all[this.n]?.spoken?.text.length ?? 40;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.hall.asks(this.all[this.n])) return this.draw();
      if (!this.atEnd) {
        this.n += 1;
        this.next();
      } else if (!this.data.over) this.next();
      this.draw();
    }, (900 + Math.min(length, 600) * 28) / this.speed);
  }

  async prompt(line) {
    if (line == null || !this.inspect) return;
    this.play(false);
    await this.inspect(this.feed, Number(line));
  }

  link(n) {
    if (n === "hide") return `${location.href.split(/[?#]/)[0]}?hide=1${this.prefix && `#${this.prefix}`}`;
    return `${location.href.split("#")[0]}#${this.prefix}n=${n}&as=${encodeURIComponent(this.data.viewer)}`;
  }

  toggle(name) {
    this[name] = !this[name];
    this.draw();
  }

  act(name) {
    const state = this.state();
    const { call } = state.beat.spoken ?? state.beat.unsaid ?? {};
    const acts = {
      play: () => this.play(),
      back: () => this.go(this.n - 1),
      on: () => this.go(this.n + 1),
      phaseBack: () => this.go(phaseFrom(state.all, this.n, -1)),
      phaseOn: () => this.go(phaseFrom(state.all, this.n, 1)),
      start: () => this.go(0),
      end: () => this.go(this.hides && this.data.over ? this.reached : state.all.length - 1),
      thoughts: () => this.toggle("thoughts"),
      hide: () => ((this.reached = this.data.over ? this.n : Infinity), this.toggle("hide")),
      hall: () => ((this.reached = this.data.over ? this.n : Infinity), (this.hall.on = !this.hall.on), this.draw()),
      believe: () => (this.hall.count(state.beat, "believe"), this.draw()),
      lie: () => (this.hall.count(state.beat, "lie"), this.draw()),
      story: () => this.sharePicture(state),
      saveStory: () => savePicture(document.querySelector("#story svg"), `${state.game.id}.png`),
      everything: () => this.seeAs(this.data.viewers[0]),
      moment: () => this.go(state.moments.find((moment) => moment.beat > this.n)?.beat ?? this.n),
      prompt: () => this.prompt(call ?? this.logPart.lastChild.querySelector("[data-call]")?.dataset.call),
      help: () => dialog("help", "Keys", h("dl.keys", HELP.map(([key, does]) => [h("dt", key.split(" ").map((keyName) => h("kbd", keyName))), h("dd", does)]))),
      share: () => shareDialog(state),
      proof: () => proofDialog(state),
      picture: () => savePicture(statementPicture(state), `${state.game.id}-${state.beat.n}.png`),
      print: () => (document.getElementById("share")?.close(), print()),
      unpair: () => ((this.pair = null), this.draw()),
    };
    acts[name]?.();
  }

  sharePicture(state) {
    document.getElementById("share")?.close();
    if (state.story) dialog("story", "Picture of this game", storyPicture(state), h("button.go", { "data-do": "saveStory" }, "Save as PNG, 1200 × 630"));
  }

  listen() {
    this.root.addEventListener("click", (event) => {
      const curve = event.target.closest("[data-curve]");
      const { left, width } = curve?.getBoundingClientRect() ?? {};
      if (curve) this.go(Math.round(((event.clientX - left) / width) * Number(curve.dataset.curve)));
    });
    document.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const { go, as, pair, call, copy, view, sheet } = button.dataset;
      if (button.dataset.do) this.act(button.dataset.do);
      if (go) this.go(Number(go));
      if (as) this.seeAs(as === this.data.viewer ? this.data.viewers[0] : as);
      if (call) this.prompt(call);
      if (copy) copyText(this.link(copy), button, "copied");
      if (view) this.view = view;
      if (sheet) this.sheet = this.sheet === sheet ? null : sheet;
      if (pair) {
        this.pair = JSON.parse(pair).join() === this.pair?.join() ? null : JSON.parse(pair);
        this.view = "table";
        if (matchMedia("(max-width: 47.5rem)").matches) this.sheet = "Suspicion";
      }
      if (pair || view || sheet) this.draw();
    });
    document.addEventListener("input", ({ target }) => {
      if (target === this.sliderPart) this.go(target.valueAsNumber);
      if (target.name === "as") this.seeAs(target.value);
      if (target.name === "speed") this.speed = Number(target.value);
    });
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => {
      const params = new URLSearchParams(location.hash.slice(1));
      this.n = this.within(Number(params.get("n")) || 0);
      if (params.get("as") && params.get("as") !== this.data.viewer) this.seeAs(params.get("as"));
      else this.draw();
    });
    addEventListener("beforeprint", () => {
      this.placeBeforePrint = this.n;
      this.act("end");
    });
    addEventListener("afterprint", () => this.go(this.placeBeforePrint));
  }

  key(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.matches("select, input:not([type=range]), textarea")) return;
    if (key === " " && target.matches("button, summary, a")) return;
    const names = { " ": "play", ArrowLeft: event.shiftKey ? "phaseBack" : "back", ArrowRight: event.shiftKey ? "phaseOn" : "on", Home: "start", End: "end", t: "thoughts", h: "hide", p: "prompt", m: "moment", "?": "help", 0: "everything", ...(this.hall.on && { b: "believe", l: "lie" }) };
    if (names[key]) this.act(names[key]);
    else if (/^[1-9]$/.test(key) && !this.hides && this.data.game.seats[key - 1]) this.seeAs(`seat:${this.data.game.seats[key - 1].name}`);
    else return;
    event.preventDefault();
  }

  // ---- what is shown

  skeleton() {
    const tool = (act, sign, name) => h("button", { "data-do": act, "aria-label": name, title: name }, sign);
    return h(
      "main.game",
      h("header.top", part("div.status", "status"), part("div.tools", "tools")),
      part("div", "problems"),
      part("ul.players", "players", { "aria-label": "Players", tabindex: 0 }),
      part("div.log", "log", { role: "log", "aria-label": "Transcript", tabindex: 0 }),
      h(
        "section.panels",
        { "aria-label": "Panels" },
        h("nav.sheets", SHEETS.map((name) => h("button", { "data-sheet": name }, name))),
        SHEETS.map((name) => h("section", { class: name.toLowerCase() }, h("h2", name), part("div", name.toLowerCase()))),
      ),
      part("div.hands", "hands", { role: "group", "aria-label": "What do you think?" }),
      h(
        "footer.bar",
        h("div.steps", tool("phaseBack", "«", "phase before"), tool("back", "‹", "sentence before"), part("button.go", "play", { "data-do": "play" }), tool("on", "›", "next sentence"), tool("phaseOn", "»", "next phase")),
        h("div.timeline", part("div.track", "track"), part("input", "slider", { type: "range", min: 0, step: 1, "aria-label": "place in the game" })),
        part("output.where", "where"),
        h("label.speed", h("span.unseen", "Speed"), h("select", { name: "speed" }, [0.5, 1, 2, 4].map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`)))),
      ),
    );
  }

  draw() {
    this.reached = Math.max(this.reached, this.n);
    const state = this.state();
    const { game, beat, all, n } = state;
    const label = `${whenIs(beat)}${beat.kind === "opened" ? "" : `: ${eventText(beat)}`}`;
    document.title = isolatedText(`${title(label)} · ${game.title ?? game.id}`);
    this.root.firstChild.classList.toggle("unthinking", !this.thoughts);
    this.root.firstChild.dataset.sheet = this.sheet ?? "";
    this.root.firstChild.classList.toggle("promptless", !this.inspect);
    this.root.firstChild.classList.toggle("hall", this.hall.on);
    this.root.firstChild.classList.toggle("hiding", this.hides);
    this.root.firstChild.classList.toggle("asking", this.hall.asks(beat));
    fill(this.handsPart, this.hall.draw(beat, this.data.beats));
    fill(this.statusPart, this.status(state));
    fill(this.toolsPart, this.tools(state));
    const notice = (words) => words && h("p.problem", { role: "status" }, words);
    fill(this.problemsPart, [notice(this.notice), notice(state.stalled && title(state.stalled)), state.problems?.length > 0 && h("p.problem", h("b", "This record is damaged. "), "What is whole is shown. ", state.problems.join(" · "))]);
    this.drawPlayers(state);
    fill(this.suspicionPart, this.suspicion(state));
    const tallied = state.beats.findLast((shownBeat) => shownBeat.kind === "tally")?.n;
    this.renew("votes", [tallied, ...beat.seats.map((seat) => `${seat.role} ${seat.left}`)], () => votes(state));
    this.renew("moments", [state.moments.some((moment) => moment.beat === n) && n], () => moments(state));
    // who is not to know what comes sees the curve as far as the place, and a hall not yet what it is asked about
    const until = this.hides || this.hall.on ? n + !this.hall.asks(beat) : Infinity;
    this.renew("track", [all.length, until], () => track({ all, until }));
    fill(this.wherePart, [h("b", title(whenIs(beat))), h("small", this.hides ? `sentence ${n}` : `${n} of ${all.length - 1}`)]);
    fill(this.playPart, [this.timer ? "❚❚" : "►", h("span", this.timer ? " Pause" : " Play")]);
    this.playPart.setAttribute("aria-label", this.timer ? "pause" : "play");
    Object.assign(this.sliderPart, { max: all.length - 1, value: n });
    this.sliderPart.setAttribute("aria-valuetext", label);
    for (const button of this.root.querySelectorAll(".sheets button")) button.setAttribute("aria-expanded", String(this.sheet === button.dataset.sheet));
    this.logPart.setAttribute("aria-live", this.atEnd && !this.data.over ? "polite" : "off");
    this.transcript.draw(state.beats, state, `${this.data.line} ${this.sheet}`);
    const speaker = this.playersPart.querySelector(".speaks");
    if (speaker && matchMedia("(max-width: 68rem)").matches) this.playersPart.scrollLeft = speaker.offsetLeft - 48;
    keepPlace(`#${this.prefix}n=${n}&as=${encodeURIComponent(state.viewer)}`);
  }

  // Draws a part again when the data or what it shows of it changed.
  renew(name, shows, draw) {
    const key = [this.version, ...shows].join();
    if (this.keys[name] === key) return;
    this.keys[name] = key;
    fill(this[`${name}Part`], draw());
  }

  // Only at the live end somebody is waited for.
  drawPlayers(state = this.state()) {
    fill(this.playersPart, cards(this.atEnd && this.goesOn ? state : { ...state, live: null }));
  }

  status({ game, beat, over, all, n, live }) {
    const behind = all.length - 1 - n;
    return [
      this.home && h("a.home", { href: this.home }, "wolfbus"),
      h("h1", isolated(title(beat.kind === "opened" ? (game.title ?? `Game ${game.id}`) : beat.over ? eventText(beat) : whenIs(beat)))),
      h("small.soft", beat.over ? counted(beat.round, "round") : beat.kind === "opened" ? counted(beat.seats.length, "player") : isolated(game.title ?? game.id)),
      !over && !this.goesOn && h("small.soft", "not finished"),
      this.goesOn && h("button.live", { "data-do": "end" }, h("i", { "aria-hidden": "true" }), "LIVE", behind > 0 && ` · ${counted(behind, "beat")} behind`, live?.phase && !behind && h("small", ` ${whenIs(live)}`)),
    ];
  }

  tools({ viewer, viewers, proof, game }) {
    const switched = (act, on, name) => h("button", { "data-do": act, "aria-pressed": String(on) }, name);
    const viewerName = (option) => (option.startsWith("seat:") ? option.slice(5) : title(option));
    return [
      viewers.length > 1 && !this.hides && h("label", "See as ", h("select", { name: "as" }, viewers.map((option) => h("option", { value: option, selected: option === viewer }, viewerName(option))))),
      viewers.length < 2 && !this.hides && viewer !== "everything" && h("span.soft", `As ${viewerName(viewer)} saw it`),
      !this.hides && switched("thoughts", this.thoughts, "Thoughts"),
      switched("hide", this.hide, "No spoilers"),
      switched("hall", this.hall.on, "Hall"),
      h("button", { "data-do": "share" }, "Share"),
      game.origin && h("b.unsealed", "a log, not a record"),
      proof && h("button", { "data-do": "proof", class: proof.sealed ? "sealed" : !this.goesOn && "unsealed" }, proof.sealed ? "✔ sealed" : "not sealed"),
      h("button", { "data-do": "help", "aria-label": "keys", title: "keys" }, "?"),
    ];
  }

  suspicion(state) {
    const draw = { table: () => [heat(state), state.beat.suspicion.some(Boolean) && history(state)], time: () => overTime(state), moved: () => movers(state) };
    return [h("nav.views", VIEWS.map(([name, words]) => h("button", { "data-view": name, "aria-pressed": String(this.view === name) }, words))), h("div", { class: `view ${this.view}` }, state.beat.suspicion ? draw[this.view]() : h("p.soft", "This viewer sees no judgements."))];
  }
}

let addressTimer;

// The address follows a moment later: browsers refuse many changes at once; who leaves is not led back.
function keepPlace(hash) {
  const before = location.hash;
  clearTimeout(addressTimer);
  if (before !== hash) addressTimer = setTimeout(() => location.hash === before && window.history.replaceState(null, "", hash), 200);
}
