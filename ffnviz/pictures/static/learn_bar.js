// The buttons of a training, how far it is, and a slider back through what was recorded.

import { element, rootOf, setText } from "./element.js";
import { kept } from "./local_storage.js";
import { download } from "./saving.js";

const RUNNING = "ffnviz-learning"; // in this tab: what of it is lost with the server is said
const LOST = "This run was lost with the connection to the server. Train again.";
const BUTTONS = { // status → what can be asked, the first the loudest
  new: ["train"], waits: ["stop"], runs: ["pause", "stop"], paused: ["go", "step", "train"], ended: ["train"],
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
 * }} Data
 */

export function mount(tell) {
  const buttons = element("span", { class: "buttons" }), said = element("span", { class: "said", role: "status" });
  const bar = element("progress", { "aria-label": "Training" }); // before there is anything to replay
  const slider = element("input", { type: "range", min: "0", step: "1", "aria-label": "Back through the training" });
  const save = element("button", { type: "button", text: "Save it" });
  const show = element("button", { type: "button", text: "Show on all pages", onclick: () => tell("ask", "show") });
  const made = new Map(); // what is asked → its button
  let last = 0, recorded = 0, file = null, waiting = 0, stopped = false;
  for (const ask of ["train", "go", "pause", "step", "stop"]) {
    made.set(ask, element("button", { type: "button", onclick: () => { stopped = ask === "stop"; tell("ask", ask); } }));
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
    /** @param {Data} data */
    update({ status, at, moments, most, said: words, label, why_not: why, file: name, can_show: shows, arrays }) {
      if (stopped) remember(label, false); // by a hand, which knows it
      const lost = status === "new" && remembered(label);
      if (status === "new") stopped = false;
      else if (!stopped) remember(label, true);
      const asks = BUTTONS[status], held = [...made.values()].find((button) => button.matches(":focus"));
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
      said.ariaLive = status === "runs" ? "off" : "polite"; // or it would be read out without an end
      said.textContent = lost ? LOST : words || why;
      save.hidden = !name;
      show.hidden = !shows;
      file = name ? { name, bytes: arrays.file } : null;
    },
    destroy() { clearTimeout(waiting); },
  };
}
