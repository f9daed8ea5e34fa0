// The outline of a card to come, with how far it is and what stops it; without a head a line over the
// old result, which stays until the new is there.

import { heightFor } from "./chart_fit.js";
import { element, setText } from "./element.js";
import { given, onRoom, took } from "./filling.js";
import { onProgress, progressOf } from "./progress.js";

/** @import { Head } from "./head.js" */

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
 * }} Data
 */

export function mount(tell) {
  const bar = element("progress", { max: "1" }), words = element("span", { role: "status" }), time = element("span", { class: "time" });
  const begin = element("button", { type: "button", class: "action", onclick: () => tell("measure", true) });
  const cancel = element("button", { type: "button", class: "action", text: "Cancel", onclick: () => tell("cancel", true) });
  const box = element("div", { class: "box" }, words, bar, time, cancel, begin);
  const frame = element("div", { class: "frame" }, box), root = element("figure", { class: "waiting" }, frame);
  /** @type {Data} */
  let shown;
  let stop = () => {};

  function say({ share, waits, left }) {
    if (box.hidden) return;
    const doing = waits || shown.doing, text = [shown.other, shown.busy ? doing : ""].filter(Boolean).join(" ");
    setText(words, text);
    if (share > 0) bar.value = share;
    else bar.removeAttribute("value");
    bar.setAttribute("aria-label", doing);
    time.textContent = inWords(left);
  }
  // As high as the chart that will stand here.
  function fit() {
    if (!shown?.head || !frame.clientWidth) return;
    const [height, more, fewest] = heightFor({ height: shown.height, figure: FIGURE, shapes: {} }, frame.clientWidth, null, 0, given(root));
    frame.style.height = `${height}px`;
    took(root, more, fewest);
  }
  const leaveRoom = onRoom(root, fit), seen = new ResizeObserver(fit);
  seen.observe(frame);

  return {
    element: root,
    /** @param {Data} data */
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
