// Find in the document: the server knows the words of all pages, the hits are marked and walked through.

import { drawMarks } from "./sheets.js";

const state = { hits: [], at: -1, asked: 0, timer: 0 };
const get = (id) => document.getElementById(id);

export function toggleFind(open = get("find-bar").hidden) {
  const bar = get("find-bar");
  bar.hidden = !open;
  document.querySelector("#viewer [data-act=find]").setAttribute("aria-expanded", String(open));
  if (open) {
    get("find-text").focus();
    get("find-text").select();
  } else {
    Object.assign(state, { hits: [], at: -1 });
    get("find-count").textContent = "";
    draw();
  }
}

/** Ask for the places of a text a moment after the last key. */
export function find(url, text, reveal) {
  clearTimeout(state.timer);
  state.timer = setTimeout(async () => {
    const asked = ++state.asked;
    const answer = text.trim() ? await fetch(`${url}?q=${encodeURIComponent(text)}`).catch(() => null) : null;
    const found = answer?.ok ? await answer.json() : { hits: [] };
    if (asked !== state.asked) return;
    Object.assign(state, { hits: found.hits, at: -1 });
    if (found.hits.length) findNext(1, reveal);
    else {
      draw();
      get("find-count").textContent = text.trim() ? "Nowhere" : "";
    }
  }, 180);
}

export function findNext(step, reveal) {
  if (!state.hits.length) return;
  state.at = (state.at + step + state.hits.length) % state.hits.length;
  get("find-count").textContent = `${state.at + 1} of ${state.hits.length}`;
  draw();
  reveal(state.hits[state.at].boxes[0]);
}

function draw() {
  drawMarks("hit", state.hits.flatMap((hit, at) => hit.boxes.map((box) => ({ ...box, now: at === state.at }))));
}
