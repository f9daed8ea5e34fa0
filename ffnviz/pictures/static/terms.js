// Words that a newcomer may not know: underlined with dots where they first stand on the page, and
// explained there by a click or a key. glossary.json has them all.

import { element, rootOf } from "./element.js";
import { read } from "./files.js";
import { place } from "./popover.js";

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
  text.slice(Array.isArray(before) ? clinging(text).length : 0, Array.isArray(next) ? text.length - opening(text).length : undefined);

// One box for all terms of a picture's head, a note or the welcome.
export function makeTerms() {
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
    const button = element("button", { type: "button", class: "term", text: name, onclick: (event) => open(event, entry) });
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
      node.replaceChildren(...pieces.map((piece, at) => (Array.isArray(piece)
        ? together(pieces[at - 1], term(...piece), pieces[at + 1]) : rest(pieces[at - 1], piece, pieces[at + 1]))));
      node.dataset.terms = terms;
    },
  };
}

// All plain texts below an element, each term marked once; what is typed or code is left alone.
export async function markWithin(root, terms) {
  await known();
  const seen = new Set();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.data.trim() && !node.parentElement?.closest("math, code, summary, button")) texts.push(node);
  }
  for (const node of texts) {
    const span = element("span", { text: node.data });
    node.replaceWith(span);
    terms.mark(span, seen);
  }
}

// Of all heads of the page, each marks what none above it has marked.
const heads = new Map(); // a head's sentence → its terms
let waiting = false;

export function markHead(sentence, terms) {
  heads.set(sentence, terms);
  if (waiting) return;
  waiting = true;
  setTimeout(markAll);
}

export function forgetHead(sentence) {
  heads.delete(sentence);
}

const hostOf = (node) => rootOf(node).host ?? node;
const follows = (a, b) => (hostOf(a).compareDocumentPosition(hostOf(b)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);

async function markAll() {
  await known().catch(() => {}); // without the glossary there is the text alone
  waiting = false;
  if (!entries) return;
  const seen = new Set();
  for (const sentence of [...heads.keys()].sort(follows)) {
    for (const span of sentence.children) if (span.className === "plain") heads.get(sentence).mark(span, seen);
  }
}
