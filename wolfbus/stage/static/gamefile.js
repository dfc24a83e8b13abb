// The page of a game in a file without prompts.
import { showError } from "./dom.js";
import { fileData, fileFeed } from "./feed.js";
import { GamePage } from "./game.js";

const fileRoot = document.getElementById("page");
fileData().then((file) => new GamePage(fileRoot, fileFeed(file)).open()).catch((error) => showError(fileRoot, error));
