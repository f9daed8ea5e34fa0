// A button that opens a box of help over the page.

import { element } from "./element.js";
import { place } from "./popover.js";

/**
 * Makes both.
 *
 * @param label the button's words
 * @param fill called with the box when it is first opened, and until something stands in it
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
