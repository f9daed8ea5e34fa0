// "What am I looking at?": a panel at the side of the window that the picture is not on, so that the
// picture stays where it is and is seen beside what explains it.

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
  const close = element("button", { type: "button", class: "close", text: "×", "aria-label": "Close", onclick: () => { box.hidePopover(); button.focus(); } });
  const box = element("div", { popover: "auto", class: "note", role: "note" }, close, words);
  const button = element("button", { type: "button", class: "what", text: "?", title: WHAT, "aria-expanded": "false" });
  let note = null;
  button.popoverTargetElement = box;

  box.ontoggle = async ({ newState }) => {
    const open = newState === "open";
    button.setAttribute("aria-expanded", String(open));
    if (!open || words.childElementCount) return;
    await fill(words, note).catch((error) => { words.textContent = `The note could not be read: ${error.message}`; });
  };
  box.onbeforetoggle = () => {
    const { left } = button.getBoundingClientRect();
    box.classList.toggle("left", left > innerWidth * 0.6);
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
      if (box.matches(":popover-open")) box.hidePopover();
      words.replaceChildren();
    },
  };
}
