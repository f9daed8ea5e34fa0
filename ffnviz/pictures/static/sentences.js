// Sentences that people sent in, each with what the networks guess there: large, for a hall to read.

import { each, element } from "./element.js";
import { percent } from "./numbers.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

/** @typedef {{ text: string, remark: string, guesses: [string, string, string, number][] }} Line */

/**
 * What `sentences_cell` sends.
 *
 * @typedef {{ lines: Line[], head: Head }} Data
 */

/** @type {[string, string, string, number | null][]} */
const NO_GUESS = [["", "", "", null]];

export function mount(tell) {
  const list = element("ol", { tabindex: "0" });
  let shown = /** @type {Line[]} */ ([]);

  function makeLine(at) {
    const open = element("button", { type: "button", class: "open", title: "Open it on the Journey", onclick: () => tell("open", at) }, element("bdi"));
    const hide = element("button", { type: "button", class: "hide", text: "Hide", onclick: () => tell("hide", at) });
    return element("li", {}, open, element("span", { class: "guesses" }), element("small"), hide);
  }

  return {
    element: element("div", { class: "sentences" }, list),
    saves: {
      rows: () => [["sentence", "network", "guess", "probability"], ...shown.flatMap(({ text, guesses }) =>
        (guesses.length ? guesses : NO_GUESS).map(([network, , word, share]) => [text, network, word, share]))],
    },
    /** @param {Data} data */
    update({ lines }, theme) {
      shown = lines;
      list.setAttribute("aria-label", "Sentences of the class");
      each(list, lines, makeLine, ({ children: [open, guesses, remark, hide] }, line) => {
        open.firstChild.textContent = line.text;
        remark.textContent = line.remark;
        hide.setAttribute("aria-label", `Hide: ${line.text}`);
        each(guesses, line.guesses, () => element("span", {}, element("b"), element("i"), element("small")), (guess, [network, colour, word, share]) => {
          const [said, likely, name] = guess.children;
          guess.style.color = colourOf(colour, theme);
          said.textContent = word;
          likely.textContent = percent(share);
          name.textContent = network;
        });
      });
    },
  };
}
