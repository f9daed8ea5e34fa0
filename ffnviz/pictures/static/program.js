// Lines of a program, each with what it made; where they are movable, by a handle or the arrow keys.

import { each, element } from "./element.js";
import { reordering } from "./reorder.js";

export const styles = ["reorder.css", "program.css"];

export function mount(tell) {
  const names = element("div", { class: "names", "aria-hidden": "true" }), list = element("ol"), told = element("div", { class: "told", role: "status" });
  let data = { lines: [], columns: [] };
  const order = reordering(list, (from, to) => {
    told.textContent = `${data.lines[from].code}: now line ${to + 1} of ${data.lines.length}`;
    tell("move", { from, to });
  });
  const makeValue = () => element("span", { class: "value" }, element("small", { class: "name" }), element("b"), element("small", { class: "real" }));
  const makeLine = (at) => element("li", {}, element("code"), element("span", { class: "values" }), element("em"), order.handle(at));

  return {
    element: element("div", { class: "program" }, names, list, told),
    update(next) {
      data = next;
      order.cancel();
      each(names, ["", ...data.columns], () => element("span"), (name, text) => { name.textContent = text; });
      for (const grid of [names, list]) grid.style.setProperty("--columns", data.columns.length);
      list.parentElement.classList.toggle("many", data.columns.length > 2);
      each(list, data.lines, makeLine, (line, { code, values, fault }, at) => {
        const [text, numbers, why, handle] = line.children;
        text.textContent = code;
        each(numbers, values, makeValue, (value, { text: shown, real }, column) => {
          const [name, number, right] = value.children;
          name.textContent = data.columns[column];
          number.textContent = shown;
          right.textContent = real ? `(${real})` : "";
          value.classList.toggle("off", Boolean(real));
        });
        why.textContent = fault;
        why.hidden = !fault;
        line.classList.toggle("faulty", Boolean(fault));
        line.classList.toggle("idle", !fault && values.length === 0);
        handle.hidden = !data.movable;
        handle.setAttribute("aria-label", `Move line ${at + 1}, ${code}`);
      });
      order.settle();
    },
    destroy: order.cancel,
  };
}
