// The page of a study in a file; a game of it is at #g=GAME, for which the page is opened anew.
import { showError } from "./dom.js";
import { fileData } from "./feed.js";
import { GamePage } from "./game.js";
import { StudyPage } from "./study.js";

const addressedGame = () => new URLSearchParams(location.hash.slice(1)).get("g");
const openedGame = addressedGame();
const fileRoot = document.getElementById("page");

async function openFile({ pages, measured, ...study }) {
  addEventListener("hashchange", () => addressedGame() !== openedGame && location.reload());
  const data = pages?.[openedGame];
  return (data ? new GamePage(fileRoot, { load: async () => data }, { home: "#", game: openedGame }) : new StudyPage(fileRoot, study, { measure: async () => measured, loadGame: async (game) => pages[game] })).open();
}

fileData().then(openFile).catch((error) => showError(fileRoot, error));
