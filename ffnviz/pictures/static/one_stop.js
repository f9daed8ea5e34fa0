// Many buttons, one stop of the Tab key: the arrow keys go from one to the next, and Tab goes on.

import { rootOf } from "./element.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

/**
 * Makes a group's buttons one stop.
 *
 * @param group an element that the buttons are in
 * @param selector which buttons of it
 * @return call it when the buttons are new, with the number of the one that Tab comes to, unless one has the focus
 */
export function oneStop(group, selector = "button") {
  const buttons = () => [...group.querySelectorAll(selector)].filter((button) => !button.closest("[hidden]"));
  let stop = null;

  function stopAt(button) {
    if (stop && stop !== button) stop.tabIndex = -1;
    stop = button;
    if (stop) stop.tabIndex = 0;
  }
  group.addEventListener("focusin", ({ target }) => { if (target.matches(selector)) stopAt(target); });
  group.addEventListener("keydown", (event) => {
    const { key, target } = event, all = buttons(), at = all.indexOf(target);
    if (at < 0 || !STEPS[key] || event.altKey || event.ctrlKey || event.metaKey) return;
    const sideways = key === "ArrowLeft" || key === "ArrowRight", turned = sideways && getComputedStyle(group).direction === "rtl";
    event.preventDefault();
    event.stopPropagation(); // what is around the group has arrow keys of its own
    all[Math.max(0, Math.min(all.length - 1, at + (turned ? -STEPS[key] : STEPS[key])))].focus();
  });
  return (first = 0) => {
    const all = buttons(), focused = rootOf(group).activeElement;
    for (const button of all) button.tabIndex = -1;
    stopAt(all.includes(focused) ? focused : all[first] ?? all[0] ?? null);
  };
}
