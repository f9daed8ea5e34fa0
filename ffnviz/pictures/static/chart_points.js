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

export const lanesOf = (plot) =>
  plot._fullData.map((trace, curve) => lane(plot, trace, curve)).filter((found) => found !== null);

// The lines of the tooltip that is shown: the numbers, then the name beside them.
export function tooltip(plot) {
  const linesOf = (text) => {
    const lines = [...text.querySelectorAll("tspan.line")];
    return (lines.length ? lines : [text]).map((line) => line.textContent.trim());
  };
  return [...plot.querySelectorAll(".hoverlayer .hovertext")]
    .flatMap((label) => [".nums", ".name"].flatMap((part) => [...label.querySelectorAll(part)].flatMap(linesOf)))
    .filter((line) => line !== "");
}
