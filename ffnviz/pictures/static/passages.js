import { each, element } from "./element.js";
import { fitList } from "./filling.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

/**
 * What `passages_cell` sends.
 *
 * @typedef {{ rows: [string, string, string, string][], head: Head }} Data
 */

export function mount() {
  const list = element("ol", { tabindex: "0" });
  const fit = fitList(list, () => [1, 1.7]);
  let shown = /** @type {Data["rows"]} */ ([]);
  return {
    element: element("div", { class: "passages" }, list),
    saves: {
      rows: () => [["value", "before", "marked", "after"], ...shown.map(([value, ...text]) => [Number(value.replace("−", "-")) || value, ...text])],
    },
    /** @param {Data} data */
    update({ rows, head }, theme) {
      shown = rows;
      list.setAttribute("aria-label", `${rows.length} ${rows.length === 1 ? "sentence" : "sentences"}`);
      list.style.setProperty("--accent", colourOf(head.accent, theme));
      const make = () => element("li", {}, element("b"), element("bdi"));
      each(list, rows, make, ({ children: [number, text] }, [value, before, at, after]) => {
        number.textContent = value;
        text.replaceChildren(before, element("mark", { text: at }), after);
      });
      fit();
    },
    destroy: () => fit(true),
  };
}
