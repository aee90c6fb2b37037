// A shared page: words that can be selected, and the places of values, marked when they are asked for.
// Units: boxes are fractions of the page, origin top left.

import { drawMarks, layWords, sheetOf } from "./sheets.js";

const near = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => layWords(entry.target)),
  { rootMargin: "600px 0px" },
);
for (const sheet of document.querySelectorAll(".sheet[data-words]")) near.observe(sheet);

const places = [...document.querySelectorAll("[data-highlight]")].map((one) => JSON.parse(one.dataset.highlight).boxes);
drawMarks("dim", places.flat());

document.addEventListener("click", (event) => {
  const pointer = event.target.closest("[data-highlight]");
  if (!pointer) return;
  const { boxes } = JSON.parse(pointer.dataset.highlight);
  drawMarks("chosen", boxes);
  const mark = sheetOf(boxes[0]?.page)?.querySelector(".mark.chosen");
  mark?.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
});
