// One activation map: a canvas of tokens by neurons, its marks, and the pointer and keys on it.

import { putImage } from "./canvas.js";
import { element } from "./element.js";
import { slide } from "./motion.js";
import { grouped, number, within } from "./numbers.js";
import { colourOf } from "./theme.js";
import { typeSize } from "./type_size.js";

// Pixels that a label needs; before a hall its type is larger.
const labelFrom = () => Math.max(13, 0.82 * typeSize() - 2);
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The strongest place of a row among those that share one pixel.
function strongest({ hidden, order }, token, first, last) {
  const from = token * order.length;
  let best = first;
  for (let place = first + 1; place < last; place++) {
    if (Math.abs(hidden[from + order[place]]) > Math.abs(hidden[from + order[best]])) best = place;
  }
  return best;
}

// A row of pixels a token, which the page stretches to the rows' height. Where several neurons
// share a device pixel, the strongest of the row is shown, so that none vanishes.
function paintPixels(canvas, values, n_tokens, colour, cssWidth) {
  const { hidden, order } = values;
  const d_ff = order.length;
  const width = Math.max(1, Math.round(cssWidth * (devicePixelRatio || 1)));
  const image = new ImageData(width, n_tokens);
  const pixels = new Uint32Array(image.data.buffer);
  for (let x = 0; x < width; x++) {
    const first = Math.floor((x * d_ff) / width);
    const last = Math.max(first + 1, Math.floor(((x + 1) * d_ff) / width));
    for (let token = 0; token < n_tokens; token++) {
      const place = strongest(values, token, first, last);
      pixels[token * width + x] = colour(hidden[token * d_ff + order[place]]);
    }
  }
  putImage(canvas, image);
}

/**
 * Makes one map.
 *
 * @param name its name
 * @param tip what names the cell pointed at, within the picture
 * @param report called with "neuron" or "cell" and the cell
 */
export function makeMap(name, tip, report) {
  const label = element("b"), note = element("span"), title = element("div", { class: "title" }, label, note);
  const labels = element("div", { class: "labels", "aria-hidden": "true" });
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-name": name });
  const row = element("div", { class: "row-mark" });
  const column = element("div", { class: "column-mark" });
  const mark = element("div", { class: "cursor", hidden: "" });
  const area = element("div", { class: "area" }, canvas, row, column, mark);
  const box = element("section", { "data-map": name }, title, labels, area);
  const map = { box, canvas, width: /** @type {number | null} */ (null) };
  let data = null, values = null, cursor = null, byKeyboard = false;
  let labelled = "", painted = []; // what labels and canvas show

  function cellAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const d_ff = values.order.length;
    const x = (event.clientX - bounds.left) / bounds.width;
    const y = (event.clientY - bounds.top) / bounds.height;
    const token = within(Math.floor(y * data.texts.length), 0, data.texts.length - 1);
    // The neurons of the very pixel that is pointed at: what is named is what is seen.
    const pixel = within(Math.floor(x * canvas.width), 0, canvas.width - 1);
    const first = Math.floor((pixel * d_ff) / canvas.width);
    const last = Math.max(first + 1, Math.floor(((pixel + 1) * d_ff) / canvas.width));
    return { token, place: strongest(values, token, first, last) };
  }

  // Where neighbours share a column, each cell says whose value it has.
  const neuronAt = (token, place) => (values.neurons ? values.neurons[token * values.order.length + place] : values.order[place]);
  const chosen = () => ({ map: name, token: cursor.token, neuron: neuronAt(cursor.token, cursor.place) });

  function tell() {
    const { token, place } = cursor;
    const neuron = neuronAt(token, place), d_ff = values.order.length;
    const value = values.hidden[token * d_ff + values.order[place]];
    const parts = [element("bdi", { text: data.texts[token] }), ` · neuron ${neuron} · `, element("b", { text: number(value) })];
    mark.hidden = !byKeyboard;
    mark.style.left = `${((place + 0.5) / d_ff) * 100}%`;
    mark.style.top = `${((token + 0.5) / data.texts.length) * 100}%`;
    const x = area.offsetLeft + ((place + 0.5) / d_ff) * canvas.clientWidth;
    const y = area.offsetTop + ((token + 1) / data.texts.length) * canvas.clientHeight;
    tip.show((own, all) => ({ left: Math.max(0, Math.min(all - own, x + 12)), top: y + 6 }), parts, byKeyboard);
  }

  // A click's own position is rounded to whole pixels: it would take the neighbour of the neuron
  // that the tip names. So what was pointed at last is what is chosen.
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    cursor = cellAt(event);
    byKeyboard = false;
    tell();
  };
  const leave = () => {
    byKeyboard = false;
    mark.hidden = true;
    tip.hide();
  };
  canvas.onblur = leave;
  canvas.onpointerleave = () => { if (!byKeyboard) leave(); };
  canvas.onclick = () => { if (cursor) report("neuron", chosen()); };
  canvas.ondblclick = () => { if (cursor) report("cell", chosen()); };
  canvas.onkeydown = (event) => {
    const [dx, dy] = MOVES[event.key] ?? [0, 0];
    if (dx || dy) {
      event.preventDefault();
      const { place, token } = cursor ?? { place: 0, token: data.token };
      cursor = {
        place: within(place + dx, 0, values.order.length - 1),
        token: within(token + dy, 0, data.texts.length - 1),
      };
      byKeyboard = true;
      tell();
    } else if (event.key === "Enter" && cursor) {
      if (!event.shiftKey) tip.say(`Neuron ${chosen().neuron} of ${data.label} is chosen.`);
      report(event.shiftKey ? "cell" : "neuron", chosen());
    }
  };

  // Where rows are too low for a label each, every second or third has one; so has the chosen row.
  function drawLabels(height) {
    const all = JSON.stringify([height, labelFrom(), data.token, data.texts]);
    if (all === labelled) return;
    labelled = all;
    const every = Math.ceil(labelFrom() / height);
    const hasOne = (token) => token === data.token
      || (token % every === 0 && Math.abs(token - data.token) >= every);
    labels.replaceChildren(...data.texts.map((text, token) => element("bdi", {
      text: hasOne(token) ? text : "",
      class: token === data.token ? "chosen" : "",
      style: { height: `${height}px`, lineHeight: `${Math.max(height, labelFrom())}px` },
    })));
  }

  // `shown` is what Python said of this map, `height` that of a row, `colour` the scale.
  map.update = (next, shown, height, colour, theme) => {
    data = { ...next, texts: shown.texts, token: shown.token, label: shown.label };
    values = { hidden: data.arrays[`${name}.hidden`], order: data.arrays[`${name}.order`], neurons: data.arrays[`${name}.neurons`] };
    const n_tokens = data.texts.length, accent = colourOf(shown.colour ?? name, theme);
    label.textContent = shown.label;
    label.style.color = accent;
    note.textContent = shown.note;
    area.style.height = `${height * n_tokens}px`;
    drawLabels(height);
    const width = map.width ??= canvas.clientWidth;
    const wanted = [...Object.values(values), n_tokens, data.largest, theme, width, devicePixelRatio];
    if (wanted.some((each, at) => each !== painted[at])) paintPixels(canvas, values, n_tokens, colour, width);
    painted = wanted;
    canvas.setAttribute(
      "aria-label",
      `${shown.label}: ${n_tokens} tokens by ${grouped(shown.d_ff)} hidden neurons. ${shown.note}. ` +
      `Arrow keys move, Enter chooses a neuron${data.stays ? "" : ", Shift and Enter show how its value comes about"}.`,
    );
    const [top, left] = [row.style.top, column.style.left].map(Number.parseFloat), wasAway = column.hidden;
    Object.assign(row.style, { top: `${data.token * height}px`, height: `${height}px`, borderColor: accent });
    if (top >= 0) slide(row, 0, top - data.token * height);
    column.hidden = data.neuron.map !== name;
    if (!column.hidden) {
      const share = ((shown.column ?? values.order.indexOf(data.neuron.neuron)) + 0.5) / values.order.length;
      column.style.left = `${100 * share}%`;
      if (!wasAway && left >= 0) slide(column, (left / 100 - share) * width, 0);
    }
    if (cursor && (cursor.token >= n_tokens || cursor.place >= values.order.length)) {
      cursor = null;
      leave();
    }
    if (byKeyboard) tell();
  };
  map.speaks = () => byKeyboard;
  return map;
}
