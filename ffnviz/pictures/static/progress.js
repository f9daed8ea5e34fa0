// The progress of measurements: the page sends it while they run, and it is shown where their results will stand.

import { element } from "./element.js";

export const styles = [];

const BEGINNING = { share: 0, waits: "", left: null };
const listeners = new Set(); // [name of a measurement, what shows it]
let latest = new Map(); // name → its last progress, which may come before there is anything to show it

// Calls back with { share, waits, left } of a measurement (left: seconds, or null if nobody knows yet), until the returned function is called.
export function onProgress(name, show) {
  const listener = [name, show];
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const progressOf = (name) => latest.get(name) ?? BEGINNING;

/**
 * What measuring.py sends.
 *
 * @typedef {{
 *   measurements: { name: string, share: number, waits: string, left: number | null }[]
 * }} Data
 */

export function mount() {
  return {
    element: element("span", { hidden: "" }),
    /** @param {Data} data */
    update({ measurements }) {
      latest = new Map(measurements.map(({ name, ...progress }) => [name, progress]));
      for (const [name, show] of listeners) if (latest.has(name)) show(latest.get(name));
    },
    destroy() { latest = new Map(); },
  };
}
