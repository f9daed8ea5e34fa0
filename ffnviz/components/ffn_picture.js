import { drawHead } from "./head.js";
import { element, number, onThemeChange, signedScale, themeOf, unpack } from "./values.js";

// Side by side, all stages are equally wide and a stage's height tells how many numbers it holds;
// one over the other, on a narrow screen, they are equally high and the width tells it.
const WIDE = { columns: () => 32, shape: 1 };
const NARROW = { columns: (n) => Math.ceil(n / 16), shape: 0.5 };
const NARROW_BELOW = 640;

const layoutOf = (view) => (view.width < NARROW_BELOW ? NARROW : WIDE);

// Where a value is drawn: the place of each entry of the vector.
function placing(view, stage, n) {
  return stage.neurons ? view.arrays.order : Uint16Array.from({ length: n }, (_, i) => i);
}

function paintStage(view, made, stage, theme) {
  const values = view.arrays[stage.name];
  const order = placing(view, stage, values.length);
  const layout = layoutOf(view);
  const columns = layout.columns(values.length);
  const rows = Math.ceil(values.length / columns);
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const colour = signedScale(theme, stage.largest);
  order.forEach((entry, place) => { pixels[place] = colour(values[entry]); });
  // A pixel a value; the page stretches them.
  made.canvas.width = columns;
  made.canvas.height = rows;
  made.canvas.getContext("2d").putImageData(image, 0, 0);
  made.mark.hidden = !stage.neurons || view.neuron === null;
  if (!made.mark.hidden) {
    const place = order.indexOf(view.neuron);
    made.mark.style.left = `${((place % columns) + 0.5) * (100 / columns)}%`;
    made.mark.style.top = `${(Math.floor(place / columns) + 0.5) * (100 / rows)}%`;
  }
  made.canvas.style.aspectRatio = `${columns * layout.shape} / ${rows}`;
  const share = (100 * values.length) / view.most;
  made.frame.style.width = layout === NARROW ? `${share}%` : "";
  made.canvas.setAttribute("aria-label", `${stage.title} ${stage.shape}: ${stage.note}`);
  made.caption.replaceChildren(
    element("b", { text: stage.title }), element("span", { class: "shape", text: stage.shape }),
  );
  made.note.textContent = stage.note;
}

function makeStage(view, name) {
  const canvas = element("canvas", { role: "img" });
  const caption = element("figcaption");
  const note = element("small");
  const mark = element("span", { class: "mark" });
  const frame = element("div", { class: "frame" }, element("div", { class: "grid" }, canvas, mark));
  const box = element("figure", { "data-stage": name }, caption, frame, note);
  const entryAt = (event) => {
    const stage = view.stages.find((s) => s.name === name);
    const n = view.arrays[name].length;
    const bounds = canvas.getBoundingClientRect();
    const columns = layoutOf(view).columns(n);
    const column = Math.floor(((event.clientX - bounds.left) / bounds.width) * columns);
    const row = Math.floor(((event.clientY - bounds.top) / bounds.height) * Math.ceil(n / columns));
    const place = Math.max(0, Math.min(n - 1, row * columns + column));
    return { stage, entry: placing(view, stage, n)[place] };
  };
  canvas.onpointermove = (event) => {
    const { stage, entry } = entryAt(event);
    const kind = stage.neurons ? "neuron" : "dimension";
    view.tip.replaceChildren(`${kind} ${entry} · `, element("b", { text: number(view.arrays[name][entry]) }));
    view.tip.hidden = false;
    const outer = view.root.getBoundingClientRect();
    const x = Math.min(event.clientX - outer.left + 14, outer.width - view.tip.offsetWidth);
    Object.assign(view.tip.style, { left: `${x}px`, top: `${event.clientY - outer.top + 14}px` });
  };
  canvas.onpointerleave = () => { view.tip.hidden = true; };
  canvas.onclick = (event) => {
    const { stage, entry } = entryAt(event);
    if (stage.neurons) view.choose(entry);
  };
  return { box, frame, canvas, mark, caption, note };
}

// The fan between two stages: its two sides are as long as the stages it joins, in shares of the
// longest one.
function fan(step, before, after, colour, layout) {
  const [a, b] = [before * 50, after * 50];
  const corners = [[0, 50 - a], [100, 50 - b], [100, 50 + b], [0, 50 + a]];
  const points = corners.map(([along, across]) => (layout === WIDE ? [along, across] : [across, along])).join(" ");
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  const shape = document.createElementNS(namespace, "polygon");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("points", points);
  shape.setAttribute("fill", colour);
  svg.append(shape);
  return element("div", { class: "step" },
    element("div", { class: "fan" }, svg, element("b", { text: step.symbol })),
    element("small", { text: step.words }),
  );
}

function paint(view) {
  const theme = themeOf(view.root, view.palettes);
  const layout = layoutOf(view);
  view.most = Math.max(...view.stages.map((stage) => view.arrays[stage.name].length));
  const flow = [];
  view.stages.forEach((stage, index) => {
    const made = (view.made[stage.name] ||= makeStage(view, stage.name));
    paintStage(view, made, stage, theme);
    made.canvas.classList.toggle("neurons", stage.neurons);
    flow.push(made.box);
    if (index < view.steps.length) {
      const sizes = [stage, view.stages[index + 1]].map((s) => view.arrays[s.name].length / view.most);
      flow.push(fan(view.steps[index], ...sizes, theme[view.accent], layout));
    }
  });
  view.flow.querySelectorAll(".step").forEach((old) => old.remove());
  flow.forEach((part, at) => { if (view.flow.children[at] !== part) view.flow.insertBefore(part, view.flow.children[at] || null); });
  drawHead(view.root, view.head, theme);
  view.root.dataset.painted = view.stamp;
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector("div.picture");
  if (!root) {
    const flow = element("div", { class: "flow" });
    const tip = element("div", { class: "tip", role: "status" });
    tip.hidden = true;
    root = element("div", { class: "picture" }, flow, tip);
    root.view = { root, flow, tip, made: {} };
    parentElement.append(root);
  }
  const view = root.view;
  const { header, arrays } = unpack(data);
  Object.assign(view, header, { arrays, choose: (neuron) => setTriggerValue("neuron", neuron) });
  view.width ??= root.clientWidth;
  paint(view);
  const resized = new ResizeObserver(([{ contentRect }]) => {
    const before = layoutOf(view);
    view.width = contentRect.width;
    if (layoutOf(view) !== before) paint(view);
  });
  resized.observe(root);
  const stopTheme = onThemeChange(root, () => paint(view));
  return () => { resized.disconnect(); stopTheme(); };
}
