// Reading what payload.py packed, and turning signed values into colours.

const HALF = (() => {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    table[bits] =
      exponent === 0 ? sign * fraction * 2 ** -24
      : exponent === 31 ? (fraction ? NaN : sign * Infinity)
      : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return table;
})();

function widen(halves) {
  const values = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) values[i] = HALF[halves[i]];
  return values;
}

export function unpack(bytes) {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const start = 4 + length + offset;
    if (dtype === "uint8") arrays[name] = new Uint8Array(buffer, start, size);
    else if (dtype === "float32") arrays[name] = new Float32Array(buffer, start, size);
    else if (dtype === "int32") arrays[name] = new Int32Array(buffer, start, size);
    else {
      const raw = new Uint16Array(buffer, start, size);
      arrays[name] = dtype === "float16" ? widen(raw) : raw;
    }
  }
  return { header, arrays };
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// The theme is only known in the browser: dark if Streamlit's background is. Reading it makes the
// browser settle all styles, so it is read once and then only after something changed in the head
// or on the root, which is where Streamlit puts a theme.
let dark = null;
const listeners = new Set();

// Null where it cannot be told: an element that was taken out of the page has no styles.
function readDark(element) {
  const named = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  if (!named) return null;
  const [r, g, b] = /^#[0-9a-f]{6}/i.test(named) ? channels(named) : (named.match(/[\d.]+/g) || [255, 255, 255]).map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

export function themeOf(element, palettes) {
  if (dark === null) dark = readDark(element);
  return dark ? palettes.dark : palettes.light;
}

let looking = false;
function look() {
  looking = false;
  const shown = [...listeners].find(({ element }) => element.isConnected);
  const now = shown ? readDark(shown.element) : null;
  if (now === null || now === dark) return;
  dark = now;
  listeners.forEach(({ repaint }) => repaint());
}
const observer = new MutationObserver(() => {
  if (!looking) { looking = true; requestAnimationFrame(look); }
});
observer.observe(document.head, { childList: true, subtree: true, characterData: true });
observer.observe(document.documentElement, { attributes: true });
observer.observe(document.body, { attributes: true });

// Calls back when the theme has changed, until the returned function is called.
export function onThemeChange(element, repaint) {
  const listener = { element, repaint };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// A lookup table of 511 colours from -largest to +largest. The square root lifts small values off
// the background; zero itself is the background.
export function signedScale(theme, largest) {
  const zero = channels(theme.background);
  const ends = {
    1: [channels(theme.positive_mid), channels(theme.positive)],
    [-1]: [channels(theme.negative_mid), channels(theme.negative)],
  };
  const table = new Uint32Array(511);
  for (let step = -255; step <= 255; step++) {
    const t = Math.abs(step) / 255;
    const [middle, end] = ends[step < 0 ? -1 : 1];
    const [from, to, u] = t < 0.5 ? [zero, middle, t * 2] : [middle, end, t * 2 - 1];
    const [r, g, b] = from.map((c, i) => Math.round(c + (to[i] - c) * u));
    table[step + 255] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  const unit = largest > 0 ? 1 / largest : 0;
  return (value) => {
    const t = Math.sqrt(Math.min(1, Math.abs(value) * unit));
    const step = value === 0 ? 0 : Math.max(1, Math.round(255 * t));
    return table[255 + (value < 0 ? -step : step)];
  };
}

export function signedScaleCss(theme) {
  return `linear-gradient(to right, ${theme.negative}, ${theme.negative_mid}, ` +
    `${theme.background}, ${theme.positive_mid}, ${theme.positive})`;
}

// Two decimals; what would round to nothing in powers of ten, since only a true zero reads "0".
export function number(value) {
  const size = Math.abs(value);
  const digits = size === 0 ? "0" : size < 0.005 ? size.toExponential(0).replace("-", "−") : size.toFixed(2);
  return value < 0 ? `−${digits}` : digits;
}

// A share as a short percentage that never shows something as nothing.
export const percent = (share) =>
  share > 0 && share < 0.001 ? "<0.1%" : `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)}%`;

export const grouped = (n) => n.toLocaleString("en-US");

// An element with text and attributes; text is always text, never markup.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name.startsWith("on")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
