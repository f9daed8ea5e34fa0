// Words on a sheet: paragraphs, each plain, quiet, or to be noticed.

import { element } from "./element.js";
import { write } from "./head.js";

export const styles = ["text.css"];

export function mount() {
  const root = element("div", { class: "text" });
  return {
    element: root,
    update({ paragraphs, tone }, theme) {
      root.dataset.tone = tone;
      if (tone === "warning") root.setAttribute("role", "alert");
      else root.removeAttribute("role");
      while (root.children.length > paragraphs.length) root.lastElementChild?.remove();
      paragraphs.forEach((spans, at) => write(root.children[at] ?? root.appendChild(element("p")), spans, theme));
    },
    destroy() {},
  };
}
