// Looks at the address and opens the page that belongs there.
import { h, fill } from "./dom.js";
import { asked, filed, fileFeed, servedFeed } from "./feed.js";
import { title } from "./terms.js";
import { GamePage } from "./game.js";
import { openLibrary } from "./library.js";
import { StudyPage, openComparison } from "./study.js";
import { openLearn } from "./learn.js";
import { openSeat } from "./seat.js";

async function openPage(root) {
  const file = await filed();
  if (file) return file.kind === "study" ? openStudyFile(root, file) : new GamePage(root, fileFeed(file)).open();
  const [, kind, id, sub, line] = location.pathname.split("/");
  switch (kind) {
    case "": return openLibrary(root);
    case "g": return new GamePage(root, servedFeed(`/g/${id}`), { home: "/", call: sub === "call" ? Number(line) : null }).open();
    case "s": return new StudyPage(root, await asked(`/s/${id}.json`)).open();
    case "c": return openComparison(root, await asked(`/c.json${location.search}`));
    case "learn": return openLearn(root, await asked("/learn.json"));
    case "seat": return openSeat(root);
    default: throw new Error("there is no such page");
  }
}

// In a study's file a game is at #g=GAME; the page is opened anew for it, as it is by a link.
function openStudyFile(root, file) {
  const game = new URLSearchParams(location.hash.slice(1)).get("g");
  addEventListener("hashchange", () => new URLSearchParams(location.hash.slice(1)).get("g") !== game && location.reload());
  if (!file.pages?.[game]) return new StudyPage(root, file).open();
  return new GamePage(root, { load: async () => file.pages[game] }, { home: "#", game }).open();
}

const pageRoot = document.getElementById("page");
openPage(pageRoot).catch(({ message, data = {} }) => {
  const links = (ids, base) => ids?.map((id) => h("li", h("a", { href: `${base}${encodeURIComponent(id)}` }, id)));
  fill(pageRoot, h("main.wait", h("h1", h("a", { href: "/" }, "wolfbus")), h("p.problem", `${title(message)}.`.replace(/\.\.$/, ".")), h("ul", links(data.studies, "/s/"), links(data.games, "/g/"))));
});
