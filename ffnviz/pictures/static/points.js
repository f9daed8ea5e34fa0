// A square in which a person puts points of two classes, over what a network makes of them.

import { element } from "./element.js";
import { draw, FOUND, scaleOf } from "./points_canvas.js";
import { makeUnanswered } from "./unanswered.js";

/** @import { Head } from "./head.js" */

export const styles = ["points.css"];

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const inOrder = (points) => points.map(String).sort().join(" ");

/**
 * What `PointEditor` sends.
 *
 * @typedef {{
 *   points: [number, number, number][], side: number, most: number, classes: [string, string],
 *   label: string, head: Head, arrays: { score: Float32Array, lines: Float32Array }
 * }} Data
 */

export function mount(tell) {
  const canvas = element("canvas", { tabindex: "0", role: "application" });
  const status = element("div", { class: "told", role: "status", "aria-live": "polite" });
  const choice = (first) => element("button", { type: "button", onclick: () => { chosen = first; paint(); } });
  const kinds = [choice(true), choice(false)];
  const clear = element("button", { type: "button", class: "clear", text: "Clear", onclick: () => change([]) });
  const tools = element("div", { class: "kinds action", role: "group", "aria-label": "Class of the next point" }, ...kinds, clear);
  const root = element("figure", { class: "points" }, tools, canvas, status);
  /** @type {Data} */
  let shown;
  let colours = null, points = [], chosen = true, cursor = null;
  const unanswered = makeUnanswered(inOrder);

  function paint() {
    if (!shown) return;
    kinds.forEach((button, place) => {
      const sign = element("span", { text: place ? "■" : "●", "aria-hidden": "true" });
      sign.style.color = place ? colours.negative_mid : colours.positive_mid;
      button.replaceChildren(sign, ` ${shown.classes[place]}`);
      button.setAttribute("aria-pressed", String(chosen === !place));
    });
    const counts = [true, false].map((first) => points.filter((point) => point[2] === first).length);
    canvas.setAttribute("aria-label",
      `${shown.label}: ${counts[0]} ${shown.classes[0]}, ${counts[1]} ${shown.classes[1]}. ` +
      "Arrow keys move, with Shift further; Enter puts a point, or takes away the one that is there.");
    draw(canvas, { score: shown.arrays.score, lines: shown.arrays.lines, side: shown.side }, points, cursor, colours);
  }

  function change(next) {
    points = next;
    paint();
    const said = points.map(([x, y, first]) => [x, y, first ? 1 : 0]);
    unanswered.add(said);
    tell("points", said);
  }

  // Takes the point that is there, or puts one; says so to whoever does not see it.
  function toggle(place, there) {
    const [x, y] = place;
    const name = (first) => shown.classes[first ? 0 : 1];
    if (there >= 0) {
      status.textContent = `${name(points[there][2])} taken away`;
      change(points.filter((_, i) => i !== there));
    } else if (points.length < shown.most) {
      status.textContent = `${name(chosen)} put`;
      change([...points, [x, y, chosen]]);
    } else {
      status.textContent = `There is room for ${shown.most} points.`;
    }
  }

  canvas.onpointerdown = (event) => {
    const box = canvas.getBoundingClientRect(), scale = scaleOf(box.width, shown.side);
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const apart = points.map((point) => Math.hypot(scale.x(point[0]) - x, scale.y(point[1]) - y));
    const nearest = apart.indexOf(Math.min(...apart));
    cursor = null;
    toggle(scale.place(x, y), nearest >= 0 && apart[nearest] <= FOUND ? nearest : -1);
  };
  canvas.onkeydown = (event) => {
    const [dx, dy] = MOVES[event.key] ?? [0, 0];
    if (!dx && !dy && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    const middle = Math.floor(shown.side / 2);
    const [x, y] = cursor ?? [middle, middle];
    if (dx || dy) {
      const far = event.shiftKey ? 8 : 1, within = (value) => Math.max(0, Math.min(shown.side - 1, value));
      cursor = [within(x + far * dx), within(y + far * dy)];
      status.textContent = `column ${cursor[0]}, row ${cursor[1]}`;
      paint();
    } else {
      cursor = [x, y];
      toggle(cursor, points.findIndex((point) => point[0] === x && point[1] === y));
    }
  };
  canvas.onblur = () => { cursor = null; paint(); };
  const resized = new ResizeObserver(paint);
  resized.observe(canvas);

  return {
    element: root,
    saves: {
      rows: () => [["class", "x", "y"], ...points.map(([x, y, first]) =>
        [shown.classes[first ? 0 : 1], ...[x, y].map((place) => Number(((place / (shown.side - 1)) * 2 - 1).toFixed(4)))])],
    },
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      if (!unanswered.overtakes(data.points)) points = data.points.map(([x, y, first]) => [x, y, first === 1]);
      paint();
    },
    destroy() { resized.disconnect(); },
  };
}
