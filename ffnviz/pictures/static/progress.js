// How far what is measured is: told by the page while it runs, shown beside the button that began it.

import { element } from "./element.js";

export const styles = [];

const BEGINNING = { share: 0, waits: "", mine: false };
const listeners = new Map(); // name of a measurement → what shows it
let told = new Map(); // name → what the page told last: it may come before there is anything to show it

// Calls back with { share, waits, mine } of a measurement, until the returned function is called.
export function onProgress(name, show) {
  listeners.set(name, show);
  return () => { if (listeners.get(name) === show) listeners.delete(name); };
}

export const progressOf = (name) => told.get(name) ?? BEGINNING;

export function mount() {
  return {
    element: element("span", { hidden: "" }),
    update({ measurements }) {
      told = new Map(measurements.map(({ name, ...progress }) => [name, progress]));
      for (const [name, progress] of told) listeners.get(name)?.(progress);
    },
    destroy() { told = new Map(); },
  };
}
