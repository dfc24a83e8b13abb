// What a game that is over tells: in its first and its last frame, and as a picture to share.
import { h, cut, isolated, printable } from "./dom.js";
import { face, hueOf, letters, shapeOf } from "./faces.js";
import { counted, whenIs } from "./terms.js";
import { points } from "./timeline.js";

export function storyParts({ headline, beats, lies = [], lie }, seats) {
  const people = (words, names) => names?.length > 0 && h("span.people", h("small", words), names.map((name) => [face(seats, name), h("span.unseen", name)]));
  return [
    h("p.headline", isolated(`${headline}.`)),
    beats?.length > 0 && h("ol.plot-beats", beats.map(({ beat, words }) => h("li", h("button.step", { "data-go": beat }, isolated(words))))),
    lies.length > 0 &&
      h(
        "ul.lies",
        { "aria-label": "Lies of Werewolves, and which of those who had to find out believed them" },
        lies.slice(0, 5).map((item) => h("li", h("button.step", { "data-go": item.beat }, face(seats, item.speaker), h("span", h("bdi", item.speaker), " ", isolated(item.words))), people("believed by", item.believed), people("doubted by", item.doubted))),
      ),
    h("div.acts", lie != null && h("button.go", { "data-go": Math.max(lie - 1, 0) }, "Watch from the lie"), h("button", { "data-do": "story" }, "Save a picture")),
  ];
}

const WIDTH = 1200;
const HEIGHT = 630;
const FONT = "Georgia, 'Times New Roman', serif";

function wrapped(text, size) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${size}px ${FONT}`;
  const rows = [];
  // not every script has blanks
  for (const word of printable(text).split(/(?<=\s|\S{20})/u)) {
    const longer = rows.at(-1) + word;
    if (rows.length && context.measureText(longer).width < 1060) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}

const INK = "#24211d";
const SOFT = "#655e55";

function text(x, y, size, words, more = {}) {
  return h("text", { x, y, "font-size": size, "font-family": FONT, fill: INK, ...more }, words);
}

function person(seats, name, x, step) {
  const place = seats.findIndex((seat) => seat.name === name);
  const wolf = seats[place]?.team === "werewolves";
  return h(
    "g",
    { transform: `translate(${x} 410)` },
    h("path", { transform: "scale(1.4)", d: shapeOf(seats[place]), fill: `oklch(0.52 0.075 ${hueOf(place, seats.length)})`, stroke: wolf ? "#b03f00" : "none", "stroke-width": 4, "paint-order": "stroke" }),
    text(28, 36, 23, letters(seats.map((seat) => seat.name))[place], { "font-family": "sans-serif", "font-weight": 600, fill: "#fff", "text-anchor": "middle" }),
    text(28, 78, 17, cut(name, step / 9), { fill: SOFT, "text-anchor": "middle" }),
  );
}

function group(seats, words, names, x, step) {
  return names.length > 0 && h("g", text(x, 396, 21, words, { fill: SOFT }), names.map((name, place) => person(seats, name, x + place * step, step)));
}

function groups(seats, words, speaker, believed = [], doubted = []) {
  const [n, m] = [believed.length, doubted.length];
  const step = Math.min(84, 860 / (n + m));
  return [group(seats, words, [speaker], 60, 84), group(seats, "believed by", believed, 200, step), group(seats, "doubted by", doubted, 200 + (n && Math.max(140, n * step + 40)), step)];
}

// A picture as SVG; it needs no style of the page, so that it can be drawn on a canvas.
function framed(game, when, label, ...parts) {
  return h(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": label },
    h("rect", { width: WIDTH, height: HEIGHT, fill: "#faf8f4" }),
    text(60, 56, 22, "wolfbus", { "font-weight": "bold" }),
    text(1140, 56, 20, `${printable(game.title ?? game.id)} · ${when}`, { fill: SOFT, "text-anchor": "end" }),
    parts,
  );
}

function written(words) {
  let size = 50;
  let rows = wrapped(words, size);
  while (rows.length > 4 && size > 24) rows = wrapped(words, (size -= 2));
  return rows.slice(0, 9).map((row, place) => text(60, 130 + place * size * 1.25, size, row));
}

export function storyPicture({ story, all, game }) {
  const { seats } = all.at(-1);
  const best = story.lies?.find((candidate) => candidate.beat === story.lie);
  const { line, zero } = points(all, 1080, 70);
  return framed(
    game,
    counted(Math.max(...all.map((beat) => beat.round)), "round"),
    story.headline,
    written(`${story.headline}.`),
    best && groups(seats, "lied", best.speaker, best.believed, best.doubted),
    line && h("g", { transform: "translate(60 508)" }, h("line", { x1: 0, x2: 1080, y1: zero, y2: zero, stroke: SOFT, "stroke-dasharray": "3 5" }), h("polyline", { points: line, fill: "none", stroke: "#b03f00", "stroke-width": 3, "stroke-linejoin": "round" })),
    line && text(60, 606, 19, "How much more the Werewolves are suspected than the others, by those who could not know", { fill: SOFT }),
  );
}

export function statementPicture({ beat, game }) {
  const { speaker, text: words, judgements = [] } = beat.spoken;
  const of = (flag) => judgements.filter(({ listener = "finds_out", deceptive }) => listener === "finds_out" && deceptive === flag).map(({ seat }) => seat);
  return framed(game, whenIs(beat), words, written(printable(words).slice(0, 700)), groups(beat.seats, "says", speaker, of(false), of(true)));
}

// Hands the picture to the reader as PNG.
export async function savePicture(svg, name) {
  const image = new Image(WIDTH, HEIGHT);
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  canvas.getContext("2d").drawImage(image, 0, 0);
  canvas.toBlob((blob) => {
    const link = h("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
