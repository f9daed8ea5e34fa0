// What stands above a picture: its sentence, its controls, and "What am I looking at?".

import { each, element } from "./element.js";
import { read } from "./files.js";
import { colourOf } from "./theme.js";

// Our own notes, read when first opened; a note is a file of this folder, never typed text.
async function fill(box, note) {
  const parsed = new DOMParser().parseFromString(await read(`notes/${note}.html`), "text/html");
  box.replaceChildren(...parsed.body.childNodes);
}

// A popover lies in the middle of the window unless told where: put it under its button.
function place(box, button) {
  const under = button.getBoundingClientRect();
  const left = Math.min(under.right, innerWidth - 8) - box.offsetWidth;
  const top = Math.min(under.bottom + 4, innerHeight - 8 - box.offsetHeight);
  Object.assign(box.style, { left: `${Math.max(8, left)}px`, top: `${Math.max(8, top)}px` });
}

export function makeHead(controls) {
  const sentence = element("p", { class: "sentence" });
  const box = element("div", { popover: "auto", class: "note", role: "note" });
  const button = element("button", { type: "button", class: "what", text: "What am I looking at?" });
  let note = null;
  box.ontoggle = async (event) => {
    if (event.newState !== "open") return;
    const failed = (error) => { box.textContent = `The note could not be read: ${error.message}`; };
    if (!box.childElementCount) await fill(box, note).catch(failed);
    place(box, button);
  };
  const head = element("header", {}, sentence, element("div", { class: "controls" }), button, box);
  if (controls) head.querySelector(".controls").append(controls);
  return {
    element: head,
    update(data, theme) {
      if (note !== data.note) {
        note = data.note;
        box.replaceChildren();
        box.id = `note-${note}`;
        button.setAttribute("popovertarget", box.id);
      }
      sentence.style.setProperty("--accent", colourOf(data.accent, theme));
      each(sentence, data.spans, () => element("span"), (span, [text, kind]) => {
        span.className = kind;
        span.textContent = text;
      });
    },
  };
}
