// Words: those of a sheet, those above and below a picture, and the terms in them that a newcomer
// may not know.

import { each, element, rootOf } from "./element.js";
import { beforeFilling } from "./filling.js";
import { read } from "./loading.js";
import { place } from "./popover.js";
import { colourOf } from "./theme.js";

/** @import { Palette } from "./theme.js" */

// Terms: underlined with dots where they first stand on the page, and explained there by a click or
// a key. glossary.json has them all.

const LETTER = "[\\p{L}\\p{N}_]";
let entries = null; // what a term is called → its entry
let pattern = null;

export async function glossary() {
  return Object.values(JSON.parse(await read("glossary.json")));
}

async function known() {
  if (entries) return;
  const pairs = (await glossary()).flatMap((entry) => entry.names.map((name) => [name, entry]));
  const names = pairs.map(([name]) => name).sort((a, b) => b.length - a.length);
  const escaped = names.map((name) => name.replace(/[[\]*+?.()|\\^$]/g, "\\$&"));
  pattern = new RegExp(`(?<!${LETTER})(?:${escaped.join("|")})(?!${LETTER})`, "gu");
  entries = new Map(pairs);
}

// A text's pieces: plain text, and [name, entry] for each entry that is not in `seen` yet.
export function cut(text, seen) {
  const pieces = [];
  let end = 0;
  for (const { 0: name, index } of text.matchAll(pattern)) {
    const entry = entries.get(name);
    if (seen.has(entry)) continue;
    seen.add(entry);
    pieces.push(text.slice(end, index), [name, entry]);
    end = index + name.length;
  }
  pieces.push(text.slice(end));
  return pieces.filter((piece) => piece !== "");
}

// A button may begin or end a line, and a comma must not: what stands at a term without a blank,
// before it or behind, is kept on its line.
const clinging = (text) => (typeof text === "string" ? /^[^\s]*/.exec(text)?.[0] ?? "" : "");
const opening = (text) => (typeof text === "string" ? /[(“]?$/.exec(text)?.[0] ?? "" : "");
const together = (before, button, next) => {
  const [start, end] = [opening(before), clinging(next)];
  return start || end ? element("span", { class: "kept" }, start, button, end) : button;
};
const rest = (before, text, next) =>
  text.slice(
    Array.isArray(before) ? clinging(text).length : 0,
    Array.isArray(next) ? text.length - opening(text).length : undefined,
  );

// One box for all terms of a picture's head, a note or the welcome.
function makeTerms() {
  const title = element("b"), text = element("span");
  const box = element("div", { popover: "auto", class: "term-box", role: "note" }, title, text);
  let shown = null; // what it says, or said last

  function open(event, entry) {
    const { currentTarget: button } = event;
    title.textContent = entry.title;
    text.textContent = entry.text;
    // Where it is open, it only says something else. Its toggle event comes too late to ask.
    if (shown !== entry && box.matches(":popover-open")) event.preventDefault();
    shown = entry;
    requestAnimationFrame(() => { if (box.matches(":popover-open")) place(box, button); });
  }

  function term(name, entry) {
    const button = element("button", {
      type: "button", class: "term", text: name, onclick: (event) => open(event, entry),
    });
    button.popoverTargetElement = box;
    return button;
  }

  return {
    box,
    // The same text with buttons in it; untouched where they are the ones that are there.
    mark(node, seen) {
      const pieces = cut(node.textContent, seen);
      const terms = pieces.filter(Array.isArray).map(([name]) => name).join();
      if ((node.dataset?.terms ?? "") === terms) return;
      node.replaceChildren(
        ...pieces.map((piece, at) => (Array.isArray(piece)
          ? together(pieces[at - 1], term(...piece), pieces[at + 1])
          : rest(pieces[at - 1], piece, pieces[at + 1]))
        ),
      );
      node.dataset.terms = terms;
    },
  };
}

// All plain texts below an element, each term marked once; what is typed or code is left alone.
async function markWithin(root, terms) {
  await known();
  const seen = new Set();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.data.trim() && !node.parentElement?.closest("math, code, summary, button")) {
      texts.push(node);
    }
  }
  for (const node of texts) {
    const span = element("span", { text: node.data });
    node.replaceWith(span);
    terms.mark(span, seen);
  }
}

/**
 * Fills a box with a text of our own, its terms marked; it is a file of this folder, never typed.
 *
 * @param {HTMLElement} box
 * @param {string} file
 */
export async function fillFrom(box, file) {
  const parsed = new DOMParser().parseFromString(await read(file), "text/html");
  const terms = makeTerms();
  box.replaceChildren(...parsed.body.childNodes);
  await markWithin(box, terms).catch(() => {}); // without the glossary it is the text alone
  box.append(terms.box);
}

// Of all heads of the page, each marks what none above it has marked.
const heads = new Map(); // a head's sentence → its terms
let waiting = false;

function markHead(sentence, terms) {
  heads.set(sentence, terms);
  if (waiting) return;
  waiting = true;
  setTimeout(markAll);
}

function forgetHead(sentence) {
  heads.delete(sentence);
}

const hostOf = (node) => rootOf(node).host ?? node;
const follows = (a, b) =>
  (hostOf(a).compareDocumentPosition(hostOf(b)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);

async function markAll() {
  await known().catch(() => {}); // without the glossary there is the text alone
  waiting = false;
  if (!entries) return;
  const seen = new Set();
  for (const sentence of [...heads.keys()].sort(follows)) {
    for (const span of sentence.children) {
      if (span.className === "plain") heads.get(sentence).mark(span, seen);
    }
  }
}

// What stands above a picture, its sentence, its controls, and "What am I looking at?"; and the
// quiet line below it.

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

// Typed text between quotation marks of ours: a token that runs from right to left turns only
// itself.
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

// A line of words is as high as it may get with any other token, so that nothing below it moves:
// its tokens, words and numbers are measured as if they were as long as they may be. It never gets
// lower, but in another width or type.

const [WORD, NUMBER] = [10, 6]; // characters: “children”; 2:1709, or <0.1%
// Of plain text; whole numbers are mostly sizes.
const VARIES = /“[^”]*”|[<+−-]?\d[\d,:]*[.,:%][\d,.:%]*/g;
let longestToken = 0; // of the sentence that the page is about

/**
 * Says which tokens a line of words may name.
 *
 * @param {string[]} tokens
 */
export function mayBeNamed(tokens) {
  longestToken = Math.max(0, ...tokens.map(({ length }) => length + 2)); // between quotation marks
}

function asLongAsAny(text) {
  const most = text.startsWith("“") ? Math.max(WORD, longestToken) : NUMBER;
  return text.length < most ? "0".repeat(most) : text;
}

// What takes the place of a sentence while its room is measured; what another token would say
// stands where it would.
/** @param {Span[]} spans */
function longest(spans) {
  const spare = spans.filter(([, kind]) => kind === "spare");
  const said = spans.filter(([, kind]) => kind !== "spare");
  return [...spare, ...said].map(([text, kind]) => (
    kind === "plain" || kind === "spare" ? text.replace(VARIES, asLongAsAny) : asLongAsAny(text)
  )).join("");
}

/** @type {Set<HTMLElement>} */
const unmeasured = new Set();

// In whole pixels, so that what is below stands where it stood however the line came to its height;
// and of the style, as its box is larger where a talk enlarges the page.
/** @param {HTMLElement} line */
const heightOf = (line) => Math.ceil(parseFloat(getComputedStyle(line).height)) || 0;

/** @param {HTMLElement} line */
const lookOf = (line) => `${line.clientWidth} ${getComputedStyle(line).fontSize}`;
const looks = new WeakMap(); // a line → the width and type that it was measured with

// All in one layout of the page.
function measureLines() {
  const lines = [...unmeasured].filter((line) => line.isConnected);
  unmeasured.clear();
  for (const line of lines) line.toggleAttribute("data-measured", true);
  const heights = lines.map(heightOf);
  for (const line of lines) looks.set(line, lookOf(line));
  lines.forEach((line, at) => {
    line.removeAttribute("data-measured");
    line.style.minHeight = `${heights[at]}px`;
  });
}

/** @param {HTMLElement} line */
function measure(line) {
  unmeasured.add(line);
  beforeFilling(measureLines);
}

/**
 * Keeps lines of words high enough in windows of another width or type.
 *
 * @returns {{ keep: <Line extends HTMLElement>(line: Line) => Line, stop: () => void }}
 */
function makeSteady() {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const line = /** @type {HTMLElement} */ (target);
      const isSame = looks.get(line) === lookOf(line);
      // It may have got higher nevertheless.
      line.style.minHeight = isSame ? `${heightOf(line)}px` : "";
      if (!isSame) measure(line);
    }
  });
  const keep = (line) => {
    seen.observe(line);
    return line;
  };
  return { keep, stop: () => seen.disconnect() };
}

/**
 * Writes a sentence, and only where it has changed.
 *
 * @param {HTMLElement} line
 * @param {Span[]} spans
 * @param {Palette} theme
 */
export function write(line, spans, theme) {
  const room = longest(spans);
  if (line.dataset.longest !== room) {
    line.dataset.longest = room;
    measure(line);
  }
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
 * @param {Element | undefined} controls the picture's own, to stand beside the sentence; none if
 *   missing
 * @param menu what can be done with the picture; none if missing
 */
export function makeHead(controls, menu) {
  const steady = makeSteady();
  const sentence = steady.keep(element("h2", { class: "sentence" }));
  const under = steady.keep(element("p", { class: "under" }));
  const note = makeNote(), terms = makeTerms();
  const signs = element("div", { class: "signs" }, ...[note.button, menu?.open].filter(Boolean));
  const line = element(
    "header", { class: controls ? "more" : "" },
    .../** @type {Element[]} */ ([signs, sentence, controls].filter(Boolean)),
  );
  const head = element(
    "div", { class: "head" },
    ...[line, note.box, ...(menu?.boxes ?? []), terms.box].filter(Boolean),
  );
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
      steady.stop();
      forgetHead(sentence);
    },
  };
}

// "What am I looking at?": a panel at the side of the window that the picture is not on, so that
// the picture stays where it is and is seen beside what explains it.

const WHAT = "What am I looking at?";

function makeNote() {
  const words = element("div");
  const close = element("button", {
    type: "button", class: "close", text: "×", "aria-label": "Close",
    onclick: () => {
      box.hidePopover();
      button.focus();
    },
  });
  const box = element("div", { popover: "auto", class: "note", role: "note" }, close, words);
  const button = element("button", {
    type: "button", class: "what", text: "?", title: WHAT, "aria-expanded": "false",
  });
  let note = null;
  button.popoverTargetElement = box;

  box.ontoggle = async ({ newState }) => {
    const open = newState === "open";
    button.setAttribute("aria-expanded", String(open));
    if (!open || words.childElementCount) return;
    await fillFrom(words, `notes/${note}.html`).catch((error) => {
      words.textContent = `The note could not be read: ${error.message}`;
    });
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

// Words on a sheet: paragraphs, each plain, quiet, or to be noticed.

/**
 * What `text_cell` sends.
 *
 * @typedef {{ paragraphs: Span[][], tone: string }} TextData
 */

export function mountText() {
  const root = element("div", { class: "text" }), steady = makeSteady();
  return {
    element: root,
    /** @param {TextData} data */
    update({ paragraphs, tone }, theme) {
      root.dataset.tone = tone;
      if (tone === "warning") root.setAttribute("role", "alert");
      else root.removeAttribute("role");
      const make = () => steady.keep(element("p"));
      each(root, paragraphs, make, (line, spans) => write(line, spans, theme));
    },
    destroy: steady.stop,
  };
}
