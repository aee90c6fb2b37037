// The workspace: tabs with addresses, the splitter that is remembered, news that arrive over the socket.

const work = document.getElementById("workspace");
const tabs = [...work.querySelectorAll("[role=tab]")];
const names = tabs.map((tab) => tab.dataset.tab);
const key = `tab:${work.dataset.document}`;
const isPhone = matchMedia("(max-width: 720px)");

/** Show a tab: extraction, agent, or document (a tab of its own on a phone only). */
export function openTab(name, { remember = true } = {}) {
  if (!names.includes(name)) return;
  work.dataset.tab = name;
  const shown = name === "document" && !isPhone.matches ? "extraction" : name;
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === shown;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
  if (remember) {
    sessionStorage.setItem(key, name);
    history.replaceState(history.state, "", `#${name}`);
  }
  window.dispatchEvent(new CustomEvent("docrouter:tab", { detail: { name } }));
}

work.addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab][data-tab]");
  const opener = event.target.closest("[data-open-tab]");
  if (tab && tabs.includes(tab)) openTab(tab.dataset.tab);
  if (opener) openTab(opener.dataset.openTab);
});
work.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const usable = tabs.filter((tab) => tab.offsetParent);
  const next = usable[(usable.indexOf(document.activeElement) + step + usable.length) % usable.length];
  openTab(next.dataset.tab);
  next.focus();
});
window.addEventListener("hashchange", () => openTab(location.hash.slice(1)));
isPhone.addEventListener("change", () => openTab(work.dataset.tab, { remember: false }));
const asked = [location.hash.slice(1), sessionStorage.getItem(key), work.dataset.tab].find((name) => names.includes(name));
openTab(asked, { remember: false });

// The splitter: drag it, or use the arrow keys; the server reads the cookie and draws the page with it.
const split = work.querySelector(".split");

function setSplit(percent) {
  const value = Math.round(Math.min(75, Math.max(25, percent)));
  work.style.setProperty("--split", `${value}%`);
  split.setAttribute("aria-valuenow", String(value));
  document.cookie = `split=${value}; path=/; max-age=31536000; samesite=lax`;
}

split.addEventListener("pointerdown", (event) => {
  split.setPointerCapture(event.pointerId);
  split.dataset.dragging = "";
});
split.addEventListener("pointermove", (event) => {
  if (!("dragging" in split.dataset)) return;
  const box = work.getBoundingClientRect();
  setSplit(((event.clientX - box.left) / box.width) * 100);
});
for (const end of ["pointerup", "pointercancel"]) split.addEventListener(end, () => delete split.dataset.dragging);
split.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 2, ArrowLeft: -2 }[event.key];
  if (step) setSplit(Number(split.getAttribute("aria-valuenow")) + step);
});

// News: the socket replaces #document-news; what it says is shown where it belongs.
let seen = "";
let opened = false;

work.addEventListener("htmx:wsAfterMessage", (event) => {
  if (event.target !== work) return;
  const news = document.getElementById("document-news").dataset;
  if (!news.seq || news.seq === seen) return;
  seen = news.seq;
  const viewer = document.getElementById("viewer");
  if ("readingEnded" in news || (news.type === "page.parsed" && !viewer.querySelector(".sheet"))) reload("viewer");
  if (news.type.startsWith("document.auto_create.")) reload("review");
  if (news.type.startsWith("extraction.") || "readingEnded" in news) {
    window.dispatchEvent(new CustomEvent("docrouter:extraction", { detail: { ...news } }));
  }
});
work.addEventListener("htmx:wsOpen", (event) => {
  if (event.target !== work) return;
  if (opened || document.querySelector("#viewer:not(:has(.sheet))")) reload("viewer");
  if (opened) window.dispatchEvent(new CustomEvent("docrouter:extraction", { detail: { type: "reconnected" } }));
  opened = true;
});

const loading = new Map();

/** Ask for a part of the page again (its data-reload says where). What changes meanwhile is asked for afterwards. */
export function reload(id) {
  if (loading.has(id)) {
    loading.set(id, true);
    return;
  }
  loading.set(id, false);
  const url = document.getElementById(id).dataset.reload;
  const done = () => {
    const again = loading.get(id);
    loading.delete(id);
    if (again) reload(id);
  };
  window.htmx.ajax("GET", url, { target: `#${id}`, swap: "outerHTML" }).then(done, done);
}
