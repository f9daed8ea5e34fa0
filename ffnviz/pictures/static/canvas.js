// What canvases have in common: sharp pixels, and the colours of signed values.

/** @import { Palette } from "./theme.js" */

/**
 * What draws on a canvas, in the processor's memory: one in the graphics card's comes out black on
 * WebKit's paper.
 *
 * @param {HTMLCanvasElement} canvas
 */
export const contextOf = (canvas) =>
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));

/**
 * Gives a canvas the device's pixels; what it returns draws in those of CSS.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width of the canvas on the page
 * @param {number} height
 */
export function sharpContext(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = contextOf(canvas);
  context.scale(ratio, ratio);
  return context;
}

/**
 * Makes an image all of a canvas, which the page stretches.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {ImageData} image
 */
export function putImage(canvas, image) {
  [canvas.width, canvas.height] = [image.width, image.height];
  contextOf(canvas).putImageData(image, 0, 0);
}

/**
 * Red, green and blue of a colour such as "#7a3fc0", from 0 to 255.
 *
 * @param {string} hex
 */
export const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// Signed values as colours: violet below zero, green above, zero itself the background.

const tables = new WeakMap(); // by theme

/**
 * A lookup table of 511 colours from -largest to +largest. The square root lifts small values off
 * the background.
 *
 * @param {Palette} theme
 */
function tableOf(theme) {
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
  tables.set(theme, table);
  return table;
}

/**
 * The colour of a value.
 *
 * @param {Palette} theme
 * @param {number} largest
 * @returns {(value: number) => number}
 */
export function signedScale(theme, largest) {
  const table = tables.get(theme) ?? tableOf(theme);
  const unit = largest > 0 ? 1 / largest : 0;
  return (value) => {
    const t = Math.sqrt(Math.min(1, Math.abs(value) * unit));
    const step = value === 0 ? 0 : Math.max(1, Math.round(255 * t));
    return table[255 + (value < 0 ? -step : step)];
  };
}

/** @param {Palette} theme */
export function signedScaleCss(theme) {
  return `linear-gradient(to right, ${theme.negative}, ${theme.negative_mid}, ` +
    `${theme.background}, ${theme.positive_mid}, ${theme.positive})`;
}
