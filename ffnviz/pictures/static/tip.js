// The small label that names what the mouse or the keyboard points at. Only the keyboard's is told
// to a screen reader: a mouse would make it talk without end.

import { element } from "./element.js";

export function makeTip() {
  let told = ""; // of what is pointed at
  const box = element("div", { class: "tip", "aria-hidden": "true", hidden: "" });
  const status = element("div", { class: "told", role: "status", "aria-live": "polite" });
  return {
    parts: [box, status],
    /**
     * Shows it.
     *
     * @param {(own: number, all: number) => { left: number, top: number }} place from the label's and the
     *   picture's widths to where in the picture
     * @param {(string | Node)[]} parts
     * @param {boolean} aloud
     */
    show(place, parts, aloud) {
      box.replaceChildren(...parts);
      box.hidden = false;
      const { left, top } = place(box.offsetWidth, box.offsetParent?.clientWidth ?? Infinity);
      Object.assign(box.style, { left: `${left}px`, top: `${top}px` });
      const text = box.textContent;
      if (aloud && told !== text) told = status.textContent = text;
    },
    /**
     * What came of a key, which drawing the same cell again does not take back.
     *
     * @param {string} text
     */
    say(text) { status.textContent = text; },
    hide() {
      box.hidden = true;
      told = status.textContent = "";
    },
  };
}
