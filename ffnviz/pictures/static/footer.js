// The footer of every part: what comes next, the glossary, and help.

import { each, element } from "./element.js";
import { makeHelp } from "./popover.js";
import { glossary } from "./terms.js";
import { fillWelcome } from "./welcome.js";

async function fillGlossary(box) {
  const entries = (await glossary()).sort((a, b) => a.title.localeCompare(b.title, "en"));
  box.replaceChildren(element("h2", { text: "Glossary" }), element("dl", {},
    ...entries.flatMap(({ title, text }) => [element("dt", { text: title }), element("dd", { text })])));
}

/**
 * What `footer_cell` sends.
 *
 * @typedef {{ next: string, knows: string[] }} Data
 */

export function mount(tell) {
  const next = element("button", { type: "button", class: "next", onclick: () => tell("next", true) });
  const knows = makeHelp("What does the network know?", () => {});
  const helps = [makeHelp("New here?", fillWelcome), makeHelp("Glossary", fillGlossary), knows];
  return {
    element: element("nav", { class: "footer", "aria-label": "Where to go from here" },
      ...helps.flatMap(({ button, box }) => [button, box]), next),
    /** @param {Data} data */
    update(data) {
      next.textContent = `${data.next} →`;
      knows.button.hidden = data.knows.length === 0;
      each(knows.box, data.knows, () => element("p"), (line, text) => { line.textContent = text; });
    },
  };
}
