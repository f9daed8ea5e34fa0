// Many buttons, one stop of the Tab key: the arrow keys go from one to the next, and Tab goes on.

import { rootOf } from "./element.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

/**
 * Makes a group's buttons one stop.
 *
 * @param {HTMLElement} group an element that the buttons are in
 * @param {string} selector which buttons of it
 * @returns {(first?: number) => void} call it when the buttons are new, with the number of the one that Tab comes to, unless one has the focus
 */
export function oneStop(group, selector = "button") {
  const buttons = () => [.../** @type {NodeListOf<HTMLElement>} */ (group.querySelectorAll(selector))].filter((button) => !button.closest("[hidden]"));
  /** @type {HTMLElement | null} */
  let stop = null;

  /** @param {HTMLElement | null} button */
  function stopAt(button) {
    if (stop && stop !== button) stop.tabIndex = -1;
    stop = button;
    if (stop) stop.tabIndex = 0;
  }
  group.addEventListener("focusin", ({ target }) => {
    const button = /** @type {HTMLElement} */ (target);
    if (button.matches(selector)) stopAt(button);
  });
  group.addEventListener("keydown", (event) => {
    const { key, target } = event, all = buttons(), at = all.indexOf(/** @type {HTMLElement} */ (target));
    if (at < 0 || !STEPS[key] || event.altKey || event.ctrlKey || event.metaKey) return;
    const sideways = key === "ArrowLeft" || key === "ArrowRight", turned = sideways && getComputedStyle(group).direction === "rtl";
    event.preventDefault();
    event.stopPropagation(); // what is around the group has arrow keys of its own
    all[Math.max(0, Math.min(all.length - 1, at + (turned ? -STEPS[key] : STEPS[key])))].focus();
  });
  return (first = 0) => {
    const all = buttons(), focused = /** @type {HTMLElement} */ (rootOf(group).activeElement);
    for (const button of all) button.tabIndex = -1;
    stopAt(all.includes(focused) ? focused : all[first] ?? all[0] ?? null);
  };
}
