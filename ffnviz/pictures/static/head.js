// What stands above a picture, its sentence, its controls, and "What am I looking at?"; and the quiet line below it.

import { each, element } from "./element.js";
import { makeNote } from "./note.js";
import { forgetHead, makeTerms, markHead } from "./terms.js";
import { colourOf } from "./theme.js";

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

const textOf = ({ spans }) => spans.map(([text, kind]) => (kind === "spare" ? "" : text)).join("");

// The same for a saved picture, which stands alone.
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

// Writes a sentence, and only where it has changed.
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
 * @param controls the picture's own, to stand beside the sentence; none if missing
 * @param menu what can be done with the picture; none if missing
 */
export function makeHead(controls, menu) {
  const sentence = element("h2", { class: "sentence" }), under = element("p", { class: "under" });
  const forgetHeights = [steadied(sentence), steadied(under)];
  const note = makeNote(), terms = makeTerms();
  const signs = element("div", { class: "signs" }, ...[note.button, menu?.open].filter(Boolean));
  const line = element("header", { class: controls ? "more" : "" }, ...[signs, sentence, controls].filter(Boolean));
  const head = element("div", { class: "head" }, ...[line, note.box, ...(menu?.boxes ?? []), terms.box].filter(Boolean));
  return {
    element: head,
    under,
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
