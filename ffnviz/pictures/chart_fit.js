// What fits a hall's screen is made to fit a phone.

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

// Less margin, smaller type, panels stacked, and names of ticks that would touch are turned.
export function fit(data, layout, width, height) {
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
