// A square in which a person puts points of two classes, over what a network makes of them.

import { channels, sharpContext } from "./canvas.js";
import { makeUnanswered } from "./drag.js";
import { element } from "./element.js";

/** @import { Head } from "./head.js" */

// Two classes of points over the score of a network: what is drawn, and where a pointer is on it.

const EDGE = 10; // pixels around the square, so that a point on its border is whole
const SHADE = 0.32;
const KEYS =
  "Arrow keys move, with Shift further; Enter puts a point, or takes away the one that is " +
  "there.";
const FOUND = 12; // pixels within which a click means a point that is there

// From places 0 … side − 1 to pixels, and back; the first row is the lowest.
function scaleOf(width, side) {
  const unit = (width - 2 * EDGE) / (side - 1);
  return {
    x: (place) => EDGE + place * unit,
    y: (place) => width - EDGE - place * unit,
    place: (x, y) =>
      [x - EDGE, width - EDGE - y].map((at) =>
        Math.max(0, Math.min(side - 1, Math.round(at / unit)))
      ),
  };
}

// The score's sign as a shade: full where it is as large as it was trained to be.
function shades(score, n, theme) {
  const [zero, one, other] = [theme.background, theme.positive_mid, theme.negative_mid].map(
    channels,
  );
  const image = new ImageData(n, n);
  for (let row = 0; row < n; row++) {
    for (let column = 0; column < n; column++) {
      const value = score[row * n + column], at = 4 * ((n - 1 - row) * n + column);
      const share = SHADE * Math.min(1, 0.35 + Math.abs(value) * 0.65);
      const end = value > 0 ? one : other;
      for (let c = 0; c < 3; c++) image.data[at + c] = zero[c] + (end[c] - zero[c]) * share;
      image.data[at + 3] = 255;
    }
  }
  return image;
}

// The line on which the score is 0, piece by piece between the places it was computed at.
function boundary(context, score, n, at) {
  const value = (i, j) => score[j * n + i];
  context.beginPath();
  for (let j = 0; j < n - 1; j++) {
    for (let i = 0; i < n - 1; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const crossings = [];
      corners.forEach(([x, y], side) => {
        const [u, v] = corners[(side + 1) % 4], a = value(x, y), b = value(u, v);
        if ((a > 0) !== (b > 0)) {
          crossings.push([x + ((u - x) * a) / (a - b), y + ((v - y) * a) / (a - b)]);
        }
      });
      for (let k = 0; k + 1 < crossings.length; k += 2) {
        context.moveTo(...at(crossings[k]));
        context.lineTo(...at(crossings[k + 1]));
      }
    }
  }
  context.stroke();
}

function point(context, x, y, first, theme) {
  context.beginPath();
  if (first) context.arc(x, y, 6, 0, 7);
  else context.rect(x - 5.5, y - 5.5, 11, 11);
  context.fillStyle = first ? theme.positive_mid : theme.negative_mid;
  context.strokeStyle = theme.background;
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
}

// Everything; `cursor` is the place the arrow keys are at, or null.
function draw(canvas, { score, lines, side }, points, cursor, theme) {
  const width = canvas.clientWidth, n = Math.sqrt(score.length);
  if (!width) return;
  const context = sharpContext(canvas, width, width);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, width);
  const scale = scaleOf(width, side), inner = width - 2 * EDGE;
  const at = ([i, j]) => [scale.x((i / (n - 1)) * (side - 1)), scale.y((j / (n - 1)) * (side - 1))];
  // A value stands in the middle of its cell.
  const small = new OffscreenCanvas(n, n), half = inner / (n - 1) / 2;
  small.getContext("2d")?.putImageData(shades(score, n, theme), 0, 0);
  context.save();
  context.beginPath();
  context.rect(EDGE, EDGE, inner, inner);
  context.clip();
  context.drawImage(small, EDGE - half, EDGE - half, inner + 2 * half, inner + 2 * half);
  context.strokeStyle = theme.muted;
  context.lineWidth = 0.8;
  context.globalAlpha = 0.55;
  context.beginPath();
  for (let k = 0; k < lines.length; k += 4) {
    const [x, y, u, v] = lines.subarray(k, k + 4);
    /** @type {(a: number, b: number) => [number, number]} */
    const to = (a, b) => [EDGE + ((a + 1) / 2) * inner, EDGE + ((1 - b) / 2) * inner];
    context.moveTo(...to(x, y));
    context.lineTo(...to(u, v));
  }
  context.stroke();
  context.globalAlpha = 1;
  context.restore();
  context.strokeStyle = theme.text;
  context.lineWidth = 2.5;
  boundary(context, score, n, at);
  for (const [x, y, first] of points) point(context, scale.x(x), scale.y(y), first, theme);
  if (!cursor) return;
  const [x, y] = [scale.x(cursor[0]), scale.y(cursor[1])];
  context.strokeStyle = theme.focus;
  context.lineWidth = 3;
  context.beginPath();
  context.arc(x, y, 11, 0, 7);
  context.moveTo(x - 17, y);
  context.lineTo(x - 5, y);
  context.moveTo(x + 5, y);
  context.lineTo(x + 17, y);
  context.moveTo(x, y - 17);
  context.lineTo(x, y - 5);
  context.moveTo(x, y + 5);
  context.lineTo(x, y + 17);
  context.stroke();
}

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const inOrder = (points) => points.map(String).sort().join(" ");

/**
 * What `PointEditor` sends.
 *
 * @typedef {{
 *   points: [number, number, number][], side: number, most: number, classes: [string, string],
 *   label: string, head: Head, arrays: { score: Float32Array, lines: Float32Array }
 * }} Data
 */

export function mount(tell) {
  const canvas = element("canvas", { tabindex: "0", role: "application" });
  const status = element("div", { class: "told", role: "status", "aria-live": "polite" });
  const choice = (first) =>
    element("button", {
      type: "button",
      onclick: () => {
        chosen = first;
        paint();
      },
    });
  const kinds = [choice(true), choice(false)];
  const clear = element("button", {
    type: "button", class: "clear", text: "Clear", onclick: () => change([]),
  });
  const tools = element(
    "div", { class: "kinds action", role: "group", "aria-label": "Class of the next point" },
    ...kinds, clear,
  );
  const root = element("figure", { class: "points" }, tools, canvas, status);
  /** @type {Data} */
  let shown;
  let colours = null, points = [], chosen = true, cursor = null;
  const unanswered = makeUnanswered(inOrder);

  function paint() {
    if (!shown) return;
    kinds.forEach((button, place) => {
      const sign = element("span", { text: place ? "■" : "●", "aria-hidden": "true" });
      sign.style.color = place ? colours.negative_mid : colours.positive_mid;
      button.replaceChildren(sign, ` ${shown.classes[place]}`);
      button.setAttribute("aria-pressed", String(chosen === !place));
    });
    const counts = [true, false].map((first) =>
      points.filter((point) => point[2] === first).length
    );
    canvas.setAttribute(
      "aria-label",
      `${shown.label}: ${counts[0]} ${shown.classes[0]}, ${counts[1]} ${shown.classes[1]}. ${KEYS}`,
    );
    draw(
      canvas, { score: shown.arrays.score, lines: shown.arrays.lines, side: shown.side }, points,
      cursor, colours,
    );
  }

  function change(next) {
    points = next;
    paint();
    const said = points.map(([x, y, first]) => [x, y, first ? 1 : 0]);
    unanswered.add(said);
    tell("points", said);
  }

  // Takes the point that is there, or puts one; says so to whoever does not see it.
  function toggle(place, there) {
    const [x, y] = place;
    const name = (first) => shown.classes[first ? 0 : 1];
    if (there >= 0) {
      status.textContent = `${name(points[there][2])} taken away`;
      change(points.filter((_, i) => i !== there));
    } else if (points.length < shown.most) {
      status.textContent = `${name(chosen)} put`;
      change([...points, [x, y, chosen]]);
    } else {
      status.textContent = `There is room for ${shown.most} points.`;
    }
  }

  canvas.onpointerdown = (event) => {
    const box = canvas.getBoundingClientRect(), scale = scaleOf(box.width, shown.side);
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const apart = points.map((point) => Math.hypot(scale.x(point[0]) - x, scale.y(point[1]) - y));
    const nearest = apart.indexOf(Math.min(...apart));
    cursor = null;
    toggle(scale.place(x, y), nearest >= 0 && apart[nearest] <= FOUND ? nearest : -1);
  };
  canvas.onkeydown = (event) => {
    const [dx, dy] = MOVES[event.key] ?? [0, 0];
    if (!dx && !dy && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    const middle = Math.floor(shown.side / 2);
    const [x, y] = cursor ?? [middle, middle];
    if (dx || dy) {
      const far = event.shiftKey ? 8 : 1;
      const within = (value) => Math.max(0, Math.min(shown.side - 1, value));
      cursor = [within(x + far * dx), within(y + far * dy)];
      status.textContent = `column ${cursor[0]}, row ${cursor[1]}`;
      paint();
    } else {
      cursor = [x, y];
      toggle(cursor, points.findIndex((point) => point[0] === x && point[1] === y));
    }
  };
  canvas.onblur = () => { cursor = null; paint(); };
  const resized = new ResizeObserver(paint);
  resized.observe(canvas);

  return {
    element: root,
    saves: {
      rows: () => [
        ["class", "x", "y"],
        ...points.map(([x, y, first]) => [
          shown.classes[first ? 0 : 1],
          ...[x, y].map((place) => Number(((place / (shown.side - 1)) * 2 - 1).toFixed(4))),
        ]),
      ],
    },
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      if (!unanswered.overtakes(data.points)) {
        points = data.points.map(([x, y, first]) => [x, y, first === 1]);
      }
      paint();
    },
    destroy() { resized.disconnect(); },
  };
}
