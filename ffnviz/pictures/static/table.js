// A table of numbers and words.

import { element, oneStop } from "./element.js";
import { fitList } from "./filling.js";

/** @import { Head } from "./head.js" */

const isNumber = (value) => typeof value === "number";
const decimals = (value) => (Number.isInteger(value) ? 0 : (String(value).split(".")[1] ?? "").length);

/**
 * What `table_cell` sends.
 *
 * @typedef {{
 *   columns: string[], rows: (string | number)[][], head: Head, clickable: boolean, drawn: number
 * }} Data
 */

export function mount(tell) {
  const head = element("tr"), body = element("tbody");
  const table = element("table", {}, element("thead", {}, head), body);
  const frame = element("div", { class: "frame" }, table);
  const stopAtTitle = oneStop(head), stopAtRow = oneStop(body);
  const fit = fitList(frame, () => [0.5, 1]);
  /** @type {Data} */
  let shown;
  let order = [], digits = [];
  function cell(value, column) {
    if (!isNumber(value)) return element("td", { text: value });
    return element("td", { text: value.toFixed(digits[column]).replace("-", "−"), class: "number" });
  }
  // A row that can be clicked begins with a button, for whoever has no mouse.
  function line(at) {
    const row = shown.rows[at], cells = row.map(cell);
    if (!shown.clickable) return element("tr", {}, ...cells);
    const button = element("button", { type: "button", text: cells[0].textContent });
    cells[0].replaceChildren(button);
    return element("tr", { class: "clickable", onclick: () => tell("row", at) }, ...cells);
  }
  function draw() {
    body.replaceChildren(...order.slice(0, shown.drawn).map(line));
    stopAtRow();
  }
  // Large numbers and the beginning of the alphabet come first; a second click turns that round.
  function sort(column) {
    const header = head.children[column];
    const descending = header.ariaSort ? header.ariaSort === "ascending" : header.className === "number";
    const compare = (a, b) => (isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b)));
    order.sort((a, b) => (descending ? -1 : 1) * compare(shown.rows[a][column], shown.rows[b][column]) || a - b);
    for (const other of head.children) other.ariaSort = null;
    header.ariaSort = descending ? "descending" : "ascending";
    draw();
    frame.scrollTop = 0;
  }
  function title(text, column) {
    const kind = shown.rows.some((row) => isNumber(row[column])) ? "number" : "";
    return element("th", { scope: "col", class: kind }, element("button", { type: "button", text, onclick: () => sort(column) }));
  }
  return {
    element: element("div", { class: "table" }, frame),
    saves: { svg: null, rows: () => [shown.columns, ...order.map((at) => shown.rows[at])] },
    /** @param {Data} data */
    update(data) {
      shown = data;
      order = data.rows.map((_, at) => at);
      digits = data.columns.map((_, column) => Math.max(0, ...data.rows.map((row) => (isNumber(row[column]) ? decimals(row[column]) : 0))));
      head.replaceChildren(...data.columns.map(title));
      stopAtTitle();
      draw();
      frame.tabIndex = data.clickable ? -1 : 0; // its rows scroll it, where they are buttons
      fit();
    },
    destroy: () => fit(true),
  };
}
