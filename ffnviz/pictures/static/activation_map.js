import { each, element, rootOf } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { makeMap } from "./map_canvas.js";
import { grouped, number, short } from "./numbers.js";
import { oneStop } from "./one_stop.js";
import { signedScale, signedScaleCss } from "./scale.js";
import { roomOf } from "./spotlight.js";
import { makeTip } from "./tip.js";
import { typeSize } from "./type_size.js";

/**
 * @import { Head } from "./head.js"
 * @import { Numbers } from "./payload.js"
 */

export const styles = ["tip.css", "activation_map.css"];

// What a map takes of the window's height when its rows fit; long sentences get taller maps.
const SHARE = 0.14;

const [FEW, LABELLED] = [12, 12]; // so few rows each have room for a label, in pixels
const [LOW, LOWEST] = [800, 9]; // of a window so low, in pixels, a row may be lower
const [HIGHEST, HIGHEST_ALONE] = [40, 60]; // pixels a row
const AROUND = 6; // lines of type that titles and legend take where the maps stand alone

function rowHeight(n_tokens, room, more) {
  const height = room === null ? SHARE * Math.max(600, innerHeight) + more : (room - AROUND * typeSize()) / 2;
  const least = n_tokens > FEW ? 4 : innerHeight < LOW ? LOWEST : LABELLED;
  return Math.max(least, Math.min(room === null ? HIGHEST : HIGHEST_ALONE, Math.floor(height / n_tokens)));
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
      beyond.textContent = some ? `values beyond ±${number(largest)} are drawn as ±${number(largest)}` : "";
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
  const orders = element("div", { class: "orders", role: "group", "aria-label": "Order of the neurons" });
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
    const own = rowHeight(rows, room, 0), bound = (more) => n_maps * rows * (rowHeight(rows, room, more) - own);
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
    each(orders, shown.orders, (place) => element("button", { type: "button", onclick: () => tell("order", shown.orders[place]) }),
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
