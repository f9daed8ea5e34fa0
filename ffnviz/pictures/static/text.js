// Words on a sheet: paragraphs, each plain, quiet, or to be noticed.

import { element } from "./element.js";
import { write } from "./head.js";

/** @import { Span } from "./head.js" */

export const styles = ["text.css"];

/**
 * What `text_cell` sends.
 *
 * @typedef {{ paragraphs: Span[][], tone: string }} Data
 */

export function mount() {
  const root = element("div", { class: "text" });
  return {
    element: root,
    /** @param {Data} data */
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
