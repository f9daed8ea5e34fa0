import { putImage, signedScale } from "./canvas.js";
import { element, svgElement } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { playInTurn } from "./motion.js";
import { number, short } from "./numbers.js";
import { makeTip } from "./popover.js";
import { colourOf } from "./theme.js";

// One stage of the FFN picture: a cell a number, and the pointer and keys on it.

// Side by side, all stages are equally wide and a stage's height tells how many numbers it holds;
// one over the other, on a narrow screen, they are equally high and the width tells it. The largest
// stage is twice as high as wide, or its cells twice as wide as high: 2,048 numbers are 32 by 64.
const WIDE = { columns: (_n, most) => Math.ceil(Math.sqrt(most / 2)), shape: 1 };
const NARROW = { columns: (n, most) => Math.ceil(n / Math.ceil(Math.sqrt(most / 8))), shape: 0.5 };

/**
 * Makes one stage.
 *
 * @param name its name
 * @param tip what names the cell pointed at, within the picture
 * @param choose called with a neuron
 * @param enter called with the stage's name, if its title leads anywhere
 */
function makeStage(name, tip, choose, enter) {
  const canvas = element("canvas", { tabindex: "0", role: "application" });
  const title = element("b");
  const door = element("button", { type: "button", class: "door", onclick: () => enter(name) });
  const shape = element("span", { class: "shape" });
  const caption = element("figcaption", {}, title, shape);
  const note = element("small");
  const mark = element("span", { class: "mark" });
  const cursor = element("span", { class: "cursor", hidden: "" });
  const grid = element("div", { class: "grid" }, canvas, mark, cursor);
  const frame = element("div", { class: "frame" }, grid);
  const box = element("figure", { "data-stage": name }, caption, frame, note);
  let stage = null, values = null, order = null, neuron = null, token = "", columns = 1, rows = 1;
  let place = null; // of the keyboard's cursor
  let painted = []; // what the canvas shows

  // A pixel a value; the page stretches them.
  function paint(theme) {
    const wanted = [values, order, columns, rows, stage.largest, theme];
    if (wanted.every((each, at) => each === painted[at])) return;
    painted = wanted;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const colour = signedScale(theme, stage.largest);
    for (let at = 0; at < values.length; at++) pixels[at] = colour(values[entryOf(at)]);
    putImage(canvas, image);
  }

  const entryOf = (at) => (order ? order[at] : at);
  const placeOf = (entry) => (order ? order.indexOf(entry) : entry);

  function moveTo(mark, at) {
    mark.style.left = `${((at % columns) + 0.5) * (100 / columns)}%`;
    mark.style.top = `${(Math.floor(at / columns) + 0.5) * (100 / rows)}%`;
  }

  function tell(at, x, y, aloud) {
    const kind = order ? "neuron" : "dimension";
    const parts = [
      element("bdi", { text: token }), ` · ${kind} ${entryOf(at)} · `,
      element("b", { text: number(values[entryOf(at)]) }),
    ];
    const outer = tip.parts[0].parentNode.getBoundingClientRect();
    const left = (own, all) => Math.max(0, Math.min(x - outer.left + 14, all - own));
    tip.show((own, all) => ({ left: left(own, all), top: y - outer.top + 14 }), parts, aloud);
  }

  function tellCursor() {
    cursor.hidden = false;
    moveTo(cursor, place);
    const { left, top } = cursor.getBoundingClientRect();
    tell(place, left, top, true);
  }

  function leave() {
    place = null;
    cursor.hidden = true;
    tip.hide();
  }

  function placeAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - bounds.left) / bounds.width) * columns);
    const row = Math.floor(((event.clientY - bounds.top) / bounds.height) * rows);
    return Math.max(0, Math.min(values.length - 1, row * columns + column));
  }

  canvas.onpointermove = (event) => {
    if (place !== null) leave();
    tell(placeAt(event), event.clientX, event.clientY, false);
  };
  canvas.onpointerleave = () => { if (place === null) tip.hide(); };
  canvas.onblur = leave;
  canvas.onclick = (event) => { if (order) choose(entryOf(placeAt(event))); };
  canvas.onkeydown = (event) => {
    const moves = {
      ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity,
      End: Infinity,
    };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      const start = order && neuron !== null ? placeOf(neuron) : 0;
      // The first key shows where the cursor is, the next ones move it.
      const next = place === null && Number.isFinite(move) ? start : (place ?? start) + move;
      if (!Number.isFinite(next) || place === null) {
        place = Math.max(0, Math.min(values.length - 1, next));
      } else if (next >= 0 && next < values.length) place = next;
      tellCursor();
    } else if (event.key === "Enter" && order && place !== null) {
      tip.say(`Neuron ${entryOf(place)} is chosen.`);
      choose(entryOf(place));
    }
  };

  return {
    box,
    speaks: () => place !== null,
    // `most` is how many numbers the largest stage holds.
    update(shown, data, layout, most, theme, stretch) {
      [stage, values, neuron, token] = [shown, data.arrays[name], data.neuron, data.token];
      order = stage.neurons ? data.arrays.order : null;
      columns = layout.columns(values.length, most);
      rows = Math.ceil(values.length / columns);
      paint(theme);
      canvas.style.aspectRatio = `${columns * layout.shape} / ${rows * stretch}`;
      canvas.classList.toggle("neurons", stage.neurons);
      const keys = stage.neurons ? "Arrow keys move, Enter chooses a neuron." : "Arrow keys move.";
      canvas.setAttribute("aria-label", `${stage.title} ${stage.shape}: ${stage.note}. ${keys}`);
      frame.style.width = layout === NARROW ? `${(100 * values.length) / most}%` : "";
      mark.hidden = !stage.neurons || neuron === null;
      if (!mark.hidden) moveTo(mark, placeOf(neuron));
      (stage.door ? door : title).textContent = stage.title;
      if (stage.door && !door.isConnected) title.replaceChildren(door);
      door.title = `To “${stage.door}”`;
      shape.textContent = stage.shape;
      note.textContent = stage.beyond
        ? `${stage.note}; scale to ±${number(stage.largest)}`
        : stage.note;
      if (place !== null && place >= values.length) leave();
      if (place !== null) tellCursor();
    },
  };
}

/**
 * @import { Head } from "./head.js"
 * @import { Numbers } from "./loading.js"
 */

const NARROW_BELOW = 480; // as in ffn_picture.css
// Of the width, that a stage takes; pixels, that the largest is high at least.
const STAGE = 0.11, LOWEST = 88;
const HIGHEST = 2.2; // times its own height
const STEP_MS = 1_100; // that each token stays, as all are gone through
// Of what leads from stage to stage, in letters: more take two lines where it is narrow.
const LONG_WORDS = 8;

// The fan between two stages: its two sides are as long as the stages it joins, in shares of the
// longest one.
function makeStep() {
  const shape = svgElement("polygon");
  const drawn = { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" };
  const svg = svgElement("svg", drawn, shape);
  const symbol = element("b"), words = element("small");
  const box = element(
    "div", { class: "step" }, element("div", { class: "fan" }, svg, symbol), words,
  );
  return {
    box,
    update(step, before, after, colour, layout) {
      const [a, b] = [before * 50, after * 50];
      const corners = [[0, 50 - a], [100, 50 - b], [100, 50 + b], [0, 50 + a]];
      const points = corners.map(([along, across]) =>
        (layout === WIDE ? [along, across] : [across, along]));
      shape.setAttribute("points", points.join(" "));
      shape.setAttribute("fill", colour);
      symbol.textContent = step.symbol;
      words.textContent = step.words;
    },
  };
}

// Goes through all tokens in turn, from the one that is shown and back to it: each stays for a
// while.
function makeTurns(tell, button, flow) {
  // The token it began at, null while it stands; whether that is left.
  let first = null, left = false, timer = 0;
  function stop() {
    clearTimeout(timer);
    first = null;
    flow.classList.remove("turns");
  }
  return {
    stop,
    turn({ at, tokens }) {
      if (first !== null) return stop();
      [first, left] = [at, false];
      flow.classList.add("turns");
      tell("token", (at + 1) % tokens);
    },
    // The page shows a token.
    shows({ at, tokens }) {
      clearTimeout(timer);
      left ||= at !== first;
      if (left && first === at) stop();
      if (first !== null && left) {
        timer = setTimeout(() => tell("token", (at + 1) % tokens), STEP_MS);
      }
      button.textContent = first === null
        ? "Token by token"
        : `■ ${at + 1} of ${tokens}: same weights`;
      button.disabled = tokens < 2;
    },
  };
}

/**
 * @typedef {{
 *   name: string, title: string, shape: string, note: string, neurons: boolean, door: string,
 *   largest: number, beyond: boolean
 * }} Stage
 */

/**
 * What `ffn_cell` sends. A file that computes nothing has no `off`.
 *
 * @typedef {{
 *   stages: Stage[], steps: { symbol: string, words: string }[], neuron: number | null,
 *   token: string, at: number, tokens: number, off?: boolean, head: Head, accent: string,
 *   arrays: Record<string, Numbers>
 * }} Data
 */

export function mount(tell) {
  const tip = makeTip();
  const turn = element("button", {
    type: "button", title: "Goes through all tokens: the vectors change, W₁ and W₂ stay the same",
  });
  const off = element("button", {
    type: "button", title: "Leaves this block's FFN out: the stream passes it by",
  }, "FFN off");
  const flow = element("div", { class: "flow" });
  const controls = element("div", { class: "switches" }, turn, off);
  const turns = makeTurns(tell, turn, flow);
  turn.onclick = () => { turns.turn(shown); turns.shows(shown); };
  off.onclick = () => tell("off", !shown.off);
  const root = element("div", { class: "picture" }, flow, ...tip.parts);
  const stages = new Map(), steps = [];
  /** @type {Data} */
  let shown;
  let colours = null, width = null, willPlay = false;
  let canvas = null, wide = 0; // a stage's, and its width

  const layout = () => (width < NARROW_BELOW ? NARROW : WIDE);

  // Stages and steps in turn; what is there stays where it is.
  function arrange() {
    const names = shown.stages.map(({ name }) => name);
    for (const name of names) {
      if (!stages.has(name)) {
        stages.set(
          name,
          makeStage(name, tip, (neuron) => tell("neuron", neuron), (stage) => tell("door", stage)),
        );
      }
    }
    for (const name of stages.keys()) if (!names.includes(name)) stages.delete(name);
    while (steps.length < shown.steps.length) steps.push(makeStep());
    const wanted = names.flatMap((name, at) =>
      [stages.get(name).box, ...(at < shown.steps.length ? [steps[at].box] : [])]);
    wanted.forEach((part, at) => {
      if (flow.children[at] !== part) flow.insertBefore(part, flow.children[at] ?? null);
    });
    while (flow.children.length > wanted.length) flow.lastElementChild?.remove();
  }

  // How many times as high as wide as usual the stages are, for the height that the picture is
  // given.
  function stretched() {
    const first = flow.querySelector("canvas");
    if (first !== canvas) {
      if (canvas) measured.unobserve(canvas);
      canvas = first;
      if (canvas) measured.observe(canvas);
      wide = canvas?.clientWidth || STAGE * flow.clientWidth;
    }
    const own = 2 * wide;
    const lowest = Math.min(own, LOWEST);
    const height = Math.min(HIGHEST * own, Math.max(lowest, own + given(root)));
    took(root, own ? height - own : 0, lowest - own, (HIGHEST - 1) * own);
    return own ? height / own : 1;
  }

  function paint() {
    arrange();
    if (![...stages.values()].some((stage) => stage.speaks())) tip.hide();
    const sizes = shown.stages.map(({ name }) => shown.arrays[name].length);
    const most = Math.max(...sizes);
    const stretch = layout() === WIDE ? stretched() : 1;
    shown.stages.forEach((stage) =>
      stages.get(stage.name).update(stage, shown, layout(), most, colours, stretch)
    );
    const colour = colourOf(shown.accent, colours);
    shown.steps.forEach((step, at) =>
      steps[at].update(step, sizes[at] / most, sizes[at + 1] / most, colour, layout())
    );
  }

  // Expand, bend, compress: each stage appears once the one before it is there.
  function play() {
    const hidden = layout() === WIDE ? "inset(0 100% 0 0)" : "inset(0 0 100% 0)";
    playInTurn(
      [...flow.children].map((part) => /** @type {[Element, Keyframe[]]} */ (part.matches(".step")
        ? [part.firstChild, [{ clipPath: hidden }, { clipPath: "inset(0)" }]]
        : [part.querySelector(".grid"), [{ opacity: 0.1 }, { opacity: 1 }]])
      ),
    );
  }

  // Asked for its width within an update, the browser would lay out the page at once.
  const measured = new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - wide) < 1) return;
    wide = contentRect.width;
    if (shown) paint();
  });
  const resized = new ResizeObserver(([{ contentRect }]) => {
    const before = layout();
    width = contentRect.width;
    if (shown && layout() !== before) paint();
  });
  const leaveRoom = onRoom(root, () => { if (shown) paint(); });
  const chosen = () => { willPlay = true; };
  addEventListener("token-chosen", chosen);

  return {
    element: root,
    controls,
    saves: {
      rows: () => [["stage", "entry", "value"], ...shown.stages.flatMap(({ name, title }) =>
        Array.from(shown.arrays[name], (value, entry) => [title, entry, short(value)]))],
    },
    /** @param {Data} data */
    update(data, theme) {
      [shown, colours] = [data, theme];
      off.setAttribute("aria-pressed", String(data.off));
      off.hidden = data.off === undefined; // a file has what was computed before
      flow.classList.toggle("off", Boolean(data.off));
      flow.classList.toggle("long", data.steps.some(({ words }) => words.length > LONG_WORDS));
      turns.shows(data);
      if (width === null) {
        width = root.clientWidth;
        resized.observe(root);
      }
      paint();
      if (willPlay) play();
      willPlay = false;
    },
    destroy() {
      turns.stop();
      resized.disconnect();
      measured.disconnect();
      leaveRoom();
      removeEventListener("token-chosen", chosen);
    },
  };
}
