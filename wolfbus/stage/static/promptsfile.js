// The page of a game in a file that holds its prompts.
import { showError } from "./dom.js";
import { fileData, fileFeed } from "./feed.js";
import { GamePage } from "./game.js";
import { inspect } from "./inspector.js";

const fileRoot = document.getElementById("page");
fileData().then((file) => new GamePage(fileRoot, fileFeed(file), { inspect }).open()).catch((error) => showError(fileRoot, error));
