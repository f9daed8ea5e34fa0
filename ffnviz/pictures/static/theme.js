// One theme for all pictures of a page: palettes.json, light or dark; and the size of the page's
// type.

import { read } from "./loading.js";

/**
 * Colours by their names.
 *
 * @typedef {Record<string, string>} Palette
 */

const system = matchMedia("(prefers-color-scheme: dark)");
// The ground is then the system's, whatever was chosen.
const forced = matchMedia("(forced-colors: active)");
const variables = new CSSStyleSheet(); // every picture adopts this one sheet
const listeners = new Set();
/** @type {{ light: Palette, dark: Palette }} */
let palettes;
/** @type {boolean | null} */
let chosen = null; // what setDark said; until then the system's wish counts
/** @type {boolean | null} */
let onScreen = null;
let printing = false;

const isDark = () => (forced.matches && !printing ? system.matches : chosen ?? system.matches);
export const theme = () => (isDark() ? palettes.dark : palettes.light);

// Reads the palettes once; resolves to the sheet that makes variables of the theme's colours.
export async function themeSheet() {
  if (!palettes) {
    palettes = JSON.parse(await read("palettes.json"));
    write();
  }
  return variables;
}

function write() {
  const lines = Object.entries(theme()).map(([name, value]) => `--${name}: ${value};`);
  variables.replaceSync(`:host { ${lines.join(" ")} }`);
}

function changed() {
  if (!palettes) return;
  write();
  listeners.forEach((repaint) => repaint());
}
system.addEventListener("change", () => { if (chosen === null || forced.matches) changed(); });
forced.addEventListener("change", changed);

/** @param {boolean} dark */
export function setDark(dark) {
  if (dark === chosen) return;
  chosen = dark;
  changed();
}

// Paper is white: what is printed is drawn in the light theme, and then again as it was.
addEventListener("beforeprint", () => {
  [onScreen, printing, chosen] = [chosen, true, false];
  changed();
});
addEventListener("afterprint", () => {
  [chosen, printing] = [onScreen, false];
  changed();
});

/**
 * Calls back when the theme has changed, until the returned function is called.
 *
 * @param {() => void} repaint
 */
export function onThemeChange(repaint) {
  listeners.add(repaint);
  return () => listeners.delete(repaint);
}

/**
 * A colour by its name in the palette, or as "#rrggbb"; any other name is the colour of text.
 *
 * @param {string} name
 * @param {Palette} palette
 */
export function colourOf(name, palette) {
  if (Object.hasOwn(palette, name)) return palette[name];
  return /^#[0-9a-f]{6}$/i.test(name) ? name : palette.text;
}

// The size of the page's own type, in pixels; asked of the browser only when it may have changed,
// since it then settles all styles.

let size = 0, presenting;
addEventListener("resize", () => { size = 0; });

export function typeSize() {
  const now = document.documentElement.dataset.presenting; // a talk's type is larger
  if (now !== presenting) size = 0;
  presenting = now;
  size ||= parseFloat(getComputedStyle(document.documentElement).fontSize);
  return size;
}
