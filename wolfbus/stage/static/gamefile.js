// The page of a game in a file.
import { failed } from "./dom.js";
import { filed, fileFeed } from "./feed.js";
import { GamePage } from "./game.js";

const fileRoot = document.getElementById("page");
filed().then((file) => new GamePage(fileRoot, fileFeed(file)).open()).catch((error) => failed(fileRoot, error));
