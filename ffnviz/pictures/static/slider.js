import { element } from "./element.js";

export const styles = ["slider.css"];

const ANSWER_MS = 1_000; // a page that has not answered by then is asked again

export function mount(tell) {
  const output = element("output", {});
  const input = element("input", { type: "range", min: "0", step: "1", id: "input" });
  const name = element("label", { for: "input" });
  const line = element("div", { class: "line" }, name, output);
  let stops = [], wanted = null, sent = null, waiting = 0;

  function show(stop) {
    output.textContent = stops[stop];
    input.setAttribute("aria-valuetext", stops[stop]);
    input.style.setProperty("--share", `${(100 * stop) / Math.max(1, stops.length - 1)}%`);
  }

  // One move at a time is under way: the next is sent when the page shows the last.
  function send() {
    const now = (sent = wanted);
    clearTimeout(waiting);
    waiting = setTimeout(() => { sent = null; if (wanted !== now) send(); }, ANSWER_MS);
    tell("move", now);
  }

  function move(done) {
    const stop = Number(input.value);
    show(stop);
    wanted = { stop, done };
    if (done || !sent) send();
  }
  input.oninput = () => move(false);
  input.onchange = () => move(true);

  return {
    element: element("div", { class: "slider" }, line, input),
    update(data) {
      ({ stops } = data);
      name.textContent = data.label;
      input.max = String(stops.length - 1);
      if (sent?.stop === data.stop) {
        clearTimeout(waiting);
        sent = null;
        if (wanted.stop !== data.stop) send();
      }
      if (!sent) input.value = String(data.stop);
      show(Number(input.value));
    },
    destroy() { clearTimeout(waiting); },
  };
}
