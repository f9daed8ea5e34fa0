// A table of numbers and words.

import { element } from "./element.js";

export const styles = ["table.css"];

export function mount(tell) {
  const head = element("tr"), body = element("tbody");
  const table = element("table", {}, element("thead", {}, head), body);
  const frame = element("div", { class: "frame", tabindex: "0" }, table);
  let shown = { columns: [], rows: [] };
  const cell = (value) => element("td", { text: String(value), class: typeof value === "number" ? "number" : "" });
  // A row that can be clicked begins with a button, for whoever has no mouse.
  function line(row, at) {
    const cells = row.map(cell);
    if (!shown.clickable) return element("tr", {}, ...cells);
    cells[0].replaceChildren(element("button", { type: "button", text: String(row[0]) }));
    return element("tr", { class: "clickable", onclick: () => tell("row", at) }, ...cells);
  }
  return {
    element: element("div", { class: "table" }, frame),
    saves: { svg: null, rows: () => [shown.columns, ...shown.rows] },
    update(data) {
      shown = data;
      head.replaceChildren(...data.columns.map((text) => element("th", { scope: "col", text })));
      body.replaceChildren(...data.rows.map(line));
    },
  };
}
