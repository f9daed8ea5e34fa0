// A table of numbers and words.

import { element } from "./element.js";

export const styles = ["table.css"];

export function mount() {
  const head = element("tr"), body = element("tbody");
  const table = element("table", {}, element("thead", {}, head), body);
  const frame = element("div", { class: "frame", tabindex: "0" }, table);
  let shown = { columns: [], rows: [] };
  const cell = (value) => element("td", { text: String(value), class: typeof value === "number" ? "number" : "" });
  return {
    element: element("div", { class: "table" }, frame),
    saves: { svg: null, rows: () => [shown.columns, ...shown.rows] },
    update(data) {
      shown = data;
      head.replaceChildren(...data.columns.map((text) => element("th", { scope: "col", text })));
      body.replaceChildren(...data.rows.map((row) => element("tr", {}, ...row.map(cell))));
    },
  };
}
