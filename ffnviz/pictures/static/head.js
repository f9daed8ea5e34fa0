// What stands above a picture, its sentence, its controls, and "What am I looking at?"; and the quiet line below it.

import { each, element } from "./element.js";
import { read } from "./files.js";
import { forgetHead, makeTerms, markHead, markWithin } from "./terms.js";
import { colourOf } from "./theme.js";

/** @import { Palette } from "./theme.js" */

/**
 * Text, and its kind: "plain", "typed", "number", or "number@" and a colour's name.
 *
 * @typedef {[string, string]} Span
 */

/**
 * What `Head.to_json` makes.
 *
 * @typedef {{ spans: Span[], note: string, accent: string, besides: string, under: Span[] }} Head
 */

// Typed text between quotation marks of ours: a token that runs from right to left turns only itself.
function isolated(text) {
  const [, before, token, after] = /^(“?)(.*?)(”?)$/s.exec(text) ?? [];
  return [before, element("bdi", { text: token }), after].filter((part) => part !== "");
}

/** @param {Head} head */
const textOf = ({ spans }) => spans.map(([text, kind]) => (kind === "spare" ? "" : text)).join("");

/**
 * The same for a saved picture, which stands alone.
 *
 * @param {Head} head
 */
export const titleOf = (head) => [textOf(head), head.besides].filter(Boolean).join(" ");

// Keeps what is below a sentence where it is when the sentence gets shorter; a narrower or wider window begins anew.
function steadied(sentence) {
  let width = 0, height = 0;
  const seen = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width !== width) {
      sentence.style.minHeight = "";
      width = contentRect.width;
      height = sentence.getBoundingClientRect().height;
    } else {
      height = Math.max(height, contentRect.height);
    }
    sentence.style.minHeight = `${height}px`;
  });
  seen.observe(sentence);
  return () => seen.disconnect();
}

/**
 * Writes a sentence, and only where it has changed.
 *
 * @param {Element} line
 * @param {Span[]} spans
 * @param {Palette} theme
 */
export function write(line, spans, theme) {
  line.classList.toggle("tokens-named", spans.some(([, kind]) => kind === "typed")); // tokens: another may be longer
  each(line, spans, () => element("span"), (span, [text, wanted]) => {
    const [kind, colour] = wanted.split("@");
    span.style.color = colour ? colourOf(colour, theme) : "";
    if (span.className === kind && span.textContent === text) return;
    span.className = kind;
    span.replaceChildren(...(kind === "typed" ? isolated(text) : [text]));
    delete span.dataset.terms;
  });
}

/**
 * Makes a head.
 *
 * @param {Element | undefined} controls the picture's own, to stand beside the sentence; none if missing
 * @param menu what can be done with the picture; none if missing
 */
export function makeHead(controls, menu) {
  const sentence = element("h2", { class: "sentence" }), under = element("p", { class: "under" });
  const forgetHeights = [steadied(sentence), steadied(under)];
  const note = makeNote(), terms = makeTerms();
  const signs = element("div", { class: "signs" }, ...[note.button, menu?.open].filter(Boolean));
  const line = element("header", { class: controls ? "more" : "" }, .../** @type {Element[]} */ ([signs, sentence, controls].filter(Boolean)));
  const head = element("div", { class: "head" }, ...[line, note.box, ...(menu?.boxes ?? []), terms.box].filter(Boolean));
  return {
    element: head,
    under,
    /**
     * Says what a picture's data say.
     *
     * @param {Head} data
     * @param {Palette} theme
     */
    update(data, theme) {
      const said = textOf(data) || data.note;
      note.update(data.note, said);
      menu?.label(said);
      sentence.style.setProperty("--accent", colourOf(data.accent, theme));
      write(sentence, data.spans, theme);
      sentence.hidden = data.spans.length === 0;
      head.classList.toggle("worded", !sentence.hidden);
      write(under, data.under, theme);
      markHead(sentence, terms);
    },
    destroy() {
      for (const forget of forgetHeights) forget();
      forgetHead(sentence);
    },
  };
}

// "What am I looking at?": a panel at the side of the window that the picture is not on, so that the
// picture stays where it is and is seen beside what explains it.

const WHAT = "What am I looking at?";

// Our own notes, read when first opened; a note is a file of this folder, never typed text.
async function fill(box, note) {
  const parsed = new DOMParser().parseFromString(await read(`notes/${note}.html`), "text/html");
  const terms = makeTerms();
  box.replaceChildren(...parsed.body.childNodes);
  await markWithin(box, terms).catch(() => {}); // without the glossary it is the note alone
  box.append(terms.box);
}

function makeNote() {
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
