// What canvases have in common.

/**
 * What draws on a canvas, in the processor's memory: one in the graphics card's comes out black on WebKit's paper.
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
