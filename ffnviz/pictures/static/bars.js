import { channels } from "./canvas.js";
import { each, element, oneStop, rootOf } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { reorder, stretch } from "./motion.js";
import { number, percent } from "./numbers.js";
import { roomOf } from "./spotlight.js";
import { colourOf, typeSize } from "./theme.js";

/** @import { Head } from "./head.js" */

// Of a line, in the page's type: as it wants to be, the lowest, and the highest.
const [OWN, LOWEST, HIGHEST] = [1.45, 1.2, 5.5];
const FINGER = 44; // pixels of a line that is touched
// Of a line's height; in the page's type, on it and in a hall.
const [TYPE, LARGEST, IN_HALL] = [0.7, 1.25, 2.2];
const [KEPT, LED] = [10, 5]; // lines that a low window keeps; where the sentence says it all
const ACROSS = 13; // times the size of its type, that a panel is wide at least
const LETTER = 0.5; // of the type's size: how wide one is
const PHONE = 700;
const touch = matchMedia("(pointer: coarse)");

const clampTo = (low, high, value) => Math.max(low, Math.min(high, value));

// Where zero is on a panel's lines, and how long a unit is, as shares of their width; all panels
// have one scale.
function scaleOf(panels) {
  const ends = panels.map(({ values }) => [Math.min(0, ...values), Math.max(0, ...values)]);
  const span = Math.max(...ends.map(([low, high]) => high - low)) || 1;
  return ends.map(([low, high]) => ({
    zero: low < 0 && high === 0 ? 1 : -low / span, unit: 1 / span,
  }));
}

// The grey of lesser bars, lighter than that of text, which would be louder than the accent.
function quiet({ muted, background }) {
  const [over, under] = [muted, background].map(channels);
  return `rgb(${over.map((one, at) => Math.round(0.66 * one + 0.34 * under[at])).join(", ")})`;
}

/**
 * @typedef {{
 *   title: string, names: string[], values: number[], colour: string | string[],
 *   ids: number[] | null, marked: number[], said: string[]
 * }} Panel
 */

/**
 * What `bars_cell` sends.
 *
 * @typedef {{
 *   panels: Panel[], of: string, named: string, alt: string, leads: boolean, head: Head,
 *   moments?: { said: string, panels: Panel[] }[]
 * }} Data
 */

export function mount(tell) {
  /** @type {Data} */
  let shown;
  /** @type {Data} */
  let whole;
  // How many lines are seen, and for what that was found.
  let colours = null, count = Infinity, fitted = "";
  const panels = element("div", { class: "panels", role: "group" });
  const unit = element("p", { class: "unit" });
  const replay = makeReplay(({ panels: then }) => draw({ ...whole, panels: then }));
  const root = element("figure", { class: "bars" }, panels, unit, replay.box);
  const stops = new WeakMap(); // a list → what makes its lines one stop
  function makePanel() {
    const list = element("ol");
    stops.set(list, oneStop(list));
    return element("section", {}, element("h3"), list);
  }
  const makeRow = (clickable) => () => element("li", {},
    clickable ? element("button", { type: "button" }, element("bdi")) : element("bdi"),
    element("span", { class: "track" }, element("i"), element("b"), element("small")));

  function writeRow(item, panel, place, { zero, unit: one }, theme) {
    const name = panel.names[place], value = panel.values[place], id = panel.ids?.[place];
    const colour = Array.isArray(panel.colour) ? panel.colour[place] : panel.colour;
    const [label, { children: [bar, text, said] }] = item.children;
    item.dataset.name = name;
    item.title = `${name}: ${Math.abs(value) < 1 ? value.toFixed(4) : value.toPrecision(5)}`;
    item.classList.toggle("marked", panel.marked.includes(place));
    item.onclick = id === undefined ? null : () => tell("point", id);
    (label.matches("bdi") ? label : label.firstChild).textContent =
      id !== undefined && panel.marked.includes(place) ? `▸ ${name}` : name;
    text.textContent = shown.of === "probability" ? percent(value) : number(value);
    said.textContent = panel.said[place] ?? "";
    stretch(bar, zero + Math.min(0, value) * one, Math.abs(value) * one);
    bar.style.background = colour === "muted" ? quiet(theme) : colourOf(colour, theme);
  }

  // Fits the lines to the window: they stand further apart, or closer, and where that is not enough
  // the last ones are hidden.
  function fit() {
    const { host } = rootOf(root);
    const page = typeSize();
    const n = Math.max(1, ...(shown?.panels ?? []).map(({ names }) => names.length));
    if (!host?.isConnected || !shown || !root.checkVisibility()) return;
    const all = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (panels.children)];
    const lines = new Set(all.map(({ offsetTop }) => offsetTop)).size || 1;
    const clickable = shown.panels.some(({ ids }) => ids);
    const own = Math.max(OWN * page, clickable && touch.matches ? FINGER : 0);
    const room = roomOf(host), lowest = Math.min(own, LOWEST * page);
    let height = own, more = 0;
    count = n;
    if (room !== null) {
      // Where the last part ends, though the room of what stood here before may cut it off.
      const box = (part) => part.getBoundingClientRect();
      const seen = [panels, unit, replay.box].filter((part) => part.checkVisibility());
      const high = Math.max(...seen.map((part) => box(part).bottom)) - box(panels).top;
      const lists = [...panels.querySelectorAll("ol")].slice(0, lines).reduce(
        (all, list) => all + box(list).height, 0,
      );
      const left = (room - high + lists) / lines;
      count = clampTo(1, n, Math.floor(left / (1.4 * page)));
      height = Math.min(left / count, IN_HALL * page / TYPE);
    } else if (innerWidth > PHONE && host.closest(".sheet > .rows")) {
      const kept = Math.min(n, shown.leads ? LED : KEPT);
      const least = lines * (kept * lowest - n * own);
      const most = lines * n * (HIGHEST * page - own);
      const left = n * own + clampTo(least, most, given(root)) / lines;
      count = clampTo(kept, n, Math.floor(left / lowest + 0.01));
      height = clampTo(lowest, HIGHEST * page, left / count);
      more = lines * (count * height - n * own);
      took(root, more, least, most);
    }
    root.style.setProperty("--row", `${height}px`);
    const widest = (room === null ? LARGEST : IN_HALL) * page;
    const narrow = (panels.firstElementChild?.clientWidth ?? 0) / ACROSS;
    root.style.setProperty(
      "--type", `${clampTo(0.9 * page, widest, Math.min(TYPE * height, narrow))}px`,
    );
    for (const list of panels.querySelectorAll("ol")) cut(list);
  }
  function cut(list) {
    [...list.children].forEach((item, at) => { item.hidden = at >= count; });
    stops.get(list)();
  }
  const leaveRoom = onRoom(root, fit);
  const seen = new ResizeObserver(fit); // it is there now, or stands in another width
  seen.observe(panels);

  return {
    element: root,
    saves: {
      rows: () => [
        ["panel", "rank", shown.named, shown.of],
        ...shown.panels.flatMap(({ title, names, values }) =>
          names.map((name, rank) => [title, rank + 1, name, values[rank]])
        ),
      ],
    },
    /** @param {Data} data */
    update(data, theme) {
      [whole, colours] = [data, theme];
      if (!data.moments) draw(data);
      replay.update(data.moments);
    },
    destroy() {
      replay.stop();
      seen.disconnect();
      leaveRoom();
    },
  };

  function draw(data) {
    shown = data;
    root.classList.toggle("leads", data.leads);
    if (data.alt) panels.setAttribute("aria-label", data.alt);
    panels.classList.toggle("several", data.panels.length > 1);
    unit.textContent = data.of;
    unit.hidden = ["", "probability"].includes(data.of);
    const scales = scaleOf(data.panels);
    each(panels, data.panels, makePanel, ({ children: [heading, list] }, panel, at) => {
      heading.textContent = panel.title;
      heading.hidden = !panel.title;
      if (panel.title) list.setAttribute("aria-label", panel.title);
      list.classList.toggle("clickable", panel.ids !== null);
      list.style.setProperty(
        "--said", `${3.1 + LETTER * Math.max(0, ...panel.said.map(({ length }) => length))}em`,
      );
      const arrive = reorder(list, panel.names);
      each(
        list, panel.names, makeRow(panel.ids !== null),
        (item, _, place) => writeRow(item, panel, place, scales[at], colours),
      );
      cut(list);
      arrive();
    });
    const lines = [data.leads, ...data.panels.map(({ names, ids }) => [names.length, ids !== null])]
      .join();
    if (lines !== fitted) fit(); // it asks the browser for sizes
    fitted = lines;
  }
}

// A recording that is played where it is shown: a button, a slider, and what is said of each
// moment. No server is asked.

const A_MOMENT_MS = 350;

/**
 * Makes the controls.
 *
 * @param show called with the moment to be drawn; each has `said`
 */
function makeReplay(show) {
  const play = element("button", { type: "button" }), said = element("span", { role: "status" });
  const slider = element("input", {
    type: "range", min: "0", step: "1", "aria-label": "Through the recorded moments",
  });
  const box = element("div", { class: "replay" }, play, slider, said);
  let moments = [], known = "", playing = 0;

  function stop() {
    clearInterval(playing);
    playing = 0;
    play.textContent = "Play";
  }

  function turn(place) {
    const moment = moments[place];
    slider.value = String(place);
    slider.setAttribute("aria-valuetext", moment.said);
    said.textContent = moment.said;
    said.ariaLive = playing ? "off" : "polite";
    show(moment);
  }

  slider.oninput = () => { stop(); turn(Number(slider.value)); };
  play.onclick = () => {
    if (playing) { stop(); return; }
    const last = moments.length - 1;
    turn(Number(slider.value) === last ? 0 : Number(slider.value));
    play.textContent = "Pause";
    playing = setInterval(() => {
      const place = Number(slider.value) + 1;
      if (place >= last) stop();
      turn(Math.min(place, last));
    }, A_MOMENT_MS);
  };

  return {
    box,
    stop,
    update(recorded) {
      box.hidden = !recorded;
      if (!recorded) return;
      const same = JSON.stringify(recorded);
      if (same !== known) {
        [moments, known] = [recorded, same];
        stop();
        slider.max = slider.value = String(moments.length - 1);
      }
      turn(Number(slider.value));
    },
  };
}
