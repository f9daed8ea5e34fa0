// How far what is measured is: told by the page while it runs, shown beside the button that began it
// and where the result will stand.

import { element } from "./element.js";

export const styles = [];

const BEGINNING = { share: 0, waits: "", mine: false };
const listeners = new Set(); // [name of a measurement, what shows it]
let told = new Map(); // name → what the page told last: it may come before there is anything to show it

// Calls back with { share, waits, mine } of a measurement, until the returned function is called.
export function onProgress(name, show) {
  const listener = [name, show];
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const progressOf = (name) => told.get(name) ?? BEGINNING;
export const isUnderWay = (name) => told.has(name);

export function mount() {
  return {
    element: element("span", { hidden: "" }),
    update({ measurements }) {
      told = new Map(measurements.map(({ name, ...progress }) => [name, progress]));
      for (const [name, show] of listeners) if (told.has(name)) show(told.get(name));
    },
    destroy() { told = new Map(); },
  };
}
