// What can be taken along: links, files, a picture of a statement; and what the seal proves.
import { h, dialog, printable } from "./dom.js";
import { hueOf, letters } from "./faces.js";
import { pct, title, whenIs, counted } from "./terms.js";

export function shareDialog({ links = {}, beat, game }) {
  const link = (href, name, saved) => href && h("li", h("a.choice", { href, download: saved }, name));
  return dialog(
    "share",
    "Share",
    h("ul.choices", [
      h("li", h("button.choice", { "data-copy": beat.n }, "Copy a link to this moment")),
      link(links.page, "Download this page, one file", `${game.id}.html`),
      link(links.record, "Download the record", `${game.id}.ndjson`),
      beat.spoken && h("li", h("button.choice", { "data-do": "picture" }, "Picture of this statement (PNG)")),
      h("li", h("button.choice", { "data-do": "print" }, "Print, or save as PDF")),
    ]),
  );
}

export function proofDialog({ proof, game }) {
  return dialog(
    "proof",
    proof.sealed ? "This record is sealed" : "This record is not sealed",
    h("p", proof.sealed ? `Each of its ${counted(proof.lines, "line")} holds the hash of the one before, and all of them match: nothing was changed, lost or put in by accident.` : "It has no end yet, or lines whose hash does not match."),
    h("p", "This does not prove who wrote it, nor that the moderator was honest: whoever writes a record can seal it. Compare the hash with one that you had from somebody you trust."),
    h("dl", h("dt", "Last hash"), h("dd", h("code", proof.head ?? "–")), h("dt", "Check it yourself"), h("dd", h("code", `wolfbus replay ${game.id}.ndjson`))),
  );
}

// Draws the statement as a picture and hands it to the reader as a file.
export function picture({ beat, game }) {
  const { speaker, text, judged, flagged, mean } = beat.spoken;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const font = (size, weight = "") => (context.font = `${weight} ${size}px Georgia, serif`);
  font(34);
  const rows = [];
  for (const word of printable(text).slice(0, 900).split(/\s+/)) {
    const longer = rows.length ? `${rows.at(-1)} ${word}` : word;
    if (rows.length && context.measureText(longer).width < 1000) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  Object.assign(canvas, { width: 1200, height: 230 + rows.length * 48 });
  const names = beat.seats.map((seat) => seat.name);
  const place = names.indexOf(speaker);
  const fill = (colour, method, ...where) => ((context.fillStyle = colour), context[method](...where));
  fill("#faf7f2", "fillRect", 0, 0, canvas.width, canvas.height);
  context.beginPath();
  context.arc(100, 84, 36, 0, 7);
  fill(`oklch(.5 .11 ${hueOf(place, names.length)})`, "fill");
  font(34, "bold");
  context.textAlign = "center";
  fill("#fff", "fillText", letters(names)[place], 100, 96);
  context.textAlign = "left";
  fill("#23201c", "fillText", printable(speaker), 156, 82);
  font(22);
  fill("#6b645b", "fillText", title(whenIs(beat)), 156, 112);
  font(34);
  rows.forEach((row, line) => fill("#23201c", "fillText", row, 100, 180 + line * 48, 1000));
  font(22);
  fill("#6b645b", "fillText", `${judged ? `${flagged} of ${judged} call it a lie, mean ${pct(mean)} · ` : ""}${game.id} · wolfbus`, 100, canvas.height - 40, 1000);
  canvas.toBlob((blob) => {
    const link = h("a", { href: URL.createObjectURL(blob), download: `${game.id}-${beat.n}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
