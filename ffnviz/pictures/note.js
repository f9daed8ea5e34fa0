// "What am I looking at?": opens between a picture's head and the picture, which moves down, so
// that a note never covers what it explains.

import { element } from "./element.js";
import { read } from "./files.js";
import { makeTerms, markWithin } from "./terms.js";

// Our own notes, read when first opened; a note is a file of this folder, never typed text.
async function fill(box, note) {
  const parsed = new DOMParser().parseFromString(await read(`notes/${note}.html`), "text/html");
  const terms = makeTerms();
  box.replaceChildren(...parsed.body.childNodes);
  await markWithin(box, terms).catch(() => {}); // without the glossary it is the note alone
  box.append(terms.box);
}

export function makeNote() {
  const box = element("div", { class: "note", role: "note", hidden: "" });
  const button = element("button", { type: "button", class: "what", text: "What am I looking at?", "aria-expanded": "false" });
  let note = null;

  async function show(open) {
    box.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (!open || box.childElementCount) return;
    await fill(box, note).catch((error) => { box.textContent = `The note could not be read: ${error.message}`; });
  }
  button.onclick = () => show(box.hidden);
  box.onkeydown = button.onkeydown = ({ key }) => {
    if (key !== "Escape" || box.hidden) return;
    show(false);
    button.focus();
  };
  return {
    button,
    box,
    update(name) {
      if (note === name) return;
      note = name;
      box.id = `note-${note}`;
      button.setAttribute("aria-controls", box.id);
      show(false);
      box.replaceChildren();
    },
  };
}
