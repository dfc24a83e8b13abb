// Elements from plain values. Data becomes text nodes and attribute values only.

const DRAWN = new Set(["svg", "g", "path", "circle", "line", "text", "rect", "polyline", "polygon"]);
const UNSEEN = /(?![\t\n\u200c-\u200f])[\p{Cc}\p{Cf}\p{Cs}]/gu;

// Names characters that have no picture of their own, so that words cannot pass for others.
export function printable(text) {
  return String(text).replace(UNSEEN, (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

const BACKWARD = "\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}";
const NAMES = new RegExp(`([${BACKWARD}]+[\\p{M}\\p{N}]*(?:[ '’-]+[${BACKWARD}]+[\\p{M}\\p{N}]*)*)`, "gu");

// A sentence in which a name of a right-to-left script turns nothing beside it around.
export function isolated(text) {
  return text.split(NAMES).map((part, place) => (place % 2 ? h("bdi", part) : part));
}

// The same where there can be no elements.
export function isolatedText(text) {
  return printable(text).replace(NAMES, "\u2068$&\u2069");
}

// h("p.big", { title }, "words", node): objects are attributes, "--x" a CSS variable; no false or null.
export function h(selector, ...rest) {
  const [tag, ...classes] = selector.split(".");
  const node = DRAWN.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const part of rest.flat(9)) {
    if (part == null || part === false) continue;
    if (part instanceof Node) node.append(part);
    else if (typeof part !== "object") node.append(printable(part));
    else {
      for (const [name, value] of Object.entries(part)) {
        if (value == null || value === false) continue;
        if (name.startsWith("--")) node.style.setProperty(name, value);
        else node.setAttribute(name, value === true ? "" : name === "title" ? isolatedText(value) : printable(value));
      }
    }
  }
  return node;
}

// A part of a page that is found by its name.
export function part(selector, name, ...rest) {
  return h(selector, { "data-part": name }, ...rest);
}

// Makes `old` equal to `fresh` and keeps its nodes, so that focus, scrolling and what is unfolded stay.
export function morph(old, fresh) {
  // most of a page stays as it is from step to step
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return void old.replaceWith(fresh);
  if (old.nodeType === 3) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name, value } of fresh.attributes) {
    if (name !== "style" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (name !== "style" && name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  if (old.getAttribute("style") !== fresh.getAttribute("style")) old.style.cssText = fresh.style.cssText;
  fill(old, [...fresh.childNodes]);
}

// Makes `parts` the children of `node`, besides those to be kept.
export function fill(node, parts) {
  const old = [...node.childNodes].filter((part) => !part.dataset?.keep);
  const fresh = [parts].flat(9).filter((part) => part != null && part !== false);
  fresh.forEach((part, place) => {
    if (!(part instanceof Node)) part = document.createTextNode(printable(part));
    if (place < old.length) morph(old[place], part);
    else node.append(part);
  });
  old.slice(fresh.length).forEach((part) => part.remove());
}

// The beginning of a text, without half a character at its end.
export function cut(text, length) {
  return text.slice(0, length).replace(/\p{Cs}$/u, "");
}

// Which way a text runs: as most of its letters do, since its first word may be a name of another script.
export function direction(text) {
  const start = text.slice(0, 1500);
  const back = start.match(new RegExp(`[${BACKWARD}]`, "gu"))?.length ?? 0;
  return 2 * back > (start.match(/\p{L}/gu)?.length ?? 0) ? "rtl" : "ltr";
}

// Words of a player; very long ones unfold.
export function words(text, selector = "p.text") {
  const dir = direction(text);
  if (text.length <= 1500) return h(selector, { dir }, text);
  return [
    h(selector, { dir }, cut(text, 1000), "…"),
    h("details", h("summary", `All ${text.length.toLocaleString("en")} characters`), h("pre.long", { dir, tabindex: 0 }, text)),
  ];
}

// Words for those who do not see the picture.
export function unseen(...text) {
  return h("span.unseen", text);
}

// Puts a text on the clipboard, and says so on the button; on pages of plain HTTP browsers have the old way only.
export function copyText(text, button, done) {
  const tell = () => (button.textContent = done);
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(tell);
  document.oncopy = (event) => (event.preventDefault(), event.clipboardData.setData("text/plain", text), tell());
  document.execCommand("copy");
  document.oncopy = null;
}

// Says why there is no page, and what there is.
export function showError(root, { message, data = {} }) {
  const links = (ids, base) => ids?.map((id) => h("li", h("a", { href: `${base}${encodeURIComponent(id)}` }, id)));
  fill(root, h("main.wait", h("h1", h("a", { href: "/" }, "wolfbus")), h("p.problem", message[0].toUpperCase() + message.slice(1)), h("ul", links(data.studies, "/s/"), links(data.games, "/g/"))));
}

export function dialog(name, title, ...parts) {
  const node = h("dialog", { id: name, "aria-label": title }, h("form", { method: "dialog" }, h("h2", title), h("button", "Close")), parts);
  document.getElementById(name)?.remove();
  document.body.append(node);
  node.addEventListener("close", () => node.remove());
  node.addEventListener("click", (event) => event.target === node && node.close());
  node.showModal();
  return node;
}
