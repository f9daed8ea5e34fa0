// What runs between the stations of a block: each token's lane, the stream that goes around what is
// added to it, the arcs of the attention, and the FFN's fans.

import { svgElement } from "./element.js";
import { colourOf } from "./theme.js";

const MOST_ARCS = 400; // that are drawn: the strongest
const THICKEST = 0.85; // an arc of weight 1, as a share of a lane
const LEAST = 0.004; // weight of an arc that is drawn

// The weights of one head, or the mean of all, as weight(token, source).
export function weightsOf(shown, station) {
  const weights = shown.arrays[`weights.${station.name}`];
  const [heads, n, sources] = shown.shapes[`weights.${station.name}`];
  const at = (head, token, source) => weights[(head * n + token) * sources + source];
  const weight = (head, token, source) => {
    if (head > 0) return at(head - 1, token, source);
    let sum = 0;
    for (let k = 0; k < heads; k++) sum += at(k, token, source);
    return sum / heads;
  };
  return { weight, heads, n, sources };
}

function curve(layout, [from, start], [to, end]) {
  const half = (from + to) / 2, { point } = layout;
  return `M${point(from, start)} C${point(half, start)} ${point(half, end)} ${point(to, end)}`;
}

function lanes(svg, layout, start, end, shown, colours, dash = "none") {
  const n = shown.words.length, { point, middle } = layout;
  for (let token = 0; token < n; token++) {
    if (token === shown.token) continue;
    svg.append(svgElement("path", {
      d: `M${point(start, middle(token))} L${point(end, middle(token))}`, fill: "none",
      stroke: colours.muted, "stroke-width": Math.min(1.5, layout.lane / 3), "stroke-opacity": 0.4,
      "stroke-dasharray": dash,
    }));
  }
  chosenLane(svg, layout, start, end, shown, colours, dash);
}

function chosenLane(svg, { point, middle }, start, end, shown, colours, dash) {
  svg.append(svgElement("path", {
    d: `M${point(start, middle(shown.token))} L${point(end, middle(shown.token))}`,
    stroke: colourOf(shown.accent, colours), "stroke-width": 4, fill: "none",
    "stroke-dasharray": dash,
  }));
}

function arcs(svg, layout, part, station, shown, colours) {
  const { weight, n, sources } = weightsOf(shown, station), found = [];
  const accent = colourOf(shown.accent, colours);
  const cross = station.kind === "cross", across = cross ? sources : n;
  // They ask, and are not read here.
  if (cross) lanes(svg, layout, part.start, part.end, shown, colours, "2 7");
  for (let token = 0; token < n; token++) {
    for (let source = 0; source < sources; source++) {
      const size = weight(shown.chosen_head, token, source);
      if (size > LEAST) found.push({ token, source, size, mine: token === shown.token });
    }
  }
  found.sort((a, b) => Number(b.mine) - Number(a.mine) || b.size - a.size);
  for (const { token, source, size, mine } of found.slice(0, MOST_ARCS).reverse()) {
    svg.append(svgElement("path", {
      d: curve(layout, [part.start, layout.middle(source, across)], [
        part.end, layout.middle(token),
      ]),
      fill: "none", stroke: mine ? accent : colours.muted, "stroke-opacity": mine ? 0.9 : 0.5,
      "stroke-width": Math.max(
        mine ? 1 : 0.4, size * Math.min(26, THICKEST * Math.max(layout.lane, mine ? 14 : 4)),
      ),
    }));
  }
  if (cross) sourceDots(svg, layout, part, sources, colours);
}

// Where the tokens of the other sentence come in.
function sourceDots(svg, { point, middle, across }, part, sources, colours) {
  for (let source = 0; source < sources; source++) {
    const [cx, cy] = point(part.start, middle(source, sources)).split(" ");
    svg.append(
      svgElement("circle", { cx, cy, r: Math.min(5, across / sources / 3), fill: colours.text }),
    );
  }
}

// From as wide as d_model to as wide as d_ff, and back.
function fan(svg, layout, part, shown, colours) {
  const { point, first, across } = layout, share = 0.3;
  const [before, after] = part.kind === "widen" ? [share, 1] : [1, share];
  const edge = (size, side) => first + (across * (1 + side * size)) / 2;
  const corners = [[part.start, edge(before, -1)], [part.end, edge(after, -1)], [
    part.end, edge(after, 1),
  ], [part.start, edge(before, 1)]];
  svg.append(svgElement("path", {
    d: `M${corners.map(([along, at]) => point(along, at)).join(" L")} Z`,
    fill: colourOf(shown.accent, colours), "fill-opacity": 0.16,
  }));
}

// The stream that goes around what is added to it, and the ⊕ where both meet.
function around(svg, layout, from, to, colours, shown) {
  const { point, first, across } = layout;
  const gap = to.start - to.enter;
  const leave = from.end + (layout.narrow ? 6 : 0.28 * (BRANCH * layout.unit));
  const enter = to.enter + (layout.narrow ? Math.min(13, gap / 3) : gap / 2);
  const side = 8, middle = layout.narrow ? layout.arch : first + across / 2;
  const [radius, plus] = [12, 6];
  const start = point(leave, layout.narrow ? layout.arch + 2 : middle);
  const path = `M${start} L${point(leave, side)} L${point(enter, side)} L${point(enter, middle)}`;
  const accent = colourOf(shown.accent, colours);
  for (const [width, stroke, opacity] of [[9, colours.muted, 0.3], [3, accent, 1]]) {
    svg.append(svgElement("path", {
      d: path, fill: "none", stroke, "stroke-width": width, "stroke-opacity": opacity,
      "stroke-linejoin": "round",
    }));
  }
  return () => {
    const at = (along, across_) => point(enter + along, middle + across_);
    const [x, y] = point(enter, middle).split(" ");
    const drawn = { stroke: colours.text, "stroke-width": 2 };
    const cross = `M${at(-plus, 0)} L${at(plus, 0)} M${at(0, -plus)} L${at(0, plus)}`;
    svg.append(
      svgElement("circle", { cx: x, cy: y, r: radius, fill: colours.background, ...drawn }),
      svgElement("path", { d: cross, ...drawn }),
    );
  };
}
const BRANCH = 0.6;

// Where the block ends: on to the next.
function arrow(svg, { point, middle, length }, shown, colours) {
  const at = middle(shown.token), tip = length - 2;
  svg.append(svgElement("path", {
    d: `M${point(tip - 10, at - 8)} L${point(tip, at)} L${point(tip - 10, at + 8)}`,
    fill: "none", stroke: colourOf(shown.accent, colours), "stroke-width": 4,
  }));
}

// Draws all of it.
export function drawLanes(svg, layout, shown, colours) {
  svg.replaceChildren();
  const ends = [], named = new Map(shown.stations.map(({ name }, i) => [name, layout.stations[i]]));
  shown.stations.forEach((station, i) => {
    const laid = layout.stations[i];
    lanes(svg, layout, laid.enter, laid.start, shown, colours);
    if (station.source) {
      ends.push(around(svg, layout, named.get(station.source), laid, colours, shown));
    }
    for (const part of laid.parts) {
      if (part.kind === "arcs") arcs(svg, layout, part, station, shown, colours);
      if (part.kind === "widen" || part.kind === "narrow") {
        fan(svg, layout, part, shown, colours);
        lanes(svg, layout, part.start, part.end, shown, colours);
      }
    }
  });
  lanes(svg, layout, layout.stations.at(-1).end, layout.length - 2, shown, colours);
  arrow(svg, layout, shown, colours);
  ends.forEach((draw) => draw());
}
