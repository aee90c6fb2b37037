// The Agent tab: what comes over the socket in order, where the page scrolls, what the keys do on a card.
// Commands are ordinary form posts; the socket only brings HTML. All listeners are on the document, so that the
// panel may be swapped at any time.

import "./agent_composer.js";
import { startSpeaking } from "./agent_speech.js";

const HEADER = /^<!--(turn|at) ([0-9a-f]{32}) (\d+) (\d+)-->/;
const baseTitle = document.title;
const seen = new Map(); // turn → the last event that the page shows
let fetching = false;
let waitingMessages = [];
let follow = true;
let watcher = null;

const byId = (id) => document.getElementById(id);
const panel = () => byId("agent-panel");
const chat = () => byId("chat");

function readSequences() {
  seen.clear();
  for (const turn of document.querySelectorAll("#turns > [data-turn]")) {
    seen.set(turn.dataset.turn, Number(turn.dataset.seq));
  }
}

/** Whether a message may be shown now: "show", "skip" (already there) or "gap" (something before it is missing). */
function judge(header) {
  const [, kind, turn, first, last] = header;
  const known = seen.get(turn);
  if (kind === "at") return known === undefined ? (Number(last) > 0 ? "gap" : "skip") : known < Number(last) ? "gap" : "skip";
  if (known === undefined) return Number(first) <= 1 ? "show" : "gap";
  if (Number(last) <= known) return "skip";
  return Number(first) > known + 1 ? "gap" : "show";
}

async function fetchThread() {
  if (fetching || !panel()?.dataset.thread) return;
  fetching = true;
  try {
    const { threadUrl, thread } = panel().dataset;
    await htmx.ajax("GET", `${threadUrl}?thread=${thread}`, { target: "#thread", swap: "outerHTML" });
  } finally {
    fetching = false;
  }
  readSequences();
  const late = waitingMessages;
  waitingMessages = [];
  for (const message of late) {
    const header = HEADER.exec(message);
    const verdict = header ? judge(header) : "show";
    if (verdict === "gap") return void fetchThread();
    if (verdict === "show" && header?.[1] !== "at") {
      if (header) seen.set(header[2], Number(header[4]));
      htmx.swap("#thread", message, { swapStyle: "none" }, { eventInfo: { elt: panel(), target: panel(), requestConfig: { verb: "get", elt: panel() } } });
    }
  }
}

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  if (event.target.id !== "agent-panel") return undefined;
  const { message } = event.detail;
  if (fetching) {
    waitingMessages.push(message);
    event.preventDefault();
    return undefined;
  }
  const header = HEADER.exec(message);
  if (!header) return undefined;
  const verdict = judge(header);
  if (verdict === "show") return void seen.set(header[2], Number(header[4]));
  event.preventDefault();
  if (verdict === "gap") {
    waitingMessages.push(message);
    fetchThread();
  }
  return undefined;
});

// A frame that the page has already (a turn, a round) is not added a second time.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { fragment, target } = event.detail;
  if (target.id !== "turns" && !target.id.startsWith("rounds-")) return;
  const framed = fragment.querySelector?.("article[id], section[id]") ?? fragment.firstElementChild;
  if (framed?.id && byId(framed.id)) event.detail.shouldSwap = false;
  else byId("chat-empty")?.remove();
});

for (const [name, cut] of [["htmx:wsOpen", false], ["htmx:wsClose", true]]) {
  document.addEventListener(name, (event) => {
    if (event.target.id === "agent-panel") event.target.toggleAttribute("data-cut", cut);
  });
}

// --- Scroll: follows only while it is at the end -----------------------------------------------------------------
document.addEventListener(
  "scroll",
  (event) => {
    const box = event.target;
    if (box instanceof Element && box.id === "chat") follow = box.scrollHeight - box.scrollTop - box.clientHeight < 12;
  },
  true,
);

function toEnd() {
  const box = chat();
  if (box && follow) box.scrollTop = box.scrollHeight;
}

function watchChat() {
  watcher?.disconnect();
  if (!chat()) return;
  watcher = new MutationObserver(() => {
    toEnd();
    showStatus();
  });
  watcher.observe(chat(), { childList: true, subtree: true, characterData: true });
}

// --- Waiting looks different from working ------------------------------------------------------------------------
let shownCards = new Set();

function showStatus() {
  const status = byId("agent-status")?.dataset.status ?? "";
  const waiting = status === "waiting";
  const title = waiting ? `(Waiting) ${baseTitle}` : baseTitle;
  if (document.title !== title) document.title = title;
  const cards = [...document.querySelectorAll("#agent-panel [data-card]")];
  const fresh = cards.find((card) => !shownCards.has(card.getAttribute("aria-labelledby")));
  shownCards = new Set(cards.map((card) => card.getAttribute("aria-labelledby")));
  if (fresh && waiting) showCard(fresh);
}

function showCard(card = document.querySelector("#agent-panel [data-card]")) {
  if (!card) return;
  const typing = document.activeElement?.matches("input, textarea, select") && document.activeElement.value !== "";
  const box = chat();
  const fits = card.offsetHeight + 120 < box.clientHeight;
  follow = follow && fits;
  if (!typing) card.focus({ preventScroll: true });
  card.scrollIntoView({ block: fits ? "nearest" : "start" });
}

function started() {
  readSequences();
  watchChat();
  startSpeaking(chat(), byId("agent-say"));
  follow = true;
  toEnd();
  panel()?.setAttribute("data-ready", "");
  shownCards = new Set();
  showStatus();
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "agent-panel" || event.target.querySelector?.("#agent-panel")) started();
});
document.addEventListener("htmx:load", (event) => {
  if (event.target.id === "agent-panel" || event.target.querySelector?.("#agent-panel")) started();
});
if (panel()) started();

// --- Cards -------------------------------------------------------------------------------------------------------
document.addEventListener("click", (event) => {
  const toggle = event.target.closest("[data-toggle]");
  if (toggle) openMore(toggle);
  if (event.target.closest("[data-show-card]")) showCard();
  const line = event.target.closest("[data-remove-field]");
  if (line) removeField(line.closest("tr"));
  const add = event.target.closest("[data-add-field]");
  if (add) addField(add);
});

function openMore(toggle) {
  const more = byId(toggle.dataset.toggle);
  const open = more.hidden;
  for (const other of toggle.closest("form")?.querySelectorAll(".more") ?? []) other.hidden = true;
  for (const other of toggle.closest("form")?.querySelectorAll("[data-toggle]") ?? []) other.setAttribute("aria-expanded", "false");
  more.hidden = !open;
  toggle.setAttribute("aria-expanded", String(open));
  if ("gone" in toggle.dataset) toggle.remove();
  if (open) more.querySelector("input, select")?.focus();
}

// Opening the form of a card: its first input, from its top.
document.addEventListener("htmx:afterSettle", (event) => {
  const form = event.target.querySelector?.(":scope > form.edit");
  if (!form) return;
  follow = false;
  form.querySelector("input:not([type=hidden]), textarea")?.focus({ preventScroll: true });
  form.closest("[data-card]").scrollIntoView({ block: "start" });
});

function removeField(row) {
  const key = row.querySelector("[name='field-key']").value;
  for (const other of [...row.parentElement.rows]) {
    if (key && other.querySelector("[name='field-parent']").value === key) other.remove();
  }
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  next?.querySelector("input:not([type=hidden])")?.focus();
}

function addField(button) {
  const body = button.closest("form").querySelector("tbody");
  const row = button.closest("form").querySelector("template").content.cloneNode(true);
  body.append(row);
  body.lastElementChild.querySelector("input:not([type=hidden])").focus();
}

document.addEventListener("keydown", (event) => {
  const reason = event.target.closest?.("[data-enter]");
  if (reason && event.key === "Enter" && !event.isComposing) {
    event.preventDefault(); // Enter would press the form's first button, which approves
    reason.closest("form").querySelector(`button[value='${reason.dataset.enter}']`).click();
    return;
  }
  const card = event.target.closest?.("[data-card]");
  if (!card || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const button = card.querySelector(`[data-key='${CSS.escape(event.key.toLowerCase())}']`);
  if (button && !button.closest("[hidden]")) {
    event.preventDefault();
    button.click();
  }
});

// --- Thinking: a live timer --------------------------------------------------------------------------------------
const begun = new WeakMap();
setInterval(() => {
  for (const timer of document.querySelectorAll("#agent-panel .thinking[data-live]:has(.thought:not(:empty)) [data-timer]")) {
    if (!begun.has(timer)) begun.set(timer, Date.now());
    const seconds = Math.round((Date.now() - begun.get(timer)) / 1000);
    if (seconds > 0) timer.textContent = `Thinking… ${seconds} s`;
  }
}, 1000);

// The socket may have been quicker: a form that is gone already has nothing more to show.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { elt, requestConfig } = event.detail;
  if (requestConfig?.elt && !document.body.contains(requestConfig.elt) && elt) event.detail.shouldSwap = false;
});
