// The parts of a page, one of which is shown, each with a line on what one sees there; in a narrow
// window a menu.

import { chooseByArrows, each, element } from "./element.js";
import { place } from "./popover.js";

/**
 * What `PartList` sends.
 *
 * @typedef {{ label: string, parts: [string, string][], chosen: number, away: string[] }} Data
 */

export function mount(tell) {
  const open = element("button", { type: "button", class: "open" });
  const group = element("div", { class: "group", role: "radiogroup" }), away = element("div", { class: "away" });
  const list = element("div", { class: "list", popover: "auto" }, group, away);
  let chosen = 0;
  open.popoverTargetElement = list;
  list.ontoggle = ({ newState }) => { if (newState === "open") place(list, open); };
  function choose(at) {
    if (list.matches(":popover-open")) list.hidePopover();
    tell("part", at);
  }
  chooseByArrows(group, () => chosen, choose);
  return {
    element: element("nav", { class: "parts" }, open, list),
    /** @param {Data} data */
    update(data) {
      ({ chosen } = data);
      group.setAttribute("aria-label", data.label);
      open.textContent = `${data.parts[chosen][0]} ▾`;
      open.setAttribute("aria-label", `${data.label}: ${data.parts[chosen][0]}`);
      const make = (at) => element("button", { type: "button", role: "radio", onclick: () => choose(at) }, element("b"), element("small"));
      each(group, data.parts, make, (part, [title, line], at) => {
        part.children[0].textContent = title;
        part.children[1].textContent = line;
        part.setAttribute("aria-label", title);
        part.setAttribute("aria-checked", String(at === chosen));
        part.tabIndex = at === chosen ? 0 : -1;
      });
      each(away, data.away, () => element("p"), (line, text) => { line.textContent = text; });
    },
  };
}
