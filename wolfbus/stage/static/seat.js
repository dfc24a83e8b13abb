// A person's seat: what they see, and what they are asked, by sliders and buttons.
import { h, part, fill, dialog, isolatedText } from "./dom.js";
import { fetchJson, servedFeed, withStep } from "./feed.js";
import { Transcript } from "./transcript.js";
import { cards } from "./panels.js";
import { article, listed, listText, title, whenIs } from "./terms.js";

const FORMS = ["none", "omission", "distortion", "misdirection", "fabrication", "unspecified"];
const formOption = (form) => h("option", { value: form }, { none: "honest", unspecified: "cannot say" }[form] ?? form);
const NOT = { bid: "Bid 0", speak: "Say nothing", assess_own: "No label", assess_other: "No judgement" };
const ASKED = { bid: "say how much you want to speak", speak: "speak", assess_own: "say whether you were honest", assess_other: "say whether you believe what was said", vote: "vote", whisper: "propose a victim" };
const NEXT = { night: "The day: a debate of several statements, each judged by all who hear it.", debate: "More statements, then all vote at once.", vote: "The exile, then the night." };
const DEEDS_ASKED = { vote: "Whom do you want to exile?", kill: "Whom do you kill?", protect: "Whom do you protect?", inspect: "Whom do you inspect?", whisper: "Whom do you propose?" };

export async function openSeat(root) {
  let id = location.pathname.split("/")[2];
  const token = location.hash.slice(1);
  if (token && !id) {
    // good for one browser, however often that opens it
    id = localStorage[token];
    if (!id || !(await fetch(`/seat/${id}/data.json`)).ok) {
      const invitation = await post("/seat/sit", { token });
      await new Promise((agree) => {
        fill(root, consentPage(invitation));
        root.querySelector("button").addEventListener("click", agree, { once: true });
      });
      id = localStorage[token] = (await post("/seat/sit", { token, agreed: invitation.consent })).seat;
    }
    history.replaceState(null, "", `/seat/${id}`);
  }
  return new SeatPage(root, `/seat/${id}`).open();
}

function consentPage({ consent, me }) {
  document.title = isolatedText(`${me} · wolfbus`);
  return h(
    "main.wait.consent",
    h("h1", "A seat waits for you: ", h("bdi", me)),
    h("p", "A game of Werewolf. Your role is told to you alone, once everybody sits; no clock runs before that."),
    h("p.agreed", consent),
    h("p", h("button.go", "I agree, and sit down")),
    h("p.soft", "Not meant for you? Close this page: the link stays good for the person whom it was sent to. ", h("a", { href: "/learn", target: "_blank" }, "How the game is played")),
  );
}

function post(url, body) {
  return fetchJson(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

export class SeatPage {
  constructor(root, base) {
    Object.assign(this, { root, base, feed: servedFeed(base), forms: new Map(), clockOffset: 0 });
  }

  async open() {
    fill(this.root, h("main.game.seat", part("header.top", "top"), part("ul.players", "players", { "aria-label": "Players", tabindex: 0 }), part("div.log", "log", { role: "log", "aria-live": "polite", "aria-label": "What you hear", tabindex: 0 }), part("footer.asks", "asks", { "aria-label": "You are asked" })));
    for (const node of this.root.querySelectorAll("[data-part]")) this[`${node.dataset.part}Part`] = node;
    this.transcript = new Transcript(this.logPart);
    await this.load();
    setInterval(() => this.tick(), 1000);
    document.addEventListener("visibilitychange", () => document.hidden || this.load(this.watching));
    this.root.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button?.dataset.do === "watch") this.watch(button.dataset.viewer);
      if (button?.dataset.do === "card") this.showCard();
    });
  }

  async load(as) {
    const data = await this.feed.load(as);
    this.stop?.();
    this.show(data);
    if (this.data.over && !this.data.asks.length) return;
    this.stop = this.feed.follow(this.data, {
      step: (event) => {
        const next = withStep(this.data, event);
        // who sat down before the game began is told its role with the first beat
        if (!next || (!as && !next.goal && next.beats.length)) return this.load(as);
        this.show(next);
        if (next.over) this.load(as);
      },
      reload: () => this.load(as),
      notify: (words) => {
        this.notice = words;
        this.draw();
      },
    });
  }

  watch(viewer) {
    this.watching = viewer !== this.watching && viewer;
    return this.load(this.watching);
  }

  show(data) {
    Object.assign(this, { data, notice: null, clockOffset: data.now - Date.now() / 1000 });
    this.draw();
  }

  draw() {
    const { data } = this;
    const { me, alive, beats, live, over, watch, game, asks } = data;
    const all = [...beats, ...(live?.pending ?? [])];
    const beat = all.at(-1);
    // the others are still sitting down, or a bus that lost what it told tells it anew
    if (!beat) return void fill(this.topPart, h("h1", `You are ${me}. The game begins when everybody sits.`));
    const ownSeat = beat.seats.find((seat) => seat.name === me) ?? {};
    document.title = isolatedText(`${asks.length ? "● " : ""}${me} · ${game.title ?? game.id}`);
    fill(this.topPart, [
      h("h1", `You are ${me}`, h("small", [data.role ?? ownSeat.role, over ? "the game is over" : alive ? "alive" : "you are out"].filter(Boolean).map((word) => ` · ${word}`).join(""), data.partners?.length > 0 && [" · with ", listed(data.partners)])),
      data.goal && h("button", { "data-do": "card" }, "Your role"),
      h("small.soft", title(over || !(live?.phase || asks.length) ? whenIs(beat) : whenIs({ ...beat, ...live, ...asks.at(-1), kind: "" }))),
      watch.filter((viewer) => !over || viewer !== "public").map((viewer) => h("button", { "data-do": "watch", "data-viewer": viewer, "aria-pressed": String(this.watching === viewer) }, viewer === "public" ? "Watch as a ghost" : "See everything")),
      this.notice && h("p.problem", { role: "status" }, this.notice),
    ]);
    fill(this.playersPart, cards({ ...data, beat, viewers: [], live: null }));
    this.transcript.draw(all, data, asks.length);
    this.place(asks);
    this.tick();
    if (data.goal && !sessionStorage[this.base]) this.showCard();
  }

  // Who you are, what your side wants, what is asked now and comes next; opens by itself at the start.
  showCard() {
    const { me, role, partners, goal, rules, asks, live, over, alive } = this.data;
    if (!goal) return;
    sessionStorage[this.base] = "told";
    const phase = live?.phase ?? "night";
    const now = over ? "The game is over." : !alive ? "You are out, and may look on." : asks.length ? title(listText(asks.map(({ kind }) => ASKED[kind] ?? `choose whom to ${kind}`))) + "." : phase === "night" ? "You sleep; others may act." : "Nothing: others are asked.";
    dialog(
      "card",
      "Your role",
      h("p.big", h("b", me), `, you are ${article(role)}`, partners.length > 0 && [", with ", listed(partners)], "."),
      goal.trim().split("\n").map((line) => h("p", line)),
      h("dl", h("dt", "Now"), h("dd", now), h("dt", "Next"), h("dd", over ? "–" : NEXT[phase])),
      h("details", h("summary", "The rules"), h("pre", rules)),
      h("p", h("a", { href: "/learn", target: "_blank" }, "Learn: rules, words, how suspicion is computed")),
    );
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
    const { over, alive } = this.data;
    fill(this.asksPart, asks.some((ask) => this.forms.get(ask.id).parentNode === this.asksPart) ? [] : h("p.soft.idle", over ? `${this.ending()}Thank you for playing.` : !alive ? "You are out of the game." : this.data.live?.phase === "night" ? "You sleep." : "Nothing is asked of you now."));
  }

  ending() {
    const { over, seats } = this.data.beats.at(-1);
    const team = seats.find((seat) => seat.name === this.data.me)?.team;
    return over?.winner && team ? `Your side ${over.winner === team ? "wins" : "loses"}. ` : "";
  }

  tick() {
    const now = Date.now() / 1000 + this.clockOffset;
    for (const ask of this.data.asks) {
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
    const sendButton = form.querySelector(".go");
    // what nobody touched was not said: it has no value and cannot be sent
    const check = () => sendButton && (sendButton.disabled = !form.checkValidity() || form.querySelector(".untouched[required]") !== null);
    for (const range of form.querySelectorAll("input[type=range]")) {
      range.setAttribute("aria-valuetext", "not set");
      const touch = (event) => {
        if (event.type === "keydown" && !/^(Arrow|Page|Home|End| |Enter)/.test(event.key)) return;
        range.classList.remove("untouched");
        range.nextSibling.textContent = range.name === "suspicion" ? `${range.value}: ${range.value > 50 ? "a lie" : "believed"}` : range.value;
        range.setAttribute("aria-valuetext", range.nextSibling.textContent);
        check();
      };
      for (const type of ["input", "pointerup", "keydown"]) range.addEventListener(type, touch);
    }
    form.addEventListener("input", check);
    check();
    return form;
  }

  inputs({ kind, legal, question, default: otherwise }) {
    const range = (name, words, high, [from, to], required = true) => h("label.range", h("span", words), h("small", from), h("input.untouched", { type: "range", name, min: 0, max: high, value: 0, required }), h("output", "–"), h("small", to));
    const skip = !legal?.includes(null) && h("button", { type: "button", "data-skip": 1 }, NOT[kind] ?? title(otherwise));
    const thoughtInput = () => written("thought", "What you think", this.data.thoughts === "private" ? "kept in the record, shown on no page" : undefined);
    const sendButton = h("button.go", "Send");
    const written = (name, words, told = "everybody can read it after the game") => h("label", h("span", words, " ", h("small", told)), h("input", { name, autocomplete: "off", dir: "auto" }));
    const ownKind = (required = true) => h("label", "Is it honest? Only researchers read this. ", h("select", { name: "kind", required }, h("option", { value: "" }, "choose"), FORMS.map(formOption)));
    const kindOfLie = () => h("label", "If it is a lie, of which kind? ", h("select", { name: "kind" }, FORMS.slice(1).reverse().map(formOption)));
    const details = h("details", h("summary", "the question in full"), h("pre", question.join("\n")));
    // with the words, where the rules ask for it: a vote without a reason has none, so there it may be left out
    const labelled = ["with", "both"].includes(this.data.game.config.label);
    const labelInputs = (required) => labelled ? [ownKind(required), range("confidence", "How sure are you?", 100, ["not", "very"], required)] : [];
    switch (kind) {
      case "bid": return [range("bid", "How much do you want to speak?", this.data.game.config.bid_max, ["not", "very"]), h("nav", sendButton, skip), details];
      case "speak": return [h("label", "Your words", h("textarea", { name: "text", rows: 3, required: true, dir: "auto" })), labelInputs(true), thoughtInput(), h("nav", sendButton, skip), details];
      case "assess_own": return [ownKind(), range("confidence", "How sure are you?", 100, ["not", "very"]), written("reasoning", "Why?"), h("nav", sendButton, skip)];
      case "assess_other": return [range("suspicion", "Believe it?", 100, ["trust", "lie"]), h("details", h("summary", "more"), kindOfLie(), range("confidence", "How sure? Untouched, as sure as your suspicion makes you.", 100, ["not", "very"], false), written("reasoning", "Why?")), h("nav", sendButton, skip)];
      default: return [h("p", DEEDS_ASKED[kind] ?? title(kind)), kind === "whisper" ? written("word", "A word to your partner", "the Werewolves read it now, everybody after the game") : kind === "vote" ? [written("reason", "Your reason", "everybody hears it with your vote"), labelInputs(false)] : thoughtInput(), h("nav.targets", legal.map((name) => h("button", { name: "target", value: name ?? "" }, name ?? (kind === "vote" ? "Abstain" : "Nobody"))), skip), details];
    }
  }
}

function contentOf(kind, form, pressed) {
  const value = (name) => form.elements[name]?.value.trim() ?? "";
  const share = (name) => Number(value(name)) / 100;
  const optional = (name) => (value(name) ? { [name]: value(name) } : {});
  // with a vote it may be left out; how sure somebody is who touched nothing is not known
  const isLabelled = () => value("kind") && !form.elements.confidence.classList.contains("untouched");
  const label = () => (isLabelled() ? { label: { deceptive: value("kind") !== "none", confidence: share("confidence"), kind: value("kind") } } : {});
  switch (kind) {
    case "bid": return { bid: Number(value("bid")) };
    case "speak": return { text: value("text"), ...label() };
    case "assess_own": return { ...label().label, ...optional("reasoning") };
    case "assess_other": {
      const suspicion = share("suspicion");
      const deceptive = suspicion > 0.5;
      const untouched = form.elements.confidence.classList.contains("untouched");
      return { deceptive, suspicion, confidence: untouched ? Math.max(suspicion, 1 - suspicion) : share("confidence"), kind: deceptive ? value("kind") : "none", ...optional("reasoning") };
    }
    default: return { target: pressed?.value || null, ...(kind === "vote" ? { ...optional("reason"), ...(value("reason") ? label() : {}) } : kind === "whisper" ? optional("word") : {}) };
  }
}
