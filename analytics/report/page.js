// What is folded opens where an address leads to it; tables are sorted, searched and saved, figures saved.
(() => {
  "use strict";
  const reveal = () => {
    let element = document.getElementById(location.hash.slice(1).split("?")[0]);
    const target = element;
    for (; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
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
      const query = event.target.value.trim().toLowerCase();
      for (const part of parts) {
        if (part.id === "statements") continue;
        let matched = false;
        for (const row of part.querySelectorAll("tbody tr")) {
          row.hidden = query !== "" && !row.textContent.toLowerCase().includes(query);
          matched ||= !row.hidden;
        }
        for (const folded of part.querySelectorAll(".more")) folded.open = query !== "" && Boolean(folded.querySelector("tbody tr:not([hidden])"));
        part.hidden = query !== "" && !matched;
        part.open = query !== "" && matched;
      }
    });
  }

  // what stands beside a value: its interval and n, or why it is undefined
  const NOTE = "small, .spoken";
  const cellText = (cell) => {
    const copy = cell.cloneNode(true);
    for (const note of copy.querySelectorAll(NOTE)) note.remove();
    return copy.textContent.trim();
  };
  const notes = (cell, between) => [...cell.querySelectorAll(NOTE)].map((note) => note.textContent.trim()).join(between);
  const number = (text) => {
    const match = /[-−+]?[\d,]*\.?\d+/.exec(text);
    return match ? Number(match[0].replace(/,/g, "").replace("−", "-")) : NaN;
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
        const key = (row) => cellText(row.cells[place]);
        const rows = [...body.rows].sort((rowA, rowB) => {
          const total = rowA.classList.contains("total") - rowB.classList.contains("total");
          const [a, b] = [number(key(rowA)), number(key(rowB))];
          if (total) return total;
          if (place && !(isNaN(a) && isNaN(b))) return isNaN(a) - isNaN(b) || sign * (a - b);
          return sign * key(rowA).localeCompare(key(rowB), "en", { numeric: true });
        });
        for (const cell of table.tHead.rows[0].cells) cell.setAttribute("aria-sort", "none");
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
  const csv = (table) => [...table.rows].map((row) => [...row.cells].flatMap((cell) => (
    cell.cellIndex ? [cellText(cell), notes(cell, "; ")] : [cellText(cell)]
  )).map(quoted).join(",")).join("\n") + "\n";
  const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
  const noVars = (text) => text.replace(/var\(--[\w-]+, (#\w+)\)/g, "$1");
  const toSvg = (table) => {
    const lines = [...table.rows].map((row) => [...row.cells].map((cell) => {
      const beside = notes(cell, " ");
      return cellText(cell) + (beside && ` (${beside})`);
    }));
    const widths = lines[0].map((_, place) => 12 + 7 * Math.max(...lines.map((line) => (line[place] || "").length)));
    const lefts = widths.map((_, place) => widths.slice(0, place).reduce((sum, width) => sum + width, 8));
    const texts = lines.flatMap((line, row) => line.map((text, place) =>
      `<text x="${lefts[place]}" y="${20 * row + 18}"${row ? "" : ' font-weight="bold"'}>${escaped(text)}</text>`));
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${widths.reduce((sum, width) => sum + width, 16)}" ` +
      `height="${20 * lines.length + 12}" font-family="sans-serif" font-size="12">${texts.join("")}</svg>`;
  };
  const printAlone = (block) => {
    // the browser's own print to PDF keeps words as words; everything else is left out for that one print
    const parents = [];
    for (let node = block.parentElement; node && node !== document.body; node = node.parentElement) parents.push(node);
    document.body.classList.add("one");
    block.classList.add("one-shown");
    for (const parent of parents) parent.classList.add("one-within");
    window.addEventListener("afterprint", () => {
      document.body.classList.remove("one");
      block.classList.remove("one-shown");
      for (const parent of parents) parent.classList.remove("one-within");
    }, { once: true });
    window.print();
  };
  for (const block of document.querySelectorAll("main div.table, main figure")) {
    const svg = block.querySelector("svg");
    const table = block.querySelector("table") || document.querySelector(`#${block.dataset.table || "none"} table`);
    const actions = { SVG: () => save(`${block.id}.svg`, "image/svg+xml", svg ? noVars(svg.outerHTML) : toSvg(table)) };
    actions.PDF = () => printAlone(block);
    if (table) actions.CSV = () => save(`${block.id}.csv`, "text/csv", csv(table));
    const bar = document.createElement("div");
    bar.className = "save";
    for (const [name, action] of Object.entries(actions)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-label", `Save ${block.id} as ${name}`);
      button.addEventListener("click", action);
      bar.append(button);
    }
    block.append(bar);
  }
})();

// Filters the index of statements by the address's fragment, such as #statements?role=Werewolf&judged=fp&observer=Seer.
(() => {
  "use strict";
  const form = document.getElementById("filter");
  const matchCount = document.getElementById("found");
  const index = document.getElementById("statements");
  const title = document.getElementById("statements-title");
  const statements = [...document.querySelectorAll("ol.statements > li")];
  const games = [...document.querySelectorAll("section.game")];
  if (!form || !matchCount) return;

  const dataKeys = { role: "r", agent: "a", label: "d", kind: "k", round: "n", phase: "p", game: "g" };
  const scored = ["tp", "fp", "tn", "fn"];
  const kinds = {
    judged: (code) => code !== "none",
    flagged: (code) => code === "tp" || code === "fp" || code === "flag",
    scored: (code) => scored.includes(code),
  };
  const names = [...form.elements].filter((field) => field.name).map((field) => field.name);

  const addressFilter = () => {
    const match = /^#statements(?:\?(.*))?$/.exec(location.hash);
    if (!match) return null;
    const filter = {};
    for (const [name, value] of new URLSearchParams(match[1] || "")) {
      if (names.includes(name) && value) filter[name] = value;
      if (name === "said" && value) filter.label ??= value; // the name of `label` in addresses saved before
    }
    return filter;
  };

  const isHit = (judgement, filter) => {
    const code = judgement.dataset.j;
    const kind = kinds[filter.judged || "judged"];
    if (!(kind ? kind(code) : code === filter.judged)) return false;
    if (filter.observer && judgement.dataset.o !== filter.observer) return false;
    return !filter.by || judgement.dataset.b === filter.by;
  };

  const matches = (statement, filter) => {
    const data = statement.dataset;
    for (const name in dataKeys) if (filter[name] && data[dataKeys[name]] !== filter[name]) return false;
    if (filter.truth && !(filter.truth === "checkable" ? data.t : data.t === filter.truth)) return false;
    return true;
  };

  let filtered = false;
  const show = (filter) => {
    const byJudgement = Boolean(filter.judged || filter.observer || filter.by);
    const any = Object.keys(filter).length > 0;
    const hits = [];
    for (const statement of statements) {
      let visible = matches(statement, filter);
      if (filtered || byJudgement) {
        for (const old of statement.querySelectorAll(".hit")) old.classList.remove("hit");
      }
      if (visible && byJudgement) {
        const marked = [...statement.querySelectorAll("details li")].filter((judgement) => isHit(judgement, filter));
        for (const judgement of marked) judgement.classList.add("hit");
        visible = marked.length > 0;
      }
      statement.hidden = !visible;
      if (visible) hits.push(statement);
    }
    for (const game of games) game.hidden = any && !game.querySelector("ol.statements > li:not([hidden])");
    for (const statement of hits.slice(0, byJudgement ? 50 : 0)) {
      const details = statement.querySelector("details");
      if (details) details.open = true;
    }
    for (const name of names) form.elements[name].value = filter[name] || "";
    const count = (number) => number.toLocaleString("en-GB");
    matchCount.textContent = any
      ? `${count(hits.length)} of ${count(statements.length)} statements in the index match.`
      : `All ${count(statements.length)} statements in the index are shown.`;
    filtered = any;
  };

  const applyAddress = () => {
    const filter = addressFilter();
    if (filter) {
      index.open = true;
      show(filter);
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
    const fields = query.toString();
    history.replaceState(null, "", fields ? `#statements?${fields}` : "#statements");
    show(addressFilter());
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", applyAddress);
  form.hidden = false;
  document.getElementById("selections").hidden = true;
  applyAddress();
})();
