// The composer: Enter sends, what was typed survives errors and reloads, a question can be asked again from its place.

import { clearMentions, mentionsOf, openMentions, setMentions } from "./agent_mentions.js";

const byId = (id) => document.getElementById(id);
const draftKey = () => `draft:${byId("agent-panel")?.dataset.document}`;

function grow(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight, window.innerHeight / 3)}px`;
}

function write(text, { send = false } = {}) {
  const area = byId("composer-text");
  area.value = text;
  grow(area);
  area.focus();
  if (send) byId("composer").requestSubmit(byId("composer").querySelector("[data-send]"));
  else keepDraft();
}

function keepDraft() {
  const text = byId("composer-text")?.value ?? "";
  if (text) sessionStorage.setItem(draftKey(), text);
  else sessionStorage.removeItem(draftKey());
}

/** Ask again from a question: its words and mentions go back into the composer. */
function fromQuestion(turn, options) {
  const bubble = byId(`question-${turn}`);
  setMentions(mentionsOf(bubble));
  byId("composer-resubmit").value = turn;
  note("The conversation goes on from this question; what came after it stays reachable.");
  write(bubble.querySelector(".said").textContent, options);
}

function note(text) {
  const line = byId("composer-note");
  line.replaceChildren();
  if (!text) return;
  const words = document.createElement("span");
  words.textContent = text;
  const stop = document.createElement("button");
  stop.type = "button";
  stop.className = "btn quiet small";
  stop.dataset.forget = "";
  stop.textContent = "Never mind";
  line.append(words, stop);
}

document.addEventListener("click", (event) => {
  const hit = (selector) => event.target.closest(selector);
  const ask = hit("[data-ask]");
  if (ask) write(ask.dataset.ask, { send: true });
  const prefill = hit("[data-prefill]");
  if (prefill) write(prefill.dataset.prefill);
  const again = hit("[data-again]");
  if (again) fromQuestion(again.dataset.again, { send: true });
  const resubmit = hit("[data-resubmit]");
  if (resubmit) fromQuestion(resubmit.dataset.resubmit);
  if (hit("[data-forget]")) {
    byId("composer-resubmit").value = "";
    clearMentions();
    note("");
    write("");
  }
  if (hit("[data-mention]")) openMentions(byId("composer-text"));
  if (hit("[data-dictate]")) dictate();
});

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "composer-text" || event.defaultPrevented) return;
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    byId("composer").requestSubmit(byId("composer").querySelector("[data-send]"));
  }
});

document.addEventListener("input", (event) => {
  if (event.target.id === "composer-text") {
    grow(event.target);
    keepDraft();
  }
  if (event.target.matches?.("[data-auto]")) showAuto(event.target.checked);
});

function showAuto(on) {
  const hint = document.querySelector("[data-auto-hint]");
  if (hint) hint.textContent = on ? "Approves changes by itself" : "Asks before each change";
  const word = document.querySelector("[data-auto-word]");
  if (word) word.textContent = on ? "Auto" : "Asks";
  sessionStorage.setItem("auto-approve", on ? "1" : "");
}

// An empty question is not sent, and one question is not sent twice.
document.addEventListener("htmx:beforeRequest", (event) => {
  const form = event.target;
  if (form.id !== "composer") return;
  if (!byId("composer-text").value.trim() || form.dataset.busy !== undefined) return event.preventDefault();
  form.dataset.busy = "";
  return undefined;
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.target.id === "composer") delete event.target.dataset.busy;
});

/** The server has stored the question: only now is it taken out of the composer. */
document.addEventListener("agent-sent", () => {
  byId("composer-resubmit").value = "";
  clearMentions();
  note("");
  write("");
  const box = byId("chat");
  box.scrollTop = box.scrollHeight;
});

function restore() {
  const area = byId("composer-text");
  if (!area) return;
  if (!area.value) area.value = sessionStorage.getItem(draftKey()) ?? "";
  grow(area);
  const auto = document.querySelector("[data-auto]");
  if (auto) {
    auto.checked = sessionStorage.getItem("auto-approve") === "1";
    showAuto(auto.checked);
  }
  const button = document.querySelector("[data-dictate]");
  if (button && Recognition) button.hidden = false;
}

const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;

function dictate() {
  const listener = new Recognition();
  listener.lang = document.documentElement.lang;
  listener.onresult = (event) => write(`${byId("composer-text").value} ${event.results[0][0].transcript}`.trim());
  listener.start();
}

document.addEventListener("htmx:load", restore);
restore();
