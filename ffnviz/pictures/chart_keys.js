// A chart by keyboard: arrow keys go from point to point, each with Plotly's own tooltip, which is
// told to a screen reader; Enter does what a click does.

import { element } from "./element.js";

const REST_MS = 60; // Plotly shows no two tooltips within 50 ms

const isPoint = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// The points of a trace that can be pointed at, by their number; of a table, its cells.
function pointsOf(trace, curve) {
  if (trace.visible !== true || trace.hoverinfo === "skip") return null;
  if (trace.type === "heatmap") {
    const rows = trace.z.length, columns = trace.z[0]?.length ?? 0;
    return rows * columns ? { curve, trace, rows, columns } : null;
  }
  const n = Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
  const points = Array.from({ length: n }, (_, i) => i)
    .filter((i) => isPoint(trace.x ? trace.x[i] : i) && isPoint(trace.y ? trace.y[i] : i));
  return points.length ? { curve, trace, points } : null;
}

// What an arrow key means: a step along the points, across to another trace, or in a table.
function stepOf(key, { trace, points }, layout) {
  const [right, up] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key] ?? [0, 0];
  const turn = { PageDown: 1, PageUp: -1 }[key] ?? 0;
  if (!points) {
    const upwards = ([lowest, highest]) => (highest < lowest ? -1 : 1);
    const [x, y] = axesOf(trace, layout);
    return { column: right * upwards(x.range), row: up * upwards(y.range), turn };
  }
  return trace.orientation === "h" ? { along: up, turn: right || turn } : { along: right, turn: -up || turn };
}

const axesOf = (trace, layout) =>
  ["x", "y"].map((letter) => layout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`]);

const plain = (text) => String(text).replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

// A place on an axis as the axis names it.
function named(axis, value) {
  const at = axis.tickvals ? Array.from(axis.tickvals).indexOf(value) : -1;
  if (at >= 0 && axis.ticktext) return plain(axis.ticktext[at]);
  return typeof value === "number" ? String(Number(value.toPrecision(3))) : plain(value);
}

export function makeKeys(plot, choose) {
  const ring = element("span", { class: "ring", hidden: "" });
  const told = element("div", { class: "told", role: "status", "aria-live": "polite" });
  let lanes = [], lane = 0, at = null, active = false, resting = 0, moved = false;

  const cellOf = (table) => [Math.floor(at / table.columns), at % table.columns];

  function valueOf(values) {
    const { points, ...table } = lanes[lane];
    return points ? values[points[at]] : values[cellOf(table)[0]]?.[cellOf(table)[1]];
  }

  // Where the point stands and what it is called, should Plotly have no tooltip for it.
  function words(layout) {
    const { trace, points, ...table } = lanes[lane];
    const [row, column] = points ? [points[at], points[at]] : cellOf(table);
    const [x, y] = axesOf(trace, layout);
    const place = [named(x, trace.x ? trace.x[column] : column), named(y, trace.y ? trace.y[row] : row)];
    return { place, value: points ? [] : [named({}, trace.z[row][column])] };
  }

  function tooltip() {
    const lines = [...plot.querySelectorAll(".hoverlayer .hovertext .nums, .hoverlayer .hovertext .name")]
      .map((text) => [...(text.querySelectorAll("tspan.line").length ? text.querySelectorAll("tspan.line") : [text])]
        .map((line) => line.textContent.trim()).join(", "));
    return lines.filter((line) => line !== "");
  }

  function show() {
    clearTimeout(resting);
    moved = false;
    const layout = plot._fullLayout, { curve, trace, points, ...table } = lanes[lane];
    const subplot = (trace.xaxis ?? "x") + (trace.yaxis ?? "y");
    window.Plotly.Fx.hover(plot, [{ curveNumber: curve, pointNumber: points ? points[at] : cellOf(table) }], subplot);
    mark(layout, trace);
    resting = setTimeout(() => { if (moved) show(); else tell(layout); }, REST_MS);
  }

  function mark(layout, trace) {
    const [x, y] = axesOf(trace, layout);
    const { place: _, ...spot } = spotOf(x, y);
    ring.hidden = !(Number.isFinite(spot.left) && Number.isFinite(spot.top));
    Object.assign(ring.style, { left: `${spot.left}px`, top: `${spot.top}px` });
  }

  // Plotly knows where it drew a bar; any other point stands where its numbers say.
  function spotOf(x, y) {
    const { curve, trace, points, ...table } = lanes[lane];
    const drawn = points && plot.calcdata[curve]?.[points[at]]?.ct;
    if (drawn) return { left: x._offset + drawn[0], top: y._offset + drawn[1] };
    const [row, column] = points ? [points[at], points[at]] : cellOf(table);
    return {
      left: x._offset + x.d2p(trace.x ? trace.x[column] : column),
      top: y._offset + y.d2p(trace.y ? trace.y[row] : row),
    };
  }

  function tell(layout) {
    if (!active) return;
    const { trace } = lanes[lane];
    const { place, value } = words(layout);
    const shown = tooltip();
    const rest = shown.length ? shown : [...value, trace.name ?? ""].filter((part) => part !== "");
    // A tooltip need not say which token it stands over, which who sees it can see.
    const where = shown.length ? place.slice(trace.orientation === "h" ? 1 : 0).slice(0, 1) : place;
    told.textContent = [...where.filter((part) => !rest.some((line) => line.includes(part))), ...rest].join(", ");
  }

  function hide() {
    clearTimeout(resting);
    ring.hidden = true;
    told.textContent = "";
    if (active && window.Plotly && plot._fullLayout) window.Plotly.Fx.unhover(plot);
    active = false;
  }

  const length = () => { const { points, rows, columns } = lanes[lane]; return points ? points.length : rows * columns; };

  function move(key) {
    const now = lanes[lane], step = stepOf(key, now, plot._fullLayout);
    if (step.turn) {
      const place = now.points ? now.points[at] : at;
      lane = (lane + step.turn + lanes.length) % lanes.length;
      const same = lanes[lane].points ? lanes[lane].points.indexOf(place) : place;
      at = Math.max(0, Math.min(length() - 1, same < 0 ? at : same));
    } else if (now.points) {
      at = Math.max(0, Math.min(length() - 1, at + step.along));
    } else {
      const [row, column] = cellOf(now);
      const inside = (value, n) => Math.max(0, Math.min(n - 1, value));
      at = inside(row + step.row, now.rows) * now.columns + inside(column + step.column, now.columns);
    }
  }

  plot.addEventListener("keydown", (event) => {
    if (!lanes.length) return;
    if (/^(Arrow(Left|Right|Up|Down)|Page(Up|Down)|Home|End)$/.test(event.key)) {
      event.preventDefault();
      if (at === null) at = 0;
      else if (event.key === "Home") at = 0;
      else if (event.key === "End") at = length() - 1;
      else if (active) move(event.key);
      moved = active = true;
      if (ring.hidden) show();
      else mark(plot._fullLayout, lanes[lane].trace);
    } else if (event.key === "Enter" && active) {
      choose(lanes[lane].trace.customdata && valueOf(lanes[lane].trace.customdata));
    } else if (event.key === "Escape") {
      hide();
    }
  });
  plot.addEventListener("blur", hide);
  plot.addEventListener("pointermove", () => { if (active) hide(); });

  return {
    parts: [ring, told],
    // After Plotly has drawn: the points there now are. The cursor stays where it was.
    update() {
      lanes = plot._fullData.map(pointsOf).filter((found) => found !== null);
      if (lanes.length) plot.tabIndex = 0;
      else plot.removeAttribute("tabindex");
      plot.setAttribute("role", lanes.length ? "application" : "img");
      lane = Math.min(lane, Math.max(0, lanes.length - 1));
      if (at !== null) at = lanes.length ? Math.min(at, length() - 1) : null;
      if (active && at !== null) show();
    },
    destroy: hide,
  };
}
