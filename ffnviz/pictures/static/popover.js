// A box that opens over the page, under what opened it; and the small label beside what is pointed
// at.

import { element } from "./element.js";

/**
 * Puts it there, where it fits into the window.
 *
 * @param {HTMLElement} box
 * @param {Element} button
 */
export function place(box, button) {
  const under = button.getBoundingClientRect();
  const left = Math.min(under.left, innerWidth - 8 - box.offsetWidth);
  const below = under.bottom + 4, above = under.top - 4 - box.offsetHeight;
  const top = below + box.offsetHeight <= innerHeight - 8 || above < 8 ? below : above;
  const lowest = innerHeight - 8 - box.offsetHeight;
  Object.assign(box.style, {
    left: `${Math.max(8, left)}px`, top: `${Math.max(8, Math.min(top, lowest))}px`,
  });
}

// A button that opens a box of help over the page.

/**
 * Makes both.
 *
 * @param {string} label the button's words
 * @param {(box: HTMLElement) => void | Promise<void>} fill called with the box when it is first
 *   opened, and until something stands in it
 */
export function makeHelp(label, fill) {
  const box = element("div", {
    popover: "auto", class: "box", role: "region", "aria-label": label, tabindex: "-1",
  });
  const button = element("button", { type: "button", class: "help", text: label });
  button.popoverTargetElement = box;
  box.ontoggle = async ({ newState }) => {
    if (newState !== "open") return;
    const failed = (error) => { box.textContent = `This could not be read: ${error.message}`; };
    if (!box.childElementCount) await Promise.resolve(fill(box)).catch(failed);
    place(box, button);
    box.focus();
  };
  return { box, button };
}

// The small label that names what the mouse or the keyboard points at. Only the keyboard's is told
// to a screen reader: a mouse would make it talk without end.

export function makeTip() {
  let told = ""; // of what is pointed at
  const box = element("div", { class: "tip", "aria-hidden": "true", hidden: "" });
  const status = element("div", { class: "told", role: "status", "aria-live": "polite" });
  return {
    parts: [box, status],
    /**
     * Shows it.
     *
     * @param {(own: number, all: number) => { left: number, top: number }} place from the label's
     *   and the picture's widths to where in the picture
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
