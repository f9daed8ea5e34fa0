// One station of a block: a button with its name, and a map of what it hands on, a lane a token.

import { putImage } from "./canvas.js";
import { element } from "./element.js";
import { number } from "./numbers.js";
import { signedScale } from "./scale.js";

const placed = (node, { left, top, width, height }) =>
  Object.assign(node.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });

// A long name with places where it may be broken.
const broken = (title) => title.replace("LayerNorm", "Layer\u00adNorm").replace("attention", "atten\u00adtion");

// A pixel a value, tokens across the flow; the page stretches them.
function paintMap(canvas, values, n, colour, narrow) {
  const columns = values.length / n;
  const image = narrow ? new ImageData(n, columns) : new ImageData(columns, n);
  const pixels = new Uint32Array(image.data.buffer);
  for (let token = 0; token < n; token++) {
    for (let k = 0; k < columns; k++) pixels[narrow ? k * n + token : token * columns + k] = colour(values[token * columns + k]);
  }
  putImage(canvas, image);
}

/**
 * Makes one station.
 *
 * @param tip what names the token pointed at, within the picture
 * @param choose called with the station's name, and the token whose row of a map was clicked, if any
 */
export function makeStation(tip, choose) {
  const title = element("b"), note = element("small");
  const button = element("button", { type: "button", class: "station" }, title, note);
  const maps = new Map();
  const box = element("div", { class: "at" }, button);
  let shown = null, station = null, layout = null;

  const tokenAt = (event) => {
    const bounds = event.currentTarget.getBoundingClientRect(), n = shown.words.length;
    const share = layout.narrow ? (event.clientX - bounds.left) / bounds.width : (event.clientY - bounds.top) / bounds.height;
    return Math.max(0, Math.min(n - 1, Math.floor(share * n)));
  };

  function makePart() {
    const canvas = element("canvas", { "aria-hidden": "true" }), mark = element("span", { class: "row" });
    const part = element("div", { class: "map" }, canvas, mark);
    part.onclick = (event) => choose(station.name, tokenAt(event));
    part.onpointermove = (event) => {
      const token = tokenAt(event), outer = tip.parts[0].parentNode.getBoundingClientRect();
      tip.show((own, all) => ({
        left: Math.max(0, Math.min(event.clientX - outer.left + 14, all - own)), top: event.clientY - outer.top + 16,
      }), [element("bdi", { text: shown.words[token] }), ` · ${station.title}: norm `,
        element("b", { text: number(shown.arrays[`norms.${station.name}`][token]) })], false);
    };
    part.onpointerleave = () => tip.hide();
    return part;
  }
  button.onclick = () => choose(station.name, null);

  return {
    box, button,
    update(data, at, laid, plan, theme) {
      [shown, station, layout] = [data, data.stations[at], plan];
      const whole = plan.whole(laid);
      placed(button, whole);
      title.textContent = plan.tight ? broken(station.title) : station.title;
      note.textContent = station.note;
      button.setAttribute("aria-pressed", String(data.station === station.name));
      button.setAttribute("aria-label", `${at + 1} of ${data.stations.length}: ${station.title}. ${station.note}.`);
      const wanted = laid.parts.filter(({ kind }) => kind === "map" || kind === "hidden");
      for (const [kind, part] of maps) if (!wanted.some((each) => each.kind === kind)) { part.remove(); maps.delete(kind); }
      for (const { kind, start, end } of wanted) {
        if (!maps.has(kind)) { maps.set(kind, makePart()); box.append(maps.get(kind)); }
        const part = maps.get(kind), [canvas, mark] = part.children;
        placed(part, plan.lanes(start, end));
        const hidden = kind === "hidden";
        paintMap(canvas, data.arrays[hidden ? "map.hidden" : `map.${station.name}`], data.words.length,
          signedScale(theme, hidden ? station.largest_hidden : station.largest), plan.narrow);
        const { from, size } = plan.row(data.token);
        Object.assign(mark.style, plan.narrow
          ? { left: `${from}%`, width: `${size}%`, top: "0", height: "100%" }
          : { top: `${from}%`, height: `${size}%`, left: "0", width: "100%" });
      }
    },
  };
}
