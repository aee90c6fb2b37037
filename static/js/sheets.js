// What lies over the picture of a page: the words as selectable text, and the marks.

const measuring = document.createElement("canvas").getContext("2d");
measuring.font = "100px sans-serif";

export function sheetOf(page) {
  return document.getElementById(`page-${page}`);
}

/** Draw all marks of one kind anew. */
export function drawMarks(kind, boxes) {
  for (const old of document.querySelectorAll(`.marks .${kind}`)) old.remove();
  for (const { page, box, now } of boxes) {
    const marks = sheetOf(page)?.querySelector(".marks");
    if (!marks) continue;
    const mark = document.createElement("span");
    mark.className = `mark ${kind}${now ? " now" : ""}`;
    mark.style.left = `${box[0] * 100}%`;
    mark.style.top = `${box[1] * 100}%`;
    mark.style.width = `${(box[2] - box[0]) * 100}%`;
    mark.style.height = `${(box[3] - box[1]) * 100}%`;
    marks.append(mark);
  }
}

/** Lay the words of a page over its picture, once: transparent text that has the size of what is printed. */
export async function layWords(sheet) {
  const layer = sheet.querySelector(".words");
  if (layer.dataset.state) return;
  layer.dataset.state = "asked";
  const answer = await fetch(sheet.dataset.words).catch(() => null);
  if (!answer?.ok) {
    delete layer.dataset.state;
    return;
  }
  const words = await answer.json();
  const width = Number(sheet.style.getPropertyValue("--pw"));
  const height = Number(sheet.style.getPropertyValue("--ph"));
  const spans = document.createDocumentFragment();
  words.text.forEach((text, at) => {
    const [x0, y0, x1, y1] = [words.x0[at], words.y0[at], words.x1[at], words.y1[at]];
    const span = document.createElement("span");
    const ends = words.line[at + 1] !== words.line[at];
    span.textContent = ends ? text : `${text} `;
    span.style.left = `${x0 * 100}%`;
    span.style.top = `${y0 * 100}%`;
    span.style.fontSize = `${(y1 - y0) * 100}cqh`;
    const natural = (measuring.measureText(text).width / 100) * (y1 - y0) * height;
    if (natural > 0) span.style.transform = `scaleX(${(((x1 - x0) * width) / natural).toFixed(3)})`;
    spans.append(span);
    if (ends) spans.append(document.createElement("br"));
  });
  layer.replaceChildren(spans);
  layer.dataset.state = "laid";
}
