// The options of a question as buttons: which is chosen, and which is right once that may be seen.

import { each } from "./element.js";

/**
 * Shows them.
 *
 * @param {HTMLElement} box that the buttons are in
 * @param {string[]} options
 * @param {() => HTMLElement} make a button whose first child is for its text
 * @param {{
 *   right: number | null, chosen: number | null | undefined, isOpen: boolean,
 *   choose: (option: number) => void
 * }} state `right` is null as long as nobody is told
 * @param {(button: any, option: number) => void} more what else a button shows
 */
export function drawOptions(box, options, make, { right, chosen, isOpen, choose }, more) {
  each(box, options, make, (button, text, at) => {
    button.firstChild.textContent = at === right ? `✓ ${text}` : text;
    button.disabled = !isOpen;
    button.classList.toggle("right", at === right);
    button.classList.toggle("chosen", at === chosen);
    button.setAttribute("aria-pressed", String(at === chosen));
    button.onclick = () => choose(at);
    more(button, at);
  });
}
