// How far what is measured is: told by the page while it runs, shown beside the button that began it.

import { element } from "./element.js";

export const styles = [];

const listeners = new Map(); // name of a measurement → what shows it

// Calls back with { share, waits, mine } of a measurement, until the returned function is called.
export function onProgress(name, show) {
  listeners.set(name, show);
  return () => { if (listeners.get(name) === show) listeners.delete(name); };
}

export function mount() {
  return {
    element: element("span", { hidden: "" }),
    update({ measurements }) {
      for (const { name, ...progress } of measurements) listeners.get(name)?.(progress);
    },
  };
}
