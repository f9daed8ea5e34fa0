import { each, element } from "./element.js";

export const styles = ["examples.css"];

export function mount(tell) {
  const row = element("nav", { "aria-label": "Example sentences" });
  // The first child of a group is its title, the others are its sentences.
  const make = (place) => (place === 0
    ? element("span")
    : element("button", { type: "button", onclick: ({ currentTarget }) => tell("sentence", currentTarget.textContent) }));
  return {
    element: row,
    update({ groups }) {
      each(row, groups, () => element("div"), (group, { title, sentences }) => {
        each(group, [title, ...sentences], make, (child, text) => { child.textContent = text; });
      });
    },
  };
}
