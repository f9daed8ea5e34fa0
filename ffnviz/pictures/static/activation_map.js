import { putImage, signedScale, signedScaleCss } from "./canvas.js";
import { each, element, oneStop, rootOf } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { slide } from "./motion.js";
import { grouped, number, short, within } from "./numbers.js";
import { makeTip } from "./popover.js";
import { roomOf } from "./spotlight.js";
import { colourOf, typeSize } from "./theme.js";

// One activation map: a canvas of tokens by neurons, its marks, and the pointer and keys on it.

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
function makeMap(name, tip, report) {
  const label = element("b");
  const note = element("span");
  const title = element("div", { class: "title" }, label, note);
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
  const neuronAt = (token, place) =>
    (values.neurons ? values.neurons[token * values.order.length + place] : values.order[place]);
  const chosen = () => ({
    map: name, token: cursor.token, neuron: neuronAt(cursor.token, cursor.place),
  });

  function tell() {
    const { token, place } = cursor;
    const neuron = neuronAt(token, place), d_ff = values.order.length;
    const value = values.hidden[token * d_ff + values.order[place]];
    const parts = [
      element("bdi", { text: data.texts[token] }), ` · neuron ${neuron} · `,
      element("b", { text: number(value) }),
    ];
    mark.hidden = !byKeyboard;
    mark.style.left = `${((place + 0.5) / d_ff) * 100}%`;
    mark.style.top = `${((token + 0.5) / data.texts.length) * 100}%`;
    const x = area.offsetLeft + ((place + 0.5) / d_ff) * canvas.clientWidth;
    const y = area.offsetTop + ((token + 1) / data.texts.length) * canvas.clientHeight;
    tip.show(
      (own, all) => ({ left: Math.max(0, Math.min(all - own, x + 12)), top: y + 6 }), parts,
      byKeyboard,
    );
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
    values = {
      hidden: data.arrays[`${name}.hidden`], order: data.arrays[`${name}.order`],
      neurons: data.arrays[`${name}.neurons`],
    };
    const n_tokens = data.texts.length, accent = colourOf(shown.colour ?? name, theme);
    label.textContent = shown.label;
    label.style.color = accent;
    note.textContent = shown.note;
    area.style.height = `${height * n_tokens}px`;
    drawLabels(height);
    const width = map.width ??= canvas.clientWidth;
    const wanted = [
      ...Object.values(values), n_tokens, data.largest, theme, width, devicePixelRatio,
    ];
    if (wanted.some((each, at) => each !== painted[at])) {
      paintPixels(canvas, values, n_tokens, colour, width);
    }
    painted = wanted;
    const size = `${n_tokens} tokens by ${grouped(shown.d_ff)} hidden neurons`;
    const more = data.stays ? "" : ", Shift and Enter show how its value comes about";
    const keys = `Arrow keys move, Enter chooses a neuron${more}.`;
    canvas.setAttribute("aria-label", `${shown.label}: ${size}. ${shown.note}. ${keys}`);
    const [top, left] = [row.style.top, column.style.left].map(Number.parseFloat);
    const wasAway = column.hidden;
    Object.assign(row.style, {
      top: `${data.token * height}px`, height: `${height}px`, borderColor: accent,
    });
    if (top >= 0) slide(row, 0, top - data.token * height);
    column.hidden = data.neuron.map !== name;
    if (!column.hidden) {
      const share = ((shown.column ?? values.order.indexOf(data.neuron.neuron)) + 0.5) /
        values.order.length;
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

/**
 * @import { Head } from "./head.js"
 * @import { Numbers } from "./loading.js"
 */

// What a map takes of the window's height when its rows fit; long sentences get taller maps.
const SHARE = 0.14;

const [FEW, LABELLED] = [12, 12]; // so few rows each have room for a label, in pixels
const [LOW, LOWEST] = [800, 9]; // of a window so low, in pixels, a row may be lower
const [HIGHEST, HIGHEST_ALONE] = [40, 60]; // pixels a row
const AROUND = 6; // lines of type that titles and legend take where the maps stand alone

function rowHeight(n_tokens, room, more) {
  const height = room === null
    ? SHARE * Math.max(600, innerHeight) + more
    : (room - AROUND * typeSize()) / 2;
  const least = n_tokens > FEW ? 4 : innerHeight < LOW ? LOWEST : LABELLED;
  return Math.max(
    least, Math.min(room === null ? HIGHEST : HIGHEST_ALONE, Math.floor(height / n_tokens)),
  );
}

function makeLegend() {
  const [columns, lowest, highest] = [element("span"), element("span"), element("span")];
  const scale = element("i");
  const action = element("span", { class: "action", text: "double-click a value for its sum" });
  const beyond = element("span", { class: "beyond" });
  const box = element("div", { class: "legend" },
    columns,
    action,
    beyond,
    element("span", { class: "scale" }, lowest, scale, highest));
  return {
    box,
    update({ maps, largest, beyond: some, stays }, theme) {
      action.hidden = Boolean(stays); // in a file there is no page that shows it
      const widths = [...new Set(maps.map(({ d_ff }) => grouped(d_ff)))];
      columns.textContent = `neurons →   ${widths.join(" and ")} columns`;
      lowest.textContent = number(-largest);
      highest.textContent = number(largest);
      beyond.hidden = !some;
      beyond.textContent = some
        ? `values beyond ±${number(largest)} are drawn as ±${number(largest)}`
        : "";
      scale.style.background = signedScaleCss(theme);
    },
  };
}

// A row a cell.
function rows({ maps, arrays }) {
  const table = [["network", "token number", "token", "neuron", "hidden"]];
  for (const { name, label, texts } of maps) {
    const hidden = arrays[`${name}.hidden`], neurons = arrays[`${name}.neurons`];
    const width = hidden.length / texts.length;
    texts.forEach((text, token) => {
      for (let at = 0; at < width; at++) {
        const cell = token * width + at;
        table.push([label, token + 1, text, neurons ? neurons[cell] : at, short(hidden[cell])]);
      }
    });
  }
  return table;
}

/**
 * One map, of a network.
 *
 * @typedef {{
 *   name: string, label: string, colour: string, note: string, texts: string[], token: number,
 *   d_ff: number, column: number | null
 * }} OneMap
 */

/**
 * What `maps_cell` sends.
 *
 * @typedef {{
 *   maps: OneMap[], neuron: { map: string, neuron: number }, largest: number, beyond: boolean,
 *   orders: string[], order: string, stays: boolean, head: Head, arrays: Record<string, Numbers>
 * }} Data
 */

export function mount(tell) {
  const tip = makeTip();
  const legend = makeLegend();
  const root = element("div", { class: "maps" }, legend.box, ...tip.parts);
  const orders = element("div", {
    class: "orders", role: "group", "aria-label": "Order of the neurons",
  });
  const made = new Map(), stop = oneStop(orders);
  /** @type {Data} */
  let shown;
  let colours = null;

  const report = (event, { map, neuron, token }) => tell(event, { map, neuron, token });

  function paint() {
    const colour = signedScale(colours, shown.largest);
    const rows = Math.max(...shown.maps.map(({ texts }) => texts.length));
    const room = roomOf(rootOf(root).host), n_maps = shown.maps.length;
    const height = rowHeight(rows, room, given(root) / n_maps);
    const own = rowHeight(rows, room, 0);
    const bound = (more) => n_maps * rows * (rowHeight(rows, room, more) - own);
    took(root, n_maps * rows * (height - own), bound(-Infinity), bound(Infinity));
    if (![...made.values()].some((map) => map.speaks())) tip.hide();
    for (const [name, map] of made) {
      if (shown.maps.some((one) => one.name === name)) continue;
      resized.unobserve(map.canvas);
      map.box.remove();
      made.delete(name);
    }
    for (const one of shown.maps) {
      if (!made.has(one.name)) {
        const map = makeMap(one.name, tip, report);
        made.set(one.name, map);
        root.insertBefore(map.box, legend.box);
        resized.observe(map.canvas);
      }
      made.get(one.name).update(shown, one, height, colour, colours);
    }
    legend.update(shown, colours);
    each(
      orders, shown.orders,
      (place) =>
        element("button", { type: "button", onclick: () => tell("order", shown.orders[place]) }),
      (button, order) => {
        button.textContent = `by ${order}`;
        button.setAttribute("aria-pressed", String(order === shown.order));
      });
    stop(shown.orders.indexOf(shown.order));
  }

  const leaveRoom = onRoom(root, () => { if (shown) paint(); });
  const resized = new ResizeObserver((entries) => {
    let changed = false;
    for (const { target, contentRect } of entries) {
      const map = made.get(/** @type {HTMLElement} */ (target).dataset.name);
      if (!map) continue;
      changed ||= map.width !== contentRect.width;
      map.width = contentRect.width;
    }
    if (changed) paint();
  });

  return {
    element: root,
    controls: orders,
    saves: { rows: () => rows(shown) },
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      paint();
    },
    destroy() {
      resized.disconnect();
      leaveRoom();
    },
  };
}
