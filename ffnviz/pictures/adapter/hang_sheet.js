// Hangs a part's sheet into Streamlit. Its cells stand in the page itself, each with a shadow root of its own.

import { readTheme } from "../ffnviz.picture/hang_picture.js";
import { directionOf } from "../ffnviz.pictures/element.js";
import { unpack } from "../ffnviz.pictures/loading.js";
import { mount } from "../ffnviz.pictures/sheet.js";

const hung = new WeakMap(); // by the element that Streamlit gives the component

// The sentence's box is Streamlit's; the tokens stand in its place until it is edited.
/** @type {() => HTMLInputElement | null} */
const box = () => document.querySelector(".st-key-text input");
// What the keyboard of a telephone is to know of it.
const KEYBOARD = { enterkeyhint: "done", autocorrect: "off", autocapitalize: "off", spellcheck: "false" };
// Where it is longer than the box, its end is seen, and typed at.
function edit() {
  const input = box();
  input?.focus();
  input?.setSelectionRange(input.value.length, input.value.length);
  input?.scrollTo({ left: input.scrollWidth });
}
const word = () => {
  const pressed = document.querySelector('[data-cell="chips"]')?.shadowRoot?.querySelector('[aria-pressed][tabindex="0"]');
  return /** @type {HTMLElement | null | undefined} */ (pressed);
};
function turn() {
  const input = box();
  if (input) input.dir = directionOf(input.value);
}
let done = false; // whether Enter was pressed, and the focus is not on the words yet
document.addEventListener("focusin", ({ target }) => { if (target === box()) done = false; });
document.addEventListener("input", ({ target }) => {
  if (target !== box()) return;
  done = false;
  turn();
});

// From the box to the chosen word, as soon as that can be seen; the focus is never on the page itself.
function goToWords() {
  const typed = box(), first = word();
  if (!done || !first || !typed || typed !== document.activeElement || !typed.value.trim()) return;
  done = false;
  typed.blur();
  first.focus({ preventScroll: true });
  if (document.activeElement !== document.body) return;
  typed.focus();
  done = true;
}
document.addEventListener("edit-sentence", edit);
document.addEventListener("keydown", (event) => {
  const { key, target } = event, [inner] = event.composedPath();
  const typing = inner instanceof Element && inner.matches("input, textarea, select, [contenteditable]");
  if (key === "/" && !typing && box()) {
    event.preventDefault();
    edit();
  } else if ((key === "Enter" || key === "Escape") && target === box()) {
    // Once Streamlit has taken what was typed, and sent it. Of an empty sentence there are no words to go to.
    done = true;
    requestAnimationFrame(() => setTimeout(goToWords));
  }
});

export function sheet({ data, parentElement, setTriggerValue }) {
  let mounted = hung.get(parentElement);
  if (!mounted) {
    mounted = {};
    parentElement.style.setProperty("--font", "var(--st-font)");
    for (const [name, value] of Object.entries(KEYBOARD)) box()?.setAttribute(name, value);
    mounted.sheet = mount(parentElement, (value) => mounted.tell("event", value));
    hung.set(parentElement, mounted);
  }
  mounted.tell = setTriggerValue;
  if (mounted.data === undefined || mounted.data === data) readTheme(parentElement);
  if (mounted.data !== data) {
    mounted.data = data;
    mounted.sheet.update(unpack(data));
    turn();
    if (done) requestAnimationFrame(goToWords);
  }
  return () => {
    if (parentElement.isConnected) return; // overtaken: the newer call goes on with the sheet
    hung.delete(parentElement);
    mounted.sheet.destroy();
  };
}
