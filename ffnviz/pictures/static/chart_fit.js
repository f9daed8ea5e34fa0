// Fits a chart to its room: in a window, on a phone, before a lecture hall.

const NARROW = 600;
const PHONE = 700; // of the window
const PANEL = 172; // what one of several panels needs beside the others
const CHARACTER = 9;
const NAME_HEIGHT = 20;
const STACKED_HEIGHT = 0.9;
const SMALL_HEIGHT = 1.4; // of panels that stood in several rows
// Pixels between panels one below the other, for the axis of one and the title of the next.
const ROOM = 104;
const GAP = 0.03; // between panels, of the width

const TALL = 1035; // the window that heights are given for
const [LEAST, MOST] = [0.62, 1.5];
const SMALLEST = 12; // pixels, of type
// Pixels, with the gap between bars; of one of those that stand together.
const [BAR, BESIDE] = [20, 12];
const ROW = 14; // pixels, of a map: its name must be read
const LOW = 320; // pixels: what is as low as this anyway stays, and has small titles of its axes
const CLOSE = 4; // pixels, of such a title from its axis
const NAMES = 1.9; // of its type's size, that a line of names below an axis needs
// Panels, which are low already; the share of their height that they need.
const [MANY, FEWER] = [4, 0.9];
// Pixels, and of a low one's own height, that a chart may be made by what stands around it.
const [LOWEST, LOWEST_SHARE] = [200, 0.5];

// How high a figure's horizontal bars must stand for their names to be read: Plotly shrinks a text
// to its bar.
function barsNeed({ figure: { data, layout }, shapes }) {
  const rows = data.filter(({ orientation }) => orientation === "h").map(({ y }) =>
    shapes[y?.array]?.[0] ?? y?.length ?? 0
  );
  const beside = layout.barmode === "group" ? rows.length : 1;
  return Math.max(BAR, BESIDE * beside) * Math.max(0, ...rows) + (layout.margin?.t ?? 0) +
    (layout.margin?.b ?? 0);
}

// The same for the rows of maps.
function mapsNeed({ figure: { data, layout }, shapes }) {
  const rows = data.filter(({ type }) => type === "heatmap").map(({ z }) =>
    shapes[z?.array]?.[0] ?? z?.length ?? 0
  );
  return rows.length
    ? ROW * Math.max(...rows) + (layout.margin?.t ?? 0) + (layout.margin?.b ?? 0)
    : 0;
}

// [height, taken, least, wished] of a chart: its height, how many of the `more` pixels that it was
// given it takes, the fewest that it could, and with which no plot is low: it is so high with a
// height of `clear`. A higher window has higher charts, less what stands `under` them; a phone
// scrolls anyway; a chart that stands alone takes all the room there is.
export function heightFor(view, width, room, under = 0, more = 0, clear = 0) {
  const { height } = view;
  if (room !== null && !isPhone(width)) return [Math.round(room), 0, 0, 0];
  if (isPhone(width)) return [height, 0, 0, 0];
  const least = Math.max(LEAST, Math.min(1, Math.max(LOW, barsNeed(view)) / height));
  const own = Math.round(
    Math.max(height * least, height * Math.min(MOST, innerHeight / TALL) - under),
  );
  const lowest = view.figure.layout.meta?.panels > MANY ? FEWER * own : Math.max(
    Math.min(LOWEST, LOWEST_SHARE * height), barsNeed(view), Math.min(own, mapsNeed(view)),
  );
  const fewest = Math.round(Math.min(0, lowest - own)), given = Math.max(more, fewest);
  return [own + given, given, fewest, Math.max(fewest, clear - own)];
}

export const isNarrow = (width) => width < NARROW;
const isPhone = (width) => isNarrow(width) && innerWidth < PHONE;

// Panels for which the row is too narrow stand in more rows, or one below the other: axes and
// titles in order.
function stack(layout, n, height, width) {
  const rows = layout.meta.rows || 1;
  const lines = Math.ceil(n / Math.max(1, Math.floor(width / PANEL)));
  const across = Math.ceil(n / lines);
  const share = rows === 1 ? STACKED_HEIGHT : SMALL_HEIGHT;
  layout.height = Math.round((lines * share * height) / rows);
  const gap = ROOM / layout.height, high = (1 - gap * (lines - 1)) / lines;
  for (let i = 0; i < n; i++) {
    const line = Math.floor(i / across), column = i % across;
    const left = column / across + (column ? GAP : 0);
    const top = 1 - line * (high + gap);
    const number = i ? i + 1 : "";
    layout[`xaxis${number}`].domain = [left, (column + 1) / across];
    const down = layout[`yaxis${number}`];
    down.domain = [Math.max(0, top - high), top];
    if (down.ticktext?.length) down.showticklabels = column === 0;
    Object.assign(layout.annotations[i], { x: left, y: top });
  }
}

const PAGE_TYPE = 18; // pixels, of the page that sizes of type are given for

const axesOf = (layout) =>
  Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name)).map(([, axis]) => axis);

// Type as large as the page's own, and as much room around the axes for it.
function scaleType(data, layout, share) {
  layout.margin = Object.fromEntries(
    Object.entries(layout.margin).map(([side, size]) => [side, Math.round(share * size)]),
  );
  const fonts = [
    layout.font, ...(layout.annotations ?? []).map(({ font }) => font),
    ...data.map(({ textfont }) => textfont), ...axesOf(layout).map(({ tickfont }) => tickfont),
  ];
  for (const font of fonts) if (font?.size) font.size = Math.round(share * font.size);
}

const downAxis = ({ yaxis }, layout) =>
  layout[(yaxis ?? "y").replace("y", "yaxis").replace(/axis1$/, "axis")];

const LINE = 1.35; // of the type's size, that a bar with its text takes
// Of the axis, that bars take; of the type's size, that a digit is wide.
const [BARS, DIGIT] = [0.8, 0.6];
// Of a panel's height, in a talk's type; of that; pixels.
const [LINES_OF_PANEL, LEAST_OF_HALL, SMALLEST_IN_HALL] = [8, 0.55, 18];

// Of bars that are named by their text alone, as many as there is room for; the names are what they
// are for.
function shorten(trace, axis, n) {
  for (const name of ["x", "y", "text", "customdata"]) {
    if (trace[name]) trace[name] = trace[name].slice(0, n);
  }
  if (Array.isArray(trace.marker?.color)) trace.marker.color = trace.marker.color.slice(0, n);
  axis.range = [n - 0.4, -0.6];
}

// Whether titles of panels stand above the axes, where a legend would.
const hasAbove = ({ annotations }) =>
  (annotations ?? []).some(({ y, yref, yanchor }) =>
    yref === "paper" && y >= 1 && yanchor === "bottom"
  );

// Before a hall lines and marks grow with the type, and no type may shrink: a bar's text is as
// large as all other, or it is left out where bars stand too close for it; and a legend makes room
// for what stands above the axes.
function forHall(data, layout, share) {
  for (const { line, marker } of data) {
    if (line?.width) line.width *= share;
    if (typeof marker?.size === "number") marker.size *= share;
  }
  const { size } = layout.font, inside = layout.height - layout.margin.t - layout.margin.b;
  const lying = data.filter(({ type, orientation }) => type === "bar" && orientation === "h");
  for (const trace of lying) {
    const beside = lying.filter(({ yaxis }) => yaxis === trace.yaxis).length;
    const room = Math.floor(inside / (beside * LINE * size)), axis = downAxis(trace, layout);
    if (axis.showticklabels === false && room < trace.y.length) {
      shorten(trace, axis, Math.max(1, room));
    }
    const fits = room >= trace.y.length;
    Object.assign(
      trace,
      fits
        ? { constraintext: "none" }
        : { text: undefined, texttemplate: "", textposition: "none" },
    );
  }
  if (!hasAbove(layout) || layout.showlegend === false || !layout.legend) return;
  layout.margin.t += Math.round(1.3 * size);
  layout.legend.y = 1 + (1.5 * size) / Math.max(1, inside);
}

// What stands beside a lying bar is as large as its line allows; Plotly would shrink it to the bar
// itself.
function sizeBars(data, layout) {
  const { t, b } = layout.margin, inside = layout.height - t - b;
  const lying = data.filter(({ type, orientation, textposition }) =>
    type === "bar" && orientation === "h" && textposition === "outside"
  );
  for (const trace of lying) {
    const [from, to] = downAxis(trace, layout).domain ?? [0, 1];
    const beside = layout.barmode === "group"
      ? lying.filter(({ yaxis }) => yaxis === trace.yaxis).length
      : 1;
    const room = Math.floor(((to - from) * inside) / (beside * trace.y.length * LINE));
    const size = trace.textfont?.size ?? layout.font.size;
    Object.assign(trace, {
      constraintext: "none",
      textfont: { ...trace.textfont, size: Math.max(SMALLEST, Math.min(size, room)) },
    });
  }
  // What stands on a standing one is as large as the bar is wide.
  const standing = data.filter(({ type, orientation, textposition, text }) =>
    type === "bar" && orientation !== "h" && textposition === "outside" && text
  );
  for (const trace of standing) {
    const width = BARS * (layout.width - layout.margin.l - layout.margin.r) /
      (standing.length * trace.x.length);
    const letters = Math.max(...trace.text.map(({ length }) => length));
    const size = trace.textfont?.size ?? layout.font.size;
    Object.assign(trace, {
      constraintext: "none",
      textfont: {
        ...trace.textfont,
        size: Math.max(SMALLEST, Math.min(size, Math.floor(width / (DIGIT * letters)))),
      },
    });
  }
}

// The names of lying bars are all there, as large as their lines allow.
function sizeNames(data, layout, smallest) {
  const { t, b } = layout.margin, inside = layout.height - t - b;
  const lying = data.filter(({ type, orientation }) => type === "bar" && orientation === "h");
  for (const trace of lying) {
    const axis = downAxis(trace, layout), names = axis?.categoryarray?.length ?? 0;
    if (!names || axis.showticklabels === false || axis.type === "log") continue;
    const size = axis.tickfont?.size ?? layout.font.size;
    axis.tickfont = {
      ...axis.tickfont, size: Math.max(smallest, Math.min(size, Math.floor(inside / names))),
    };
    axis.dtick = 1;
  }
}

// The title of an axis is no longer than its axis.
function shortenTitles(layout) {
  const { t, r, b, l } = layout.margin, across = layout.width - l - r, high = layout.height - t - b;
  for (const [name, axis] of Object.entries(layout)) {
    if (!/^[xy]axis\d*$/.test(name) || !axis.title?.text) continue;
    const [start, end] = axis.domain ?? [0, 1];
    const room = (end - start) * (name[0] === "x" ? across + Math.min(l, r) : high);
    const size = axis.title.font?.size ?? 1.2 * layout.font.size;
    const long = 0.5 * size * axis.title.text.replace(/<[^>]*>/g, "").length;
    if (long > room) {
      axis.title = {
        ...axis.title,
        font: { ...axis.title.font, size: Math.max(SMALLEST, Math.floor(size * room / long)) },
      };
    }
  }
}

// A talk's type is smaller where panels stand one below the other and have little height each.
function typeForHall(layout, height, pageType) {
  const down = Object.entries(layout).filter(([name, axis]) =>
    /^yaxis\d*$/.test(name) && axis.domain
  );
  const rows = new Set(down.map(([, { domain }]) => domain[0])).size || 1;
  return Math.max(LEAST_OF_HALL * pageType, Math.min(pageType, height / rows / LINES_OF_PANEL));
}

// The titles of a low chart's axes are as small as other type, and what they and names that are not
// turned leave of the room below is the plots'.
function lowerTitles(layout) {
  const { size } = layout.font, saved = layout.margin.b, needs = [];
  for (const [name, axis] of Object.entries(layout)) {
    if (!name.startsWith("xaxis")) continue;
    const { text, font, standoff } = axis.title ?? {}, tick = axis.tickfont?.size ?? size;
    const small = text && standoff && !font;
    if (small) axis.title = { ...axis.title, standoff: CLOSE, font: { size: tick } };
    const spared = small ? Math.round(standoff - CLOSE + 1.2 * (1.2 * size - tick)) : 0;
    needs.push(
      axis.tickangle || (text && !small)
        ? saved - spared
        : Math.round((text ? NAMES + 1 : NAMES) * tick),
    );
  }
  layout.margin.b = Math.min(saved, Math.max(...needs));
}

// Its legend stands at its very top: Plotly keeps more room around one that is placed by the axes.
function raiseLegend(layout) {
  const { legend } = layout;
  if (legend?.y > 1 && legend.yanchor === "bottom" && !hasAbove(layout)) {
    Object.assign(legend, { yref: "container", y: 1, yanchor: "top" });
  }
}

// Names that would touch are turned, or every second or third is left out.
function turnNames(layout, width) {
  for (const [name, axis] of Object.entries(layout)) {
    if (!name.startsWith("xaxis") || !axis.ticktext) continue;
    const span = (axis.domain ? axis.domain[1] - axis.domain[0] : 1) * (width - layout.margin.l);
    const names = axis.ticktext.map((text) => text.replace(/<[^>]*>/g, ""));
    const longest = Math.max(...names.map((text) => text.length)), slot = span / names.length;
    if (CHARACTER * (names.join(" ").length + 1) > span || CHARACTER * longest > 1.25 * slot) {
      axis.tickangle = -50;
    }
    // Turned, each still needs a line.
    const every = Math.ceil((axis.tickfont?.size ?? layout.font.size) / slot);
    if (every > 1 && axis.tickvals?.length === names.length) {
      for (const list of ["tickvals", "ticktext"]) {
        axis[list] = [...axis[list]].filter((_, at) => at % every === 0);
      }
    }
  }
}

// Less margin, smaller type, panels stacked, and names of ticks that would touch are turned.
export function fit(data, layout, width, height, pageType, hall = false) {
  Object.assign(layout, { width, height });
  const type = hall ? typeForHall(layout, height, pageType) : pageType;
  scaleType(data, layout, type / PAGE_TYPE);
  if (hall) forHall(data, layout, type / PAGE_TYPE);
  if (isNarrow(width)) {
    if (isPhone(width)) {
      // Names are smaller; a title beside them needs its room.
      const titled = Object.entries(layout).some(([name, axis]) =>
        name.startsWith("yaxis") && axis.title?.text
      );
      layout.margin = { ...layout.margin, l: Math.round((titled ? 0.9 : 0.75) * layout.margin.l) };
      for (const { tickfont } of [{ tickfont: layout.font }, ...axesOf(layout)]) {
        if (tickfont?.size) tickfont.size = Math.min(13, tickfont.size);
      }
      for (const trace of data) {
        if (trace.textfont) trace.textfont.size = Math.min(15, trace.textfont.size);
      }
    }
    for (const { colorbar } of data) {
      if (colorbar?.orientation === "h") {
        Object.assign(colorbar, { len: 1, nticks: 5, title: { ...colorbar.title, side: "top" } });
      }
    }
    if (isPhone(width) && layout.legend?.orientation === "v") {
      layout.legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" };
    }
    const named = layout.showlegend === false
      ? 0
      : data.filter(({ showlegend }) => showlegend !== false).length;
    // They stand one below the other.
    if (named > 4 && layout.legend?.orientation !== "v") layout.height += NAME_HEIGHT * named;
  }
  const { panels, rows } = layout.meta ?? {};
  if (panels > 1 && width / Math.ceil(panels / (rows || 1)) < PANEL) {
    stack(layout, panels, height, width);
  }
  turnNames(layout, width);
  if (!hall && height < LOW) {
    lowerTitles(layout);
    raiseLegend(layout);
  }
  shortenTitles(layout);
  if (!hall) sizeBars(data, layout);
  sizeNames(data, layout, hall ? SMALLEST_IN_HALL : SMALLEST);
}
