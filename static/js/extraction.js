// Editing in place: Enter confirms, Escape restores, Tab walks on; news of the result from elsewhere.

import { reload } from "./workspace.js";

const tab = () => document.getElementById("extraction");

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!field.matches?.("#fields .value")) return;
  if (event.key === "Escape") {
    field.value = field.dataset.was;
    field.removeAttribute("aria-invalid");
    field.select?.();
  } else if (event.key === "Enter" && !event.shiftKey && !field.matches("select")) {
    event.preventDefault();
    if (field.value !== field.dataset.was) field.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

// The browser fires `change` once more when a field that was confirmed with Enter is left: nothing is sent twice.
document.addEventListener("htmx:configRequest", (event) => {
  const field = event.detail.elt;
  if (field.matches?.("#fields .value") && field.value === field.dataset.was) event.preventDefault();
});
document.addEventListener("htmx:beforeRequest", (event) => {
  const field = event.detail.elt;
  if (field.matches?.("#fields .value")) field.dataset.was = field.value;
});
document.addEventListener("htmx:responseError", (event) => {
  const field = event.detail.elt;
  if (!field.matches?.("#fields .value")) return;
  field.dataset.was = `${field.defaultValue ?? ""}`;
  field.setAttribute("aria-invalid", "true");
});

window.addEventListener("docrouter:extraction", ({ detail }) => settle(detail, 20));

/** Wait until one's own edits are answered, for they are news too; then show what is newer than the page. */
function settle(detail, patience) {
  setTimeout(() => {
    if (patience && document.querySelector("#fields .htmx-request")) return settle(detail, patience - 1);
    const mine = detail.type === "extraction.edited" && detail.result === tab().dataset.result;
    const here = Number(document.getElementById("edit-version")?.value ?? -1);
    if (!mine || Number(detail.version) > here) refresh(detail);
    return undefined;
  }, detail.type === "extraction.edited" ? 300 : 0);
}

/** Show the newest state, unless somebody is typing here: then say so and leave the choice to them. */
function refresh(detail) {
  // A run that has ended is what everybody wants to see, whatever prompt was chosen before.
  if (detail.type === "extraction.completed") tab().dataset.reload = tab().dataset.newest;
  const typing = document.activeElement?.matches("#fields .value") && document.activeElement.value !== document.activeElement.dataset.was;
  if (!typing) {
    reload("extraction");
    return;
  }
  const notice = document.createElement("div");
  notice.className = "notice";
  notice.append(Object.assign(document.createElement("span"), { className: "grow", textContent: `${detail.by || "Somebody"} changed this result.` }));
  const button = Object.assign(document.createElement("button"), { className: "btn small", type: "button", textContent: "Show the new values" });
  button.dataset.dismiss = "";
  button.addEventListener("click", () => reload("extraction"));
  notice.append(button);
  document.getElementById("problems").replaceChildren(notice);
}
