// Upload many files, each with its own progress. Without this module the form posts them all at once.

const form = document.getElementById("upload");
const list = document.getElementById("uploads");
const line = document.getElementById("upload-line");
const kept = new WeakMap();
const queue = [];
let running = 0;

form.classList.add("js");

/** 1,4 MB rather than 1468006 bytes. */
function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let step = 0;
  while (bytes >= 1000 && step < units.length - 1) {
    bytes /= 1000;
    step += 1;
  }
  return `${bytes.toFixed(step && bytes < 10 ? 1 : 0)} ${units[step]}`;
}

function add(files, { again = false, tags = chosenTags(), auto = form.elements.auto_create.checked } = {}) {
  for (const file of [...files].slice(0, Number(form.dataset.maxFiles))) {
    const item = line.content.cloneNode(true).firstElementChild;
    item.querySelector("[data-name]").textContent = file.name;
    item.querySelector("[data-done]").textContent = size(file.size);
    list.append(item);
    const job = { file, item, again, tags, auto, cancelled: false };
    item.querySelector("[data-cancel]").addEventListener("click", () => {
      job.cancelled = true;
      job.request?.abort();
      item.remove();
    });
    queue.push(job);
  }
  next();
}

function chosenTags() {
  return [...form.querySelectorAll("[name=tag_ids]:checked")].map((box) => box.value);
}

function next() {
  while (running < 3 && queue.length) {
    const job = queue.shift();
    if (!job.cancelled) send(job);
  }
}

function send(job) {
  running += 1;
  const { file, item } = job;
  const body = new FormData();
  body.append("csrfmiddlewaretoken", form.querySelector("[name=csrfmiddlewaretoken]").value);
  for (const tag of job.tags) body.append("tag_ids", tag);
  if (job.auto) body.append("auto_create", "1");
  if (job.again) body.append("again", "1");
  body.append("files", file, file.name);
  const request = (job.request = new XMLHttpRequest());
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  const bar = item.querySelector("progress");
  const done = item.querySelector("[data-done]");
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    bar.value = event.loaded / event.total;
    done.textContent = event.loaded < event.total ? `${size(event.loaded)} of ${size(event.total)}` : "Checking…";
  });
  request.addEventListener("loadend", () => {
    running -= 1;
    if (!job.cancelled) finish(job, request);
    next();
  });
  request.send(body);
}

function finish({ file, item, tags, auto }, request) {
  const holder = document.createElement("template");
  holder.innerHTML = request.status && request.status < 500 ? request.responseText : "";
  const made = holder.content.querySelector("li");
  if (!made) {
    item.classList.add("bad");
    item.querySelector("[data-done]").textContent = "The server did not answer.";
    const retry = item.querySelector("[data-cancel]");
    retry.replaceWith(Object.assign(document.createElement("button"), { className: "btn small", type: "button", textContent: "Try again", onclick: () => { item.remove(); add([file], { tags, auto }); } }));
    return;
  }
  kept.set(made, { file, tags, auto });
  item.replaceWith(made);
  if (made.dataset.stored) window.htmx.trigger(document.body, "documents-changed");
}

list.addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (event.target.closest("[data-forget]")) item.remove();
  if (event.target.closest("[data-again]") && kept.has(item)) {
    const { file, tags, auto } = kept.get(item);
    item.remove();
    add([file], { again: true, tags, auto });
  }
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
});
form.elements.files.addEventListener("change", (event) => {
  add(event.target.files);
  event.target.value = "";
});

const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  form.dataset.over = "";
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) delete form.dataset.over;
});
document.addEventListener("drop", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  delete form.dataset.over;
  add(event.dataTransfer.files);
});
