// Hangs pictures and sheets into Streamlit, and passes on what a person did with them.
//
// Streamlit calls these functions with every change of the data or the theme, and what they return
// when the component has left the page, but also when a newer call has overtaken this one.

import { directionOf } from "../ffnviz.pictures/element.js";
import { plotlyAt, unpack } from "../ffnviz.pictures/loading.js";
import { mount as mountSheet } from "../ffnviz.pictures/sheet.js";
import { mount } from "../ffnviz.pictures/shell.js";
import { setDark } from "../ffnviz.pictures/theme.js";

const at = (path) => new URL(path, import.meta.url).href;
const told = globalThis.ffnvizPlotly; // by the page's first script
plotlyAt(...(told ? [told] : [at("../ffnviz.plotly/plotly.min.js"), at("../../../plotly.min.js")]));

const hung = new WeakMap(); // by the shadow root or the element that Streamlit gives a component

// Streamlit's theme is known from its colours only. Reading them makes the browser settle all
// styles, so it is done when a picture is hung, and when Streamlit calls without new data.
function readTheme(host) {
  const colour = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  const hex = /^#([0-9a-f]{6})/i.exec(colour)?.[1].match(/../g)?.map((two) => parseInt(two, 16));
  const [r, g, b] = hex ?? colour.match(/[\d.]+/g)?.map(Number) ?? [];
  if (b !== undefined) setDark(0.299 * r + 0.587 * g + 0.114 * b < 128);
}

/**
 * Hangs a picture or a sheet once, and shows it what is new.
 *
 * @param given by Streamlit
 * @param host what Streamlit's theme is read of
 * @param make hangs it, given what tells Streamlit of what a person did
 * @param show shows it the data
 */
function hang({ data, parentElement, setTriggerValue }, host, make, show) {
  let mounted = hung.get(parentElement);
  if (!mounted) {
    host.style.setProperty("--font", "var(--st-font)");
    mounted = {};
    mounted.made = make((event, value) => mounted.tell(event, value));
    hung.set(parentElement, mounted);
  }
  mounted.tell = setTriggerValue;
  if (mounted.data === undefined || mounted.data === data) readTheme(host);
  if (mounted.data !== data) {
    mounted.data = data;
    show(mounted.made);
  }
  return () => {
    if (host.isConnected) return; // overtaken: the newer call goes on with it
    hung.delete(parentElement);
    mounted.made.destroy();
  };
}

// The name of the picture that the data is for; packed data begins with it.
function nameOf(data) {
  if (Array.isArray(data)) return data[0].picture;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length))).picture;
}

export function picture(given) {
  const { data, parentElement } = given;
  const make = (tell) => mount(parentElement, nameOf(data), tell);
  const show = (made) => made.update(Array.isArray(data) ? data[0] : data);
  return hang(given, parentElement.host, make, show);
}

// A part's sheet: its cells stand in the page itself, each with a shadow root of its own.

// The sentence's box is Streamlit's; the tokens stand in its place until it is edited.
/** @type {() => HTMLInputElement | null} */
const box = () => document.querySelector(".st-key-text input");
// What the keyboard of a telephone is to know of it.
const KEYBOARD = {
  enterkeyhint: "done", autocorrect: "off", autocapitalize: "off", spellcheck: "false",
};
// Where it is longer than the box, its end is seen, and typed at.
function edit() {
  const input = box();
  input?.focus();
  input?.setSelectionRange(input.value.length, input.value.length);
  input?.scrollTo({ left: input.scrollWidth });
}
const word = () => {
  const pressed = document.querySelector('[data-cell="chips"]')?.shadowRoot?.querySelector(
    '[aria-pressed][tabindex="0"]',
  );
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

// From the box to the chosen word, as soon as that can be seen; the focus is never on the page
// itself.
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
  const typing = inner instanceof Element &&
    inner.matches("input, textarea, select, [contenteditable]");
  if (key === "/" && !typing && box()) {
    event.preventDefault();
    edit();
  } else if ((key === "Enter" || key === "Escape") && target === box()) {
    // Once Streamlit has taken what was typed, and sent it. Of an empty sentence there are no words
    // to go to.
    done = true;
    requestAnimationFrame(() => setTimeout(goToWords));
  }
});

export function sheet(given) {
  const { data, parentElement } = given;
  const make = (tell) => {
    for (const [name, value] of Object.entries(KEYBOARD)) box()?.setAttribute(name, value);
    return mountSheet(parentElement, (value) => tell("event", value));
  };
  return hang(given, parentElement, make, (made) => {
    made.update(unpack(data));
    turn();
    if (done) requestAnimationFrame(goToWords);
  });
}
