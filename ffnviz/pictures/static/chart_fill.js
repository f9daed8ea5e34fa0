// From the figure that Python describes to the one that Plotly draws.

import { colourOf } from "./theme.js";

// "@relu" is a colour of the palette, "@relu/0.3" transparent; a network's own "@#rrggbb" likewise.
export function colour(name, theme) {
  const [, known, alpha] = /^@(.*?)(?:\/([\d.]+))?$/s.exec(name) ?? [];
  if (known === undefined) return name;
  const opacity = Math.min(1, alpha === undefined ? 1 : Number(alpha));
  return colourOf(known, theme) + Math.round(255 * opacity).toString(16).padStart(2, "0");
}

// The figure with its arrays, and with colours for their names; text stays as it is.
export function filled(value, arrays, theme, isColour = false) {
  if (typeof value === "string") return isColour ? colour(value, theme) : value;
  if (Array.isArray(value)) return value.map((inner) => filled(inner, arrays, theme, isColour));
  if (value === null || typeof value !== "object") return value;
  if (Object.keys(value).length === 1 && "array" in value) return arrays[value.array];
  return Object.fromEntries(Object.entries(value).map(([name, inner]) =>
    [name, filled(inner, arrays, theme, /colou?r(scale)?$/i.test(name))]));
}

// A table of numbers as the rows that Plotly wants.
export function inRows(array, [n, width]) {
  if (width === undefined) return array;
  return Array.from({ length: n }, (_, row) => array.subarray(row * width, (row + 1) * width));
}
