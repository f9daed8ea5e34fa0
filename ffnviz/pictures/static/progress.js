// The progress of measurements: the page sends it while they run, and it is shown where their results will stand.

import { element } from "./element.js";

/** @typedef {{ share: number, waits: string, left: number | null }} Progress */

/** @type {Progress} */
const BEGINNING = { share: 0, waits: "", left: null };
/** @type {Set<[string, (progress: Progress) => void]>} */
const listeners = new Set(); // [name of a measurement, what shows it]
/** @type {Map<string, Progress>} */
let latest = new Map(); // name → its last progress, which may come before there is anything to show it

/**
 * Calls back with the progress of a measurement (left: seconds, or null if nobody knows yet), until the
 * returned function is called.
 *
 * @param {string} name
 * @param {(progress: Progress) => void} show
 */
export function onProgress(name, show) {
  /** @type {[string, (progress: Progress) => void]} */
  const listener = [name, show];
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {string} name */
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
      for (const [name, show] of listeners) if (latest.has(name)) show(progressOf(name));
    },
    destroy() { latest = new Map(); },
  };
}
