// What there is: live games, studies, games.
import { h, fill } from "./dom.js";
import { fetchJson } from "./feed.js";
import { counted, whenIs } from "./terms.js";
import { frame, gamesTable, gameLink, shares } from "./sheets.js";

export async function openLibrary(root) {
  const results = h("div");
  const update = async (words) => fill(results, listing(await fetchJson(`/library.json?q=${encodeURIComponent(words)}`), words));
  const search = h("input.search", { type: "search", placeholder: "Games, names, models, words", "aria-label": "Search" });
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => update(search.value), 200);
  });
  await update("");
  frame(root, "wolfbus", search, results);
  addEventListener("visibilitychange", () => document.hidden || update(search.value));
}

function listing({ live, seats, studies, games, more, folder }, words) {
  const none = !live.length && !studies.length && !games.length;
  return [
    (live.length > 0 || seats.length > 0) &&
      h(
        "section",
        h("h2", "Live"),
        live.map((game) =>
          h(
            "a.entry",
            { href: gameLink(game.game) },
            h("b.flagged", "● "),
            h("b", game.game),
            h("small", ` ${game.phase ? whenIs(game) : "not begun"}`, game.werewolves != null && ` · wolves ${game.werewolves} : ${game.villagers}`, game.house && ` · house ${game.house}`, game.stalled && ` · ${game.stalled}`),
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
            h("small", ` ${study.ended} of ${counted(study.games, "game")}`, study.failed > 0 && `, ${study.failed} failed`, study.cost_usd != null && ` · $${study.cost_usd.toFixed(2)}`),
            shares(study.winners),
          ),
        ),
        studies.length > 1 && choice(studies),
      ),
    h("section", h("h2", none ? "Nothing here" : "Games"), none && !words ? h("p", `There is no game in ${folder}. Play one: `, h("code", "wolfbus play")) : gamesTable(games), more > 0 && h("p.soft", `${counted(more, "game")} more: search to find them.`)),
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
