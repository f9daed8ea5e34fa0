// The progress of measurements: the page sends it while they run, and it is shown beside the button
// that began one and where its result will stand.

import { element } from "./element.js";

export const styles = [];

const BEGINNING = { share: 0, waits: "", mine: false };
const listeners = new Set(); // [name of a measurement, what shows it]
let latest = new Map(); // name → its last progress, which may come before there is anything to show it

// Calls back with { share, waits, mine } of a measurement, until the returned function is called.
export function onProgress(name, show) {
  const listener = [name, show];
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const progressOf = (name) => latest.get(name) ?? BEGINNING;
export const isUnderWay = (name) => latest.has(name);

export function mount() {
  return {
    element: element("span", { hidden: "" }),
    update({ measurements }) {
      latest = new Map(measurements.map(({ name, ...progress }) => [name, progress]));
      for (const [name, show] of listeners) if (latest.has(name)) show(latest.get(name));
    },
    destroy() { latest = new Map(); },
  };
}
