// A person's seat: what they see, and what they are asked, by sliders and buttons.
import { h, fill, isolatedText } from "./dom.js";
import { fetchJson, servedFeed, withStep } from "./feed.js";
import { Transcript } from "./transcript.js";
import { cards } from "./panels.js";
import { listed, title, whenIs } from "./terms.js";

const FORMS = { none: "honest", omission: "omission", distortion: "distortion", misdirection: "misdirection", fabrication: "fabrication", unspecified: "cannot say" };
const DEEDS_ASKED = { vote: "Whom do you want to exile?", kill: "Whom do you kill?", protect: "Whom do you protect?", inspect: "Whom do you inspect?", whisper: "Whom do you propose?" };

export async function openSeat(root) {
  let id = location.pathname.split("/")[2];
  const token = location.hash.slice(1);
  if (token && !id) {
    id = (await post("/seat/sit", { token })).seat;
    history.replaceState(null, "", `/seat/${id}`);
  }
  return new SeatPage(root, `/seat/${id}`).open();
}

function post(url, body) {
  return fetchJson(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

export class SeatPage {
  constructor(root, base) {
    Object.assign(this, { root, base, feed: servedFeed(base), forms: new Map(), clockOffset: 0 });
  }

  async open() {
    const part = (selector, name, ...rest) => h(selector, { "data-part": name }, ...rest);
    fill(this.root, h("div.game.seat", part("header.top", "top"), part("ul.players", "players", { "aria-label": "Players", tabindex: 0 }), part("main.log", "log", { role: "log", "aria-live": "polite", "aria-label": "What you hear", tabindex: 0 }), part("footer.asks", "asks", { "aria-label": "You are asked" })));
    for (const name of ["top", "players", "log", "asks"]) this[`${name}Part`] = this.root.querySelector(`[data-part=${name}]`);
    this.transcript = new Transcript(this.logPart);
    await this.load();
    setInterval(() => this.tick(), 1000);
    document.addEventListener("visibilitychange", () => document.hidden || this.load());
    this.root.addEventListener("click", ({ target }) => target.closest("[data-do=watch]") && this.watch(target.closest("button").dataset.viewer));
  }

  async load(as) {
    this.stop?.();
    this.show(await this.feed.load(as));
    if (this.data.over && !this.data.asks?.length) return;
    this.stop = this.feed.follow(this.data, {
      step: (event) => {
        const next = withStep(this.data, event);
        if (next) this.show(next);
        else this.load(as);
        if (next?.over) this.load(as);
      },
      reload: () => this.load(),
      notify: (words) => {
        this.notice = words;
        this.draw();
      },
    });
  }

  watch(viewer) {
    this.watching = viewer;
    return this.load(viewer);
  }

  show(data) {
    this.data = data;
    if (data.now) this.clockOffset = data.now - Date.now() / 1000;
    this.draw();
  }

  draw() {
    const { data } = this;
    const { me, alive = true, beats, live, over, watch = [], game, asks = [] } = data;
    const all = [...beats, ...(live?.pending ?? [])];
    const beat = all.at(-1);
    // a bus that lost what it told tells it anew
    if (!beat) return;
    const ownSeat = beat.seats.find((seat) => seat.name === me) ?? {};
    document.title = isolatedText(`${asks.length ? "● " : ""}${me} · ${game.title ?? game.id}`);
    fill(this.topPart, [
      h("h1", `You are ${me}`, h("small", [data.role ?? ownSeat.role, over ? "the game is over" : alive ? "alive" : "you are out"].filter(Boolean).map((word) => ` · ${word}`).join(""), data.partners?.length > 0 && [" · with ", listed(data.partners)])),
      h("small.soft", title(over || !(live?.phase || asks.length) ? whenIs(beat) : whenIs({ ...beat, ...live, ...asks.at(-1), kind: "" }))),
      watch.filter((viewer) => !over || viewer !== "public").map((viewer) => h("button", { "data-do": "watch", "data-viewer": viewer, "aria-pressed": String(this.watching === viewer) }, viewer === "public" ? "Watch as a ghost" : "See everything")),
      this.notice && h("p.problem", { role: "status" }, this.notice),
    ]);
    fill(this.playersPart, cards({ ...data, beat, viewers: [], live: null }));
    this.transcript.draw(all, data, asks.length);
    this.place(asks);
    this.tick();
  }

  // Puts a form where its question belongs: a judgement beside the statement, all else below.
  place(asks) {
    for (const [id, form] of this.forms) {
      if (asks.some((ask) => ask.id === id)) continue;
      form.remove();
      this.forms.delete(id);
    }
    for (const ask of asks) {
      if (!this.forms.has(ask.id)) this.forms.set(ask.id, this.form(ask));
      const form = this.forms.get(ask.id);
      const bubble = ask.about != null && this.logPart.querySelector(`[data-statement="${Number(ask.about)}"] .bubble`);
      const parent = bubble || this.asksPart;
      if (form.parentNode !== parent) {
        parent.append(form);
        form.scrollIntoView({ block: "nearest" });
      }
    }
    const { over, alive = true } = this.data;
    fill(this.asksPart, asks.some((ask) => this.forms.get(ask.id).parentNode === this.asksPart) ? [] : h("p.soft.idle", over ? `${this.ending()}Thank you for playing.` : !alive ? "You are out of the game." : this.data.live?.phase === "night" ? "You sleep." : "Nothing is asked of you now."));
  }

  ending() {
    const { over, seats } = this.data.beats.at(-1);
    const team = seats.find((seat) => seat.name === this.data.me)?.team;
    return over?.winner && team ? `Your side ${over.winner === team ? "wins" : "loses"}. ` : "";
  }

  tick() {
    const now = Date.now() / 1000 + this.clockOffset;
    for (const ask of this.data.asks ?? []) {
      const left = Math.max(0, Math.round(ask.due - now));
      const countdown = this.forms.get(ask.id)?.querySelector(".left");
      if (!countdown) continue;
      const late = now > ask.due;
      countdown.classList.toggle("late", late);
      countdown.textContent = late ? "Time is up; any answer makes the game wait for you again." : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
    }
  }

  form(ask) {
    const form = h(`form.ask.${ask.kind}`, { "data-keep": ask.id }, h("div.left.soft"), this.inputs(ask), h("p.problem", { hidden: true, role: "alert" }));
    const send = async (content) => {
      const buttons = form.querySelectorAll("button");
      buttons.forEach((button) => (button.disabled = true));
      try {
        const thought = form.elements.thought?.value.trim();
        await post(`${this.base}/answer`, { id: ask.id, content, ...(thought && content ? { thought } : {}) });
        fill(form, h("p.soft", content ? "Taken." : "You say nothing."));
        this.data.asks = this.data.asks.filter((pending) => pending.id !== ask.id);
        this.place(this.data.asks);
      } catch (error) {
        const problem = form.querySelector(".problem");
        problem.hidden = false;
        problem.textContent = title(error.message);
        buttons.forEach((button) => (button.disabled = error.status === 409));
      }
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(contentOf(ask.kind, form, event.submitter));
    });
    form.addEventListener("click", ({ target }) => target.dataset.skip && send(null));
    for (const range of form.querySelectorAll("input[type=range]")) {
      const showValue = () => (range.nextSibling.textContent = range.value);
      range.addEventListener("input", showValue);
      showValue();
    }
    return form;
  }

  inputs({ kind, legal, question = [], default: otherwise }) {
    const range = (name, words, low, high, value, [from, to]) => h("label.range", h("span", words), h("small", from), h("input", { type: "range", name, min: low, max: high, value }), h("output"), h("small", to));
    const skip = h("button", { type: "button", "data-skip": true, title: otherwise }, "Say nothing");
    const sendButton = h("button.go", "Send");
    const reasonInput = (name, words) => h("input", { name, placeholder: words, "aria-label": words, autocomplete: "off" });
    const kindSelect = (isOwn) => h("label", isOwn ? "Was it honest? " : "What is it? ", h("select", { name: "kind" }, Object.entries(FORMS).map(([name, words]) => h("option", { value: name }, words))));
    const confidence = range("confidence", "How sure?", 0, 100, 50, ["not", "very"]);
    const details = question.length > 0 && h("details", h("summary", "the question in full"), h("pre", question.join("\n")));
    switch (kind) {
      case "bid": return [range("bid", "How much do you want to speak?", 0, this.data.game.config.bid_max, 0, ["not", "very"]), h("nav", sendButton, skip), details];
      case "speak": return [h("label", "Your words", h("textarea", { name: "text", rows: 3, required: true, dir: "auto" })), reasonInput("thought", "what you think (nobody sees it)"), h("nav", sendButton, skip), details];
      case "assess_own": return [kindSelect(true), confidence, reasonInput("reasoning", "why"), h("nav", sendButton, skip)];
      case "assess_other": return [range("suspicion", "Believe it?", 0, 100, 50, ["trust", "lie"]), h("details", h("summary", "more"), kindSelect(false), confidence, reasonInput("reasoning", "why")), h("nav", sendButton, skip)];
      default: return [h("p", DEEDS_ASKED[kind] ?? title(kind)), reasonInput(kind === "whisper" ? "word" : kind === "vote" ? "reason" : "thought", kind === "whisper" ? "a word to your partner" : kind === "vote" ? "your reason, published" : "what you think"), h("nav.targets", (legal ?? []).map((name) => h("button", { name: "target", value: name ?? "" }, name ?? (kind === "vote" ? "Abstain" : "Nobody"))), skip), details];
    }
  }
}

function contentOf(kind, form, pressed) {
  const value = (name) => form.elements[name]?.value.trim() ?? "";
  const share = (name) => Number(value(name)) / 100;
  const optional = (name) => (value(name) ? { [name]: value(name) } : {});
  switch (kind) {
    case "bid": return { bid: Number(value("bid")) };
    case "speak": return { text: value("text") };
    case "assess_own": return { deceptive: value("kind") !== "none", confidence: share("confidence"), kind: value("kind"), ...optional("reasoning") };
    case "assess_other": {
      const deceptive = share("suspicion") > 0.5;
      const kindChosen = value("kind");
      return { deceptive, suspicion: share("suspicion"), confidence: share("confidence"), kind: !deceptive ? "none" : kindChosen === "none" ? "unspecified" : kindChosen, ...optional("reasoning") };
    }
    default: return { target: pressed?.value || null, ...(kind === "vote" ? optional("reason") : kind === "whisper" ? optional("word") : {}) };
  }
}
