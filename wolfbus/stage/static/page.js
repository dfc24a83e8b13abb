// Looks at the address and opens the page that belongs there.
import { fetchJson, servedFeed } from "./feed.js";
import { showError } from "./dom.js";
import { GamePage } from "./game.js";
import { openLibrary } from "./library.js";
import { StudyPage } from "./study.js";
import { openComparison } from "./compare.js";
import { openLearn } from "./learn.js";
import { openSeat } from "./seat.js";

async function openPage(root) {
  const [, kind, id, sub, line] = location.pathname.split("/");
  switch (kind) {
    case "": return openLibrary(root);
    case "g": return new GamePage(root, servedFeed(`/g/${id}`), { home: "/", call: sub === "call" ? Number(line) : null }).open();
    case "s": return new StudyPage(root, await fetchJson(`/s/${id}.json`)).open();
    case "c": return openComparison(root, await fetchJson(`/c.json${location.search}`));
    case "learn": return openLearn(root, await fetchJson("/learn.json"));
    case "seat": return openSeat(root);
    default: throw new Error("there is no such page");
  }
}

const pageRoot = document.getElementById("page");
openPage(pageRoot).catch((error) => showError(pageRoot, error));
