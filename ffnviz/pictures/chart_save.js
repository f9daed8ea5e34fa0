// Saving a chart as a picture that says what it shows, and its numbers as a table.

import { element } from "./element.js";
import { plotly } from "./plotly.js";

const SIZE = { width: 1280, height: 720 };
// What stands above the chart becomes the picture's title. Plotly reads titles as pseudo-HTML.
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// What XML 1.0 has no place for: control characters, lone surrogates, U+FFFE and U+FFFF.
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

// The same value, with the character for "unknown" where text has one that no file may have.
export function allowed(value) {
  if (typeof value === "string") return value.replace(FORBIDDEN, "\uFFFD");
  if (Array.isArray(value)) return value.map(allowed);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, allowed(inner)]));
}

function download(href, name) {
  element("a", { href, download: name }).click();
}

function wrapped(text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1).length + word.length > width) lines.push("");
    lines[lines.length - 1] += `${word} `;
  }
  return lines.map((line) => escaped(line.trim()));
}

// The picture's address, a data: URL.
export async function asPicture(drawn, format) {
  const { data, layout, sentence } = allowed(drawn);
  const lines = wrapped(sentence, 100);
  const title = { text: lines.join("<br>"), x: 0.02, xanchor: "left", y: 0.97, yanchor: "top", font: { size: 20 } };
  const margin = { ...layout.margin, t: (layout.margin?.t ?? 40) + 24 + 26 * lines.length };
  const figure = { data, layout: { ...layout, ...SIZE, title, margin } };
  const Plotly = await plotly();
  return Plotly.toImage(figure, { ...SIZE, format, scale: format === "png" ? 2 : 1 });
}

// A spreadsheet runs a cell that begins like a formula: text gets a sign before it that stops that.
export function cell(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const text = allowed(String(value)).replace(/^([=+\-@\t\r])/, "'$1");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const plain = (text) => (text ?? "").replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
const words = (value) => (typeof value === "string" ? plain(value) : value);
const title = (layout, axis) => plain(layout[axis]?.title?.text ?? layout[axis]?.title);
const axisOf = (id, letter) => `${letter}axis${(id || letter).slice(1)}`;

// One row a point: the series, the two axes with their titles, and what else the point has. A
// trace whose meta says so was drawn from other numbers than it shows: those are in its customdata.
export function rows(data, layout) {
  const table = [["series", "x axis", "x", "y axis", "y", "value", "label"]];
  for (const trace of data) {
    const named = [words(trace.name)];
    const axes = ["x", "y"].map((letter) => title(layout, axisOf(trace[`${letter}axis`], letter)));
    const row = (x, y, value, label) => table.push([...named, axes[0], words(x), axes[1], words(y), value, words(label)]);
    const own = trace.meta?.numbers === "customdata" ? trace.customdata : undefined;
    if (trace.z) {
      (own ?? trace.z).forEach((line, j) => Array.from(line).forEach((value, i) =>
        row(trace.x ? trace.x[i] : i, trace.y ? trace.y[j] : j, value, trace.text?.[j]?.[i])));
    } else {
      const n = Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
      const label = (i) => (Array.isArray(trace.text) ? trace.text[i] : undefined);
      for (let i = 0; i < n; i++) row(trace.x ? trace.x[i] : i, trace.y ? trace.y[i] : i, own?.[i], label(i));
    }
  }
  return table;
}

function saveTable({ data, layout }, name) {
  const text = rows(data, layout).map((row) => row.map(cell).join(",")).join("\r\n");
  const href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  download(href, `${name}.csv`);
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

// The three buttons of a chart; what they save is what the chart shows when they are pressed.
export function saveButtons(current) {
  const button = (text, what, save) => element("button", {
    type: "button", class: "save", text, title: `Save ${what}`, "aria-label": `Save ${what}`,
    onclick: () => { const drawn = current(); if (drawn) save(drawn, `ffnviz-${drawn.note}`); },
  });
  const picture = (format) => async (drawn, name) => download(await asPicture(drawn, format), `${name}.${format}`);
  return element("span", { class: "saving" },
    button("PNG", "this picture as PNG", picture("png")),
    button("SVG", "this picture as SVG", picture("svg")),
    button("CSV", "its numbers as CSV", saveTable));
}
