// What the chosen station does to the chosen token: in words, and as vectors.

import { weightsOf } from "./block_lanes.js";
import { channels, contextOf, putImage } from "./canvas.js";
import { each, element, oneStop, svgElement } from "./element.js";
import { grouped, number, percent, within } from "./numbers.js";
import { colourOf } from "./theme.js";

// What an attention does on this sentence: arcs over the words for one head, and a map for each.

const ARCS = { share: 0.14, lowest: 110, highest: 200, least: 0.004, thickest: 16 };
const MARGIN = 34; // left and right, for half a word

// A row a token, a column what it looks at; the root shows what is small.
function paintMap(canvas, { weight, n, sources }, head, accent, background) {
  const image = new ImageData(sources, n), [from, to] = [channels(background), channels(accent)];
  for (let token = 0; token < n; token++) {
    for (let source = 0; source < sources; source++) {
      const share = Math.sqrt(weight(head, token, source)), at = 4 * (token * sources + source);
      for (let k = 0; k < 3; k++) image.data[at + k] = from[k] + (to[k] - from[k]) * share;
      image.data[at + 3] = 255;
    }
  }
  putImage(canvas, image);
}

/**
 * Makes the panel.
 *
 * @param choose called with a head, 0 for the mean of all
 * @param look called with a token
 */
function makeHeads(choose, look) {
  const svg = svgElement("svg", { "aria-hidden": "true" });
  const words = element("div", { class: "words" });
  const asked = element("div", { class: "words asked" });
  const summary = element("p", { class: "most" });
  const maps = element("div", {
    class: "heads", role: "group", "aria-label": "Heads of the attention",
  });
  const arcs = element("div", { class: "arcs" }, asked, svg, words);
  const box = element("div", { class: "attention" }, element("div", {}, summary, arcs), maps);
  const stop = oneStop(maps);
  let seen = null;

  const makeHead = (head) =>
    element(
      "button", { type: "button", onclick: () => choose(head) }, element("canvas"), element("span"),
    );

  // As many words as there is room for; the chosen one and those it looks at most come first.
  function write(row, texts, first, width, click) {
    const place = (k) => MARGIN + ((k + 0.5) / texts.length) * (width - 2 * MARGIN);
    each(row, texts, () => element("bdi"), (word, text, k) => {
      word.textContent = text;
      word.hidden = false;
      word.style.left = `${place(k)}px`;
      word.classList.toggle("chosen", k === first[0] && Boolean(click));
      word.onclick = click ? () => click(k) : null;
    });
    const taken = [];
    for (const k of [...first, ...texts.keys()]) {
      const word = row.children[k], half = word.offsetWidth / 2 + 3;
      const [left, right] = [place(k) - half, place(k) + half];
      if (word.hidden || taken.some(([own, a, b]) => own !== k && left < b && right > a)) {
        word.hidden = !taken.some(([own]) => own === k);
      } else taken.push([k, left, right]);
    }
    return place;
  }

  function draw(shown, station, colours) {
    const found = weightsOf(shown, station), cross = station.kind === "cross";
    const accent = colourOf(shown.accent, colours), width = arcs.clientWidth;
    const height = Math.round(
      Math.max(ARCS.lowest, Math.min(ARCS.highest, ARCS.share * innerHeight)),
    );
    if (!width) return;
    const sources = cross ? shown.asked : shown.words;
    const mine = Array.from(
      sources, (_, source) => found.weight(shown.chosen_head, shown.token, source),
    );
    const strongest = [...mine.keys()].sort((a, b) => mine[b] - mine[a]);
    const at = write(words, shown.words, [shown.token, ...(cross ? [] : strongest)], width, look);
    asked.hidden = !cross;
    const from = cross ? write(asked, sources, strongest, width, null) : at;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const arc = (token, source, size, own) => {
      const a = from(source), b = at(token);
      const top = height - 1.3 * Math.min(height - 14, 18 + 0.42 * Math.abs(a - b));
      const loop = height - 30;
      const d = cross
        ? `M${a} 0 C${a} ${height / 2} ${b} ${height / 2} ${b} ${height}`
        : source === token
          ? `M${a - 7} ${height} C${a - 16} ${loop} ${a + 16} ${loop} ${a + 7} ${height}`
          : `M${a} ${height} C${a} ${top} ${b} ${top} ${b} ${height}`;
      svg.append(svgElement("path", {
        d, fill: "none", stroke: own ? accent : colours.muted, "stroke-opacity": own ? 0.85 : 0.35,
        "stroke-width": Math.max(own ? 1 : 0.4, size * (own ? ARCS.thickest : 6)),
      }));
    };
    const others = [];
    for (let token = 0; token < found.n; token++) {
      if (token === shown.token) continue;
      for (let source = 0; source < found.sources; source++) {
        const size = found.weight(shown.chosen_head, token, source);
        if (size > 0.1) others.push([token, source, size]);
      }
    }
    others.sort((a, b) => b[2] - a[2]).slice(0, 200).reverse().forEach(([token, source, size]) =>
      arc(token, source, size, false)
    );
    strongest.filter((source) => mine[source] > ARCS.least).reverse().forEach((source) =>
      arc(shown.token, source, mine[source], true)
    );
    const whose = shown.chosen_head
      ? `Head ${shown.chosen_head}`
      : `The mean of all ${found.heads} heads`;
    const most = strongest.slice(0, 3).flatMap((source, k) =>
      [k ? ", " : "", element("bdi", { text: sources[source] }), ` ${percent(mine[source])}`]);
    summary.replaceChildren(
      `${whose}: `, element("bdi", { text: shown.words[shown.token] }), " looks at ", ...most,
    );
  }

  return {
    box,
    update(shown, station, colours) {
      seen = [shown, station, colours];
      const found = weightsOf(shown, station), accent = colourOf(shown.accent, colours);
      each(maps, Array.from({ length: found.heads + 1 }, (_, k) => k), makeHead, (button, head) => {
        const [canvas, name] = button.children;
        paintMap(canvas, found, head, accent, colours.background);
        name.textContent = head ? String(head) : "mean";
        button.setAttribute("aria-pressed", String(head === shown.chosen_head));
        button.setAttribute("aria-label", head ? `Head ${head}` : "Mean of all heads");
      });
      stop(shown.chosen_head);
      draw(shown, station, colours);
    },
    resize() { if (seen) draw(...seen); },
  };
}

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
    context.fillRect(
      (k * columns) / values.length, value < 0 ? middle : middle - bar, Math.max(1, size * 0.9),
      bar,
    );
  });
}

function makeStrip(tip) {
  const sign = element("i");
  const title = element("b");
  const note = element("small");
  const canvas = element("canvas", { "aria-hidden": "true" });
  const box = element(
    "div", { class: "strip" }, element("span", { class: "of" }, sign, title, note), canvas,
  );
  let values = [];
  canvas.onpointermove = (event) => {
    const bounds = canvas.getBoundingClientRect();
    const outer = tip.parts[0].parentNode.getBoundingClientRect();
    const at = Math.floor(((event.clientX - bounds.left) / bounds.width) * values.length);
    const k = within(at, 0, values.length - 1);
    tip.show(
      (own, all) => ({
        left: Math.max(0, Math.min(event.clientX - outer.left + 14, all - own)),
        top: event.clientY - outer.top + 14,
      }),
      [`number ${k} of ${grouped(values.length)} · `, element("b", { text: number(values[k]) })],
      false,
    );
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
  const back = element("button", {
    type: "button", class: "action", text: "←", "aria-label": "One step back",
    onclick: () => ask.step(-1),
  });
  const on = element("button", {
    type: "button", class: "action", text: "→", "aria-label": "One step on",
    onclick: () => ask.step(1),
  });
  const play = element("button", { type: "button", class: "action", onclick: ask.play });
  const title = element("h3");
  const says = element("p", { class: "says" });
  const doors = element("p", { class: "doors" });
  const heads = makeHeads(ask.head, ask.token);
  const strips = element("div", { class: "strips" }), made = [];
  const content = element("div", { class: "content" }, heads.box, strips);
  const box = element(
    "div", { class: "card" },
    element(
      "div", { class: "text" }, element("div", { class: "steps" }, back, on, play, title), says,
      doors,
    ),
    content,
  );
  let seen = null;

  function vectors() {
    const [shown, station, colours] = seen;
    while (made.length < station.strips.length) {
      made.push(makeStrip(tip));
      strips.append(made.at(-1).box);
    }
    while (made.length > station.strips.length) made.pop().box.remove();
    station.strips.forEach((strip, k) =>
      made[k].update(strip, shown.arrays[`strip.${station.name}.${k}`], colours)
    );
  }

  return {
    box,
    update(shown, colours) {
      const place = shown.stations.findIndex(({ name }) => name === shown.station);
      const station = shown.stations[place];
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
