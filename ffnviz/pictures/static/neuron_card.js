import { each, element, oneStop } from "./element.js";
import { fitList } from "./filling.js";
import { stretch } from "./motion.js";
import { number } from "./numbers.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

const LOW = 800; // pixels, of a window

function makeValue(show) {
  return element("li", {},
    element("button", { type: "button", onclick: show },
      element("bdi"),
      element("span", { class: "track", "aria-hidden": "true" }, element("i")),
      element("b")));
}

/**
 * What `NeuronCard` sends. `action` and `stays` are of files.
 *
 * @typedef {{
 *   title: string, texts: string[], values: number[], token: number, words: string[], head: Head,
 *   action?: string, stays?: boolean
 * }} Data
 */

export function mount(tell) {
  const title = element("span");
  const meet = element("button", {
    type: "button", class: "action", onclick: () => tell("meet", { token: null }),
  });
  const words = element("span");
  const writes = element("p", {}, "pushes towards ", words);
  const values = element("ol", { "aria-label": "Its value on every token" });
  const card = element("div", { class: "card" },
    element("h3", {}, title, meet), writes, values);
  const fit = fitList(values, () => [innerHeight > LOW ? 0.24 : 0.2, 2.2]);
  const stop = oneStop(values);
  /** @type {Data} */
  let shown;
  return {
    element: element("article", {}, card),
    saves: {
      rows: () => [["neuron", "token number", "token", "hidden"], ...shown.values.map((value, token) =>
        [shown.title, token + 1, shown.texts[token], value])],
    },
    /** @param {Data} data */
    update(data, theme) {
      shown = data;
      meet.hidden = Boolean(data.stays) && !data.action; // in a file there is no other page to go to
      meet.textContent = data.action || "Meet this neuron →";
      const largest = Math.max(...data.values.map(Math.abs));
      title.textContent = data.title;
      title.style.color = colourOf(data.head.accent, theme);
      writes.hidden = data.words.length === 0; // of a network without a word head nobody knows
      each(words, data.words, () => element("bdi"), (word, text) => { word.textContent = text; });
      const make = (token) => makeValue(() => tell("meet", { token }));
      each(values, data.values, make, (item, value, token) => {
        const button = item.firstChild;
        const [name, track, text] = button.children;
        item.className = token === data.token ? "chosen" : "";
        button.title = data.stays ? `Choose ${data.texts[token]}` : `Show how ${number(value)} comes about`;
        name.textContent = data.texts[token];
        text.textContent = number(value);
        stretch(track.firstChild, 0, largest > 0 ? Math.abs(value) / largest : 0);
        track.firstChild.style.background = value < 0 ? theme.negative_mid : theme.positive_mid;
      });
      stop(data.token);
      fit();
    },
    destroy: () => fit(true),
  };
}
