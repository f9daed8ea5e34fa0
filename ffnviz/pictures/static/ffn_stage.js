// One stage of the FFN picture: a cell a number, and the pointer and keys on it.

import { putImage } from "./canvas.js";
import { element } from "./element.js";
import { number } from "./numbers.js";
import { signedScale } from "./scale.js";

// Side by side, all stages are equally wide and a stage's height tells how many numbers it holds;
// one over the other, on a narrow screen, they are equally high and the width tells it. The largest
// stage is twice as high as wide, or its cells twice as wide as high: 2,048 numbers are 32 by 64.
export const WIDE = { columns: (_n, most) => Math.ceil(Math.sqrt(most / 2)), shape: 1 };
export const NARROW = { columns: (n, most) => Math.ceil(n / Math.ceil(Math.sqrt(most / 8))), shape: 0.5 };

/**
 * Makes one stage.
 *
 * @param name its name
 * @param tip what names the cell pointed at, within the picture
 * @param choose called with a neuron
 * @param enter called with the stage's name, if its title leads anywhere
 */
export function makeStage(name, tip, choose, enter) {
  const canvas = element("canvas", { tabindex: "0", role: "application" });
  const title = element("b"), door = element("button", { type: "button", class: "door", onclick: () => enter(name) });
  const shape = element("span", { class: "shape" });
  const caption = element("figcaption", {}, title, shape);
  const note = element("small");
  const mark = element("span", { class: "mark" });
  const cursor = element("span", { class: "cursor", hidden: "" });
  const grid = element("div", { class: "grid" }, canvas, mark, cursor);
  const frame = element("div", { class: "frame" }, grid);
  const box = element("figure", { "data-stage": name }, caption, frame, note);
  let stage = null, values = null, order = null, neuron = null, token = "", columns = 1, rows = 1;
  let place = null; // of the keyboard's cursor
  let painted = []; // what the canvas shows

  // A pixel a value; the page stretches them.
  function paint(theme) {
    const wanted = [values, order, columns, rows, stage.largest, theme];
    if (wanted.every((each, at) => each === painted[at])) return;
    painted = wanted;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const colour = signedScale(theme, stage.largest);
    for (let at = 0; at < values.length; at++) pixels[at] = colour(values[entryOf(at)]);
    putImage(canvas, image);
  }

  const entryOf = (at) => (order ? order[at] : at);
  const placeOf = (entry) => (order ? order.indexOf(entry) : entry);

  function moveTo(mark, at) {
    mark.style.left = `${((at % columns) + 0.5) * (100 / columns)}%`;
    mark.style.top = `${(Math.floor(at / columns) + 0.5) * (100 / rows)}%`;
  }

  function tell(at, x, y, aloud) {
    const kind = order ? "neuron" : "dimension";
    const parts = [element("bdi", { text: token }), ` · ${kind} ${entryOf(at)} · `, element("b", { text: number(values[entryOf(at)]) })];
    const outer = tip.parts[0].parentNode.getBoundingClientRect();
    const left = (own, all) => Math.max(0, Math.min(x - outer.left + 14, all - own));
    tip.show((own, all) => ({ left: left(own, all), top: y - outer.top + 14 }), parts, aloud);
  }

  function tellCursor() {
    cursor.hidden = false;
    moveTo(cursor, place);
    const { left, top } = cursor.getBoundingClientRect();
    tell(place, left, top, true);
  }

  function leave() {
    place = null;
    cursor.hidden = true;
    tip.hide();
  }

  function placeAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - bounds.left) / bounds.width) * columns);
    const row = Math.floor(((event.clientY - bounds.top) / bounds.height) * rows);
    return Math.max(0, Math.min(values.length - 1, row * columns + column));
  }

  canvas.onpointermove = (event) => {
    if (place !== null) leave();
    tell(placeAt(event), event.clientX, event.clientY, false);
  };
  canvas.onpointerleave = () => { if (place === null) tip.hide(); };
  canvas.onblur = leave;
  canvas.onclick = (event) => { if (order) choose(entryOf(placeAt(event))); };
  canvas.onkeydown = (event) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity, End: Infinity };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      const start = order && neuron !== null ? placeOf(neuron) : 0;
      // The first key shows where the cursor is, the next ones move it.
      const next = place === null && Number.isFinite(move) ? start : (place ?? start) + move;
      if (!Number.isFinite(next) || place === null) place = Math.max(0, Math.min(values.length - 1, next));
      else if (next >= 0 && next < values.length) place = next;
      tellCursor();
    } else if (event.key === "Enter" && order && place !== null) {
      tip.say(`Neuron ${entryOf(place)} is chosen.`);
      choose(entryOf(place));
    }
  };

  return {
    box,
    speaks: () => place !== null,
    // `most` is how many numbers the largest stage holds.
    update(shown, data, layout, most, theme, stretch) {
      [stage, values, neuron, token] = [shown, data.arrays[name], data.neuron, data.token];
      order = stage.neurons ? data.arrays.order : null;
      columns = layout.columns(values.length, most);
      rows = Math.ceil(values.length / columns);
      paint(theme);
      canvas.style.aspectRatio = `${columns * layout.shape} / ${rows * stretch}`;
      canvas.classList.toggle("neurons", stage.neurons);
      const keys = stage.neurons ? "Arrow keys move, Enter chooses a neuron." : "Arrow keys move.";
      canvas.setAttribute("aria-label", `${stage.title} ${stage.shape}: ${stage.note}. ${keys}`);
      frame.style.width = layout === NARROW ? `${(100 * values.length) / most}%` : "";
      mark.hidden = !stage.neurons || neuron === null;
      if (!mark.hidden) moveTo(mark, placeOf(neuron));
      (stage.door ? door : title).textContent = stage.title;
      if (stage.door && !door.isConnected) title.replaceChildren(door);
      door.title = `To “${stage.door}”`;
      shape.textContent = stage.shape;
      note.textContent = stage.beyond ? `${stage.note}; scale to ±${number(stage.largest)}` : stage.note;
      if (place !== null && place >= values.length) leave();
      if (place !== null) tellCursor();
    },
  };
}
