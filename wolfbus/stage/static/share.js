// What can be taken along: links, files, a picture of a statement; and what the seal proves.
import { h, dialog } from "./dom.js";
import { counted } from "./terms.js";

export function shareDialog({ links = {}, beat, game, story }) {
  const link = (href, name, saved) => href && h("li", h("a.choice", { href, download: saved }, name));
  return dialog(
    "share",
    "Share",
    h("ul.choices", [
      h("li", h("button.choice", { "data-copy": beat.n }, "Copy a link to this moment")),
      link(links.page, "Download this page, one file", `${game.id}.html`),
      link(links.record, "Download the record", `${game.id}.ndjson`),
      story && h("li", h("button.choice", { "data-do": "story" }, "Picture of this game (PNG)")),
      h("li", h("button.choice", { "data-copy": "hide" }, "Copy a link without spoilers")),
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
