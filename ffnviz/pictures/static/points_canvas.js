// Two classes of points over the score of a network: what is drawn, and where a pointer is on it.

import { channels, sharpContext } from "./canvas.js";

const EDGE = 10; // pixels around the square, so that a point on its border is whole
const SHADE = 0.32;
export const FOUND = 12; // pixels within which a click means a point that is there

// From places 0 … side − 1 to pixels, and back; the first row is the lowest.
export function scaleOf(width, side) {
  const unit = (width - 2 * EDGE) / (side - 1);
  return {
    x: (place) => EDGE + place * unit,
    y: (place) => width - EDGE - place * unit,
    place: (x, y) => [x - EDGE, width - EDGE - y].map((at) => Math.max(0, Math.min(side - 1, Math.round(at / unit)))),
  };
}

// The score's sign as a shade: full where it is as large as it was trained to be.
function shades(score, n, theme) {
  const [zero, one, other] = [theme.background, theme.positive_mid, theme.negative_mid].map(channels);
  const image = new ImageData(n, n);
  for (let row = 0; row < n; row++) {
    for (let column = 0; column < n; column++) {
      const value = score[row * n + column], at = 4 * ((n - 1 - row) * n + column);
      const share = SHADE * Math.min(1, 0.35 + Math.abs(value) * 0.65), end = value > 0 ? one : other;
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
        if ((a > 0) !== (b > 0)) crossings.push([x + ((u - x) * a) / (a - b), y + ((v - y) * a) / (a - b)]);
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
export function draw(canvas, { score, lines, side }, points, cursor, theme) {
  const width = canvas.clientWidth, n = Math.sqrt(score.length);
  if (!width) return;
  const context = sharpContext(canvas, width, width);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, width);
  const scale = scaleOf(width, side), inner = width - 2 * EDGE;
  const at = ([i, j]) => [scale.x((i / (n - 1)) * (side - 1)), scale.y((j / (n - 1)) * (side - 1))];
  const small = new OffscreenCanvas(n, n), half = inner / (n - 1) / 2; // a value stands in the middle of its cell
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
  context.moveTo(x - 17, y); context.lineTo(x - 5, y); context.moveTo(x + 5, y); context.lineTo(x + 17, y);
  context.moveTo(x, y - 17); context.lineTo(x, y - 5); context.moveTo(x, y + 5); context.lineTo(x, y + 17);
  context.stroke();
}
