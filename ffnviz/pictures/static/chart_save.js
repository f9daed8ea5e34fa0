// A chart as a file: a picture that says what it shows, or its numbers as a table.

import { plotly } from "./plotly.js";
import { asFile, heading } from "./save_svg.js";
import { allowed, single } from "./save_table.js";

export const SIZE = { width: 1280, height: 720, type: 18 };

// A chart that was laid out for SIZE, below its title.
export async function chartAsSvg({ data, layout }, title, theme) {
  const family = layout.font.family;
  const { height, svg } = heading(title, SIZE.width, family, theme);
  const size = { width: SIZE.width, height: Math.round(SIZE.height - height) };
  const Plotly = await plotly();
  const address = await Plotly.toImage(allowed({ data, layout: { ...layout, ...size } }), { ...size, format: "svg" });
  const chart = decodeURIComponent(address.slice(address.indexOf(",") + 1));
  const placed = chart.replace("<svg ", `<svg y="${SIZE.height - size.height}" `);
  return asFile(svg + placed, SIZE.width, SIZE.height, family, theme);
}

const plain = (text) => (text ?? "").replace(/[\u2068\u2069]/g, "").replace(/<br>/g, " ").replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
const words = (value) => (typeof value === "string" ? plain(value) : single(value));
const axisOf = (id, letter) => `${letter}axis${(id || letter).slice(1).replace(/^1$/, "")}`;

// What a place on an axis is called: the name that stands there, if the axis has names.
function namer(axis = {}) {
  const { tickvals, ticktext } = axis;
  if (!tickvals || !ticktext || axis.type === "log") return words;
  const all = Array.from(ticktext, plain);
  const twice = new Set(all.filter((name, i) => all.indexOf(name) !== i));
  // Of tokens that read alike, each is followed by its place.
  const names = new Map(Array.from(tickvals).map((value, i) => [value, twice.has(all[i]) ? `${all[i]} (${i + 1})` : all[i]]));
  return (value) => names.get(value) ?? words(value);
}

/**
 * One row a point: the series, where it stands on each axis, and what else it has.
 *
 * A trace's meta says what its numbers do not: `names` of the points, one each, instead of their
 * places on the y axis, and what those are (`named`); the x axis' `unit`, where several panels share
 * one title; `values` with their signs, where bars show
 * sizes; `counts` behind shares; `labels` instead of the text beside the points, which is left out
 * where it is numbers only; `numbers: "customdata"` where it was drawn from other numbers than
 * it shows, such as roots; `decoration` where it has no numbers of its own.
 */
export function rows(data, layout) {
  const titles = ["x", "y"].map((letter) => data.map((trace) => {
    const axis = layout[axisOf(trace[`${letter}axis`], letter)];
    return trace.meta?.[letter === "y" ? "named" : "unit"] || plain(axis?.title?.text ?? axis?.title);
  }));
  const counted = data.some(({ meta }) => meta?.counts);
  const table = [["series", "x axis", "x", "y axis", "y", "value", ...(counted ? ["count"] : []), "label"]];
  data.forEach((trace, at) => {
    if (trace.meta?.decoration) return;
    const [nameX, nameY] = ["x", "y"].map((letter) => namer(layout[axisOf(trace[`${letter}axis`], letter)]));
    const { names, values, counts, labels } = trace.meta ?? {};
    const written = (text) => (typeof text === "string" && /\p{L}/u.test(plain(text)) ? plain(text) : undefined);
    const row = (x, y, value, label, count) => table.push([
      words(trace.name), titles[0][at], x, titles[1][at], y, single(value), ...(counted ? [count] : []), label]);
    const own = trace.meta?.numbers === "customdata" ? trace.customdata : undefined;
    if (trace.z) {
      (own ?? trace.z).forEach((line, j) => Array.from(line).forEach((value, i) =>
        row(nameX(trace.x ? trace.x[i] : i), nameY(trace.y ? trace.y[j] : j), value, labels ? labels[j]?.[i] : written(trace.text?.[j]?.[i]), counts?.[j]?.[i])));
      return;
    }
    const n = Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
    const label = (i) => labels ? labels[i] : names || !Array.isArray(trace.text) ? undefined : written(trace.text[i]);
    for (let i = 0; i < n; i++) {
      if (trace.x?.[i] === null && trace.y?.[i] === null) continue; // it explains a colour
      const x = nameX(values ? values[i] : trace.x ? trace.x[i] : i);
      row(x, names ? names[i] : nameY(trace.y ? trace.y[i] : i), own?.[i], label(i), counts?.[i]);
    }
  });
  return table;
}
