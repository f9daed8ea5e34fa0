import { makeCard } from "./block_card.js";
import { drawLanes, svgElement } from "./block_lanes.js";
import { layOut } from "./block_layout.js";
import { makeStation } from "./block_station.js";
import { each, element, rootOf } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { short } from "./numbers.js";
import { roomOf } from "./spotlight.js";
import { colourOf } from "./theme.js";
import { makeTip } from "./tip.js";
import { typeSize } from "./type_size.js";

/**
 * @import { Head, Span } from "./head.js"
 * @import { Numbers } from "./payload.js"
 */

export const styles = ["tip.css", "block_picture.css"];

// Of the window's height that the lanes take; a laptop's shows the card below them, too.
const LANES = { lowest: 78, highest: 400 }; // pixels
const SHARE = { low: 0.2, high: 0.22, from: 900 };
const ROOM_FOR_WORD = 13; // pixels of a lane
const STEP_MS = 2_200; // a station is shown while all are played
const ANSWER_MS = 2_000; // within which the page says that it has what was chosen

function rows(shown) {
  const table = [["station", "what", "head", "token number", "token", "entry", "value"]];
  for (const { name, title, strips, kind } of shown.stations) {
    strips.forEach((strip, k) => shown.arrays[`strip.${name}.${k}`].forEach((value, entry) =>
      table.push([title, strip.title, "", shown.token + 1, shown.words[shown.token], entry, short(value)])));
    if (!shown.shapes[`weights.${name}`]) continue;
    const [heads, n, sources] = shown.shapes[`weights.${name}`], weights = shown.arrays[`weights.${name}`];
    const asked = kind === "cross" ? shown.asked : shown.words;
    for (let at = 0; at < heads * n * sources; at++) {
      const source = at % sources, token = Math.floor(at / sources) % n, head = Math.floor(at / sources / n) + 1;
      table.push([title, `weight on ${asked[source]}`, head, token + 1, shown.words[token], source + 1, short(weights[at])]);
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
  const words = element("div", { class: "lane-words" }), walker = element("span", { class: "cursor walker" });
  const flow = element("div", { class: "flow" }, svg, words, walker);
  const variants = element("div", { class: "variants", role: "group", "aria-label": "Where the LayerNorms stand" });
  const stations = [];
  // What was chosen here, until the page shows it too.
  const wanted = { station: null, heed: null };
  let lanesNow = 0; // the pixels of all lanes
  /** @type {Data} */
  let shown;
  let colours = null, width = null, waiting = 0, playing = 0;

  const place = () => shown.stations.findIndex(({ name }) => name === shown.station);
  const card = makeCard(tip, { step: byHand, play, head: (head) => choose("heed", head), token: (token) => tell("token", token), door: (station, door) => tell("door", { station, door }) });
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
    else if (by > 0 ? shown.after : shown.before) tell("block", by > 0 ? 1 : 0);
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
    if (playing) { stop(); return; }
    playing = setInterval(() => { if (place() < shown.stations.length - 1) step(1); else stop(); }, STEP_MS);
    shown = { ...shown, playing: true };
    if (place() === shown.stations.length - 1) choose("station", shown.stations[0].name);
    else step(1);
  }

  function look(token) {
    if (token >= 0 && token < shown.words.length && token !== shown.token) tell("token", token);
  }

  root.onkeydown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = { ArrowLeft: () => byHand(-1), ArrowRight: () => byHand(1), ArrowUp: () => look(shown.token - 1), ArrowDown: () => look(shown.token + 1) }[event.key];
    if (!move || /** @type {Element} */ (event.target).closest(".head")) return;
    event.preventDefault();
    move();
    const held = rootOf(root).activeElement;
    if (stations.some(({ button }) => button === held)) stations[place()].button.focus({ preventScroll: true });
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
      const middle = Math.min(layout.first + layout.across - lane / 2, Math.max(layout.first + lane / 2, layout.middle(token)));
      Object.assign(word.style, layout.narrow
        ? { left: `${middle - lane / 2}px`, width: `${lane}px`, top: "0", height: `${layout.words}px`, lineHeight: `${layout.words}px` }
        : { top: `${middle - lane / 2}px`, height: `${lane}px`, lineHeight: `${lane}px`, left: "0", width: `${layout.words - 6}px` });
    });
  }

  // The dot that walks along the chosen token's lane.
  function walk(layout) {
    const { start, end } = layout.stations[place()], [x, y] = layout.point((start + end) / 2, layout.middle(shown.token)).split(" ");
    Object.assign(walker.style, { left: `${x}px`, top: `${y}px`, borderColor: colourOf(shown.accent, colours) });
  }

  const within = (height) => Math.round(Math.max(LANES.lowest, Math.min(LANES.highest, height)));

  function paint() {
    if (!shown || !width) return;
    const share = innerHeight < SHARE.from ? SHARE.low : SHARE.high;
    const room = roomOf(rootOf(root).host), rest = root.scrollHeight - lanesNow; // before a hall the card has its own height
    const own = within(share * innerHeight), lanes = room && lanesNow ? within(room - rest) : within(own + given(root));
    lanesNow = lanes;
    took(root, lanes - own, LANES.lowest - own, LANES.highest - own);
    const layout = layOut(shown.stations, shown.words.length, width, lanes, typeSize());
    root.classList.toggle("narrow", layout.narrow);
    root.classList.toggle("tight", layout.tight);
    for (const [name, pixels] of [["--type", layout.type], ["--caption", layout.caption], ["--note", layout.note - 2]]) {
      root.style.setProperty(name, `${pixels}px`);
    }
    flow.style.height = `${layout.height}px`;
    svg.setAttribute("width", layout.width);
    svg.setAttribute("height", layout.height);
    while (stations.length < shown.stations.length) {
      const made = makeStation(tip, (station, token) => { if (token !== null && station === shown.station) look(token); else { stop(); choose("station", station); } });
      stations.push(made);
      flow.insertBefore(made.box, walker);
    }
    while (stations.length > shown.stations.length) stations.pop().box.remove();
    stations.forEach((station, i) => station.update(shown, i, layout.stations[i], layout, colours));
    drawLanes(svg, layout, shown, colours);
    stations.forEach(({ button }, at) => { button.tabIndex = at === Math.max(0, place()) ? 0 : -1; });
    name(layout);
    walk(layout);
    card.update(shown, colours);
    each(variants, shown.variants, (k) => element("button", { type: "button", onclick: () => tell("variant", shown.variants[k][0]) }),
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
      if (wanted.station === data.station || !data.stations.some(({ name: own }) => own === wanted.station)) wanted.station = null;
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
