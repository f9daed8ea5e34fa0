// A chart that Plotly draws: by mouse and by keyboard, and as a file.

import { fit, heightFor, isNarrow } from "./chart_fit.js";
import { element, rootOf } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { titleOf } from "./head.js";
import { plotly } from "./loading.js";
import { asFile, heading } from "./save_svg.js";
import { allowed, single } from "./saving.js";
import { roomOf } from "./spotlight.js";
import { colourOf, theme as colours, typeSize } from "./theme.js";

// A chart by keyboard: arrow keys go from point to point, each with Plotly's own tooltip, which is
// told to a screen reader; Enter does what a click does.

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
function makeKeys(plot, choose) {
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
const plain = (text) =>
  String(text ?? "").replace(/[\u2068\u2069]/g, "").replace(/<br>/g, " ").replace(/<[^>]*>/g, "")
    .replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

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
  const numbers = Array.from({ length: n }, (_, i) => i).filter((i) =>
    isThere(xOf(i)) && isThere(yOf(i))
  );
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
    // What Plotly.Fx.hover wants: the point, a cell by its place, and the pair of axes it is drawn
    // on.
    hovered: (i) => [
      [{
        curveNumber: curve,
        ...(table ? { xval: xaxis.d2c(xOf(i)), yval: yaxis.d2c(yOf(i)) } : { pointNumber: i }),
      }],
      (trace.xaxis ?? "x") + (trace.yaxis ?? "y"),
    ],
    // In pixels of the plot. Plotly knows where it drew a bar; other points stand where they say.
    spot(i) {
      const [x, y] = (!table && plot.calcdata[curve]?.[i]?.ct) ||
        [xaxis.d2p(xOf(i)), yaxis.d2p(yOf(i))];
      return { left: xaxis._offset + x, top: yaxis._offset + y };
    },
    // Where it stands: first what it belongs to, a token for example, then how much it is.
    place: (i) => (sideways
      ? [named(yOf(i), yaxis), named(xOf(i), xaxis)]
      : [named(xOf(i), xaxis), named(yOf(i), yaxis)]),
    more: (i) => [
      ...(table ? [named(trace.z[cell(i)[0]][cell(i)[1]])] : []),
      plain(plot.data[curve].name ?? ""),
    ],
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
    .flatMap((label) =>
      [".nums", ".name"].flatMap((part) => [...label.querySelectorAll(part)].flatMap(linesOf))
    )
    .filter((line) => line !== "");
}

// A chart as a file: a picture that says what it shows, or its numbers as a table.

const SIZE = { width: 1280, height: 720, type: 18 };

// A chart that was laid out for SIZE, below its title.
export async function chartAsSvg({ data, layout }, title, theme) {
  const family = layout.font.family;
  const { height, svg } = heading(title, SIZE.width, family, theme);
  const size = { width: SIZE.width, height: Math.round(SIZE.height - height) };
  const Plotly = await plotly();
  const address = await Plotly.toImage(allowed({ data, layout: { ...layout, ...size } }), {
    ...size, format: "svg",
  });
  const chart = decodeURIComponent(address.slice(address.indexOf(",") + 1));
  const placed = chart.replace("<svg ", `<svg y="${SIZE.height - size.height}" `);
  return asFile(svg + placed, SIZE.width, SIZE.height, family, theme);
}

const words = (value) => (typeof value === "string" ? plain(value) : single(value));
const axisOf = (id, letter) => `${letter}axis${(id || letter).slice(1).replace(/^1$/, "")}`;

// What a place on an axis is called: the name that stands there, if the axis has names.
function namer(axis = {}) {
  const { tickvals, ticktext } = axis;
  if (!tickvals || !ticktext || axis.type === "log") return words;
  const all = Array.from(ticktext, plain);
  const twice = new Set(all.filter((name, i) => all.indexOf(name) !== i));
  // Of tokens that read alike, each is followed by its place.
  const names = new Map(
    Array.from(tickvals).map((value, i) =>
      [value, twice.has(all[i]) ? `${all[i]} (${i + 1})` : all[i]]),
  );
  return (value) => names.get(value) ?? words(value);
}

/**
 * One row a point: the series, where it stands on each axis, and what else it has.
 *
 * A trace's meta says what its numbers do not: `names` of the points, one each, instead of their
 * places on the y axis, and what those are (`named`); the x axis' `unit`, where several panels
 * share one title; `values` with their signs, where bars show sizes; `counts` behind shares;
 * `labels` instead of the text beside the points, which is left out where it is numbers only;
 * `numbers: "customdata"` where it was drawn from other numbers than it shows, such as roots;
 * `decoration` where it has no numbers of its own.
 */
export function rows(data, layout) {
  const titles = ["x", "y"].map((letter) =>
    data.map((trace) => {
      const axis = layout[axisOf(trace[`${letter}axis`], letter)];
      return trace.meta?.[letter === "y" ? "named" : "unit"] ||
        plain(axis?.title?.text ?? axis?.title);
    })
  );
  const counted = data.some(({ meta }) => meta?.counts);
  const table = [[
    "series", "x axis", "x", "y axis", "y", "value", ...(counted ? ["count"] : []), "label",
  ]];
  data.forEach((trace, at) => {
    if (trace.meta?.decoration) return;
    const [nameX, nameY] = ["x", "y"].map((letter) =>
      namer(layout[axisOf(trace[`${letter}axis`], letter)])
    );
    const { names, values, counts, labels } = trace.meta ?? {};
    const written = (text) =>
      (typeof text === "string" && /\p{L}/u.test(plain(text)) ? plain(text) : undefined);
    const row = (x, y, value, label, count) =>
      table.push([
        words(trace.name), titles[0][at], x, titles[1][at], y, single(value),
        ...(counted ? [count] : []), label,
      ]);
    const own = trace.meta?.numbers === "customdata" ? trace.customdata : undefined;
    if (trace.z) {
      (own ?? trace.z).forEach((line, j) =>
        Array.from(line).forEach((value, i) =>
          row(
            nameX(trace.x ? trace.x[i] : i), nameY(trace.y ? trace.y[j] : j), value,
            labels ? labels[j]?.[i] : written(trace.text?.[j]?.[i]), counts?.[j]?.[i],
          )
        )
      );
      return;
    }
    const n = Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
    const label = (i) =>
      labels ? labels[i] : names || !Array.isArray(trace.text) ? undefined : written(trace.text[i]);
    for (let i = 0; i < n; i++) {
      if (trace.x?.[i] === null && trace.y?.[i] === null) continue; // it explains a colour
      const x = nameX(values ? values[i] : trace.x ? trace.x[i] : i);
      row(x, names ? names[i] : nameY(trace.y ? trace.y[i] : i), own?.[i], label(i), counts?.[i]);
    }
  });
  return table;
}

/**
 * @import { Head } from "./head.js"
 * @import { Numbers } from "./loading.js"
 */

const LOW_PLOT = 121; // pixels
const CONFIG = { displayModeBar: false, scrollZoom: false };
const touch = matchMedia("(pointer: coarse)");

/**
 * What `chart_cell` sends.
 *
 * @typedef {{
 *   figure: { data: any[], layout: any }, alt: string, height: number, clickable: boolean,
 *   head: Head, arrays: Record<string, Numbers>, shapes: Record<string, number[]>
 * }} Data
 */

export function mount(tell) {
  /** @type {PlotlyElement} */
  const plot = element("div", { class: "plot", role: "img" });
  const keys = makeKeys(plot, choose);
  const root = element("figure", {}, element("div", { class: "frame" }, plot, ...keys.parts));
  /** @type {Data} */
  let shown;
  let drawn = false, repaint = null, gone = false;
  let paintedWidth = null, paintedHeight = null, narrow = null;
  let painting = Promise.resolve(); // Plotly fails in what it purges or draws anew while it draws

  function choose(customdata) {
    const point = Number(customdata ?? NaN);
    if (shown.clickable && Number.isFinite(point)) tell("point", point);
  }

  // The figure for so much room. Its fonts are the page's.
  function figureOf(view, theme, width, height, pageType, hall = false) {
    const arrays = Object.fromEntries(Object.entries(view.arrays).map(([name, array]) =>
      [name, inRows(array, view.shapes[name])]));
    const { data, layout } = filled(view.figure, arrays, theme);
    const family = getComputedStyle(root).fontFamily;
    Object.assign(layout, {
      paper_bgcolor: theme.background,
      plot_bgcolor: theme.background,
      font: { size: 16, ...layout.font, color: theme.text, family },
      hoverlabel: {
        bgcolor: theme.background, bordercolor: theme.line,
        font: { size: 16, color: theme.text, family },
      },
    });
    fit(data, layout, width, height, pageType, hall);
    return { data, layout };
  }

  // What is saved is laid out for its own size, whatever the window's.
  const forSaving = () => figureOf(shown, colours(), SIZE.width, SIZE.height, SIZE.type);

  // A column may change its width while its chart is drawn or later, as when a scroll bar comes.
  const room = () => roomOf(rootOf(root).host);
  // The quiet line below takes its room from the chart, so that the page is as high with it as
  // without.
  /** @type {() => HTMLElement | null} */
  const line = () => root.querySelector(":scope > .under");
  const under = () => line()?.offsetHeight ?? 0;
  let clear = 0; // the height with which none of its plots is low
  const heights = () => heightFor(shown, plot.clientWidth, room(), under(), given(root), clear);
  const height = () => heights()[0];
  const otherRoom = () =>
    Math.abs(plot.clientWidth - paintedWidth) > 1 || height() !== paintedHeight;
  const refit = () => {
    if (root.dataset.painted !== undefined && otherRoom()) repaint();
  };
  const resized = new ResizeObserver(refit);
  resized.observe(plot);
  const leaveRoom = onRoom(root, refit);

  function paint(view, theme) {
    painting = painting.catch(() => {}).then(
      () => (gone || shown !== view ? undefined : draw(view, theme)),
    );
    return painting;
  }

  async function draw(view, theme) {
    if (!plot.style.height) plot.style.height = `${height()}px`;
    root.classList.toggle("clickable", view.clickable);
    plot.setAttribute(
      "aria-label", view.head ? `${view.alt} Its menu shows the numbers as a table.` : view.alt,
    );
    const Plotly = await plotly();
    if (gone || shown !== view) return; // a newer figure came while plotly.js was on its way
    paintedWidth = plot.clientWidth;
    paintedHeight = height();
    const { data, layout } = figureOf(
      view, theme, paintedWidth, paintedHeight, typeSize(), room() !== null,
    );
    if (touch.matches) layout.dragmode = false; // a finger scrolls the page
    plot.style.height = `${layout.height}px`;
    // Panels in several rows take more.
    const times = layout.meta?.panels > 1 ? layout.height / paintedHeight : 1;
    // What Plotly drew for a phone leaves traces in what it draws for a desk, and the other way.
    if (drawn && narrow !== isNarrow(paintedWidth)) Plotly.purge(plot);
    const first = !drawn || narrow !== isNarrow(paintedWidth);
    [drawn, narrow] = [true, isNarrow(paintedWidth)];
    await Plotly.react(plot, data, layout, CONFIG);
    if (gone) return;
    if (first) plot.on?.("plotly_click", ({ points: [point] }) => choose(point.customdata));
    if (shown !== view) return;
    clear = clearHeight(layout.height) / times;
    const [, more, fewest, wished] = heights().map((pixels) => times * pixels);
    took(root, more, fewest, undefined, wished);
    if (otherRoom()) return draw(view, theme);
    keys.update();
  }

  // Lying bars are read by their names, however few there are.
  function clearHeight(height) {
    const { data, _fullLayout: { _size, _plots } } = plot;
    if (data.every(({ orientation }) => orientation === "h")) return 0;
    const shares = Object.values(_plots).map(({ yaxis: { domain: [from, to] } }) => to - from);
    return Math.ceil(height - _size.h + LOW_PLOT / Math.min(1, ...shares));
  }

  return {
    element: root,
    saves: {
      svg: () => chartAsSvg(forSaving(), titleOf(shown.head), colours()),
      rows: () => { const { data, layout } = forSaving(); return rows(data, layout); },
    },
    /** @param {Data} data */
    update(data, theme) {
      shown = data;
      repaint = () => paint(data, theme);
      return repaint();
    },
    destroy() {
      gone = true;
      resized.disconnect();
      leaveRoom();
      keys.destroy();
      painting.catch(() => {}).then(() => { if (drawn) window.Plotly.purge(plot); });
    },
  };
}

// From the figure that Python describes to the one that Plotly draws.

// "@relu" is a colour of the palette, "@relu/0.3" transparent; a network's own "@#rrggbb" likewise.
export function colour(name, theme) {
  const [, known, alpha] = /^@(.*?)(?:\/([\d.]+))?$/s.exec(name) ?? [];
  if (known === undefined) return name;
  const opacity = Math.min(1, alpha === undefined ? 1 : Number(alpha));
  return colourOf(known, theme) + Math.round(255 * opacity).toString(16).padStart(2, "0");
}

// The figure with its arrays, and with colours for their names; text stays as it is.
function filled(value, arrays, theme, isColour = false) {
  if (typeof value === "string") return isColour ? colour(value, theme) : value;
  if (Array.isArray(value)) return value.map((inner) => filled(inner, arrays, theme, isColour));
  if (value === null || typeof value !== "object") return value;
  if (Object.keys(value).length === 1 && "array" in value) return arrays[value.array];
  return Object.fromEntries(Object.entries(value).map(([name, inner]) =>
    [name, filled(inner, arrays, theme, /colou?r(scale)?$/i.test(name))]));
}

// A table of numbers as the rows that Plotly wants.
function inRows(array, [n, width]) {
  if (width === undefined) return array;
  return Array.from({ length: n }, (_, row) => array.subarray(row * width, (row + 1) * width));
}
