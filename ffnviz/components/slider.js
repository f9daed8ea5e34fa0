import { element } from "./values.js";

const ANSWER_MS = 1_000; // a page that has not answered by then is asked again

function makeSlider() {
  const output = element("output", {});
  const input = element("input", { type: "range", min: "0", step: "1", id: "input" });
  const name = element("label", { for: "input" });
  const root = element("div", { class: "slider" }, element("div", { class: "line" }, name, output), input);
  root.parts = { name, output, input };
  return root;
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector(".slider");
  if (!root) parentElement.append((root = makeSlider()));
  const { name, output, input } = root.parts;
  const show = (stop) => {
    output.textContent = data.stops[stop];
    input.setAttribute("aria-valuetext", data.stops[stop]);
    input.style.setProperty("--share", `${(100 * stop) / Math.max(1, data.stops.length - 1)}%`);
  };

  // One move at a time is under way: the next is sent when the page shows the last.
  const send = () => {
    const { wanted } = root;
    root.sent = wanted;
    clearTimeout(root.waiting);
    root.waiting = setTimeout(() => { root.sent = null; if (root.wanted !== wanted) send(); }, ANSWER_MS);
    setTriggerValue("move", wanted);
  };
  const move = (done) => {
    const stop = Number(input.value);
    show(stop);
    root.wanted = { stop, done };
    if (done || !root.sent) send();
  };
  input.oninput = () => move(false);
  input.onchange = () => move(true);

  name.textContent = data.label;
  input.max = String(data.stops.length - 1);
  if (root.sent?.stop === data.stop) {
    clearTimeout(root.waiting);
    root.sent = null;
    if (root.wanted.stop !== data.stop) send();
  }
  if (!root.sent) input.value = String(data.stop);
  show(Number(input.value));
}
