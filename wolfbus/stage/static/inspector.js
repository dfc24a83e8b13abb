// The prompt inspector: what a model was asked, and what it said.
import { h, copyText, fill, dialog } from "./dom.js";
import { counted, title, whenIs } from "./terms.js";

const SHARES = { rules: "Rules", public: "Public", seat: "Only this seat", question: "Question" };
const thousands = (number) => number?.toLocaleString("en") ?? "?";

export async function inspect(feed, line) {
  const box = dialog("inspector", "Prompt", h("div.call", h("p.wait", "Opening…")));
  const body = box.querySelector(".call");
  let call;
  const show = async (line) => {
    try {
      call = await feed.call(line);
      fill(body, callParts(call));
    } catch (error) {
      fill(body, h("p.problem", error.message));
    }
  };
  box.addEventListener("click", ({ target }) => {
    const { to, take } = target.closest("button")?.dataset ?? {};
    if (to) show(Number(to));
    if (take) copyText(callText(call, take), target, `${title(take)} is copied`);
  });
  await show(line);
}

function callParts(call) {
  const tokens = call.prompt_tokens == null ? null : `${thousands(call.prompt_tokens)} → ${thousands(call.completion_tokens)} tokens${call.cached_tokens ? ` (${thousands(call.cached_tokens)} cached)` : ""}`;
  const facts = [
    `${call.served ?? call.model}${call.url ? ` at ${call.url.replace(/^https?:\/\//, "")}` : ""}`,
    call.latency_s != null && `${call.latency_s.toFixed(1)} s (${(call.queue_s ?? 0).toFixed(1)} queued)`,
    tokens,
    call.cost_usd != null && `$${call.cost_usd.toFixed(4)}`,
    `read: ${call.read.join(", ")}`,
    call.attempts > 1 && counted(call.attempts, "attempt"),
  ].filter(Boolean);
  const callButton = (to, sign, name) => h("button", { "data-to": to, disabled: to == null, "aria-label": name }, sign);
  const fresh = call.segments.filter((part) => part.new);
  const part = ({ role, text }) => h("section", h("small", role), h("pre", { dir: "auto" }, text));
  const group = ([share, name]) => {
    const parts = call.segments.filter((segment) => segment.share === share);
    return parts.length > 0 && h("details", { open: share === "question" }, h("summary", name, h("small", ` ${counted(parts.length, "segment")}${share === "rules" ? ", equal for all" : ""}`)), parts.map(part));
  };
  return [
    h("p", h("b", call.seat), ` · ${call.kind.replaceAll("_", " ")} · ${whenIs(call)}`),
    h("nav", callButton(call.before, "◀", "call before"), `call ${call.place} of ${call.of} of this seat`, callButton(call.after, "▶", "next call")),
    h("p.soft", facts.join(" · ")),
    (call.failures.length > 0 || call.error) && h("p.problem", [...call.failures, call.error].filter(Boolean).join(" · ")),
    call.place > 1 && h("details", h("summary", "What is new since the last call", h("small", ` ${counted(fresh.length, "segment")}`)), fresh.map(part)),
    Object.entries(SHARES).map(group),
    h("section", h("h3", "Reply"), h("pre", { dir: "auto" }, call.reply ?? "(none)")),
    call.reasoning && h("details", h("summary", "Hidden reasoning"), h("pre", { dir: "auto" }, call.reasoning)),
    h("nav", "Copy: ", ["text", "JSON", "curl"].map((form) => h("button", { "data-take": form }, form))),
  ];
}

function callText(call, form) {
  if (form === "text") return [...call.segments.map((part) => `[${part.role}]\n${part.text}`), `[reply]\n${call.reply ?? ""}`].join("\n\n");
  const body = { ...call.parameters, model: call.model, messages: call.segments.map(({ role, text }) => ({ role, content: text })) };
  if (form === "JSON") return JSON.stringify({ ...body, reply: call.reply }, null, 2);
  // whoever wrote the record chose the address, and a shell runs what is not quoted
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  return `curl ${quoted(`${call.url ?? "URL"}/chat/completions`)} -H 'Content-Type: application/json' -H "Authorization: Bearer $API_KEY" -d ${quoted(JSON.stringify(body))}`;
}
