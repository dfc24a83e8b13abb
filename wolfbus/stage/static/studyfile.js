// The page of a study in a file; a game of it is at #g=GAME, for which the page is opened anew.
import { failed } from "./dom.js";
import { filed } from "./feed.js";
import { GamePage } from "./game.js";
import { StudyPage } from "./study.js";

const wantedGame = () => new URLSearchParams(location.hash.slice(1)).get("g");
const openedGame = wantedGame();
const fileRoot = document.getElementById("page");

async function openFile({ pages, ...study }) {
  addEventListener("hashchange", () => wantedGame() !== openedGame && location.reload());
  const data = pages?.[openedGame];
  return (data ? new GamePage(fileRoot, { load: async () => data }, { home: "#", game: openedGame }) : new StudyPage(fileRoot, study)).open();
}

filed().then(openFile).catch((error) => failed(fileRoot, error));
