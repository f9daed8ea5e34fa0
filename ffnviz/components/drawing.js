import { element, onThemeChange, themeOf } from "./values.js";

const STEP = 0.05;
const HEIGHT = 150;

// Draws the curve and the point that the arrow keys move.
function draw(canvas, values, at, theme, accent) {
  const width = canvas.clientWidth, ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const x = (i) => (i / (values.length - 1)) * (width - 16) + 8;
  const y = (value) => ((1 - value) / 2) * (HEIGHT - 16) + 8;
  context.strokeStyle = theme.line;
  context.beginPath(); context.moveTo(8, y(0)); context.lineTo(width - 8, y(0)); context.stroke();
  context.strokeStyle = theme[accent];
  context.lineWidth = 3;
  context.beginPath();
  values.forEach((value, i) => context[i ? "lineTo" : "moveTo"](x(i), y(value)));
  context.stroke();
  if (at === null) return;
  context.fillStyle = theme.text;
  context.beginPath(); context.arc(x(at), y(values[at]), 6, 0, 7); context.fill();
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector(".drawing");
  if (!root) {
    root = element("div", { class: "drawing" }, element("p", {}),
      element("canvas", { tabindex: "0", role: "slider", "aria-valuemin": "-1", "aria-valuemax": "1" }));
    root.at = null;
    parentElement.append(root);
    new ResizeObserver(() => root.paint?.()).observe(root);
  }
  const canvas = root.querySelector("canvas");
  root.querySelector("p").textContent = data.label;
  if (!root.busy) root.values = [...data.values];
  const paint = () => {
    const middle = root.at ?? Math.floor(root.values.length / 2);
    canvas.setAttribute("aria-label", `${data.label}: point ${middle + 1} of ${root.values.length}`);
    canvas.setAttribute("aria-valuenow", root.values[middle].toFixed(2));
    draw(canvas, root.values, root.at, themeOf(root, data.palettes), data.accent);
  };
  const tell = () => setTriggerValue("curve", root.values.map((value) => Math.round(value * 100) / 100));
  const place = (event) => {
    const box = canvas.getBoundingClientRect(), last = root.values.length - 1;
    const i = Math.round(((event.clientX - box.left - 8) / (box.width - 16)) * last);
    const value = 1 - (2 * (event.clientY - box.top - 8)) / (HEIGHT - 16);
    return [Math.min(last, Math.max(0, i)), Math.min(1, Math.max(-1, value))];
  };
  // A quick stroke skips places: those between two reports lie on a straight line.
  const stroke = (event) => {
    const [i, value] = place(event), [from, start] = root.last ?? [i, value];
    const step = Math.sign(i - from) || 1;
    for (let k = from; k !== i + step; k += step) {
      root.values[k] = i === from ? value : start + ((value - start) * (k - from)) / (i - from);
    }
    root.last = [i, value];
    paint();
  };
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    Object.assign(root, { busy: true, last: null, at: null });
    stroke(event);
  };
  canvas.onpointermove = (event) => { if (root.busy) stroke(event); };
  canvas.onpointerup = canvas.onpointercancel = () => { if (root.busy) { root.busy = false; tell(); } };
  canvas.onkeydown = (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key] ?? [0, 0];
    if (!dx && !dy) return;
    event.preventDefault();
    const last = root.values.length - 1;
    root.at = Math.min(last, Math.max(0, (root.at ?? Math.floor(last / 2)) + dx));
    root.values[root.at] = Math.min(1, Math.max(-1, root.values[root.at] + dy));
    paint();
    if (dy) tell();
  };
  canvas.onblur = () => { root.at = null; paint(); };
  root.paint = paint;
  paint();
  return onThemeChange(root, paint);
}
