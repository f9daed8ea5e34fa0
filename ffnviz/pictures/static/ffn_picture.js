import { element } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { makeStage, NARROW, WIDE } from "./ffn_stage.js";
import { playInTurn } from "./motion.js";
import { short } from "./numbers.js";
import { colourOf } from "./theme.js";
import { makeTip } from "./tip.js";

/**
 * @import { Head } from "./head.js"
 * @import { Numbers } from "./payload.js"
 */

export const styles = ["tip.css", "ffn_picture.css"];

const NARROW_BELOW = 480; // as in ffn_picture.css
const STAGE = 0.11, LOWEST = 88; // of the width, that a stage takes; pixels, that the largest is high at least
const HIGHEST = 2.2; // times its own height
const STEP_MS = 1_100; // that each token stays, as all are gone through
const LONG_WORDS = 8; // of what leads from stage to stage, in letters: more take two lines where it is narrow
const SVG = "http://www.w3.org/2000/svg";

// The fan between two stages: its two sides are as long as the stages it joins, in shares of the
// longest one.
function makeStep() {
  const svg = document.createElementNS(SVG, "svg");
  const shape = document.createElementNS(SVG, "polygon");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(shape);
  const symbol = element("b"), words = element("small");
  const box = element("div", { class: "step" }, element("div", { class: "fan" }, svg, symbol), words);
  return {
    box,
    update(step, before, after, colour, layout) {
      const [a, b] = [before * 50, after * 50];
      const corners = [[0, 50 - a], [100, 50 - b], [100, 50 + b], [0, 50 + a]];
      const points = corners.map(([along, across]) => (layout === WIDE ? [along, across] : [across, along]));
      shape.setAttribute("points", points.join(" "));
      shape.setAttribute("fill", colour);
      symbol.textContent = step.symbol;
      words.textContent = step.words;
    },
  };
}

// Goes through all tokens in turn, from the one that is shown and back to it: each stays for a while.
function makeTurns(tell, button, flow) {
  let first = null, left = false, timer = 0; // the token it began at, null while it stands; whether that is left
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
      if (first !== null && left) timer = setTimeout(() => tell("token", (at + 1) % tokens), STEP_MS);
      button.textContent = first === null ? "Token by token" : `■ ${at + 1} of ${tokens}: same weights`;
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
  const turn = element("button", { type: "button", title: "Goes through all tokens: the vectors change, W₁ and W₂ stay the same" });
  const off = element("button", { type: "button", title: "Leaves this block's FFN out: the stream passes it by" }, "FFN off");
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
      if (!stages.has(name)) stages.set(name, makeStage(name, tip, (neuron) => tell("neuron", neuron), (stage) => tell("door", stage)));
    }
    for (const name of stages.keys()) if (!names.includes(name)) stages.delete(name);
    while (steps.length < shown.steps.length) steps.push(makeStep());
    const wanted = names.flatMap((name, at) => [stages.get(name).box, ...(at < shown.steps.length ? [steps[at].box] : [])]);
    wanted.forEach((part, at) => {
      if (flow.children[at] !== part) flow.insertBefore(part, flow.children[at] ?? null);
    });
    while (flow.children.length > wanted.length) flow.lastElementChild?.remove();
  }

  // How many times as high as wide as usual the stages are, for the height that the picture is given.
  function stretched() {
    const first = flow.querySelector("canvas");
    if (first !== canvas) {
      if (canvas) measured.unobserve(canvas);
      canvas = first;
      if (canvas) measured.observe(canvas);
      wide = canvas?.clientWidth || STAGE * flow.clientWidth;
    }
    const own = 2 * wide;
    const lowest = Math.min(own, LOWEST), height = Math.min(HIGHEST * own, Math.max(lowest, own + given(root)));
    took(root, own ? height - own : 0, lowest - own, (HIGHEST - 1) * own);
    return own ? height / own : 1;
  }

  function paint() {
    arrange();
    if (![...stages.values()].some((stage) => stage.speaks())) tip.hide();
    const sizes = shown.stages.map(({ name }) => shown.arrays[name].length);
    const most = Math.max(...sizes);
    const stretch = layout() === WIDE ? stretched() : 1;
    shown.stages.forEach((stage) => stages.get(stage.name).update(stage, shown, layout(), most, colours, stretch));
    const colour = colourOf(shown.accent, colours);
    shown.steps.forEach((step, at) => steps[at].update(step, sizes[at] / most, sizes[at + 1] / most, colour, layout()));
  }

  // Expand, bend, compress: each stage appears once the one before it is there.
  function play() {
    const hidden = layout() === WIDE ? "inset(0 100% 0 0)" : "inset(0 0 100% 0)";
    playInTurn([...flow.children].map((part) => /** @type {[Element, Keyframe[]]} */ (part.matches(".step")
      ? [part.firstChild, [{ clipPath: hidden }, { clipPath: "inset(0)" }]]
      : [part.querySelector(".grid"), [{ opacity: 0.1 }, { opacity: 1 }]])));
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
