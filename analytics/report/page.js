// What is folded opens where an address leads to it; tables are sorted, searched and saved, figures saved.
(() => {
  "use strict";
  const reveal = () => {
    let at = document.getElementById(decodeURIComponent(location.hash.slice(1).split("?")[0]));
    const target = at;
    for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target && !location.hash.startsWith("#statements")) target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  const parts = [...document.querySelectorAll("details.part")];
  window.addEventListener("beforeprint", () => {
    if (!document.body.classList.contains("one")) for (const part of parts) part.open ||= part.id !== "statements";
  });
  const tools = document.getElementById("tools");
  if (tools) {
    tools.hidden = false;
    const unfold = document.getElementById("unfold");
    unfold.addEventListener("click", () => {
      const open = unfold.textContent === "Open all";
      for (const part of parts) part.open = open && part.id !== "statements";
      unfold.textContent = open ? "Close all" : "Open all";
    });
    document.getElementById("find").addEventListener("input", (event) => {
      const sought = event.target.value.trim().toLowerCase();
      for (const part of parts) {
        if (part.id === "statements") continue;
        let held = false;
        for (const row of part.querySelectorAll("tbody tr")) {
          row.hidden = sought !== "" && !row.textContent.toLowerCase().includes(sought);
          held ||= !row.hidden;
        }
        part.hidden = sought !== "" && !held;
        part.open = sought !== "" && held;
      }
    });
  }

  const told = (cell) => {
    const value = [...cell.childNodes].filter((each) => each.nodeName !== "SMALL").map((each) => each.textContent);
    return value.join("").trim();
  };
  const number = (text) => {
    const found = /[-−+]?[\d,]*\.?\d+/.exec(text);
    return found ? Number(found[0].replace(/,/g, "").replace("−", "-")) : NaN;
  };
  for (const table of document.querySelectorAll(".frame table")) {
    const body = table.tBodies[0];
    if (body.rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      head.setAttribute("aria-sort", "none");
      head.tabIndex = 0;
      const sort = () => {
        const down = head.getAttribute("aria-sort") === (place ? "descending" : "ascending") ? place === 0 : place > 0;
        const sign = down ? -1 : 1;
        const key = (row) => told(row.cells[place]);
        const rows = [...body.rows].sort((one, other) => {
          const total = one.classList.contains("total") - other.classList.contains("total");
          const [a, b] = [number(key(one)), number(key(other))];
          if (total) return total;
          if (place && !(isNaN(a) && isNaN(b))) return isNaN(a) - isNaN(b) || sign * (a - b);
          return sign * key(one).localeCompare(key(other));
        });
        for (const each of table.tHead.rows[0].cells) each.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...rows);
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
  }

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const csv = (table) => [...table.rows].map((row) => [...row.cells].flatMap((cell) => {
    const small = [...cell.querySelectorAll("small")].map((each) => each.textContent.trim()).join("; ");
    return cell.cellIndex ? [told(cell), small] : [told(cell)];
  }).map(quoted).join(",")).join("\n") + "\n";
  const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
  const light = (text) => text.replace(/var\(--[\w-]+, (#\w+)\)/g, "$1");
  const drawn = (table) => {
    const lines = [...table.rows].map((row) => [...row.cells].map((cell) => {
      const small = [...cell.querySelectorAll("small")].map((each) => each.textContent.trim()).join(" ");
      return told(cell) + (small && ` (${small})`);
    }));
    const wide = lines[0].map((_, place) => 12 + 7 * Math.max(...lines.map((line) => (line[place] || "").length)));
    const left = wide.map((_, place) => wide.slice(0, place).reduce((sum, each) => sum + each, 8));
    const texts = lines.flatMap((line, at) => line.map((text, place) =>
      `<text x="${left[place]}" y="${20 * at + 18}"${at ? "" : ' font-weight="bold"'}>${escaped(text)}</text>`));
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide.reduce((sum, each) => sum + each, 16)}" ` +
      `height="${20 * lines.length + 12}" font-family="sans-serif" font-size="12">${texts.join("")}</svg>`;
  };
  const alone = (block) => {
    // the browser's own print to PDF keeps words as words; everything else is left out for that one print
    const within = [];
    for (let at = block.parentElement; at && at !== document.body; at = at.parentElement) within.push(at);
    document.body.classList.add("one");
    block.classList.add("one-shown");
    for (const each of within) each.classList.add("one-within");
    window.addEventListener("afterprint", () => {
      document.body.classList.remove("one");
      block.classList.remove("one-shown");
      for (const each of within) each.classList.remove("one-within");
    }, { once: true });
    window.print();
  };
  for (const block of document.querySelectorAll("main div.table, main figure")) {
    const svg = block.querySelector("svg");
    const table = block.querySelector("table") || document.querySelector(`#${block.dataset.table || "none"} table`);
    const ways = { SVG: () => save(`${block.id}.svg`, "image/svg+xml", svg ? light(svg.outerHTML) : drawn(table)) };
    ways.PDF = () => alone(block);
    if (table) ways.CSV = () => save(`${block.id}.csv`, "text/csv", csv(table));
    const bar = document.createElement("div");
    bar.className = "save";
    for (const [name, act] of Object.entries(ways)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-label", `Save ${block.id} as ${name}`);
      button.addEventListener("click", act);
      bar.append(button);
    }
    block.append(bar);
  }
})();

// Filters the index of statements by the address's fragment, such as #statements?role=Werewolf&judged=fp&observer=Seer.
(() => {
  "use strict";
  const form = document.getElementById("filter");
  const found = document.getElementById("found");
  const index = document.getElementById("statements");
  const title = document.getElementById("statements-title");
  const statements = [...document.querySelectorAll("ol.statements > li")];
  const games = [...document.querySelectorAll("section.game")];
  if (!form || !found) return;

  const own = { role: "r", agent: "a", label: "d", kind: "k", round: "n", phase: "p", game: "g" };
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
    if (want.observer && judgement.dataset.o !== want.observer) return false;
    return !want.by || judgement.dataset.b === want.by;
  };

  const isWanted = (statement, want) => {
    const data = statement.dataset;
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
      index.open = true;
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
