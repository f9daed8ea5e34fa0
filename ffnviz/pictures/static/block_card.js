// What the chosen station does to the chosen token: in words, and as vectors.

import { makeHeads } from "./block_heads.js";
import { contextOf } from "./canvas.js";
import { each, element } from "./element.js";
import { grouped, number } from "./numbers.js";
import { colourOf } from "./theme.js";

// A bar a number: up and green above zero, down and violet below.
function paintStrip(canvas, values, largest, colours) {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio || 1;
  if (!width || !height) return;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = contextOf(canvas), columns = canvas.width, middle = canvas.height / 2;
  context.fillStyle = colours.line;
  context.fillRect(0, Math.round(middle), columns, 1);
  const size = Math.max(1, columns / values.length), unit = (middle - 1) / (largest || 1);
  values.forEach((value, k) => {
    const bar = Math.abs(value) * unit;
    context.fillStyle = value < 0 ? colours.negative_mid : colours.positive_mid;
    context.fillRect((k * columns) / values.length, value < 0 ? middle : middle - bar, Math.max(1, size * 0.9), bar);
  });
}

function makeStrip(tip) {
  const sign = element("i"), title = element("b"), note = element("small"), canvas = element("canvas", { "aria-hidden": "true" });
  const box = element("div", { class: "strip" }, element("span", { class: "of" }, sign, title, note), canvas);
  let values = [];
  canvas.onpointermove = (event) => {
    const bounds = canvas.getBoundingClientRect(), outer = tip.parts[0].parentNode.getBoundingClientRect();
    const k = Math.max(0, Math.min(values.length - 1, Math.floor(((event.clientX - bounds.left) / bounds.width) * values.length)));
    tip.show((own, all) => ({ left: Math.max(0, Math.min(event.clientX - outer.left + 14, all - own)), top: event.clientY - outer.top + 14 }),
      [`number ${k} of ${grouped(values.length)} · `, element("b", { text: number(values[k]) })], false);
  };
  canvas.onpointerleave = () => tip.hide();
  return {
    box,
    update(strip, given, colours) {
      values = given;
      sign.textContent = strip.sign;
      title.textContent = strip.title;
      note.textContent = `${grouped(values.length)} numbers, norm ${number(strip.norm)}`;
      paintStrip(canvas, values, strip.largest, colours);
    },
  };
}

/**
 * Makes the card.
 *
 * @param tip what names the number pointed at, within the picture
 * @param ask with `step(by)`, `play()`, `head(number)`, `token(place)` and `door(station, place)`
 */
export function makeCard(tip, ask) {
  const back = element("button", { type: "button", class: "action", text: "←", "aria-label": "One step back", onclick: () => ask.step(-1) });
  const on = element("button", { type: "button", class: "action", text: "→", "aria-label": "One step on", onclick: () => ask.step(1) });
  const play = element("button", { type: "button", class: "action", onclick: ask.play });
  const title = element("h3"), says = element("p", { class: "says" }), doors = element("p", { class: "doors" });
  const heads = makeHeads(ask.head, ask.token);
  const strips = element("div", { class: "strips" }), made = [];
  const content = element("div", { class: "content" }, heads.box, strips);
  const box = element("div", { class: "card" },
    element("div", { class: "text" }, element("div", { class: "steps" }, back, on, play, title), says, doors), content);
  let seen = null;

  function vectors() {
    const [shown, station, colours] = seen;
    while (made.length < station.strips.length) { made.push(makeStrip(tip)); strips.append(made.at(-1).box); }
    while (made.length > station.strips.length) made.pop().box.remove();
    station.strips.forEach((strip, k) => made[k].update(strip, shown.arrays[`strip.${station.name}.${k}`], colours));
  }

  return {
    box,
    update(shown, colours) {
      const place = shown.stations.findIndex(({ name }) => name === shown.station), station = shown.stations[place];
      seen = [shown, station, colours];
      title.textContent = `${place + 1} of ${shown.stations.length}: ${station.title}`;
      back.disabled = place === 0 && !shown.before;
      on.disabled = place === shown.stations.length - 1 && !shown.after;
      play.textContent = shown.playing ? "❚❚" : "▶";
      play.setAttribute("aria-label", shown.playing ? "Stop" : "Play all steps");
      back.title = place === 0 ? shown.before : "";
      on.title = place === shown.stations.length - 1 ? shown.after : "";
      each(says, station.says, () => element("span"), (span, [text, kind]) => {
        span.className = kind.split("@")[0];
        span.style.color = kind.startsWith("number") ? colourOf(shown.accent, colours) : "";
        span.replaceChildren(kind === "typed" ? element("bdi", { text }) : text);
      });
      each(doors, station.doors, () => element("button", { type: "button" }), (door, part, at) => {
        door.textContent = part;
        door.title = `To “${part}”`;
        door.onclick = () => ask.door(station.name, at);
      });
      heads.box.hidden = !station.n_heads;
      content.classList.toggle("both", Boolean(station.n_heads));
      if (station.n_heads) heads.update(shown, station, colours);
      vectors();
    },
    resize() {
      if (!seen) return;
      vectors();
      if (seen[1].n_heads) heads.resize();
    },
  };
}
