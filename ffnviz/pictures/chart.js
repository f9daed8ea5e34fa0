import { inRows, filled } from "./chart_fill.js";
import { fit } from "./chart_fit.js";
import { makeKeys } from "./chart_keys.js";
import { saveButtons } from "./chart_save.js";
import { element } from "./element.js";
import { plotly } from "./plotly.js";

export const styles = ["chart.css"];

const CONFIG = { displayModeBar: false, scrollZoom: false };
const touch = matchMedia("(pointer: coarse)");

export function mount(tell) {
  const plot = element("div", { class: "plot", role: "img" });
  const keys = makeKeys(plot, choose);
  const root = element("figure", {}, element("div", { class: "frame" }, plot, ...keys.parts));
  let shown = null, drawn = null, paintedWidth = null, repaint = null, gone = false;

  function choose(customdata) {
    const point = Number(customdata ?? NaN);
    if (shown.clickable && Number.isFinite(point)) tell("point", point);
  }

  // A column may change its width while its chart is drawn or later, as when a scroll bar comes.
  const narrowed = () => Math.abs(plot.clientWidth - paintedWidth) > 1;
  const resized = new ResizeObserver(() => {
    if (root.dataset.painted !== undefined && narrowed()) repaint();
  });
  resized.observe(plot);

  async function paint(view, theme) {
    if (!plot.style.height) plot.style.height = `${view.height}px`;
    root.classList.toggle("clickable", view.clickable);
    plot.setAttribute("aria-label", view.alt);
    const Plotly = await plotly();
    if (gone || shown !== view) return; // a newer figure came while plotly.js was on its way
    const arrays = Object.fromEntries(Object.entries(view.arrays).map(([name, array]) =>
      [name, inRows(array, view.shapes[name])]));
    const { data, layout } = filled(view.figure, arrays, theme);
    const fontFamily = getComputedStyle(root).fontFamily;
    Object.assign(layout, {
      paper_bgcolor: theme.background,
      plot_bgcolor: theme.background,
      font: { size: 16, ...layout.font, color: theme.text, family: fontFamily },
      hoverlabel: { bgcolor: theme.background, bordercolor: theme.line, font: { size: 16, color: theme.text, family: fontFamily } },
    });
    if (touch.matches) layout.dragmode = false; // a finger scrolls the page
    paintedWidth = plot.clientWidth;
    fit(data, layout, paintedWidth, view.height);
    plot.style.height = `${layout.height}px`;
    const first = drawn === null;
    drawn = { data, layout, note: view.head.note, sentence: view.head.spans.map(([text]) => text).join("") };
    await Plotly.react(plot, data, layout, CONFIG);
    if (gone) return Plotly.purge(plot);
    if (first) plot.on("plotly_click", ({ points: [point] }) => choose(point.customdata));
    if (shown !== view) return;
    if (narrowed()) return paint(view, theme);
    keys.update();
  }

  return {
    element: root,
    controls: saveButtons(() => drawn),
    update(data, theme) {
      shown = data;
      repaint = () => paint(data, theme);
      return repaint();
    },
    destroy() {
      gone = true;
      resized.disconnect();
      keys.destroy();
      if (drawn) window.Plotly.purge(plot);
    },
  };
}
