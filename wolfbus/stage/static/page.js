// Looks at the address and opens the page that belongs there.
import { h, fill } from "./dom.js";
import { filed, fileFeed, servedFeed } from "./feed.js";
import { GamePage } from "./game.js";

async function openPage(root) {
  const file = await filed();
  if (file) return new GamePage(root, fileFeed(file)).open();
  const [, kind, id, sub, line] = location.pathname.split("/");
  if (kind === "g") return new GamePage(root, servedFeed(`/g/${id}`), { home: "/", call: sub === "call" ? Number(line) : null }).open();
  throw new Error("There is no such page.");
}

const pageRoot = document.getElementById("page");
openPage(pageRoot).catch((error) => fill(pageRoot, h("p.problem.wait", error.message)));
