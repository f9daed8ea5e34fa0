import { saveButtons } from "./chart_save.js";
import { drawHead } from "./head.js";
import { element, onThemeChange, themeOf, unpack } from "./values.js";

// plotly.js itself, fetched once a page from this server.
let loading = null;
function plotly() {
  loading ||= new Promise((resolve, reject) => {
    const src = new URL("../ffnviz.plotly/plotly.min.js", import.meta.url).href;
    document.head.append(element("script", { src, onload: () => resolve(window.Plotly), onerror: reject }));
  });
  return loading;
}

function colour(name, theme) {
  const [, known, alpha] = /^@(\w+)(?:\/([\d.]+))?$/.exec(name) || [];
  if (!(known in theme)) return name;
  const hex = Math.round(255 * (alpha === undefined ? 1 : Number(alpha))).toString(16).padStart(2, "0");
  return theme[known] + hex;
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

const NARROW = 600;
const CHARACTER = 9;

const NAME_HEIGHT = 20;
const STACKED_HEIGHT = 0.9;
const SMALL_HEIGHT = 1.4; // of panels that stood in several rows

// Panels that stand side by side come one below the other: axes and titles in order.
function stack(layout, n, height) {
  const rows = layout.meta.rows || 1;
  layout.height = Math.round((n * (rows > 1 ? SMALL_HEIGHT : STACKED_HEIGHT) * height) / rows);
  const gap = 56 / layout.height;
  for (let i = 0; i < n; i++) {
    const [top, bottom] = [1 - i / n - (i ? gap : 0), 1 - (i + 1) / n + gap];
    const number = i ? i + 1 : "";
    layout[`xaxis${number}`].domain = [0, 1];
    layout[`yaxis${number}`].domain = [bottom, top];
    Object.assign(layout.annotations[i], { x: 0, y: top });
  }
}

// What fits a hall's screen is made to fit a phone: less margin, smaller type, panels stacked, and
// names of ticks that would touch are turned.
function fitted(data, layout, width, height) {
  Object.assign(layout, { width, height });
  if (width < NARROW) {
    layout.margin = { ...layout.margin, l: Math.round(0.75 * layout.margin.l) };
    layout.font.size = 13;
    for (const trace of data) if (trace.textfont) trace.textfont.size = Math.min(15, trace.textfont.size);
    for (const { colorbar } of data) {
      if (colorbar?.orientation === "h") Object.assign(colorbar, { len: 1, nticks: 5, title: { ...colorbar.title, side: "top" } });
    }
    const named = layout.showlegend === false ? 0 : data.filter(({ showlegend }) => showlegend !== false).length;
    if (named > 4) layout.height += NAME_HEIGHT * named; // they stand one below the other
    if (layout.meta?.panels > 1) stack(layout, layout.meta.panels, height);
  }
  for (const [name, axis] of Object.entries(layout)) {
    if (!name.startsWith("xaxis") || !axis.ticktext) continue;
    const span = (axis.domain ? axis.domain[1] - axis.domain[0] : 1) * (width - layout.margin.l);
    if (CHARACTER * (axis.ticktext.join(" ").length + 1) > span) axis.tickangle = -50;
  }
}

const CONFIG = { displayModeBar: false, scrollZoom: false };
const touch = matchMedia("(pointer: coarse)");

async function paint(root, view) {
  const theme = themeOf(root, view.palettes);
  drawHead(root, view.head, theme).replaceChildren(saveButtons(root, view.head.note));
  const plot = root.querySelector(".plot");
  if (!plot.style.height) plot.style.height = `${view.height}px`;
  plot.setAttribute("aria-label", view.alt);
  const Plotly = await plotly();
  if (root.view !== view) return; // a newer figure came while plotly.js was on its way
  const { data, layout } = filled(view.figure, view.arrays, theme);
  const fontFamily = getComputedStyle(root).fontFamily;
  Object.assign(layout, {
    paper_bgcolor: theme.background,
    plot_bgcolor: theme.background,
    font: { size: 16, ...layout.font, color: theme.text, family: fontFamily },
    hoverlabel: { bgcolor: theme.background, bordercolor: theme.line, font: { size: 16, color: theme.text, family: fontFamily } },
  });
  if (touch.matches) layout.dragmode = false; // a finger scrolls the page
  root.paintedWidth = plot.clientWidth;
  fitted(data, layout, root.paintedWidth, view.height);
  plot.style.height = `${layout.height}px`;
  root.drawn = { data, layout, sentence: view.head.spans.map(([text]) => text).join("") };
  await Plotly.react(plot, data, layout, CONFIG);
  if (!plot.listens) {
    plot.listens = true;
    plot.on("plotly_click", ({ points: [point] }) => root.choose?.(point.customdata));
  }
  if (root.view !== view) return;
  if (narrowed(root)) return paint(root, view);
  root.dataset.painted = view.stamp;
}

// A column may change its width while its chart is drawn or later, as when a scroll bar comes.
const narrowed = (root) => Math.abs(root.querySelector(".plot").clientWidth - root.paintedWidth) > 1;
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const root = target.closest("figure");
    if (root?.dataset.painted !== undefined && narrowed(root)) root.show();
  }
});

// A table of numbers as the rows that Plotly wants.
function inRows(array, [n, width]) {
  if (width === undefined) return array;
  return Array.from({ length: n }, (_, row) => array.subarray(row * width, (row + 1) * width));
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector("figure");
  if (!root) {
    root = element("figure", {}, element("div", { class: "plot", role: "img" }));
    parentElement.append(root);
  }
  const { header, arrays: flat } = unpack(data);
  const arrays = Object.fromEntries(Object.entries(header.arrays).map(([name, { shape }]) =>
    [name, inRows(flat[name], shape)]));
  const view = (root.view = { ...header, arrays });
  root.choose = view.clickable && ((point) => setTriggerValue("point", Number(point)));
  root.classList.toggle("clickable", view.clickable);
  const show = () => paint(root, view).catch((error) => {
    root.querySelector(".plot").textContent = `This picture could not be drawn: ${error}`;
  });
  root.show = show;
  widths.observe(root.querySelector(".plot"));
  show();
  return onThemeChange(root, show);
}
