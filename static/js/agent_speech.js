// Streamed answers are read out by the sentence, not by the token: each finished sentence goes to a polite region.

const SENTENCE_END = /[.!?:]\s|\n/g;
let observer = null;

/** Watch the conversation and say what was added, sentence by sentence. */
export function startSpeaking(chat, region) {
  observer?.disconnect();
  if (!chat || !region) return;
  const spoken = new WeakMap();
  observer = new MutationObserver((changes) => {
    for (const change of changes) {
      const live = change.target.closest?.(".answer.live");
      if (live) speak(live, spoken, region);
      for (const node of change.addedNodes) {
        if (node instanceof Element && node.matches("[data-state='waiting'], .calls") && node.querySelector("[data-card] h3")) {
          say(region, `Waiting for you: ${node.querySelector("[data-card] h3").textContent.trim()}`);
        }
      }
    }
  });
  observer.observe(chat, { childList: true, subtree: true });
}

function speak(live, spoken, region) {
  const text = live.textContent;
  const from = spoken.get(live) ?? 0;
  let end = from;
  for (const match of text.slice(from).matchAll(SENTENCE_END)) end = from + match.index + match[0].length;
  if (end > from) {
    spoken.set(live, end);
    say(region, text.slice(from, end));
  }
}

function say(region, text) {
  const line = document.createElement("p");
  line.textContent = text;
  region.append(line);
  while (region.childElementCount > 4) region.firstElementChild.remove();
}
