// What takes long: how far measurements are, what stands where their results will, and a training.

import { heightFor } from "./chart_fit.js";
import { element, rootOf, setText } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { kept } from "./local_storage.js";
import { download } from "./saving.js";

/** @import { Head } from "./head.js" */

// The progress of measurements, which the page sends while they run. Nothing is seen of it: it is
// shown where their results will stand.

/** @typedef {{ share: number, waits: string, left: number | null }} Progress */

/** @type {Progress} */
const BEGINNING = { share: 0, waits: "", left: null };
/** @type {Set<[string, (progress: Progress) => void]>} */
const listeners = new Set(); // [name of a measurement, what shows it]
// Name → its last progress, which may come before there is anything to show it.
/** @type {Map<string, Progress>} */
let latest = new Map();

/**
 * Calls back with the progress of a measurement (left: seconds, or null if nobody knows yet), until
 * the returned function is called.
 *
 * @param {string} name
 * @param {(progress: Progress) => void} show
 */
function onProgress(name, show) {
  /** @type {[string, (progress: Progress) => void]} */
  const listener = [name, show];
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {string} name */
const progressOf = (name) => latest.get(name) ?? BEGINNING;

/**
 * What measuring.py sends.
 *
 * @typedef {{
 *   measurements: { name: string, share: number, waits: string, left: number | null }[]
 * }} ProgressData
 */

export function mountProgress() {
  return {
    element: element("span", { hidden: "" }),
    /** @param {ProgressData} data */
    update({ measurements }) {
      latest = new Map(measurements.map(({ name, ...progress }) => [name, progress]));
      for (const [name, show] of listeners) if (latest.has(name)) show(progressOf(name));
    },
    destroy() { latest = new Map(); },
  };
}

// The outline of a card to come, with how far it is and what stops it; without a head a line over
// the old result, which stays until the new is there.

const FIGURE = { data: [], layout: {} };

// How long it still takes, as one says it.
function inWords(left) {
  if (left === null) return "";
  if (left >= 90) return ` About ${Math.round(left / 60)} min left.`;
  return left < 1 ? " Nearly done." : ` About ${Math.round(left)} s left.`;
}

/**
 * What `waiting_cell` sends.
 *
 * @typedef {{
 *   name: string, label: string, doing: string, busy: boolean, height: number, other: string,
 *   head?: Head
 * }} WaitingData
 */

export function mountWaiting(tell) {
  const bar = element("progress", { max: "1" });
  const words = element("span", { role: "status" });
  const time = element("span", { class: "time" });
  const begin = element("button", {
    type: "button", class: "action", onclick: () => tell("measure", true),
  });
  const cancel = element("button", {
    type: "button", class: "action", text: "Cancel", onclick: () => tell("cancel", true),
  });
  const box = element("div", { class: "box" }, words, bar, time, cancel, begin);
  const frame = element("div", { class: "frame" }, box);
  const root = element("figure", { class: "waiting" }, frame);
  /** @type {WaitingData} */
  let shown;
  let stop = () => {};

  function say({ share, waits, left }) {
    if (box.hidden) return;
    const doing = waits || shown.doing;
    const text = [shown.other, shown.busy ? doing : ""].filter(Boolean).join(" ");
    setText(words, text);
    if (share > 0) bar.value = share;
    else bar.removeAttribute("value");
    bar.setAttribute("aria-label", doing);
    time.textContent = inWords(left);
  }
  // As high as the chart that will stand here.
  function fit() {
    if (!shown?.head || !frame.clientWidth) return;
    const [height, more, fewest] = heightFor(
      { height: shown.height, figure: FIGURE, shapes: {} }, frame.clientWidth, null, 0, given(root),
    );
    frame.style.height = `${height}px`;
    took(root, more, fewest);
  }
  const leaveRoom = onRoom(root, fit), seen = new ResizeObserver(fit);
  seen.observe(frame);

  return {
    element: root,
    /** @param {WaitingData} data */
    update(data) {
      if (data.name !== shown?.name) {
        stop();
        stop = onProgress(data.name, say);
      }
      shown = data;
      root.classList.toggle("over", !data.head);
      const leads = Boolean(data.label || data.doing);
      box.hidden = !leads;
      bar.hidden = time.hidden = !data.busy;
      cancel.hidden = !data.busy || !data.label;
      begin.hidden = data.busy || !data.label;
      begin.textContent = data.label;
      root.setAttribute("aria-busy", String(data.busy));
      say(progressOf(data.name));
      fit();
    },
    destroy() {
      stop();
      seen.disconnect();
      leaveRoom();
    },
  };
}

// The buttons of a training, how far it is, and a slider back through what was recorded.

const RUNNING = "ffnviz-learning"; // in this tab: what of it is lost with the server is said
const LOST = "This run was lost with the connection to the server. Train again.";
const BUTTONS = { // status → what can be asked, the first the loudest
  new: ["train"], waits: ["stop"], runs: ["pause", "stop"], paused: ["go", "step", "train"],
  ended: ["train"],
};
const LABELS = { pause: "Pause", step: "One step", go: "Go on", stop: "Cancel" };

const remembered = (key) => kept("sessionStorage", RUNNING + key) === "yes";
const remember = (key, value) => kept("sessionStorage", RUNNING + key, value ? "yes" : "no");

/**
 * What `learn_bar_cell` sends.
 *
 * @typedef {{
 *   status: string, at: number, moments: number, most: number, said: string, label: string,
 *   why_not: string, file: string | null, can_show: boolean,
 *   arrays: { file?: Uint8Array<ArrayBuffer> }
 * }} LearnBarData
 */

export function mountLearnBar(tell) {
  const buttons = element("span", { class: "buttons" });
  const said = element("span", { class: "said", role: "status" });
  // Before there is anything to replay.
  const bar = element("progress", { "aria-label": "Training" });
  const slider = element("input", {
    type: "range", min: "0", step: "1", "aria-label": "Back through the training",
  });
  const save = element("button", { type: "button", text: "Save it" });
  const show = element("button", {
    type: "button", text: "Show on all pages", onclick: () => tell("ask", "show"),
  });
  const made = new Map(); // what is asked → its button
  let last = 0, recorded = 0, file = null, waiting = 0, stopped = false;
  for (const ask of ["train", "go", "pause", "step", "stop"]) {
    made.set(
      ask,
      element("button", {
        type: "button",
        onclick: () => {
          stopped = ask === "stop";
          tell("ask", ask);
        },
      }),
    );
  }
  buttons.append(...made.values());
  save.onclick = () => download(new Blob([file.bytes], { type: "application/zip" }), file.name);
  // One move is under way at a time: where the hand stops is what counts.
  slider.oninput = () => {
    clearTimeout(waiting);
    if (Number(slider.value) > recorded) slider.value = String(recorded);
    waiting = setTimeout(() => tell("move", Number(slider.value)), 60);
  };
  const root = element("div", { class: "learn" }, buttons, bar, slider, said, show, save);
  return {
    element: root,
    /** @param {LearnBarData} data */
    update(
      {
        status, at, moments, most, said: words, label, why_not: why, file: name, can_show: shows,
        arrays,
      },
    ) {
      if (stopped) remember(label, false); // by a hand, which knows it
      const lost = status === "new" && remembered(label);
      if (status === "new") stopped = false;
      else if (!stopped) remember(label, true);
      const asks = BUTTONS[status];
      const held = [...made.values()].find((button) => button.matches(":focus"));
      for (const [ask, button] of made) {
        const text = ask !== "train" || status === "new" ? LABELS[ask] ?? label : "Start again";
        setText(button, text);
        button.hidden = !asks.includes(ask);
        button.className = ask === asks[0] ? "first" : "";
        button.disabled = ask === "train" && Boolean(why);
      }
      if (held?.hidden) made.get(asks[0]).focus();
      bar.hidden = moments > 1 || !["waits", "runs"].includes(status);
      slider.hidden = moments < 2;
      const still = rootOf(slider).activeElement !== slider || Number(slider.value) === last;
      slider.max = String(most - 1);
      recorded = moments - 1;
      if (still || at !== last) slider.value = String(at);
      last = at;
      slider.setAttribute("aria-valuetext", words);
      // Else it would be read out without an end.
      said.ariaLive = status === "runs" ? "off" : "polite";
      said.textContent = lost ? LOST : words || why;
      save.hidden = !name;
      show.hidden = !shows;
      file = name ? { name, bytes: arrays.file } : null;
    },
    destroy() { clearTimeout(waiting); },
  };
}
