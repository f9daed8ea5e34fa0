import { each, element } from "./element.js";

export const styles = ["examples.css"];

export function mount(tell) {
  const row = element("nav", { "aria-label": "Example sentences" });
  const make = () => element("button", { type: "button", onclick: ({ currentTarget }) => tell("sentence", currentTarget.textContent) });
  return {
    element: row,
    update({ groups, why }) {
      const all = groups.flatMap(({ title, sentences }) => sentences.map((sentence) => [title, sentence]));
      each(row, all, make, (button, [title, sentence]) => {
        button.textContent = sentence;
        button.title = Object.hasOwn(why, sentence) ? `${title}. ${why[sentence]}` : title;
      });
    },
  };
}
