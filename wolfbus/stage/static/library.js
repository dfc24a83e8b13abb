// What there is: live games, studies, games.
import { h, fill } from "./dom.js";
import { LOST, fetchJson } from "./feed.js";
import { counted, whenIs } from "./terms.js";
import { frame, gamesTable, gameLink, hides, shares } from "./sheets.js";

export async function openLibrary(root) {
  const results = h("div");
  const models = h("select", { name: "model" });
  const choose = (name, options) => h("select", { name }, Object.entries(options).map(([value, words]) => h("option", { value }, words)));
  const form = h(
    "form.filters",
    h("input.search", { name: "q", type: "search", placeholder: "Games, names, models, words", "aria-label": "Search" }),
    h("label", "Played by ", models),
    !hides && [h("label", "Won by ", choose("winner", { "": "anybody", werewolves: "Werewolves", villagers: "Villagers", nobody: "nobody" })), h("label", h("input", { name: "lies", type: "checkbox" }), " with a lie")],
    h("label", "Since ", h("input", { name: "since", type: "date" })),
    h("label", "First ", choose("order", { newest: "the newest", oldest: "the oldest", ...(hides ? {} : { lies: "most lies" }) })),
  );
  let latest;
  const update = async () => {
    clearTimeout(timer);
    const query = (latest = new URLSearchParams(new FormData(form)));
    const data = await fetchJson(`/library.json?seconds=0.5&${query}`).catch((error) => (error.status ? { problem: error.message } : { problem: LOST, again_ms: 5000 }));
    // what was asked for last is shown
    if (query !== latest) return;
    if (data.problem) fill(results, h("p.problem", data.problem));
    else {
      const chosen = models.value;
      fill(models, ["", ...data.models].map((name) => h("option", { value: name, selected: name === chosen }, name || "anybody")));
      fill(results, listing(data));
    }
    if (data.again_ms >= 0 && !document.hidden) timer = setTimeout(update, data.again_ms);
  };
  let timer;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 200);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  frame(root, "wolfbus", form, h("p.soft", hides ? h("a", { href: "/" }, "Show how games ended") : h("a", { href: "/?hide=1" }, "Without spoilers"), hides && ": outcomes are hidden, and games open without what comes."), results);
  addEventListener("visibilitychange", () => document.hidden || update());
  await update();
}

function listing({ live, seats, studies, games, models, more, folder }) {
  const [singles, others] = [games.filter((game) => !game.study), games.filter((game) => game.study)];
  const none = ![live, studies, games, models].some((list) => list.length);
  return [
    [...live, ...seats].length > 0 &&
      h(
        "section",
        h("h2", "Live"),
        live.map((game) =>
          h(
            "a.entry",
            { href: gameLink(game.game) },
            h("b.flagged", "● "),
            h("b", game.game),
            h("small", ` ${game.round ? whenIs(game) : "not begun"}`, !hides && game.werewolves != null && ` · wolves ${game.werewolves} : ${game.villagers}`, game.house && ` · house ${game.house}`, game.stalled && ` · ${game.stalled}`),
          ),
        ),
        seats.map(({ game, seat }) => h("p.soft", `Game ${game} waits for a person as ${seat}.`)),
      ),
    studies.length > 0 &&
      h(
        "section",
        h("h2", "Studies"),
        studies.map((study) =>
          h(
            "a.entry",
            { href: `/s/${encodeURIComponent(study.id)}` },
            h("b", study.name ?? study.id),
            h("small", study.error ?? [` ${study.ended} of ${counted(study.games, "game")}`, study.failed > 0 && `, ${study.failed} failed`, study.cost_usd != null && ` · $${study.cost_usd.toFixed(2)}`]),
            !hides && study.winners && shares(study.winners),
          ),
        ),
        studies.length > 1 && choice(studies),
      ),
    none
      ? h("section", h("h2", "Nothing here"), h("p", `There is no game in ${folder || "this house"}. Play one: `, h("code", "wolfbus play")))
      : (singles.length > 0 || !others.length) && h("section", h("h2", "Games"), gamesTable(singles)),
    others.length > 0 && h("section", h("h2", "Games of studies"), gamesTable(others)),
    more > 0 && h("p.soft", `${counted(more, "game")} more: search to find them.`),
  ];
}

// Two studies to be compared.
function choice(studies) {
  const pick = (name, chosen) => h("select", { "aria-label": name }, studies.map((study, n) => h("option", { value: study.id, selected: n === chosen }, study.name ?? study.id)));
  const [a, b] = [pick("study", 0), pick("other study", 1)];
  const link = h("a", "compare");
  const updateLink = () => link.setAttribute("href", `/c?${new URLSearchParams({ a: a.value, b: b.value })}`);
  const box = h("p.filters", a, " with ", b, link);
  box.addEventListener("input", updateLink);
  updateLink();
  return box;
}
