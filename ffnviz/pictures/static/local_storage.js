// A text that the browser keeps for whoever made it: after a reload it is there again, and all tabs
// share it. Nothing is seen of it. And small things that other pictures have a browser remember.

import { element } from "./element.js";

const seen = new Map(); // by name: what this tab last wrote or read

// A browser may forbid a page to keep anything, or have no room.
function stored(name, text) {
  try {
    if (text === "") localStorage.removeItem(name);
    else if (text !== undefined) localStorage.setItem(name, text);
    return localStorage.getItem(name) ?? "";
  } catch {
    return seen.get(name) ?? "";
  }
}

/**
 * What `storage_cell` sends.
 *
 * @typedef {{ name: string, asks: boolean, text: string | null }} Data
 */

export function mount(tell) {
  /** @type {Data} */
  let data;

  function bring() {
    const text = stored(data.name);
    seen.set(data.name, text);
    tell("kept", text);
  }
  // Another tab may have changed it; only the one that is looked at follows.
  function compare() {
    if (data && !data.asks && stored(data.name) !== seen.get(data.name)) bring();
  }
  addEventListener("focus", compare);

  return {
    element: element("div", { hidden: "" }),
    /** @param {Data} next */
    update(next) {
      data = next;
      if (data.asks) {
        if (stored(data.name)) bring();
      } else if (data.text !== null && data.text !== seen.get(data.name)) {
        seen.set(data.name, data.text);
        stored(data.name, data.text);
      }
    },
    destroy() { removeEventListener("focus", compare); },
  };
}

// What a browser remembers under a name, for one tab ("sessionStorage") or for good
// ("localStorage").

// A browser may forbid a page to keep anything: then only what was just to be kept is known.
/**
 * @param {"sessionStorage" | "localStorage"} storage
 * @param {string} name
 * @param {string} [value]
 * @returns {string | null}
 */
export function kept(storage, name, value) {
  try {
    const table = window[storage];
    if (value !== undefined) table.setItem(name, value);
    return table.getItem(name);
  } catch {
    return value ?? null;
  }
}
