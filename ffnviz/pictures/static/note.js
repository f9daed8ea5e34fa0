// "What am I looking at?": opens between a picture's head and the picture, which moves down, so
// that a note never covers what it explains.

import { element } from "./element.js";
import { read } from "./files.js";
import { makeTerms, markWithin } from "./terms.js";

const WHAT = "What am I looking at?";

// Our own notes, read when first opened; a note is a file of this folder, never typed text.
async function fill(box, note) {
  const parsed = new DOMParser().parseFromString(await read(`notes/${note}.html`), "text/html");
  const terms = makeTerms();
  box.replaceChildren(...parsed.body.childNodes);
  await markWithin(box, terms).catch(() => {}); // without the glossary it is the note alone
  box.append(terms.box);
}

export function makeNote() {
  const words = element("div");
  const close = element("button", { type: "button", class: "close", text: "×", "aria-label": "Close" });
  const box = element("div", { class: "note", role: "note", hidden: "" }, close, words);
  const button = element("button", { type: "button", class: "what", text: WHAT, "aria-expanded": "false" });
  let note = null;

  async function show(open) {
    box.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (!open || words.childElementCount) return;
    await fill(words, note).catch((error) => { words.textContent = `The note could not be read: ${error.message}`; });
  }
  function leave() {
    show(false);
    button.focus();
  }
  button.onclick = () => show(box.hidden);
  close.onclick = leave;
  box.onkeydown = button.onkeydown = ({ key }) => {
    if (key === "Escape" && !box.hidden) leave();
  };
  return {
    button,
    box,
    // The note of that name, for the picture whose sentence is `said`.
    update(name, said) {
      button.setAttribute("aria-label", `${WHAT} ${said}`);
      box.setAttribute("aria-label", said);
      button.hidden = !name;
      if (note === name) return;
      note = name;
      box.id = `note-${note}`;
      button.setAttribute("aria-controls", box.id);
      show(false);
      words.replaceChildren();
    },
  };
}
