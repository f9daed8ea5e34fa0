import { makeCard } from "./block_card.js";
import { drawLanes } from "./block_lanes.js";
import { putImage, signedScale } from "./canvas.js";
import { each, element, rootOf, svgElement } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { number, short } from "./numbers.js";
import { makeTip } from "./popover.js";
import { roomOf } from "./spotlight.js";
import { colourOf, typeSize } from "./theme.js";

// Where everything of a block lies: along the flow, and across it, where each token has its lane.
// The flow runs from left to right, or from top to bottom where it is narrow.

// What a station is made of, and how much of the flow each part takes.
const PARTS = {
  attention: [["arcs", 1.8], ["map", 1]],
  cross: [["arcs", 1.8], ["map", 1]],
  ffn: [["widen", 0.4], ["hidden", 1.5], ["narrow", 0.4], ["map", 1]],
};
const ALONE = [["map", 1]];
const BEFORE = { stream: 0.15, sum: 0.85 }; // a sum leaves room for its ⊕
const OTHERS = 0.4;
const END = 0.45;
const WIDE = { words: 0.085, arch: 26, caption: 46, note: 26, note_tight: 42, caption_along: 0 };
const NARROW = { words: 26, arch: 30, caption: 0, note: 0, caption_along: 27, unit: 46 };

const NARROW_BELOW = 700;
const TYPE = 18; // pixels of the type that these heights are for
// What a page has; a talk's, whose smallest is 0.89 of it, is made no smaller than this.
const [LEAST_TYPE, OF_HALL] = [18, 20.5];
const HALL = 1600; // pixels of the window's width
const NAME = 4; // a station's name fits where type is this part of a map's width
const ROOM_FOR_NAMES = 70; // pixels of a map, below which long names are broken

/**
 * Lays out a block.
 *
 * @param stations with their kinds
 * @param n how many tokens have a lane
 * @param width of the picture, in pixels
 * @param lanes how many pixels all lanes take, where the flow runs from left to right
 * @param page size of the page's type, in pixels; a talk's is too large for many stations
 */
function layOut(stations, n, width, lanes, page) {
  const narrow = width < NARROW_BELOW;
  const own = narrow ? NARROW : WIDE;
  const words = narrow ? own.words : Math.min(110, Math.max(64, own.words * width));
  const parts = stations.map(({ kind }) => PARTS[kind] ?? ALONE);
  const before = stations.map(({ kind }) => BEFORE[kind] ?? OTHERS);
  const units = END +
    [...before, ...parts.flat().map(([, size]) => size)].reduce((a, b) => a + b, 0);
  const unit = narrow ? own.unit : (width - words) / units;
  const type = narrow
    ? page
    : Math.min(page, Math.max(innerWidth > HALL ? OF_HALL : LEAST_TYPE, unit / NAME));
  const larger = narrow ? 1 : Math.max(1, type / TYPE), caption = own.caption * larger;
  const first = own.arch + caption; // across, where the lanes begin
  const across = narrow ? width - own.arch : lanes;
  let at = words;
  const laid = stations.map((_, i) => {
    const enter = at;
    at += before[i] * unit;
    const named = at;
    at += own.caption_along;
    const start = at;
    const made = parts[i].map(([kind, size]) => ({ kind, start: at, end: (at += size * unit) }));
    return { enter, caption: named, start, end: at, parts: made };
  });
  const length = at + END * unit;
  const tight = !narrow && unit < (ROOM_FOR_NAMES * Math.max(TYPE, type)) / TYPE;
  const lane = across / n;
  const note = (tight ? own.note_tight : own.note) * larger;
  const place = (along, end, from, to) => (narrow
    ? { left: from, top: along, width: to - from, height: end - along }
    : { left: along, top: from, width: end - along, height: to - from });
  return {
    narrow, tight, type, caption, note, words, first, lane, length, unit, stations: laid, across,
    arch: own.arch,
    width: narrow ? width : length,
    height: narrow ? length : first + across + note,
    // The middle of a token's lane; of one of `of` evenly spaced ones, if that is given.
    middle: (token, of = n) => first + (token + 0.5) * (across / of),
    point: (along, at_) => (narrow ? `${at_} ${along}` : `${along} ${at_}`),
    lanes: (start, end) => place(start, end, first, first + across),
    // Caption, picture and note of a station.
    whole: ({ caption, end }) => (narrow
      ? place(caption, end, own.arch, own.arch + across)
      : place(caption, end, own.arch, first + across + note)),
    row: (token) => ({ from: (token * 100) / n, size: 100 / n }),
  };
}

// One station of a block: a button with its name, and a map of what it hands on, a lane a token.

const placed = (node, { left, top, width, height }) =>
  Object.assign(node.style, {
    left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`,
  });

// A long name with places where it may be broken.
const broken = (title) =>
  title.replace("LayerNorm", "Layer\u00adNorm").replace("attention", "atten\u00adtion");

// A pixel a value, tokens across the flow; the page stretches them.
function paintMap(canvas, values, n, colour, narrow) {
  const columns = values.length / n;
  const image = narrow ? new ImageData(n, columns) : new ImageData(columns, n);
  const pixels = new Uint32Array(image.data.buffer);
  for (let token = 0; token < n; token++) {
    for (let k = 0; k < columns; k++) {
      pixels[narrow ? k * n + token : token * columns + k] = colour(values[token * columns + k]);
    }
  }
  putImage(canvas, image);
}

/**
 * Makes one station.
 *
 * @param tip what names the token pointed at, within the picture
 * @param choose called with the station's name, and the token whose row of a map was clicked, if
 *   any
 */
function makeStation(tip, choose) {
  const title = element("b"), note = element("small");
  const button = element("button", { type: "button", class: "station" }, title, note);
  const maps = new Map();
  const box = element("div", { class: "at" }, button);
  let shown = null, station = null, layout = null;

  const tokenAt = (event) => {
    const bounds = event.currentTarget.getBoundingClientRect(), n = shown.words.length;
    const share = layout.narrow
      ? (event.clientX - bounds.left) / bounds.width
      : (event.clientY - bounds.top) / bounds.height;
    return Math.max(0, Math.min(n - 1, Math.floor(share * n)));
  };

  function makePart() {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const mark = element("span", { class: "row" });
    const part = element("div", { class: "map" }, canvas, mark);
    part.onclick = (event) => choose(station.name, tokenAt(event));
    part.onpointermove = (event) => {
      const token = tokenAt(event), outer = tip.parts[0].parentNode.getBoundingClientRect();
      const place = (own, all) => ({
        left: Math.max(0, Math.min(event.clientX - outer.left + 14, all - own)),
        top: event.clientY - outer.top + 16,
      });
      const norm = number(shown.arrays[`norms.${station.name}`][token]);
      tip.show(place, [
        element("bdi", { text: shown.words[token] }), ` · ${station.title}: norm `,
        element("b", { text: norm }),
      ], false);
    };
    part.onpointerleave = () => tip.hide();
    return part;
  }
  button.onclick = () => choose(station.name, null);

  return {
    box, button,
    update(data, at, laid, plan, theme) {
      [shown, station, layout] = [data, data.stations[at], plan];
      const whole = plan.whole(laid);
      placed(button, whole);
      title.textContent = plan.tight ? broken(station.title) : station.title;
      note.textContent = station.note;
      button.setAttribute("aria-pressed", String(data.station === station.name));
      button.setAttribute(
        "aria-label", `${at + 1} of ${data.stations.length}: ${station.title}. ${station.note}.`,
      );
      const wanted = laid.parts.filter(({ kind }) => kind === "map" || kind === "hidden");
      for (const [kind, part] of maps) {
        if (!wanted.some((each) => each.kind === kind)) {
          part.remove();
          maps.delete(kind);
        }
      }
      for (const { kind, start, end } of wanted) {
        if (!maps.has(kind)) { maps.set(kind, makePart()); box.append(maps.get(kind)); }
        const part = maps.get(kind), [canvas, mark] = part.children;
        placed(part, plan.lanes(start, end));
        const hidden = kind === "hidden";
        paintMap(
          canvas, data.arrays[hidden ? "map.hidden" : `map.${station.name}`], data.words.length,
          signedScale(theme, hidden ? station.largest_hidden : station.largest), plan.narrow,
        );
        const { from, size } = plan.row(data.token);
        Object.assign(mark.style, plan.narrow
          ? { left: `${from}%`, width: `${size}%`, top: "0", height: "100%" }
          : { top: `${from}%`, height: `${size}%`, left: "0", width: "100%" });
      }
    },
  };
}

/**
 * @import { Head, Span } from "./head.js"
 * @import { Numbers } from "./loading.js"
 */

// Of the window's height that the lanes take; a laptop's shows the card below them, too.
const LANES = { lowest: 78, highest: 400 }; // pixels
const SHARE = { low: 0.2, high: 0.22, from: 900 };
const ROOM_FOR_WORD = 13; // pixels of a lane
const STEP_MS = 2_200; // a station is shown while all are played
const ANSWER_MS = 2_000; // within which the page says that it has what was chosen

function rows(shown) {
  const table = [["station", "what", "head", "token number", "token", "entry", "value"]];
  for (const { name, title, strips, kind } of shown.stations) {
    strips.forEach((strip, k) =>
      shown.arrays[`strip.${name}.${k}`].forEach((value, entry) =>
        table.push([
          title, strip.title, "", shown.token + 1, shown.words[shown.token], entry, short(value),
        ])
      )
    );
    if (!shown.shapes[`weights.${name}`]) continue;
    const [heads, n, sources] = shown.shapes[`weights.${name}`];
    const weights = shown.arrays[`weights.${name}`];
    const asked = kind === "cross" ? shown.asked : shown.words;
    for (let at = 0; at < heads * n * sources; at++) {
      const source = at % sources;
      const token = Math.floor(at / sources) % n;
      const head = Math.floor(at / sources / n) + 1;
      table.push([
        title, `weight on ${asked[source]}`, head, token + 1, shown.words[token], source + 1,
        short(weights[at]),
      ]);
    }
  }
  return table;
}

/**
 * @typedef {{
 *   name: string, kind: string, title: string, note: string, says: Span[], source: string | null,
 *   doors: string[], largest: number, largest_hidden: number, n_heads: number,
 *   strips: { sign: string, title: string, norm: number, largest: number }[]
 * }} Station
 */

/**
 * What `block_cell` sends. `playing` is added here.
 *
 * @typedef {{
 *   station: string, token: number, before: string, after: string, variants: [string, string][],
 *   variant: string, stations: Station[], words: string[], asked: string[], chosen_head: number,
 *   head: Head, accent: string, playing?: boolean, arrays: Record<string, Numbers>,
 *   shapes: Record<string, number[]>
 * }} Data
 */

export function mount(tell) {
  const tip = makeTip();
  const svg = svgElement("svg", { class: "between", "aria-hidden": "true" });
  const words = element("div", { class: "lane-words" });
  const walker = element("span", { class: "cursor walker" });
  const flow = element("div", { class: "flow" }, svg, words, walker);
  const variants = element("div", {
    class: "variants", role: "group", "aria-label": "Where the LayerNorms stand",
  });
  const stations = [];
  // What was chosen here, until the page shows it too.
  const wanted = { station: null, heed: null };
  let lanesNow = 0; // the pixels of all lanes
  /** @type {Data} */
  let shown;
  let colours = null, width = null, waiting = 0, playing = 0;

  const place = () => shown.stations.findIndex(({ name }) => name === shown.station);
  const card = makeCard(tip, {
    step: byHand, play, head: (head) => choose("heed", head),
    token: (token) => tell("token", token),
    door: (station, door) => tell("door", { station, door }),
  });
  const root = element("div", { class: "block" }, flow, card.box, ...tip.parts);

  function choose(what, value) {
    shown = { ...shown, [what === "station" ? "station" : "chosen_head"]: value };
    wanted[what] = value;
    clearTimeout(waiting);
    waiting = setTimeout(() => { wanted.station = wanted.heed = null; }, ANSWER_MS);
    tell(what, value);
    paint();
  }

  function step(by) {
    const next = shown.stations[place() + by];
    if (next) choose("station", next.name);
    else if (by > 0 ? shown.after : shown.before) {
      wanted.station = null; // the next block begins where the page says
      tell("block", by > 0 ? 1 : 0);
    }
  }

  function stop() {
    clearInterval(playing);
    playing = 0;
    if (shown.playing) { shown = { ...shown, playing: false }; card.update(shown, colours); }
  }

  function byHand(by) {
    stop();
    step(by);
  }

  // From the first station, or on from where it is, to the last of this block.
  function play() {
    if (playing) {
      stop();
      return;
    }
    playing = setInterval(() => {
      if (place() < shown.stations.length - 1) step(1);
      else stop();
    }, STEP_MS);
    shown = { ...shown, playing: true };
    if (place() === shown.stations.length - 1) choose("station", shown.stations[0].name);
    else step(1);
  }

  function look(token) {
    if (token >= 0 && token < shown.words.length && token !== shown.token) tell("token", token);
  }

  root.onkeydown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = {
      ArrowLeft: () => byHand(-1), ArrowRight: () => byHand(1),
      ArrowUp: () => look(shown.token - 1), ArrowDown: () => look(shown.token + 1),
    }[event.key];
    if (!move || /** @type {Element} */ (event.target).closest(".head")) return;
    event.preventDefault();
    move();
    const held = rootOf(root).activeElement;
    if (stations.some(({ button }) => button === held)) {
      stations[place()].button.focus({ preventScroll: true });
    }
  };

  // The tokens' names where the lanes begin; where lanes are thin, only the chosen one's.
  function name(layout) {
    const room = layout.narrow ? layout.lane > 26 : layout.lane >= ROOM_FOR_WORD;
    each(words, shown.words, () => element("bdi"), (word, text, token) => {
      word.textContent = text;
      word.hidden = !room && token !== shown.token;
      word.classList.toggle("chosen", token === shown.token);
      word.style.color = token === shown.token ? colourOf(shown.accent, colours) : "";
      word.onclick = () => look(token);
      const lane = room ? layout.lane : Math.max(layout.lane, layout.narrow ? 90 : 22);
      const middle = Math.min(
        layout.first + layout.across - lane / 2,
        Math.max(layout.first + lane / 2, layout.middle(token)),
      );
      Object.assign(
        word.style,
        layout.narrow
          ? {
            left: `${middle - lane / 2}px`, width: `${lane}px`, top: "0",
            height: `${layout.words}px`, lineHeight: `${layout.words}px`,
          }
          : {
            top: `${middle - lane / 2}px`, height: `${lane}px`, lineHeight: `${lane}px`, left: "0",
            width: `${layout.words - 6}px`,
          },
      );
    });
  }

  // The dot that walks along the chosen token's lane.
  function walk(layout) {
    const { start, end } = layout.stations[place()];
    const [x, y] = layout.point((start + end) / 2, layout.middle(shown.token)).split(" ");
    // A share of the width, so that it glides to no place outside a window that was turned.
    Object.assign(walker.style, {
      left: `${100 * x / width}%`, top: `${y}px`, borderColor: colourOf(shown.accent, colours),
    });
  }

  const within = (height) => Math.round(Math.max(LANES.lowest, Math.min(LANES.highest, height)));

  function paint() {
    if (!shown || !width) return;
    const share = innerHeight < SHARE.from ? SHARE.low : SHARE.high;
    // Before a hall the card has its own height.
    const room = roomOf(rootOf(root).host), rest = root.scrollHeight - lanesNow;
    const own = within(share * innerHeight);
    const lanes = room && lanesNow ? within(room - rest) : within(own + given(root));
    lanesNow = lanes;
    took(root, lanes - own, LANES.lowest - own, LANES.highest - own);
    const layout = layOut(shown.stations, shown.words.length, width, lanes, typeSize());
    root.classList.toggle("narrow", layout.narrow);
    root.classList.toggle("tight", layout.tight);
    const sizes = { type: layout.type, caption: layout.caption, note: layout.note - 2 };
    for (const [name, pixels] of Object.entries(sizes)) {
      root.style.setProperty(`--${name}`, `${pixels}px`);
    }
    flow.style.height = `${layout.height}px`;
    svg.setAttribute("width", layout.width);
    svg.setAttribute("height", layout.height);
    while (stations.length < shown.stations.length) {
      const made = makeStation(tip, (station, token) => {
        if (token !== null && station === shown.station) look(token);
        else {
          stop();
          choose("station", station);
        }
      });
      stations.push(made);
      flow.insertBefore(made.box, walker);
    }
    while (stations.length > shown.stations.length) stations.pop().box.remove();
    stations.forEach((station, i) => station.update(shown, i, layout.stations[i], layout, colours));
    drawLanes(svg, layout, shown, colours);
    stations.forEach(({ button }, at) => {
      button.tabIndex = at === Math.max(0, place()) ? 0 : -1;
    });
    name(layout);
    walk(layout);
    card.update(shown, colours);
    each(
      variants, shown.variants,
      (k) =>
        element("button", { type: "button", onclick: () => tell("variant", shown.variants[k][0]) }),
      (button, [id, text]) => {
        button.textContent = text;
        button.setAttribute("aria-pressed", String(id === shown.variant));
      });
  }

  const resized = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width) return;
    width = contentRect.width;
    paint();
    card.resize();
  });
  const leaveRoom = onRoom(root, () => { paint(); card.resize(); });

  return {
    element: root,
    controls: variants,
    saves: { rows: () => rows(shown) },
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [{ ...data, playing: playing !== 0 }, theme];
      if (
        wanted.station === data.station ||
        !data.stations.some(({ name: own }) => own === wanted.station)
      ) wanted.station = null;
      if (wanted.heed === data.chosen_head) wanted.heed = null;
      shown.station = wanted.station ?? data.station;
      shown.chosen_head = wanted.heed ?? data.chosen_head;
      if (width === null) {
        width = root.clientWidth;
        resized.observe(flow);
      }
      paint();
    },
    destroy() {
      clearTimeout(waiting);
      clearInterval(playing);
      resized.disconnect();
      leaveRoom();
    },
  };
}
