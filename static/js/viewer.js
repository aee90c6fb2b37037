// The viewer: sharp pictures when they come near, words that can be selected, marks, zoom, rotation, find.
//
// Other modules point at places with
//   window.dispatchEvent(new CustomEvent("docrouter:highlight", {detail: {boxes: [{page, box: [x0, y0, x1, y1]}], label}}))
// and any element with data-highlight='{"boxes": […], "label": …}' does so when it is clicked or focused.
// Units: boxes are fractions of the page, origin top left.

import { openTab } from "./workspace.js";
import { find, findNext, toggleFind } from "./find.js";
import { sheetOf, drawMarks, layWords } from "./sheets.js";

const WIDTHS = [320, 640, 960, 1280, 1600, 2200, 3000];
const ZOOMS = [0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4];
const POINT = 96 / 72;
const view = { zoom: 1, fit: true, turn: 0, scroll: 0, chosen: [] };
let viewer, sheets, near;

const get = (id) => document.getElementById(id);

function start() {
  viewer = get("viewer");
  sheets = get("sheets");
  near?.disconnect();
  if (!sheets) return;
  near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => load(entry.target)),
    { root: sheets, rootMargin: "600px 0px" },
  );
  layout();
  for (const sheet of sheets.children) if (sheet.matches(".sheet")) near.observe(sheet);
  new ResizeObserver(() => view.fit && layout()).observe(sheets);
  sheets.scrollTop = view.scroll;
  sheets.addEventListener("scroll", onScroll, { passive: true });
  drawDim();
  drawChosen();
}

function layout() {
  const all = [...sheets.querySelectorAll(".sheet")];
  if (!all.length) return;
  const turned = view.turn % 180 !== 0;
  if (view.fit && sheets.clientWidth) {
    const style = getComputedStyle(sheets);
    const room = sheets.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const side = turned ? "--ph" : "--pw";
    view.zoom = room / Math.max(...all.map((sheet) => Number(sheet.style.getPropertyValue(side)))) / POINT;
  }
  const place = sheets.scrollTop / Math.max(1, sheets.scrollHeight);
  sheets.style.setProperty("--scale", String(view.zoom * POINT));
  sheets.style.setProperty("--turn", `${view.turn}deg`);
  sheets.toggleAttribute("data-turned", turned);
  sheets.scrollTop = place * sheets.scrollHeight;
  get("zoom").textContent = `${Math.round(view.zoom * 100)} %`;
  viewer.querySelector("[data-act=fit]").setAttribute("aria-pressed", String(view.fit));
  for (const sheet of all) if (sheet.dataset.width) load(sheet);
}

/** Fetch the picture in the width that is needed now (never a smaller one again), and the words once. */
function load(sheet) {
  const needed = sheet.querySelector(".paper").clientWidth * Math.min(3, devicePixelRatio || 1);
  if (!needed) return;
  const width = WIDTHS.find((one) => one >= needed * 0.94) ?? WIDTHS.at(-1);
  if (width > Number(sheet.dataset.width ?? 0)) {
    sheet.dataset.width = width;
    const source = `${sheet.dataset.image}&w=${width}`;
    const next = new Image();
    next.src = source;
    next.decode().then(() => {
      if (Number(sheet.dataset.width) === width) sheet.querySelector("img").src = source;
    }, () => delete sheet.dataset.width);
  }
  layWords(sheet);
}

function onScroll() {
  view.scroll = sheets.scrollTop;
  const middle = sheets.getBoundingClientRect().top + sheets.clientHeight / 3;
  const all = [...sheets.querySelectorAll(".sheet")];
  const here = all.find((sheet) => sheet.getBoundingClientRect().bottom > middle) ?? all.at(-1);
  if (here && document.activeElement !== get("page-number")) get("page-number").value = here.dataset.page;
}

function goTo(number) {
  const all = sheets.querySelectorAll(".sheet");
  const page = Math.min(Math.max(1, number || 1), all.length);
  get("page-number").value = String(page);
  sheets.scrollTop += all[page - 1].getBoundingClientRect().top - sheets.getBoundingClientRect().top - 12;
}

/** Bring a box into view, if it is not there already. */
export function reveal({ page, box }) {
  const paper = sheetOf(page)?.querySelector(".paper");
  if (!paper) return;
  load(sheetOf(page));
  const frame = sheets.getBoundingClientRect();
  const area = paper.getBoundingClientRect();
  const [x, y] = turnPoint((box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
  const top = area.top + y * area.height - frame.top;
  const left = area.left + x * area.width - frame.left;
  if (top < 48 || top > frame.height - 48) sheets.scrollTop += top - frame.height / 2;
  if (left < 24 || left > frame.width - 24) sheets.scrollLeft += left - frame.width / 2;
}

function turnPoint(x, y) {
  return { 0: [x, y], 90: [1 - y, x], 180: [1 - x, 1 - y], 270: [y, 1 - x] }[view.turn];
}

/** Everything on the visible tab that points at a page, once each: [element, highlight]. */
function pointers() {
  const found = new Map();
  for (const element of document.querySelectorAll(".pane [data-highlight]")) {
    const text = element.dataset.highlight;
    if (!found.has(text) && element.offsetParent) found.set(text, element);
  }
  return [...found].flatMap(([text, element]) => {
    try {
      return [[element, JSON.parse(text)]];
    } catch {
      return [];
    }
  });
}

function drawDim() {
  const chosen = new Set(view.chosen.map((one) => JSON.stringify(one)));
  const boxes = pointers().flatMap(([, pointer]) => pointer.boxes ?? []);
  if (sheets) drawMarks("dim", boxes.filter((one) => !chosen.has(JSON.stringify(one))));
}

function drawChosen() {
  drawDim();
  if (sheets) drawMarks("chosen", view.chosen);
}

function highlight({ boxes = [] }, { show = false } = {}) {
  view.chosen = boxes;
  if (!sheets) return;
  if (show && matchMedia("(max-width: 720px)").matches && boxes.length) openTab("document");
  if (!get("text-panel").hidden && boxes.length) toggleText();
  drawChosen();
  if (boxes.length) reveal(boxes[0]);
}

function toggleText() {
  const panel = get("text-panel");
  panel.hidden = !panel.hidden;
  sheets.hidden = !panel.hidden;
  viewer.querySelector("[data-act=text]").setAttribute("aria-pressed", String(!panel.hidden));
  if (!panel.hidden && !panel.children.length) {
    window.htmx.ajax("GET", viewer.dataset.text, { target: "#text-panel", swap: "innerHTML" });
  }
}

const nextZoom = (step) => {
  const sorted = step > 0 ? ZOOMS : [...ZOOMS].reverse();
  return sorted.find((zoom) => (zoom - view.zoom) * step > 0.01) ?? view.zoom;
};
const setView = (change) => {
  Object.assign(view, change);
  layout();
};
const acts = {
  previous: () => goTo(Number(get("page-number").value) - 1),
  next: () => goTo(Number(get("page-number").value) + 1),
  smaller: () => setView({ zoom: nextZoom(-1), fit: false }),
  larger: () => setView({ zoom: nextZoom(1), fit: false }),
  fit: () => setView({ fit: true }),
  rotate: () => setView({ turn: (view.turn + 90) % 360 }),
  text: toggleText,
  find: () => toggleFind(),
  "hit-next": () => findNext(1, reveal),
  "hit-previous": () => findNext(-1, reveal),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("#viewer [data-act]");
  if (button) acts[button.dataset.act]();
  const pointer = event.target.closest("[data-highlight]");
  if (pointer && !pointer.matches("input, select, textarea")) highlight(JSON.parse(pointer.dataset.highlight), { show: true });
  const paper = event.target.closest("#viewer .paper");
  if (paper && getSelection().isCollapsed) chooseAt(paper, event);
});
document.addEventListener("focusin", (event) => {
  if (event.target.matches("input[data-highlight], select[data-highlight], textarea[data-highlight]")) highlight(JSON.parse(event.target.dataset.highlight));
  else if (event.target.matches(".value")) highlight({});
});
document.addEventListener("change", (event) => {
  if (event.target.id === "page-number") goTo(Number(event.target.value));
});
document.addEventListener("keydown", (event) => {
  if (event.target.id === "page-number" && event.key === "Enter") goTo(Number(event.target.value));
  if (event.target.id === "find-text" && event.key === "Escape") toggleFind(false);
  if (event.target !== sheets) return;
  const act = { "+": "larger", "-": "smaller", 0: "fit" }[event.key];
  if (act) acts[act]();
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "find-bar") return;
  event.preventDefault();
  findNext(1, reveal);
});
document.addEventListener("input", (event) => {
  if (event.target.id === "find-text") find(viewer.dataset.find, event.target.value, reveal);
});

/** A click on a marked place goes to its field. */
function chooseAt(paper, event) {
  const area = paper.querySelector(".marks").getBoundingClientRect();
  const page = Number(paper.closest(".sheet").dataset.page);
  const hit = pointers().find(([, { boxes = [] }]) =>
    boxes.some((one) => {
      if (one.page !== page) return false;
      const [ax, ay] = turnPoint(one.box[0], one.box[1]);
      const [bx, by] = turnPoint(one.box[2], one.box[3]);
      const x = (event.clientX - area.left) / area.width;
      const y = (event.clientY - area.top) / area.height;
      return x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by);
    }),
  );
  if (!hit) return;
  hit[0].scrollIntoView({ block: "nearest" });
  hit[0].focus({ preventScroll: true });
  highlight(hit[1]);
}

let pending = 0;
const redraw = () => {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(drawDim);
};
window.addEventListener("docrouter:highlight", (event) => highlight(event.detail, { show: true }));
window.addEventListener("docrouter:tab", () => {
  redraw();
  if (view.fit && sheets) layout();
});
for (const name of ["htmx:afterSettle", "htmx:oobAfterSwap", "htmx:wsAfterMessage"]) document.addEventListener(name, redraw);
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt.id === "viewer") start();
});
start();
