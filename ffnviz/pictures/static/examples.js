import { each, element } from "./element.js";
import { place } from "./popover.js";

/**
 * What `examples_cell` sends.
 *
 * @typedef {{ groups: { title: string, sentences: string[] }[], why: Record<string, string> }} Data
 */

export function mount(tell) {
  const list = element("nav", { "aria-label": "Example sentences", popover: "auto", id: "examples" });
  const button = element("button", { type: "button", class: "open", text: "Examples", popovertarget: "examples" });
  list.ontoggle = ({ newState }) => { if (newState === "open") place(list, button); };
  function choose({ currentTarget }) {
    list.hidePopover();
    tell("sentence", currentTarget.textContent);
  }
  // The first child of a group is its title, the others are its sentences.
  const make = (place) => (place === 0 ? element("span") : element("button", { type: "button", onclick: choose }));
  return {
    element: element("div", { class: "examples" }, button, list),
    /** @param {Data} data */
    update({ groups, why }) {
      each(list, groups, () => element("div"), (group, { title, sentences }) => {
        each(group, [title, ...sentences], make, (child, text) => {
          child.textContent = text;
          child.title = Object.hasOwn(why, text) ? why[text] : "";
        });
      });
    },
  };
}
