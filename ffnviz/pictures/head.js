// What stands above a picture: its sentence, its controls, and "What am I looking at?".

import { each, element } from "./element.js";
import { read } from "./files.js";
import { colourOf } from "./theme.js";

const WHAT = "What am I looking at?";

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

// Typed text between quotation marks of ours: a token that runs from right to left turns only itself.
function isolated(text) {
  const [, before, token, after] = /^(“?)(.*?)(”?)$/s.exec(text);
  return [before, element("bdi", { text: token }), after].filter((part) => part !== "");
}

export const textOf = ({ spans }) => spans.map(([text]) => text).join("");

/**
 * Makes a head.
 *
 * @param tools elements to stand beside the sentence: the picture's controls, the saving buttons
 */
export function makeHead(tools) {
  const sentence = element("h2", { class: "sentence" });
  const words = element("div");
  const close = element("button", { type: "button", class: "close", text: "×", "aria-label": "Close" });
  const box = element("div", { popover: "auto", class: "note", role: "note" }, close, words);
  const button = element("button", { type: "button", class: "what", text: WHAT });
  close.onclick = () => box.hidePopover();
  let note = null;
  box.ontoggle = async (event) => {
    if (event.newState !== "open") return;
    const failed = (error) => { words.textContent = `The note could not be read: ${error.message}`; };
    if (!words.childElementCount) await fill(words, note).catch(failed);
    place(box, button);
  };
  const head = element("header", {}, sentence, element("div", { class: "tools" }, ...tools, button), box);
  return {
    element: element("div", { class: "head" }, head),
    update(data, theme) {
      if (note !== data.note) {
        note = data.note;
        words.replaceChildren();
        box.id = `note-${note}`;
        button.setAttribute("popovertarget", box.id);
      }
      const said = textOf(data);
      if (sentence.textContent !== said) button.setAttribute("aria-label", `${WHAT} ${said}`);
      box.setAttribute("aria-label", said);
      sentence.style.setProperty("--accent", colourOf(data.accent, theme));
      each(sentence, data.spans, () => element("span"), (span, [text, kind]) => {
        span.className = kind;
        span.replaceChildren(...(kind === "typed" ? isolated(text) : [text]));
      });
    },
  };
}
