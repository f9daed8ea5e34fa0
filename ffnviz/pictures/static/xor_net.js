// Two hidden units and an output with nine weights to choose; what they make of the four inputs is
// computed with every change.

import { numberOf } from "./by_hand.js";
import { makeUnanswered } from "./drag.js";
import { element, setText } from "./element.js";

/** @import { Head } from "./head.js" */

const WAIT_MS = 300; // after the last change, before the link has it
const INPUTS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const NEAR = 1e-6;
/** @type {[string, string[]][]} */
const UNITS = [["z₁ =", ["· a", "· b", ""]], ["z₂ =", ["· a", "· b", ""]], ["y =", ["· h₁", "· h₂", ""]]];
const NAMES = ["weight of a in z₁", "weight of b in z₁", "bias of z₁", "weight of a in z₂", "weight of b in z₂", "bias of z₂", "weight of h₁ in y", "weight of h₂ in y", "bias of y"];
const KNOWN = [1, 1, 0, 1, 1, -1, 1, -2, 0];
const written = (value) => String(Math.round(1_000 * value) / 1_000 + 0).replace("-", "−");

// One row an input: z₁, z₂, h₁, h₂, y.
export function run(weights, relu) {
  const phi = (z) => (relu ? Math.max(0, z) : z);
  return INPUTS.map(([a, b]) => {
    const [p, q] = [0, 3].map((at) => weights[at] * a + weights[at + 1] * b + weights[at + 2]);
    return [p, q, phi(p), phi(q), weights[6] * phi(p) + weights[7] * phi(q) + weights[8]];
  });
}

function verdict(weights, relu, results) {
  const right = results.filter(([, , , , y], at) => Math.abs(y - (INPUTS[at][0] ^ INPUTS[at][1])) < NEAR).length;
  if (right === 4 && weights.every((weight, at) => weight === KNOWN[at])) return "All four right: y = ReLU(a + b) − 2 · ReLU(a + b − 1).";
  if (right === 4) return "All four right, with weights of your own.";
  const [none, one, other, both] = results.map((row) => row[4]);
  if (!relu) return `${right} of 4 right. Without φ, y(0,0) + y(1,1) = ${written(none + both)} is always y(0,1) + y(1,0) = ${written(one + other)}; XOR wants 0 and 2.`;
  return `${right} of 4 right.`;
}

/**
 * What `xor_cell` sends.
 *
 * @typedef {{ head: Head, weights: number[], relu: boolean, most: number }} Data
 */

export function mount(tell) {
  const phi = element("button", { type: "button", class: "phi", "aria-pressed": "true", onclick: () => { data = { ...data, relu: !data.relu }; show(); tell("phi", data.relu); } });
  const said = element("p", { class: "said", role: "status" });
  const head = element("tr", {}, ...["a, b", "z₁", "z₂", "h₁", "h₂", "y", "wanted"].map((text) => element("th", { scope: "col", text })));
  const body = element("tbody", {}, ...INPUTS.map(([a, b]) => element("tr", {}, element("th", { scope: "row", text: `${a}, ${b}` }), ...Array.from({ length: 6 }, () => element("td")))));
  const inputs = [];
  /** @type {Data} */
  let data;
  let weights = [], waiting = 0;
  const unanswered = makeUnanswered(String);

  function change() {
    show();
    clearTimeout(waiting);
    waiting = setTimeout(() => { waiting = 0; unanswered.add(weights); tell("weights", weights); }, WAIT_MS);
  }
  function set(at, value) {
    weights[at] = Math.max(-data.most, Math.min(data.most, value));
    inputs[at].value = written(weights[at]);
    change();
  }
  function stepper(at, after) {
    const input = element("input", {
      type: "text", autocomplete: "off", "aria-label": NAMES[at],
      oninput: () => { const value = numberOf(input.value); if (value !== null && Math.abs(value) <= data.most) { weights[at] = value; change(); } },
      onchange: () => set(at, weights[at]),
      onkeydown: (event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (by) { event.preventDefault(); set(at, weights[at] + by); }
      },
    });
    inputs.push(input);
    const button = (text, by) => element("button", { type: "button", text, "aria-label": `${NAMES[at]}: ${by > 0 ? "one more" : "one less"}`, onclick: () => set(at, weights[at] + by) });
    return element("span", { class: "weight" }, button("−", -1), input, button("+", 1), element("span", { class: "of", text: after }));
  }
  const lines = UNITS.map(([name, after], unit) => element("div", { class: "unit" }, element("b", { text: name }), ...after.map((text, at) => stepper(3 * unit + at, text))));
  lines.splice(2, 0, element("div", { class: "unit" }, element("b", { text: "h = φ(z)" }), phi));

  function show() {
    const results = run(weights, data.relu);
    phi.textContent = data.relu ? "φ is ReLU" : "φ is taken away";
    phi.setAttribute("aria-pressed", String(data.relu));
    results.forEach((row, at) => {
      const wanted = INPUTS[at][0] ^ INPUTS[at][1], right = Math.abs(row[4] - wanted) < NEAR, line = body.children[at];
      [...row.map(written), `${wanted} ${right ? "✓" : "✗"}`].forEach((text, column) => { line.children[column + 1].textContent = text; });
      line.className = right ? "right" : "wrong";
    });
    const words = verdict(weights, data.relu, results);
    setText(said, words);
  }

  return {
    element: element("div", { class: "xor" }, element("div", { class: "both" }, element("div", {}, ...lines), element("table", {}, element("thead", {}, head), body)), said),
    /** @param {Data} next */
    update(next) {
      data = next;
      const overtaken = unanswered.overtakes(data.weights);
      if (!waiting && !overtaken && !inputs.some((input) => input.matches(":focus"))) {
        weights = [...data.weights];
        inputs.forEach((input, at) => { input.value = written(weights[at]); });
      }
      show();
    },
    destroy() { clearTimeout(waiting); },
  };
}
