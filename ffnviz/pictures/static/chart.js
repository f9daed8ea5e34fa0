import { fit, heightFor, isNarrow } from "./chart_fit.js";
import { makeKeys } from "./chart_keys.js";
import { chartAsSvg, rows, SIZE } from "./chart_save.js";
import { element, rootOf } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { titleOf } from "./head.js";
import { plotly } from "./plotly.js";
import { roomOf } from "./spotlight.js";
import { colourOf, theme as colours } from "./theme.js";
import { typeSize } from "./type_size.js";

/**
 * @import { Head } from "./head.js"
 * @import { Numbers } from "./payload.js"
 */

export const styles = ["chart.css"];

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
      hoverlabel: { bgcolor: theme.background, bordercolor: theme.line, font: { size: 16, color: theme.text, family } },
    });
    fit(data, layout, width, height, pageType, hall);
    return { data, layout };
  }

  // What is saved is laid out for its own size, whatever the window's.
  const forSaving = () => figureOf(shown, colours(), SIZE.width, SIZE.height, SIZE.type);

  // A column may change its width while its chart is drawn or later, as when a scroll bar comes.
  const room = () => roomOf(rootOf(root).host);
  // The quiet line below takes its room from the chart, so that the page is as high with it as without.
  /** @type {() => HTMLElement | null} */
  const line = () => root.querySelector(":scope > .under");
  const under = () => line()?.offsetHeight ?? 0;
  let clear = 0; // the height with which none of its plots is low
  const heights = () => heightFor(shown, plot.clientWidth, room(), under(), given(root), clear);
  const height = () => heights()[0];
  const otherRoom = () => Math.abs(plot.clientWidth - paintedWidth) > 1 || height() !== paintedHeight;
  const refit = () => { if (root.dataset.painted !== undefined && otherRoom()) repaint(); };
  const resized = new ResizeObserver(refit);
  resized.observe(plot);
  const leaveRoom = onRoom(root, refit);

  function paint(view, theme) {
    painting = painting.catch(() => {}).then(() => (gone || shown !== view ? undefined : draw(view, theme)));
    return painting;
  }

  async function draw(view, theme) {
    if (!plot.style.height) plot.style.height = `${height()}px`;
    root.classList.toggle("clickable", view.clickable);
    plot.setAttribute("aria-label", view.head ? `${view.alt} Its menu shows the numbers as a table.` : view.alt);
    const Plotly = await plotly();
    if (gone || shown !== view) return; // a newer figure came while plotly.js was on its way
    paintedWidth = plot.clientWidth;
    paintedHeight = height();
    const { data, layout } = figureOf(view, theme, paintedWidth, paintedHeight, typeSize(), room() !== null);
    if (touch.matches) layout.dragmode = false; // a finger scrolls the page
    plot.style.height = `${layout.height}px`;
    const times = layout.meta?.panels > 1 ? layout.height / paintedHeight : 1; // panels in several rows take more
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
