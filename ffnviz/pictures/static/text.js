// Words on a sheet: paragraphs, each plain, quiet, or to be noticed; and how far what will stand here is.

import { element } from "./element.js";
import { write } from "./head.js";
import { isUnderWay, onProgress, progressOf } from "./progress.js";

export const styles = ["text.css"];

// The step that is now done, of each kind; what comes before the first is said in other words.
function inWords({ beginning, steps }, { share, waits }) {
  if (waits || share === 0) return waits || beginning;
  const at = ([word, n]) => `${word} ${Math.min(n, Math.floor(share * n) + 1).toLocaleString("en")} of ${n.toLocaleString("en")}`;
  return `Now: ${steps.map(at).join(", ")}.`;
}

export function mount() {
  const root = element("div", { class: "text" }), words = element("div");
  const now = element("p", { class: "progress", hidden: "" });
  let followed = null, stop = () => {};
  root.append(words, now);
  function follow(next) {
    if (next?.name !== followed?.name) {
      stop();
      stop = next ? onProgress(next.name, say) : () => {};
    }
    followed = next;
    if (next && isUnderWay(next.name)) say(progressOf(next.name));
    else now.hidden = true;
  }
  function say(progress) {
    now.hidden = false;
    now.textContent = inWords(followed, progress);
  }
  return {
    element: root,
    update({ paragraphs, tone, progress }, theme) {
      root.dataset.tone = tone;
      if (tone === "warning") root.setAttribute("role", "alert");
      else root.removeAttribute("role");
      while (words.children.length > paragraphs.length) words.lastElementChild.remove();
      paragraphs.forEach((spans, at) => write(words.children[at] ?? words.appendChild(element("p")), spans, theme));
      follow(progress ?? null);
    },
    destroy: () => stop(),
  };
}
