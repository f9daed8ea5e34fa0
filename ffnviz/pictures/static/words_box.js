// A box for what is said. A number is chosen from a list, with what it is now, and its name is put
// where the cursor stands; below the box the words stand as they will be read.

import { each, element } from "./element.js";
import { place } from "./popover.js";

/** @import { Span } from "./head.js" */

const WAIT_MS = 700; // after the last key

/**
 * What `words_cell` sends.
 *
 * @typedef {{
 *   label: string, text: string, longest: number, reads: Span[],
 *   choices: [string, string, string][] | null
 * }} Data
 */

export function mount(tell) {
  const area = element("textarea", { id: "words", rows: "3" });
  const label = element("label", { for: "words" });
  const reads = element("p", { class: "reads" });
  const search = element("input", {
    type: "search", placeholder: "Search", "aria-label": "Search the numbers",
  });
  const list = element("div", { class: "choices" }), state = element("p", { role: "status" });
  const box = element(
    "div", { popover: "auto", class: "box", role: "dialog", "aria-label": "Numbers" }, search,
    state, list,
  );
  const insert = element("button", { type: "button", class: "insert", text: "Insert a number" });
  insert.popoverTargetElement = box;
  /** @type {Data} */
  let data;
  let sent = null, waiting = 0;

  function send() {
    clearTimeout(waiting);
    if (area.value === sent) return;
    sent = area.value;
    tell("text", sent);
  }
  area.oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(send, WAIT_MS);
  };
  area.onblur = send;

  function put(name) {
    box.hidePopover();
    area.setRangeText(`{${name}}`, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    send();
  }
  function showChoices() {
    const wanted = search.value.trim().toLowerCase();
    const shown = (data.choices ?? []).filter((each) =>
      each.some((text) => text.toLowerCase().includes(wanted))
    );
    state.textContent = data.choices
      ? (shown.length ? "" : "No number has that name.")
      : "Computing them for this scene …";
    state.hidden = state.textContent === "";
    each(
      list, shown,
      () => element("button", { type: "button" }, element("b"), element("span"), element("code")),
      (choice, [name, meaning, now]) => {
        const [value, what, code] = choice.children;
        value.textContent = now;
        what.textContent = meaning;
        code.textContent = `{${name}}`;
        choice.onclick = () => put(name);
      },
    );
  }
  search.oninput = showChoices;
  box.ontoggle = ({ newState }) => {
    if (newState !== "open") return;
    if (!data.choices) tell("ask", true);
    search.value = "";
    showChoices();
    place(box, insert);
    search.focus();
  };

  return {
    element: element(
      "div", { class: "words" }, element("div", { class: "line" }, label, insert), area, reads, box,
    ),
    /** @param {Data} next */
    update(next) {
      const asked = data && !data.choices;
      data = next;
      label.textContent = data.label;
      area.maxLength = data.longest;
      if (data.text !== sent) { // not what was typed here: another scene, another tab
        clearTimeout(waiting);
        area.value = sent = data.text;
      }
      reads.hidden = data.reads.length === 0;
      reads.replaceChildren(
        ...data.reads.map(([text, wanted]) =>
          element("span", { class: wanted.split("@")[0], text })
        ),
      );
      showChoices();
      if (asked && box.matches(":popover-open")) place(box, insert);
    },
    destroy() { clearTimeout(waiting); },
  };
}
