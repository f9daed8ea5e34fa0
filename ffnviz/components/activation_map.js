import { drawHead } from "./head.js";
import {
  element, grouped, number, onThemeChange, signedScale, signedScaleCss, themeOf, unpack,
} from "./values.js";

const MAP_HEIGHT = 150; // what a map takes when its rows fit; long sentences get taller maps
const LABEL_FROM = 13; // rows at least this high have room for a label

const rowHeight = (n_tokens) => Math.max(4, Math.min(26, Math.floor(MAP_HEIGHT / n_tokens)));

// Which neuron each device pixel shows: where several share one, the strongest of the row wins.
function paintMap(canvas, hidden, order, n_tokens, colour, cssWidth) {
  const d_ff = order.length;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(cssWidth * ratio));
  const image = new ImageData(width, n_tokens);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < n_tokens; row++) {
    for (let x = 0; x < width; x++) {
      const first = Math.floor((x * d_ff) / width);
      const last = Math.max(first + 1, Math.floor(((x + 1) * d_ff) / width));
      let strongest = 0;
      for (let place = first; place < last; place++) {
        const value = hidden[row * d_ff + order[place]];
        if (Math.abs(value) > Math.abs(strongest)) strongest = value;
      }
      pixels[row * width + x] = colour(strongest);
    }
  }
  // A row of pixels a token; the page stretches them to the rows' height.
  canvas.width = width;
  canvas.height = n_tokens;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// One map's elements, made once and then kept, so that nothing blinks.
function makeMap(view, name) {
  const title = element("div", { class: "title" });
  const labels = element("div", { class: "labels", "aria-hidden": "true" });
  const canvas = element("canvas", { tabindex: "0", role: "img", "data-name": name });
  const row = element("div", { class: "row-mark" });
  const column = element("div", { class: "column-mark" });
  const area = element("div", { class: "area" }, canvas, row, column);
  const box = element("section", { "data-map": name }, title, labels, area);
  const map = { name, title, labels, canvas, row, column, area, box, cursor: null };

  const cellAt = (event) => {
    const bounds = canvas.getBoundingClientRect();
    const token = Math.floor(((event.clientY - bounds.top) / bounds.height) * view.texts.length);
    return strongestNear(view, map, token, (event.clientX - bounds.left) / bounds.width, bounds.width);
  };
  // A click's own position is rounded to whole pixels: it would take the neighbour of the neuron
  // that the tip names. So what was pointed at last is what is chosen.
  canvas.onpointermove = canvas.onpointerdown = (event) => { map.cursor = cellAt(event); tell(view, map); };
  canvas.onpointerleave = () => { view.tip.hidden = true; };
  canvas.onblur = () => { view.tip.hidden = true; };
  canvas.onclick = () => map.cursor && view.choose(name, map.cursor.neuron);
  canvas.ondblclick = () => map.cursor && view.open(name, map.cursor);
  canvas.onkeydown = (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [0, 0];
    const now = map.cursor || { place: 0, token: view.token };
    if (dx || dy) {
      event.preventDefault();
      const place = Math.max(0, Math.min(view.d_ff - 1, now.place + dx));
      const token = Math.max(0, Math.min(view.texts.length - 1, now.token + dy));
      map.cursor = { place, token, neuron: view.arrays[`${name}.order`][place] };
      tell(view, map);
    } else if (event.key === "Enter" && map.cursor) {
      if (event.shiftKey) view.open(name, map.cursor);
      else view.choose(name, map.cursor.neuron);
    }
  };
  return map;
}

// The strongest neuron of a row within the pixel pointed at.
function strongestNear(view, map, token, x, width) {
  const order = view.arrays[`${map.name}.order`];
  const hidden = view.arrays[`${map.name}.hidden`];
  const n_tokens = view.texts.length;
  const row = Math.max(0, Math.min(n_tokens - 1, token));
  const first = Math.max(0, Math.min(view.d_ff - 1, Math.floor(x * view.d_ff)));
  const last = Math.min(view.d_ff, Math.max(first + 1, Math.floor((x + 1 / width) * view.d_ff)));
  let best = first;
  for (let place = first; place < last; place++) {
    const value = Math.abs(hidden[row * view.d_ff + order[place]]);
    if (value > Math.abs(hidden[row * view.d_ff + order[best]])) best = place;
  }
  return { place: best, token: row, neuron: order[best] };
}

function tell(view, map) {
  const { token, neuron, place } = map.cursor;
  const value = view.arrays[`${map.name}.hidden`][token * view.d_ff + neuron];
  view.tip.replaceChildren(
    element("bdi", { text: view.texts[token] }),
    ` · neuron ${neuron} · `,
    element("b", { text: number(value) }),
  );
  const bounds = map.canvas.getBoundingClientRect();
  const outer = view.root.getBoundingClientRect();
  const x = bounds.left - outer.left + ((place + 0.5) / view.d_ff) * bounds.width;
  const y = bounds.top - outer.top + ((token + 1) / view.texts.length) * bounds.height;
  view.tip.hidden = false;
  view.tip.style.left = `${Math.max(0, Math.min(outer.width - view.tip.offsetWidth, x + 12))}px`;
  view.tip.style.top = `${y + 6}px`;
}

function paint(view) {
  const theme = themeOf(view.root, view.palettes);
  const colour = signedScale(theme, view.largest);
  const height = rowHeight(view.texts.length);
  for (const { name, label, note } of view.maps) {
    const map = (view.made[name] ||= makeMap(view, name));
    if (!map.box.isConnected) view.root.insertBefore(map.box, view.legend);
    map.title.replaceChildren(
      element("b", { text: label, style: { color: theme[name] } }), element("span", { text: note }),
    );
    map.area.style.height = `${height * view.texts.length}px`;
    map.labels.replaceChildren(
      ...view.texts.map((text, token) => {
        const shown = height >= LABEL_FROM || token === view.token;
        return element("bdi", {
          text: shown ? text : "",
          class: token === view.token ? "chosen" : "",
          style: { height: `${height}px`, lineHeight: `${Math.max(height, LABEL_FROM)}px` },
        });
      }),
    );
    const order = view.arrays[`${name}.order`];
    const hidden = view.arrays[`${name}.hidden`];
    map.width ??= map.canvas.clientWidth;
    paintMap(map.canvas, hidden, order, view.texts.length, colour, map.width);
    map.canvas.setAttribute(
      "aria-label",
      `${label}: ${view.texts.length} tokens by ${grouped(view.d_ff)} hidden neurons. ${note}. ` +
      "Arrow keys move, Enter chooses a neuron, Shift and Enter show how its value comes about.",
    );
    Object.assign(map.row.style, { top: `${view.token * height}px`, height: `${height}px`, borderColor: theme[name] });
    const here = view.neuron.map === name;
    map.column.hidden = !here;
    if (here) map.column.style.left = `${((order.indexOf(view.neuron.neuron) + 0.5) / view.d_ff) * 100}%`;
  }
  view.legend.replaceChildren(
    element("span", { text: `neurons →   ${grouped(view.d_ff)} columns` }),
    element("span", { text: "double click: how the value comes about" }),
    element("span", { class: "scale" },
      element("span", { text: number(-view.largest) }),
      element("i", { style: { background: signedScaleCss(theme) } }),
      element("span", { text: number(view.largest) }),
    ),
  );
  drawOrder(view, drawHead(view.root, view.head, theme));
  view.root.dataset.painted = view.stamp;
}

// In what order the neurons stand: one button each.
function drawOrder(view, controls) {
  controls.replaceChildren(
    element("div", { class: "orders", role: "group", "aria-label": "Order of the neurons" },
      ...view.orders.map((order) =>
        element("button", {
          type: "button", "aria-pressed": String(order === view.order), text: `by ${order}`,
          onclick: () => view.chooseOrder(order),
        }))),
  );
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector("div.maps");
  if (!root) {
    const legend = element("div", { class: "legend" });
    const tip = element("div", { class: "tip", role: "status" });
    tip.hidden = true;
    root = element("div", { class: "maps" }, legend, tip);
    root.view = { root, legend, tip, made: {} };
    parentElement.append(root);
  }
  const view = root.view;
  const { header, arrays } = unpack(data);
  Object.assign(view, header, {
    arrays,
    open: (map, { neuron, token }) => setTriggerValue("cell", { map, neuron, token }),
    choose: (map, neuron) => setTriggerValue("neuron", { map, neuron }),
    chooseOrder: (order) => setTriggerValue("order", order),
  });
  view.tip.hidden = true;
  paint(view);
  const resized = new ResizeObserver((entries) => {
    let changed = false;
    for (const { target, contentRect } of entries) {
      const map = view.made[target.dataset.name];
      changed ||= map.width !== contentRect.width;
      map.width = contentRect.width;
    }
    if (changed) paint(view);
  });
  Object.values(view.made).forEach((map) => resized.observe(map.canvas));
  const stopTheme = onThemeChange(root, () => paint(view));
  return () => { resized.disconnect(); stopTheme(); };
}
