// What every page needs: menus that close, problems that can be dismissed, the search key, answers that fail.

const problems = document.getElementById("problems");

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target) || event.target.closest(".menu-list > a")) menu.open = false;
  }
  event.target.closest("[data-dismiss]")?.closest(".problem, .notice")?.remove();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    const search = document.querySelector("[data-hotkey='k']");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  }
});

/** Put a sentence of the server's into the region that is read out. */
function showOffline() {
  problems.replaceChildren(document.getElementById("problem-offline").content.cloneNode(true));
}

// A failed answer is swapped only when the server made it for that: a form with its errors (422) or a problem for #problems.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (xhr.status < 400 || xhr.status === 422 || xhr.getResponseHeader("HX-Retarget")) return;
  event.detail.shouldSwap = false;
  showOffline();
});
document.body.addEventListener("htmx:sendError", showOffline);
document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.requestConfig.verb !== "get") problems.replaceChildren();
});

// A list shows a part of all documents: news of one that is not on the page have no place to go, and that is fine.
document.body.addEventListener("htmx:wsBeforeMessage", (event) => {
  if (!event.target.matches("[data-partial-list]")) return;
  const id = /^\s*<\w+[^>]*?\sid="([^"]+)"/.exec(event.detail.message)?.[1];
  if (id && !document.getElementById(id)) event.preventDefault();
});
document.body.addEventListener("htmx:wsAfterMessage", (event) => {
  const changed = event.target.querySelector("[data-changed]");
  if (!changed) return;
  window.htmx.trigger(document.body, changed.dataset.changed);
  delete changed.dataset.changed;
});
document.body.addEventListener("htmx:wsOpen", (event) => {
  if (!event.target.matches("[data-partial-list]")) return;
  if (event.target.dataset.opened) window.htmx.trigger(document.body, "documents-changed");
  event.target.dataset.opened = "1";
});

// Questions: what is loaded into #dialog is shown as one; a button with data-close-dialog closes it again.
document.body.addEventListener("htmx:afterSwap", (event) => {
  const dialog = event.detail.target;
  if (dialog.id === "dialog" && !dialog.open) dialog.showModal();
});
document.addEventListener("click", (event) => {
  const closer = event.target.closest("[data-close-dialog]");
  if (!closer?.closest("dialog")) return;
  event.preventDefault();
  closer.closest("dialog").close();
});
