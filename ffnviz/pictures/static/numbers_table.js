// A picture's numbers as a table to read, the same as in its CSV file.

import { element } from "./element.js";

const MOST = 500; // rows; a file has all of them

const empty = (value) => value === undefined || value === null || value === "" || Number.isNaN(value);
const written = (value) => (empty(value) ? "" : typeof value === "number" ? String(value).replace("-", "−") : String(value));

/**
 * Makes the table, which is filled when it is opened.
 *
 * @param rows gives a table whose first row names its columns
 * @param back what has the focus once it is closed
 */
export function makeNumbers(rows, back) {
  const table = element("table"), frame = element("div", { class: "frame", tabindex: "0", role: "region", "aria-label": "Numbers" }, table);
  const more = element("p"), title = element("b", { text: "Numbers" });
  const close = element("button", { type: "button", class: "close", text: "×", "aria-label": "Close" });
  const box = element("div", { popover: "auto", class: "numbers", role: "dialog" }, close, title, more, frame);
  close.onclick = () => box.hidePopover();
  box.ontoggle = ({ newState }) => { if (newState === "open") frame.focus(); else { table.replaceChildren(); back.focus(); } };
  return {
    box,
    open(said) {
      const [names, ...all] = rows(), shown = all.slice(0, MOST);
      const kept = [...names.keys()].filter((column) => all.some((row) => !empty(row[column])));
      const line = (tag, row, attributes) => element("tr", {}, ...kept.map((column) => element(tag, { ...attributes, text: written(row[column]) })));
      table.replaceChildren(element("caption", { text: said }), element("thead", {}, line("th", names, { scope: "col" })),
        element("tbody", {}, ...shown.map((row) => line("td", row, {}))));
      box.setAttribute("aria-label", `Numbers: ${said}`);
      more.textContent = all.length > MOST ? `The first ${MOST} of ${all.length.toLocaleString("en")} rows; “Save the numbers as CSV” has all.` : "";
      more.hidden = !more.textContent;
      box.showPopover();
    },
  };
}
