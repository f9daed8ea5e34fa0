// A chart by keyboard: arrow keys go from point to point, each with Plotly's own tooltip, which is
// told to a screen reader; Enter does what a click does.

import { element } from "./element.js";

const REST_MS = 60; // Plotly shows no two tooltips within 50 ms
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const TURNS = { PageDown: 1, PageUp: -1 };

const inside = (value, n) => Math.max(0, Math.min(n - 1, value));

/**
 * Makes a plot answer to keys.
 *
 * @param plot the element that Plotly draws into
 * @param choose called with a point's customdata
 */
export function makeKeys(plot, choose) {
  const ring = element("span", { class: "ring", hidden: "" });
  const status = element("div", { class: "told", role: "status", "aria-live": "polite" });
  let lanes = [], lane = 0; // the traces that have points, and which of them the cursor is in
  let at = null, active = false; // the cursor's place in its lane; whether it is shown
  let resting = 0, moved = false;

  const number = () => lanes[lane].numbers[at];

  // To another trace, at the same point if it is there.
  function turn(by) {
    const here = number();
    lane = (lane + by + lanes.length) % lanes.length;
    const same = lanes[lane].numbers.indexOf(here);
    at = inside(same < 0 ? at : same, lanes[lane].numbers.length);
  }

  function move(key) {
    const { numbers, columns, table, sideways, right, up } = lanes[lane];
    const [x, y] = ARROWS[key] ?? [0, 0];
    if (TURNS[key]) turn(TURNS[key]);
    else if (table) {
      const row = inside(Math.floor(at / columns) + y * up, numbers.length / columns);
      at = row * columns + inside((at % columns) + x * right, columns);
    } else if (sideways ? x : y) turn(sideways ? x : -y);
    else at = inside(at + (sideways ? y * up : x * right), numbers.length);
  }

  function mark() {
    const { left, top } = lanes[lane].spot(number());
    ring.hidden = !(Number.isFinite(left) && Number.isFinite(top));
    Object.assign(ring.style, { left: `${left}px`, top: `${top}px` });
  }

  function show() {
    clearTimeout(resting);
    moved = false;
    mark();
    window.Plotly.Fx.hover(plot, ...lanes[lane].hovered(number()));
    resting = setTimeout(() => {
      resting = 0;
      if (moved) show();
      else tell();
    }, REST_MS);
  }

  // A tooltip need not name the token that it stands over, so that is said first. A point without a
  // tooltip is described by its name and numbers.
  function tell() {
    const place = lanes[lane].place(number()), shown = tooltip(plot);
    const rest = shown.length ? shown : lanes[lane].more(number());
    const said = new Set(shown.flatMap((line) => line.split(/[\s,:]+/)));
    const where = shown.length ? place.slice(0, 1).filter((part) => !said.has(part)) : place;
    status.textContent = [...where, ...rest].filter((part) => part !== "").join(", ");
  }

  function hide() {
    clearTimeout(resting);
    resting = 0;
    ring.hidden = true;
    status.textContent = "";
    if (active && plot._fullLayout) window.Plotly.Fx.unhover(plot);
    active = false;
  }

  plot.onkeydown = (event) => {
    if (!lanes.length) return;
    const { key } = event;
    if (key in ARROWS || key in TURNS || key === "Home" || key === "End") {
      event.preventDefault();
      if (key === "Home") at = 0;
      else if (key === "End") at = lanes[lane].numbers.length - 1;
      else if (active) move(key);
      at ??= 0; // the first key shows where the cursor is, the next ones move it
      moved = active = true;
      if (resting) mark();
      else show();
    } else if (key === "Enter" && active) choose(lanes[lane].customdata(number()));
    else if (key === "Escape") hide();
  };
  plot.onblur = hide;
  plot.onpointermove = () => { if (active) hide(); };

  return {
    parts: [ring, status],
    // After Plotly has drawn: the points are new, the cursor stays where it was.
    update() {
      lanes = lanesOf(plot);
      if (lanes.length) plot.tabIndex = 0;
      else plot.removeAttribute("tabindex");
      plot.setAttribute("role", lanes.length ? "application" : "img");
      lane = inside(lane, Math.max(1, lanes.length));
      if (!lanes.length) {
        hide();
        at = null;
      } else if (at !== null) {
        at = inside(at, lanes[lane].numbers.length);
        if (active) show();
      }
    },
    destroy: hide,
  };
}

// The points of a drawn chart: which there are, where they stand, and what they are called.

const isThere = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const plain = (text) => String(text).replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

// A place on an axis as the axis names it.
function named(value, axis = {}) {
  const at = axis.tickvals && axis.ticktext ? Array.from(axis.tickvals).indexOf(value) : -1;
  if (at >= 0) return plain(axis.ticktext[at]);
  return typeof value === "number" ? String(Number(value.toPrecision(3))) : plain(value);
}

// The points of one trace in their order, or the cells of a table, row by row. Null if there are
// none, or if a tooltip would not show them.
function lane(plot, trace, curve) {
  if (trace.visible !== true || trace.hoverinfo === "skip") return null;
  const [xaxis, yaxis] = ["x", "y"].map((letter) =>
    plot._fullLayout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`]);
  const table = trace.type === "heatmap";
  const columns = table ? trace.z[0]?.length ?? 0 : 1;
  const n = table ? trace.z.length * columns : Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
  const cell = (i) => (table ? [Math.floor(i / columns), i % columns] : [i, i]);
  const xOf = (i) => (trace.x ? trace.x[cell(i)[1]] : cell(i)[1]);
  const yOf = (i) => (trace.y ? trace.y[cell(i)[0]] : cell(i)[0]);
  const numbers = Array.from({ length: n }, (_, i) => i).filter((i) => isThere(xOf(i)) && isThere(yOf(i)));
  if (!numbers.length) return null;
  const sideways = trace.orientation === "h";
  const entry = (values, i) => (table ? values[cell(i)[0]]?.[cell(i)[1]] : values[i]);
  return {
    numbers, // of the points, as Plotly counts them
    columns,
    table,
    sideways,
    // Whether the axes run to the right and upwards.
    right: xaxis.range[1] < xaxis.range[0] ? -1 : 1,
    up: yaxis.range[1] < yaxis.range[0] ? -1 : 1,
    customdata: (i) => (trace.customdata ? entry(trace.customdata, i) : undefined),
    // What Plotly.Fx.hover wants: the point, a cell by its place, and the pair of axes it is drawn on.
    hovered: (i) => [
      [{ curveNumber: curve, ...(table ? { xval: xaxis.d2c(xOf(i)), yval: yaxis.d2c(yOf(i)) } : { pointNumber: i }) }],
      (trace.xaxis ?? "x") + (trace.yaxis ?? "y"),
    ],
    // In pixels of the plot. Plotly knows where it drew a bar; other points stand where they say.
    spot(i) {
      const [x, y] = (!table && plot.calcdata[curve]?.[i]?.ct) || [xaxis.d2p(xOf(i)), yaxis.d2p(yOf(i))];
      return { left: xaxis._offset + x, top: yaxis._offset + y };
    },
    // Where it stands: first what it belongs to, a token for example, then how much it is.
    place: (i) => (sideways ? [named(yOf(i), yaxis), named(xOf(i), xaxis)] : [named(xOf(i), xaxis), named(yOf(i), yaxis)]),
    more: (i) => [...(table ? [named(trace.z[cell(i)[0]][cell(i)[1]])] : []), plain(plot.data[curve].name ?? "")],
  };
}

const lanesOf = (plot) =>
  plot._fullData.map((trace, curve) => lane(plot, trace, curve)).filter((found) => found !== null);

// The lines of the tooltip that is shown: the numbers, then the name beside them.
function tooltip(plot) {
  const linesOf = (text) => {
    const lines = [...text.querySelectorAll("tspan.line")];
    return (lines.length ? lines : [text]).map((line) => line.textContent.trim());
  };
  return [...plot.querySelectorAll(".hoverlayer .hovertext")]
    .flatMap((label) => [".nums", ".name"].flatMap((part) => [...label.querySelectorAll(part)].flatMap(linesOf)))
    .filter((line) => line !== "");
}
