// A part's sheet: rows of cells, each a picture of its own; what did not change is not touched.
//
// A cell's data come once and are kept by their digest. Of data that are not here (this tab was
// loaded anew, or a message was overtaken by the next) the server is told that they are lost.

import { element, makeSliding } from "./element.js";
import { fillWindow } from "./filling.js";
import { unpack } from "./loading.js";
import { mount as hang } from "./shell.js";

// Digest → a cell's data, or an array; the last used last; for all sheets of this tab.
const known = new Map();
// Only what shows the sentence says so, once it is painted.
const SILENT = new Set([
  "rail", "learn_bar", "bet", "part_list", "block_map", "text", "code", "page_bar", "local_storage",
  "classroom", "story", "examples", "welcome", "footer", "saving", "waiting",
]);

// What is known under a digest, which is then the last used.
function use(digest) {
  const value = known.get(digest);
  known.delete(digest);
  known.set(digest, value);
  return value;
}

// A cell's data with its arrays; as the same object as long as they are the same.
function dataOf(digest, digests, fresh) {
  const given = fresh[digest];
  if (given) known.set(digest, null);
  const data = use(digest);
  const arrays = Object.entries(digests).map(([name, each]) => [name, use(each)]);
  if (data) return data;
  const made = {
    ...given,
    arrays: Object.fromEntries(arrays.map(([name, { arrays }]) => [name, arrays[""]])),
    shapes: Object.fromEntries(arrays.map(([name, { shapes }]) => [name, shapes[""]])),
  };
  known.set(digest, made);
  return made;
}

/**
 * The data of each cell by its key; null if any of them is not here.
 *
 * @param {View} view
 */
function take(view) {
  for (const [digest, bytes] of Object.entries(view.arrays)) known.set(digest, unpack(bytes));
  const wanted = Object.entries(view.cells);
  const isHere = ([, [digest, , digests]]) =>
    (known.get(digest) || view.new[digest]) &&
    Object.values(digests).every((each) => known.get(each));
  if (!wanted.every(isHere)) return null;
  const taken = new Map(
    wanted.map(([key, [digest, , digests]]) => [key, dataOf(digest, digests, view.new)]),
  );
  for (const digest of [...known.keys()].slice(0, Math.max(0, known.size - view.kept))) {
    known.delete(digest);
  }
  return taken;
}

// The children of a parent, in this order; those that stand right are not moved, which would take
// their focus.
function arrange(parent, children) {
  children.forEach((child, at) => {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  });
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

/**
 * What `message` and `laid_out` make: cells by their keys, with the digests of their arrays, and
 * where they stand. `heard` says which events of each sheet were handled, `kept` how many cells and
 * arrays are remembered. A notebook has no `pale`, `place` and `emptied`.
 *
 * @typedef {{
 *   cells: Record<string, [string, string, Record<string, string>]>, new: Record<string, any>,
 *   heard: Record<string, number>, shows: string, kept: number, above: string[], side: string[],
 *   below: string[], rows: [number, string[]][][], pale?: string[], place?: string, emptied?:
 *   boolean, arrays: Record<string, Uint8Array<ArrayBuffer>>
 * }} View
 */

/**
 * Hangs a sheet into an element of the page.
 *
 * @param {HTMLElement} parent an element without children
 * @param {(said: object) => void} tell called with what a person did: { sheet, events: [{ number,
 *   cell, name, value }] }
 */
export function mount(parent, tell) {
  const [above, side, rows, below] = ["above", "side", "rows", "below"].map((name) =>
    element("div", { class: name })
  );
  const root = element("div", { class: "sheet" }, above, side, rows, below);
  parent.append(root);
  const filling = fillWindow(rows, side, below), sliding = makeSliding(side);
  const own = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const cells = new Map(); // key → { host, picture, name }
  let waiting = [], number = 0, place = null; // what the rows show: a page's part

  // What was done and is not answered yet goes with the next: of two messages the server may see
  // the last only.
  function report(cell, name, value) {
    waiting.push({ number: ++number, cell, name, value });
    tell({ sheet: own, events: waiting });
  }

  function cellOf(key, name) {
    const existing = cells.get(key);
    if (existing?.name === name) return existing;
    existing?.picture.destroy();
    existing?.host.remove();
    const host = element("div", { class: "cell", "data-cell": key, "data-kind": name });
    host.style.setProperty("--font", "inherit");
    const made = {
      host, name, picture: hang(host, name, (event, value) => report(key, event, value)),
    };
    cells.set(key, made);
    return made;
  }

  // Without a sentence what was there stays where it is, pale, under the line that says so.
  /** @param {View} view */
  function layOver(view) {
    const kept = cells.get("chips")?.host; // their place, so that nothing moves
    const hosts = [...view.above, ...view.rows.flat().flatMap(([, keys]) => keys)].map((key) =>
      cells.get(key).host
    );
    arrange(above, kept ? [hosts[0], kept, ...hosts.slice(1)] : hosts);
  }

  /** @param {View} view */
  function layOut(view) {
    const lines = view.rows.map((columns, row) => {
      const line = /** @type {HTMLElement} */ (rows.children[row]) ??
        element("div", { class: "line" });
      line.style.gridTemplateColumns = columns.map(([width]) => `minmax(0, ${width}fr)`).join(" ");
      arrange(line, columns.map(([, keys], at) => {
        const column = line.children[at] ?? element("div", { class: "column" });
        arrange(column, keys.map((key) => cells.get(key).host));
        return column;
      }));
      return line;
    });
    /** @type {[Element, string[]][]} */
    const around = [[above, view.above], [side, view.side], [below, view.below]];
    for (const [place, keys] of around) arrange(place, keys.map((key) => cells.get(key).host));
    // WebKit does not ask again whether :has() holds when something comes later.
    root.toggleAttribute("data-side", view.side.length > 0);
    document.documentElement.dataset.cells = Object.keys(view.cells).join(" ");
    arrange(rows, lines);
    filling.update(
      [...above.children, ...rows.querySelectorAll(".cell")],
      view.side.map((key) => view.cells[key][0]).join(),
    );
  }

  return {
    /** @param {View} view */
    update(view) {
      waiting = waiting.filter((each) => each.number > (view.heard[own] ?? 0));
      const taken = take(view);
      if (!taken) return tell({ sheet: own, events: waiting, lost: true });
      const emptied = Boolean(view.emptied && view.place === place);
      root.toggleAttribute("data-emptied", emptied);
      rows.inert = side.inert = emptied;
      for (const [key, { host, picture }] of cells) {
        if (view.cells[key] || (emptied && (key === "chips" || !above.contains(host)))) continue;
        picture.destroy();
        host.remove();
        cells.delete(key);
      }
      const shown = Object.entries(view.cells).map(([key, [, name]]) =>
        [cellOf(key, name), taken.get(key), name]);
      for (const [key, { host }] of cells) {
        host.toggleAttribute("data-pale", Boolean(view.pale?.includes(key)));
      }
      place = view.emptied && !emptied ? null : view.place;
      if (emptied) layOver(view);
      else layOut(view);
      for (const [{ picture }, data, name] of shown) {
        picture.update(data, SILENT.has(name) ? undefined : view.shows);
      }
      if (emptied) return;
      filling.fill();
      sliding.look();
    },
    destroy() {
      filling.stop();
      sliding.stop();
      delete document.documentElement.dataset.cells;
      for (const { picture } of cells.values()) picture.destroy();
      root.remove();
    },
  };
}
