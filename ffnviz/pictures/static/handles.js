// Corners of a line that are dragged over a curve: by pointer, finger, or the arrow keys.

import { svgElement } from "./block_lanes.js";
import { makeUnanswered } from "./drag.js";
import { each, element } from "./element.js";
import { within } from "./numbers.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

const [WIDTH, HEIGHT] = [640, 420];
const BESIDE = 0.25; // of the grid's width, on either side of it: what lies outside
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const REACH = 44; // pixels around a corner that a finger may miss it by; further away it scrolls the page
const ROUND = { ".handle": "11", ".sample": "5" };

/**
 * What `handles_cell` sends.
 *
 * @typedef {{
 *   head: Head, label: string, side: number, accent: string, corners: [number, number][],
 *   curve: [number[], number[]], samples: [number[], number[]]
 * }} Data
 */

export function mount(tell) {
  const outside = svgElement("g"), curve = svgElement("path", { fill: "none", "stroke-width": 6 });
  const line = svgElement("path", { fill: "none", "stroke-width": 3 });
  const samples = svgElement("g"), handles = svgElement("g");
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group" });
  const hint = element("p", { "aria-hidden": "true" });
  svg.append(outside, curve, line, samples, handles);
  const root = element("figure", { class: "handles" }, svg, hint);
  /** @type {Data} */
  let shown;
  let colours = null, corners = [], held = null;
  const unanswered = makeUnanswered(String);

  const last = () => shown.side - 1;
  const x = (column) => ((column / last() + BESIDE) / (1 + 2 * BESIDE)) * WIDTH;
  const y = (row) => HEIGHT - 10 - (row / last()) * (HEIGHT - 20);
  const path = (points) => points.map(([column, row], at) => `${at ? "L" : "M"}${x(column)} ${y(row)}`).join("");

  // Constant before the first corner, and straight on after the last.
  function whole() {
    const [[first, row], [[a, b], [c, d]]] = [corners[0], corners.slice(-2)];
    const end = last() * (1 + BESIDE);
    return [[first - last() * BESIDE, row], ...corners, [end, d + ((end - c) * (d - b)) / (c - a)]];
  }

  function paint() {
    if (!shown) return;
    const accent = colourOf(shown.accent, colours);
    svg.setAttribute("aria-label", shown.label);
    each(outside, [-last() * BESIDE, last()], () => svgElement("rect", { y: 0, height: HEIGHT }), (rect, from) => {
      rect.setAttribute("x", x(from));
      rect.setAttribute("width", x(from + last() * BESIDE) - x(from));
      rect.setAttribute("fill", colours.surface);
    });
    curve.setAttribute("d", path(shown.curve[0].map((column, at) => [column, shown.curve[1][at]])));
    curve.setAttribute("stroke", colours.muted);
    line.setAttribute("d", path(whole()));
    line.setAttribute("stroke", accent);
    each(samples, shown.samples[0], () => svgElement("circle", { r: ROUND[".sample"] }), (dot, column, at) => {
      dot.setAttribute("cx", x(column));
      dot.setAttribute("cy", y(shown.samples[1][at]));
      dot.setAttribute("fill", colours.text);
    });
    each(handles, corners, make, (dot, [column, row], at) => {
      dot.setAttribute("cx", x(column));
      dot.setAttribute("cy", y(row));
      dot.setAttribute("fill", colours.background);
      dot.setAttribute("stroke", accent);
      dot.setAttribute("aria-label", `corner ${at + 1} of ${corners.length}`);
      dot.setAttribute("aria-valuetext", `column ${column}, row ${row}`);
      dot.setAttribute("aria-valuenow", row);
      dot.setAttribute("aria-valuemax", last());
    });
    hint.textContent = "Drag a corner, or choose one with Tab and move it with the arrow keys.";
  }

  function make(at) {
    const dot = svgElement("circle", { r: ROUND[".handle"], "stroke-width": 4, tabindex: 0, role: "slider", "aria-valuemin": 0 });
    dot.onkeydown = (event) => {
      const [right, up] = ARROWS[event.key] ?? [0, 0];
      if (!right && !up) return;
      event.preventDefault();
      event.stopPropagation();
      move(at, corners[at][0] + right, corners[at][1] + up);
      say();
    };
    return dot;
  }

  function say() {
    unanswered.add(corners);
    tell("corners", corners.flat());
  }

  // A corner stays between its neighbours; the outer two stay in their columns.
  function move(at, column, row) {
    const ends = at === 0 || at === corners.length - 1;
    const free = () => within(Math.round(column), corners[at - 1][0] + 1, corners[at + 1][0] - 1);
    corners[at] = [ends ? corners[at][0] : free(), within(Math.round(row), 0, last())];
    paint();
  }

  function place(event) {
    const box = svg.getBoundingClientRect(), scale = Math.min(box.width / WIDTH, box.height / HEIGHT);
    const left = (event.clientX - box.left - (box.width - scale * WIDTH) / 2) / scale;
    const down = (event.clientY - box.top - (box.height - scale * HEIGHT) / 2) / scale;
    return [((left / WIDTH) * (1 + 2 * BESIDE) - BESIDE) * last(), ((HEIGHT - 10 - down) / (HEIGHT - 20)) * last()];
  }

  // The corner that is meant, and whether a finger can have meant it.
  function aimed(event) {
    const [column, row] = place(event), { left, right } = svg.getBoundingClientRect();
    const far = corners.map(([a, b]) => Math.hypot(x(a) - x(column), (y(b) - y(row)) / 2));
    const at = far.indexOf(Math.min(...far));
    return [at, far[at] * (right - left) < REACH * WIDTH];
  }
  svg.addEventListener("touchstart", (event) => { if (aimed(event.touches[0])[1]) event.preventDefault(); }, { passive: false });
  svg.onpointerdown = (event) => {
    const [at, near] = aimed(event);
    if (event.pointerType === "touch" && !near) return;
    held = at;
    svg.setPointerCapture(event.pointerId);
    move(held, ...place(event));
  };
  svg.onpointermove = (event) => { if (held !== null) move(held, ...place(event)); };
  svg.onpointerup = svg.onpointercancel = () => {
    if (held === null) return;
    held = null;
    say();
  };

  return {
    element: root,
    saves: { rows: () => [["corner", "column", "row"], ...corners.map(([column, row], at) => [at + 1, column, row])] },
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      const overtaken = unanswered.overtakes(data.corners);
      if (held === null && !overtaken) corners = data.corners.map((corner) => [...corner]);
      paint();
    },
    destroy() {},
  };
}
