// What stands above a picture: its sentence, its controls, and "What am I looking at?".

import { each, element } from "./element.js";
import { makeNote } from "./note.js";
import { forgetHead, makeTerms, markHead } from "./terms.js";
import { colourOf } from "./theme.js";

export function makeHead(controls) {
  const sentence = element("p", { class: "sentence" });
  const note = makeNote(), terms = makeTerms();
  const line = element("header", {}, sentence, element("div", { class: "controls" }), note.button);
  if (controls) line.querySelector(".controls").append(controls);
  const head = element("div", { class: "head" }, line, note.box, terms.box);
  return {
    element: head,
    update(data, theme) {
      note.update(data.note);
      sentence.style.setProperty("--accent", colourOf(data.accent, theme));
      each(sentence, data.spans, () => element("span"), (span, [text, wanted]) => {
        const [kind, colour] = wanted.split("@");
        span.style.color = colour ? colourOf(colour, theme) : "";
        if (span.className === kind && span.textContent === text) return;
        span.className = kind;
        span.textContent = text;
        delete span.dataset.terms;
      });
      markHead(sentence, terms);
    },
    destroy() { forgetHead(sentence); },
  };
}
