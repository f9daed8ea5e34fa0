// Words on a sheet: paragraphs, each plain, quiet, or to be noticed.

import { each, element } from "./element.js";
import { makeSteady, write } from "./head.js";

/** @import { Span } from "./head.js" */

/**
 * What `text_cell` sends.
 *
 * @typedef {{ paragraphs: Span[][], tone: string }} Data
 */

export function mount() {
  const root = element("div", { class: "text" }), steady = makeSteady();
  return {
    element: root,
    /** @param {Data} data */
    update({ paragraphs, tone }, theme) {
      root.dataset.tone = tone;
      if (tone === "warning") root.setAttribute("role", "alert");
      else root.removeAttribute("role");
      each(root, paragraphs, () => steady.keep(element("p")), (line, spans) => write(line, spans, theme));
    },
    destroy: steady.stop,
  };
}
