// What to do first, for those who have never heard of an FFN; gone for good once it is closed.

import { element } from "./element.js";
import { read } from "./files.js";
import { kept } from "./local_storage.js";
import { makeTerms, markWithin } from "./terms.js";

const CLOSED = "ffnviz-welcome-closed", CAME_BARE = "ffnviz-came-bare";

// The welcome's text, also read under "New here?" at the foot of a page.
export async function fillWelcome(box) {
  const parsed = new DOMParser().parseFromString(await read("welcome.html"), "text/html");
  const terms = makeTerms();
  box.replaceChildren(...parsed.body.childNodes);
  await markWithin(box, terms).catch(() => {});
  box.append(terms.box);
}

/**
 * What `welcome_cell` sends.
 *
 * @typedef {{ bare: boolean, story: string }} Data
 */

export function mount(tell) {
  const story = element("button", { type: "button", class: "story", onclick: () => { shut(); tell("story", true); } });
  const text = element("div", { class: "text" });
  const close = element("button", { type: "button", class: "close", text: "×", "aria-label": "Close the welcome", title: "Close for good; “New here?” below brings it back" });
  const line = element("section", { class: "welcome", "aria-label": "Welcome", hidden: "" }, text, story, close);
  // In a low window what is said under the guess makes room for it.
  function show(open) {
    line.hidden = !open;
    document.documentElement.style.setProperty("--under-shown", open ? "none" : "");
  }
  function shut() {
    kept("localStorage", CLOSED, "yes");
    show(false);
  }
  close.onclick = shut;
  return {
    element: element("div", {}, line),
    // Whoever follows a link that says what to show is shown that, and nothing before it.
    /** @param {Data} data */
    async update({ bare, story: words }) {
      story.textContent = words;
      story.hidden = !words;
      if (bare) kept("sessionStorage", CAME_BARE, "yes");
      const wanted = kept("sessionStorage", CAME_BARE) === "yes" && kept("localStorage", CLOSED) !== "yes";
      if (wanted && !text.childElementCount) await fillWelcome(text);
      show(wanted);
    },
    destroy: () => show(false),
  };
}
