// Lines of a program, each with what it made; where they are movable, by a handle or the arrow keys.

import { reordering } from "./drag.js";
import { each, element } from "./element.js";

/** @import { Head } from "./head.js" */

const PATIENCE_MS = 2_000; // for the answer to a move

/**
 * @typedef {{
 *   name: string, code: string, values: { text: string, real: string }[], fault: string
 * }} Line
 */

/**
 * What `program_cell` sends.
 *
 * @typedef {{ head: Head, columns: string[], movable: boolean, lines: Line[] }} Data
 */

export function mount(tell) {
  const values = element("span", { class: "values" }), names = element("div", { class: "names", "aria-hidden": "true" }, values), list = element("ol"), status = element("div", { class: "told", role: "status" });
  const how = element("p", { class: "how", text: "To move a line, hold ⠿ at its end and drag it." });
  /** @type {Data} */
  let data;
  let wanted = "", since = 0; // the order that the server was told last, and when
  const namesOf = (lines) => lines.map(({ name }) => name);
  const order = reordering(list, (from, to) => {
    const lines = [...data.lines], [moved] = lines.splice(from, 1);
    lines.splice(to, 0, { ...moved, values: [], fault: "" });
    status.textContent = `${moved.code}: now line ${to + 1} of ${lines.length}`;
    [wanted, since] = [namesOf(lines).join(" "), performance.now()];
    data = { ...data, lines };
    show();
    tell("order", namesOf(lines));
  });
  const makeValue = () => element("span", { class: "value" }, element("small", { class: "name" }), element("b"), element("small", { class: "real" }));
  const makeLine = (at) => element("li", {}, element("code"), element("span", { class: "values" }), element("em"), order.handle(at));

  function show() {
    order.cancel();
    how.hidden = !data.movable;
    const columns = `repeat(${data.columns.length}, minmax(0, 1fr))`;
    values.style.gridTemplateColumns = columns;
    each(values, data.columns, () => element("span", { class: "value" }), (name, text) => { name.textContent = text; });
    list.parentElement?.classList.toggle("many", data.columns.length > 2);
    each(list, data.lines, makeLine, (line, { code, values, fault }, at) => {
      const [text, numbers, why, handle] = line.children;
      text.textContent = code;
      numbers.style.gridTemplateColumns = columns;
      each(numbers, values, makeValue, (value, { text: shown, real }, column) => {
        const [name, number, right] = value.children;
        name.textContent = data.columns[column];
        number.textContent = shown;
        right.textContent = real ? `(${real})` : "";
        value.classList.toggle("off", Boolean(real));
        value.classList.toggle("none", !shown);
      });
      why.textContent = fault;
      why.hidden = !fault;
      line.classList.toggle("faulty", Boolean(fault));
      line.classList.toggle("idle", !fault && values.length === 0);
      handle.hidden = !data.movable;
      handle.setAttribute("aria-label", `Move line ${at + 1}, ${code}`);
    });
    order.settle();
  }

  return {
    element: element("div", { class: "program" }, how, names, list, status),
    /** @param {Data} next */
    update(next) {
      // While lines are moved quickly, answers to earlier moves come in.
      const late = wanted && namesOf(next.lines).join(" ") !== wanted && performance.now() - since < PATIENCE_MS;
      if (late) return;
      wanted = "";
      data = next;
      show();
    },
    destroy: order.cancel,
  };
}
