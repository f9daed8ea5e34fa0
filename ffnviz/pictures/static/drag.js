// What is dragged: lines of a list, corners of a line, and a curve.

import { sharpContext } from "./canvas.js";
import { each, element, svgElement } from "./element.js";
import { within } from "./numbers.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

// Lines of a list: each by its handle, with a mouse or a finger or the arrow keys.

const STEPS = { ArrowUp: -1, ArrowDown: 1 };

/**
 * Makes the handles of a list.
 *
 * @param list whose children are the lines, each with its handle as its last child
 * @param move called with the place of a line and the place that it goes to
 */
export function reordering(list, move) {
  let drag = null, focused = null; // the handle that has moved with its line

  function go(from, to) {
    if (from === to || to < 0 || to >= list.children.length) return;
    focused = to;
    move(from, to);
  }
  // Where the line would stand if it were let go now: before the first whose middle is below.
  function placeAt(y) {
    const others = [...list.children].filter((_, at) => at !== drag.from);
    const before = others.findIndex((line) => {
      const { top, height } = line.getBoundingClientRect();
      return y < top + height / 2;
    });
    return before < 0 ? others.length : before;
  }
  function show() {
    [...list.children].forEach((line, at) => {
      line.classList.toggle("dragged", at === drag?.from);
      line.classList.toggle("before", Boolean(drag) && at === drag.to && drag.to < drag.from);
      line.classList.toggle("after", Boolean(drag) && at === drag.to && drag.to > drag.from);
    });
  }
  function stop(moves) {
    const done = drag;
    drag = null;
    show();
    if (done && moves) go(done.from, done.to);
  }

  return {
    handle(at) {
      const handle = element("button", {
        type: "button", class: "handle", text: "⠿", title: "Drag it, or move it with ↑ and ↓",
        onpointerdown: (event) => {
          event.preventDefault();
          handle.setPointerCapture(event.pointerId);
          handle.focus();
          drag = { from: at, to: at };
          show();
        },
        onpointermove: ({ clientY }) => {
          if (!drag) return;
          drag.to = placeAt(clientY);
          show();
        },
        onpointerup: () => stop(true),
        onpointercancel: () => stop(false),
        onkeydown: (event) => {
          if (event.key === "Escape") stop(false);
          const by = STEPS[event.key];
          if (!by) return;
          event.preventDefault();
          go(at, at + by);
        },
      });
      return handle;
    },
    cancel() { drag = null; },
    // Once the list stands in its new order.
    settle() {
      show();
      if (focused !== null) list.children[focused]?.lastChild.focus();
      focused = null;
    },
  };
}

// What a person has changed and the server has not yet answered: who moves fast is ahead of what
// comes back.

/**
 * @template State
 * @param {(state: State) => string} keyOf gives a text that two equal states share
 */
export function makeUnanswered(keyOf) {
  /** @type {string[]} */
  let keys = [];
  return {
    /**
     * Says that a state was sent.
     *
     * @param {State} state
     */
    add(state) { keys.push(keyOf(state)); },
    /**
     * Whether newer states than this one, which has come back, are on their way.
     *
     * @param {State} state
     */
    overtakes(state) {
      const at = keys.lastIndexOf(keyOf(state));
      keys = at < 0 ? [] : keys.slice(at + 1);
      return keys.length > 0;
    },
  };
}

// Corners of a line that are dragged over a curve: by pointer, finger, or the arrow keys.

const [WIDTH, HEIGHT] = [640, 420];
const BESIDE = 0.25; // of the grid's width, on either side of it: what lies outside
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
// Pixels around a corner that a finger may miss it by; further away it scrolls the page.
const REACH = 44;
const ROUND = { ".handle": "11", ".sample": "5" };

/**
 * What `handles_cell` sends.
 *
 * @typedef {{
 *   head: Head, label: string, side: number, accent: string, corners: [number, number][],
 *   curve: [number[], number[]], samples: [number[], number[]]
 * }} HandlesData
 */

export function mountHandles(tell) {
  const outside = svgElement("g"), curve = svgElement("path", { fill: "none", "stroke-width": 6 });
  const line = svgElement("path", { fill: "none", "stroke-width": 3 });
  const samples = svgElement("g"), handles = svgElement("g");
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group" });
  const hint = element("p", { "aria-hidden": "true" });
  svg.append(outside, curve, line, samples, handles);
  const root = element("figure", { class: "handles" }, svg, hint);
  /** @type {HandlesData} */
  let shown;
  let colours = null, corners = [], held = null;
  const unanswered = makeUnanswered(String);

  const last = () => shown.side - 1;
  const x = (column) => ((column / last() + BESIDE) / (1 + 2 * BESIDE)) * WIDTH;
  const y = (row) => HEIGHT - 10 - (row / last()) * (HEIGHT - 20);
  const path = (points) =>
    points.map(([column, row], at) => `${at ? "L" : "M"}${x(column)} ${y(row)}`).join("");

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
    each(
      outside, [-last() * BESIDE, last()], () => svgElement("rect", { y: 0, height: HEIGHT }),
      (rect, from) => {
        rect.setAttribute("x", x(from));
        rect.setAttribute("width", x(from + last() * BESIDE) - x(from));
        rect.setAttribute("fill", colours.surface);
      },
    );
    curve.setAttribute("d", path(shown.curve[0].map((column, at) => [column, shown.curve[1][at]])));
    curve.setAttribute("stroke", colours.muted);
    line.setAttribute("d", path(whole()));
    line.setAttribute("stroke", accent);
    each(
      samples, shown.samples[0], () => svgElement("circle", { r: ROUND[".sample"] }),
      (dot, column, at) => {
        dot.setAttribute("cx", x(column));
        dot.setAttribute("cy", y(shown.samples[1][at]));
        dot.setAttribute("fill", colours.text);
      },
    );
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
    const dot = svgElement("circle", {
      r: ROUND[".handle"], "stroke-width": 4, tabindex: 0, role: "slider", "aria-valuemin": 0,
    });
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
    const box = svg.getBoundingClientRect();
    const scale = Math.min(box.width / WIDTH, box.height / HEIGHT);
    const left = (event.clientX - box.left - (box.width - scale * WIDTH) / 2) / scale;
    const down = (event.clientY - box.top - (box.height - scale * HEIGHT) / 2) / scale;
    return [
      ((left / WIDTH) * (1 + 2 * BESIDE) - BESIDE) * last(),
      ((HEIGHT - 10 - down) / (HEIGHT - 20)) * last(),
    ];
  }

  // The corner that is meant, and whether a finger can have meant it.
  function aimed(event) {
    const [column, row] = place(event), { left, right } = svg.getBoundingClientRect();
    const far = corners.map(([a, b]) => Math.hypot(x(a) - x(column), (y(b) - y(row)) / 2));
    const at = far.indexOf(Math.min(...far));
    return [at, far[at] * (right - left) < REACH * WIDTH];
  }
  svg.addEventListener("touchstart", (event) => {
    if (aimed(event.touches[0])[1]) event.preventDefault();
  }, { passive: false });
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
    saves: {
      rows: () => [
        ["corner", "column", "row"], ...corners.map(([column, row], at) => [at + 1, column, row]),
      ],
    },
    /** @param {HandlesData} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      const overtaken = unanswered.overtakes(data.corners);
      if (held === null && !overtaken) corners = data.corners.map((corner) => [...corner]);
      paint();
    },
    destroy() {},
  };
}

// A curve that is drawn over: by pointer, finger, or the arrow keys.

const STEP = 0.05;
const CURVE_HEIGHT = 150;
const EDGE = 8; // of the canvas, in which no point lies

// Draws the curve and the point that the arrow keys move.
function draw(canvas, values, at, theme, accent) {
  const width = canvas.clientWidth, context = sharpContext(canvas, width, CURVE_HEIGHT);
  const x = (i) => (i / (values.length - 1)) * (width - 2 * EDGE) + EDGE;
  const y = (value) => ((1 - value) / 2) * (CURVE_HEIGHT - 2 * EDGE) + EDGE;
  context.strokeStyle = theme.line;
  context.beginPath();
  context.moveTo(EDGE, y(0));
  context.lineTo(width - EDGE, y(0));
  context.stroke();
  context.strokeStyle = colourOf(accent, theme);
  context.lineWidth = 3;
  context.beginPath();
  values.forEach((value, i) => context[i ? "lineTo" : "moveTo"](x(i), y(value)));
  context.stroke();
  if (at === null) return;
  context.fillStyle = theme.text;
  context.beginPath(); context.arc(x(at), y(values[at]), 6, 0, 7); context.fill();
}

/**
 * What `drawing_cell` sends.
 *
 * @typedef {{ label: string, values: number[], accent: string }} DrawingData
 */

export function mountDrawing(tell) {
  const name = element("p");
  const canvas = element("canvas", {
    tabindex: "0", role: "slider", "aria-valuemin": "-1", "aria-valuemax": "1",
  });
  const root = element("div", { class: "drawing" }, name, canvas);
  /** @type {DrawingData} */
  let shown;
  let colours = null, values = [], at = null, busy = false, last = null;

  function paint() {
    if (!shown) return;
    const middle = at ?? Math.floor(values.length / 2);
    canvas.setAttribute("aria-label", `${shown.label}: point ${middle + 1} of ${values.length}`);
    canvas.setAttribute("aria-valuenow", values[middle].toFixed(2));
    draw(canvas, values, at, colours, shown.accent);
  }

  const done = () => tell("curve", values.map((value) => Math.round(value * 100) / 100));

  function place(event) {
    const box = canvas.getBoundingClientRect(), end = values.length - 1;
    const i = Math.round(((event.clientX - box.left - EDGE) / (box.width - 2 * EDGE)) * end);
    const value = 1 - (2 * (event.clientY - box.top - EDGE)) / (CURVE_HEIGHT - 2 * EDGE);
    return [within(i, 0, end), within(value, -1, 1)];
  }

  // A quick stroke skips places: those between two reports lie on a straight line.
  function stroke(event) {
    const [i, value] = place(event), [from, start] = last ?? [i, value];
    const step = Math.sign(i - from) || 1;
    for (let k = from; k !== i + step; k += step) {
      values[k] = i === from ? value : start + ((value - start) * (k - from)) / (i - from);
    }
    last = [i, value];
    paint();
  }

  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    busy = true;
    last = at = null;
    stroke(event);
  };
  canvas.onpointermove = (event) => { if (busy) stroke(event); };
  canvas.onpointerup = canvas.onpointercancel = () => { if (busy) { busy = false; done(); } };
  canvas.onkeydown = (event) => {
    const [dx, dy] = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP],
    }[event.key] ?? [0, 0];
    if (!dx && !dy) return;
    event.preventDefault();
    const end = values.length - 1;
    at = within((at ?? Math.floor(end / 2)) + dx, 0, end);
    values[at] = within(values[at] + dy, -1, 1);
    paint();
    if (dy) done();
  };
  canvas.onblur = () => { at = null; paint(); };
  const resized = new ResizeObserver(paint);
  resized.observe(root);

  return {
    element: root,
    /** @param {DrawingData} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      name.textContent = data.label;
      if (!busy) values = [...data.values];
      if (at !== null) at = Math.min(at, values.length - 1);
      paint();
    },
    destroy() { resized.disconnect(); },
  };
}
