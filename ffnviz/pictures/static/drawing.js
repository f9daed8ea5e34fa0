import { sharpContext } from "./canvas.js";
import { element } from "./element.js";
import { within } from "./numbers.js";
import { colourOf } from "./theme.js";

const STEP = 0.05;
const HEIGHT = 150;
const EDGE = 8; // of the canvas, in which no point lies

// Draws the curve and the point that the arrow keys move.
function draw(canvas, values, at, theme, accent) {
  const width = canvas.clientWidth, context = sharpContext(canvas, width, HEIGHT);
  const x = (i) => (i / (values.length - 1)) * (width - 2 * EDGE) + EDGE;
  const y = (value) => ((1 - value) / 2) * (HEIGHT - 2 * EDGE) + EDGE;
  context.strokeStyle = theme.line;
  context.beginPath(); context.moveTo(EDGE, y(0)); context.lineTo(width - EDGE, y(0)); context.stroke();
  context.strokeStyle = colourOf(accent, theme);
  context.lineWidth = 3;
  context.beginPath();
  values.forEach((value, i) => context[i ? "lineTo" : "moveTo"](x(i), y(value)));
  context.stroke();
  if (at === null) return;
  context.fillStyle = theme.text;
  context.beginPath(); context.arc(x(at), y(values[at]), 6, 0, 7); context.fill();
}

/**
 * What `drawing_cell` sends.
 *
 * @typedef {{ label: string, values: number[], accent: string }} Data
 */

export function mount(tell) {
  const name = element("p");
  const canvas = element("canvas", { tabindex: "0", role: "slider", "aria-valuemin": "-1", "aria-valuemax": "1" });
  const root = element("div", { class: "drawing" }, name, canvas);
  /** @type {Data} */
  let shown;
  let colours = null, values = [], at = null, busy = false, last = null;

  function paint() {
    if (!shown) return;
    const middle = at ?? Math.floor(values.length / 2);
    canvas.setAttribute("aria-label", `${shown.label}: point ${middle + 1} of ${values.length}`);
    canvas.setAttribute("aria-valuenow", values[middle].toFixed(2));
    draw(canvas, values, at, colours, shown.accent);
  }

  const done = () => tell("curve", values.map((value) => Math.round(value * 100) / 100));

  function place(event) {
    const box = canvas.getBoundingClientRect(), end = values.length - 1;
    const i = Math.round(((event.clientX - box.left - EDGE) / (box.width - 2 * EDGE)) * end);
    const value = 1 - (2 * (event.clientY - box.top - EDGE)) / (HEIGHT - 2 * EDGE);
    return [within(i, 0, end), within(value, -1, 1)];
  }

  // A quick stroke skips places: those between two reports lie on a straight line.
  function stroke(event) {
    const [i, value] = place(event), [from, start] = last ?? [i, value];
    const step = Math.sign(i - from) || 1;
    for (let k = from; k !== i + step; k += step) {
      values[k] = i === from ? value : start + ((value - start) * (k - from)) / (i - from);
    }
    last = [i, value];
    paint();
  }

  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    busy = true;
    last = at = null;
    stroke(event);
  };
  canvas.onpointermove = (event) => { if (busy) stroke(event); };
  canvas.onpointerup = canvas.onpointercancel = () => { if (busy) { busy = false; done(); } };
  canvas.onkeydown = (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key] ?? [0, 0];
    if (!dx && !dy) return;
    event.preventDefault();
    const end = values.length - 1;
    at = within((at ?? Math.floor(end / 2)) + dx, 0, end);
    values[at] = within(values[at] + dy, -1, 1);
    paint();
    if (dy) done();
  };
  canvas.onblur = () => { at = null; paint(); };
  const resized = new ResizeObserver(paint);
  resized.observe(root);

  return {
    element: root,
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      name.textContent = data.label;
      if (!busy) values = [...data.values];
      if (at !== null) at = Math.min(at, values.length - 1);
      paint();
    },
    destroy() { resized.disconnect(); },
  };
}
