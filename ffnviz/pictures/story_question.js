// A scene's question, to be answered before the scene is told.

import { each, element } from "./element.js";

const answered = new Map(); // lecture and scene → the option that was chosen, or null if none was
const nameOf = ({ lecture, at }) => `${lecture} ${at}`;

export function makeQuestion(changed) {
  const ask = element("p", { class: "ask" }), options = element("div", { class: "options", role: "group" });
  const verdict = element("p", { class: "verdict", role: "status" });
  const root = element("div", { class: "question" }, ask, options, verdict);

  function choose(data, option) {
    if (answered.has(nameOf(data))) return;
    answered.set(nameOf(data), option);
    changed();
  }

  return {
    element: root,
    isOpen: (data) => Boolean(data.question) && !answered.has(nameOf(data)),
    // Tell the scene though nobody has answered.
    show: (data) => choose(data, null),
    update(data, theme, span) {
      const { question } = data;
      root.hidden = !question;
      if (!question) return;
      const open = !answered.has(nameOf(data)), chosen = answered.get(nameOf(data));
      ask.replaceChildren(...question.ask.map((part) => span(part, theme)));
      root.classList.toggle("open", open);
      each(options, question.options, () => element("button", { type: "button" }, element("span")), (button, text, place) => {
        const right = !open && place === question.answer;
        button.firstChild.textContent = right ? `✓ ${text}` : text;
        button.disabled = !open;
        button.classList.toggle("right", right);
        button.classList.toggle("chosen", !open && place === chosen);
        button.onclick = () => choose(data, place);
      });
      verdict.hidden = open || chosen === null || question.answer === null;
      verdict.textContent = verdict.hidden ? "" : chosen === question.answer ? "Right." : "Not so: see below.";
    },
  };
}
