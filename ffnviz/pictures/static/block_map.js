// A block, small: lit where the shown part is, each station a menu of the parts about it.

import { each, element, oneStop } from "./element.js";
import { place } from "./popover.js";

/**
 * @typedef {{
 *   name: string, sign: string, title: string, lit: boolean, parts: [string, string][],
 *   shown: number | null
 * }} Station
 */

/**
 * What `block_map_cell` sends.
 *
 * @typedef {{ stations: Station[] }} Data
 */

export function mount(tell) {
  const row = element("div", { class: "stations" });
  const title = element("h3"), list = element("div", { class: "list" });
  const menu = element("div", { class: "menu", popover: "auto" }, title, list);
  const stop = oneStop(row), stopInMenu = oneStop(list);
  let stations = [], open = 0;

  function fill(at) {
    open = at;
    title.textContent = stations[at].title;
    each(list, stations[at].parts, () => element("button", { type: "button" }, element("b"), element("small")), (button, [part, page], to) => {
      button.children[0].textContent = part;
      button.children[1].textContent = page;
      button.toggleAttribute("aria-current", to === stations[at].shown);
      button.onclick = () => { menu.hidePopover(); tell("go", { station: at, part: to }); };
    });
    stopInMenu();
  }

  const make = (at) => {
    const button = element("button", { type: "button", "aria-haspopup": "true" });
    button.popoverTargetElement = menu;
    button.onclick = () => fill(at);
    return button;
  };
  menu.ontoggle = ({ newState }) => {
    if (newState !== "open") return;
    place(menu, row.children[open]);
    list.querySelector("button")?.focus();
  };

  return {
    element: element("nav", { class: "map", "aria-label": "Where this is in the block" }, row, menu),
    /** @param {Data} data */
    update(data) {
      ({ stations } = data);
      each(row, stations, make, (button, { name, sign, title: words, lit }) => {
        button.textContent = sign;
        button.className = name;
        button.title = words;
        button.setAttribute("aria-label", lit ? `${words} (this part)` : words);
        button.classList.toggle("lit", lit);
      });
      stop();
    },
  };
}
