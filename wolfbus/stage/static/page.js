// Looks at the address and opens the page that belongs there.
import { fetchJson, servedFeed } from "./feed.js";
import { showError } from "./dom.js";
import { GamePage } from "./game.js";
import { openLibrary } from "./library.js";
import { StudyPage } from "./study.js";
import { openComparison, openFork, loadGame } from "./compare.js";
import { openLearn } from "./learn.js";
import { openSeat } from "./seat.js";
import { inspect } from "./inspector.js";

async function openPage(root) {
  const [, kind, id, sub, line] = location.pathname.split("/");
  switch (kind) {
    case "": return openLibrary(root);
    case "g": return new GamePage(root, servedFeed(`/g/${id}`), { home: "/", call: sub === "call" ? Number(line) : null, inspect }).open();
    case "s": return openStudy(root, `/s/${id}`);
    case "c": return openComparison(root, await fetchJson(`/c.json${location.search}`));
    case "f": return openFork(root, decodeURIComponent(id));
    case "learn": return openLearn(root, await fetchJson("/learn.json"));
    case "seat": return openSeat(root);
    default: throw new Error("there is no such page");
  }
}

async function openStudy(root, base) {
  const again = () => fetchJson(`${base}.json?seconds=0.3`);
  const measure = async (tell) => {
    for (;;) {
      const measured = await fetchJson(`${base}/measured.json`);
      if (measured.answer) return measured;
      tell(measured);
    }
  };
  return new StudyPage(root, await again(), { measure, again, loadGame }).open();
}

const pageRoot = document.getElementById("page");
openPage(pageRoot).catch((error) => showError(pageRoot, error));
