// Mentions: "@" opens a list of schemas, prompts, tags and documents; what is chosen is a chip and is sent by its id.

const byId = (id) => document.getElementById(id);
let chosen = [];
let asked = 0;

export function setMentions(list) {
  chosen = list;
  show();
}

export function clearMentions() {
  setMentions([]);
}

/** The mentions of a question that was asked before. */
export function mentionsOf(bubble) {
  return [...bubble.querySelectorAll("[data-mention-id]")].map((chip) => ({
    type: chip.dataset.mentionType,
    id: chip.dataset.mentionId,
    name: chip.textContent.replace(/^@/, ""),
  }));
}

export function openMentions(area) {
  area.focus();
  area.setRangeText("@", area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

function show() {
  const chips = byId("composer-chips");
  if (!chips) return;
  byId("composer-mentions").value = JSON.stringify(chosen.map(({ type, id }) => ({ type, id })));
  chips.replaceChildren(
    ...chosen.map((mention, index) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.dataset.unmention = index;
      chip.textContent = `@${mention.name} ×`;
      chip.setAttribute("aria-label", `Do not mention ${mention.name}`);
      return chip;
    }),
  );
}

/** The word behind the last "@" before the cursor, null when there is none. */
function query(area) {
  const match = /(?:^|\s)@([^\s@]{0,60})$/.exec(area.value.slice(0, area.selectionStart));
  return match ? match[1] : null;
}

function close() {
  const list = byId("mention-list");
  if (list) list.hidden = true;
  byId("composer-text")?.removeAttribute("aria-activedescendant");
}

async function suggest(area) {
  const text = query(area);
  if (text === null) return close();
  const turn = ++asked;
  const answer = await fetch(`${byId("agent-panel").dataset.mentionsUrl}?q=${encodeURIComponent(text)}`, { headers: { "HX-Request": "true" } });
  if (turn !== asked || !answer.ok) return undefined;
  const list = byId("mention-list");
  list.innerHTML = await answer.text();
  list.hidden = query(area) === null;
  mark(list.querySelector("[role=option]"));
  return undefined;
}

function mark(option) {
  for (const other of byId("mention-list").querySelectorAll("[aria-selected]")) other.removeAttribute("aria-selected");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) byId("composer-text").setAttribute("aria-activedescendant", option.id);
}

function choose(option) {
  const area = byId("composer-text");
  const { type, id, name } = option.dataset;
  const end = area.selectionStart;
  const start = area.value.slice(0, end).lastIndexOf("@");
  area.setRangeText(`${name} `, start, end, "end");
  if (!chosen.some((mention) => mention.id === id)) chosen = [...chosen, { type, id, name }];
  show();
  close();
  area.focus();
}

document.addEventListener("input", (event) => {
  if (event.target.id === "composer-text") suggest(event.target);
});

document.addEventListener("click", (event) => {
  const option = event.target.closest("#mention-list [role=option]");
  if (option) choose(option);
  else if (!event.target.closest("#composer")) close();
  const chip = event.target.closest("[data-unmention]");
  if (chip) setMentions(chosen.filter((_, index) => index !== Number(chip.dataset.unmention)));
});

document.addEventListener(
  "keydown",
  (event) => {
    const list = byId("mention-list");
    if (event.target.id !== "composer-text" || !list || list.hidden) return;
    const options = [...list.querySelectorAll("[role=option]")];
    const at = options.findIndex((option) => option.hasAttribute("aria-selected"));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) mark(options[(at + step + options.length) % options.length]);
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) choose(options[at]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  },
  true,
);
