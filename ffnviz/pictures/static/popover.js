// A box that opens over the page, under what opened it.

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
  Object.assign(box.style, { left: `${Math.max(8, left)}px`, top: `${Math.max(8, Math.min(top, lowest))}px` });
}

// A button that opens a box of help over the page.

/**
 * Makes both.
 *
 * @param {string} label the button's words
 * @param {(box: HTMLElement) => void | Promise<void>} fill called with the box when it is first opened, and until something stands in it
 */
export function makeHelp(label, fill) {
  const box = element("div", { popover: "auto", class: "box", role: "region", "aria-label": label, tabindex: "-1" });
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
