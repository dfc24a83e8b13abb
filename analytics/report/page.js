// Filters the index of statements by the address's fragment, such as #statements?role=Werewolf&judged=fp&observer=Seer.
(() => {
  "use strict";
  const form = document.getElementById("filter");
  const found = document.getElementById("found");
  const title = document.getElementById("statements-title");
  const statements = [...document.querySelectorAll("ol.statements > li")];
  const games = [...document.querySelectorAll("section.game")];
  if (!form || !found) return;

  const own = { agent: "a", said: "d", kind: "k", round: "n", phase: "p", game: "g" };
  const scored = ["tp", "fp", "tn", "fn"];
  const kinds = {
    judged: (code) => code !== "none",
    flagged: (code) => code === "tp" || code === "fp" || code === "flag",
    scored: (code) => scored.includes(code),
  };
  const names = [...form.elements].filter((field) => field.name).map((field) => field.name);

  const wanted = () => {
    const match = /^#statements(?:\?(.*))?$/.exec(location.hash);
    if (!match) return null;
    const given = {};
    for (const [name, value] of new URLSearchParams(match[1] || "")) {
      if (names.includes(name) && value) given[name] = value;
    }
    return given;
  };

  const isHit = (judgement, want) => {
    const code = judgement.dataset.j;
    const kind = kinds[want.judged || "judged"];
    if (!(kind ? kind(code) : code === want.judged)) return false;
    if (want.observer && judgement.dataset.o !== want.observer[0]) return false;
    return !want.by || judgement.dataset.b === want.by;
  };

  const isWanted = (statement, want) => {
    const data = statement.dataset;
    if (want.role && data.r !== want.role[0]) return false;
    for (const name in own) if (want[name] && data[own[name]] !== want[name]) return false;
    if (want.truth && !(want.truth === "checkable" ? data.t : data.t === want.truth)) return false;
    return true;
  };

  let filtered = false;
  const show = (want) => {
    const about = Boolean(want.judged || want.observer || want.by);
    const any = Object.keys(want).length > 0;
    const hits = [];
    for (const statement of statements) {
      let shown = isWanted(statement, want);
      if (filtered || about) {
        for (const old of statement.querySelectorAll(".hit")) old.classList.remove("hit");
      }
      if (shown && about) {
        const marked = [...statement.querySelectorAll("details li")].filter((each) => isHit(each, want));
        for (const each of marked) each.classList.add("hit");
        shown = marked.length > 0;
      }
      statement.hidden = !shown;
      if (shown) hits.push(statement);
    }
    for (const game of games) game.hidden = any && !game.querySelector("ol.statements > li:not([hidden])");
    for (const statement of hits.slice(0, about ? 50 : 0)) {
      const details = statement.querySelector("details");
      if (details) details.open = true;
    }
    for (const name of names) form.elements[name].value = want[name] || "";
    const count = (number) => number.toLocaleString("en-GB");
    found.textContent = any
      ? `${count(hits.length)} of ${count(statements.length)} statements in the index match.`
      : `All ${count(statements.length)} statements in the index are shown.`;
    filtered = any;
  };

  const follow = () => {
    const want = wanted();
    if (want) {
      show(want);
      if (title) {
        title.scrollIntoView();
        title.focus({ preventScroll: true });
      }
      return;
    }
    const match = /^#(g\d+s\d+|game-\d+)$/.exec(location.hash);
    const target = match && document.getElementById(match[1]);
    if (target && (target.hidden || target.closest("[hidden]"))) {
      show({});
      target.scrollIntoView();
    }
  };

  form.addEventListener("change", () => {
    const query = new URLSearchParams();
    for (const name of names) if (form.elements[name].value) query.set(name, form.elements[name].value);
    const told = query.toString();
    history.replaceState(null, "", told ? `#statements?${told}` : "#statements");
    show(wanted());
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", follow);
  form.hidden = false;
  document.getElementById("selections").hidden = true;
  follow();
})();
