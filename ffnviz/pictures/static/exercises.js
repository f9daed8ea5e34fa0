// Exercises: numbers to fill in, weights to choose, and lines of a program to put in order.

import { makeUnanswered, reordering } from "./drag.js";
import { each, element, setText } from "./element.js";

/** @import { Head } from "./head.js" */

// Numbers to fill in, beside what they are made of. Each is judged as it is typed: what comes of a
// broken rule was computed before, so a wrong number that one of them gives says which it was.

const LONG = 8; // rows of a table, with which there is no room for large type
const TYPED_MS = 500; // after the last key, before the link has it
const EXACT = 1e-9;

// What was typed as a number, with any of the signs that are taken for a minus or a point; null if
// it is none.
function numberOf(text) {
  const plain = text.trim().replace(/^[−–—]/, "-").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : null;
}

// What a gap's number would be if those that it reads were right.
function carried({ reads, plus, relu }, values) {
  const sum = reads.reduce((so_far, [at, weight]) => so_far + weight * values[at], plus);
  return relu ? Math.max(0, sum) : sum;
}

// ["right" | "follows" | "wrong" | "", what is said] of one gap.
function judge(gaps, values, at) {
  const gap = gaps[at], value = values[at];
  if (value === null) return ["", ""];
  const near = (other) => Math.abs(value - other) <= gap.tolerance + EXACT;
  if (near(gap.right)) return ["right", ""];
  const before = gap.reads.map(([place]) => place);
  const read = before.filter((place) => values[place] !== null);
  const off = read.find((place) =>
    Math.abs(values[place] - gaps[place].right) > gaps[place].tolerance + EXACT
  );
  if (off !== undefined && read.length === before.length && near(carried(gap, values))) {
    return ["follows", `Right for your ${gaps[off].name}, which is wrong.`];
  }
  return [
    "wrong",
    gap.slips.find(([wrong]) => near(wrong))?.[1] ??
      "Not this. Go through the sum again, term by term.",
  ];
}

function makeTable({ name, columns, rows }) {
  const cells = (tag, row) => element("tr", {}, ...row.map((text) => element(tag, { text })));
  const parts = [element("caption", { text: name })];
  if (columns.length) parts.push(element("thead", {}, cells("th", columns)));
  return element(
    "table", {}, ...parts, element("tbody", {}, ...rows.map((row) => cells("td", row))),
  );
}

/**
 * @typedef {{
 *   name: string, right: number, slips: [number, string][], tolerance: number,
 *   reads: [number, number][], plus: number, relu: boolean,
 *   uses: [number, number | null, number | null][]
 * }} Gap
 */

/** @typedef {{ name: string, rows: string[][], columns: string[] }} Table */

/**
 * What `by_hand_cell` sends.
 *
 * @typedef {{
 *   head: Head, exercise: string, longest: number,
 *   steps: { equation: string, tables: Table[], gaps: Gap[] }[], another: boolean,
 *   typed: string[]
 * }} ByHandData
 */

export function mountByHand(tell) {
  const steps = element("div", { class: "steps" });
  const done = element("p", { class: "done", role: "status" });
  const another = element("button", {
    type: "button", class: "another", text: "Another", onclick: () => tell("another"),
  });
  const again = element("button", {
    type: "button", text: "Empty all",
    onclick: () => {
      fill([]);
      show();
      send();
      inputs[0].focus();
    },
  });
  /** @type {ByHandData} */
  let data;
  let gaps = [], inputs = [], waiting = 0;
  /** @type {HTMLTableElement[]} */
  let tables = [];

  // What is no number stays as it was typed, with a word about it: the link has numbers alone.
  const isNoNumber = ({ value }) => value.trim() !== "" && numberOf(value) === null;
  const fill = (typed, all = true) =>
    inputs.forEach((input, at) => {
      if (all || !isNoNumber(input)) input.value = typed[at] ?? "";
    });
  function send() {
    clearTimeout(waiting);
    waiting = 0;
    tell("type", inputs.map(({ value }) => value));
  }

  function show() {
    const values = inputs.map(({ value }) => numberOf(value));
    let right = 0;
    inputs.forEach((input, at) => {
      const [verdict, words] = judge(gaps, values, at), line = input.closest(".gap");
      if (verdict === "right") right += 1;
      line.dataset.verdict = verdict;
      input.setAttribute("aria-invalid", String(verdict === "wrong"));
      line.querySelector(".sign").textContent = { right: "✓", follows: "↪", wrong: "✗" }[verdict] ??
        "";
      const said = verdict === "right"
        ? "right"
        : isNoNumber(input)
        ? "Type a number, such as −3 or 0.5."
        : words;
      const remark = line.querySelector(".said");
      setText(remark, said);
    });
    const all = right === gaps.length ? `All ${right} right.` : `${right} of ${gaps.length} right.`;
    setText(done, all);
    done.classList.toggle("all", right === gaps.length);
    another.hidden = !data.another || right < gaps.length;
  }

  // What the gap that is filled in is made of.
  function mark(at) {
    for (const marked of steps.querySelectorAll(".used")) marked.classList.remove("used");
    for (const [table, row, column] of at === null ? [] : gaps[at].uses) {
      [...tables[table].tBodies[0].rows].forEach((line, y) => [...line.cells].forEach((cell, x) => {
        cell.classList.toggle("used", (row ?? y) === y && (column ?? x) === x);
      }));
    }
  }

  function makeGap(gap, at) {
    const id = `gap-${at}`;
    const input = element("input", {
      id, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      maxlength: String(data.longest),
      "aria-describedby": `said-${at}`,
      oninput: () => { show(); clearTimeout(waiting); waiting = setTimeout(send, TYPED_MS); },
      onchange: () => { if (waiting) send(); },
      onfocus: () => mark(at),
      onblur: () => mark(null),
      onkeydown: (event) => {
        if (event.key === "Enter") inputs[(at + 1) % inputs.length].focus();
      },
    });
    inputs.push(input);
    return element(
      "div", { class: "gap" }, element("label", { for: id, text: `${gap.name} =` }), input,
      element("span", { class: "sign", "aria-hidden": "true" }),
      element("span", { id: `said-${at}`, class: "said", role: "status" }),
    );
  }

  function build() {
    gaps = data.steps.flatMap((step) => step.gaps);
    [inputs, tables] = [[], []];
    let at = 0;
    steps.replaceChildren(...data.steps.map((step) => {
      const made = step.tables.map(makeTable);
      tables.push(...made);
      return element(
        "section", {}, element("h3", { text: step.equation }),
        element("div", { class: "given" }, ...made),
        element("div", { class: "gaps" }, ...step.gaps.map((gap) => makeGap(gap, at++))),
      );
    }));
    root.classList.toggle("four", data.steps.length === 4);
    root.classList.toggle("long", tables.some(({ rows }) => rows.length >= LONG));
  }

  const root = element(
    "div", { class: "by-hand" }, steps, element("div", { class: "foot" }, done, another, again),
  );
  return {
    element: root,
    /** @param {ByHandData} next */
    update(next) {
      const other = next.exercise !== data?.exercise;
      data = next;
      if (other) {
        clearTimeout(waiting);
        waiting = 0;
        build();
      }
      // What is being typed is newer than what the server has heard of.
      if (other || (!waiting && !inputs.some((input) => input.matches(":focus")))) {
        fill(data.typed, other);
      }
      show();
    },
    destroy() { clearTimeout(waiting); },
  };
}

// Two hidden units and an output with nine weights to choose; what they make of the four inputs is
// computed with every change.

const CHANGED_MS = 300; // after the last change of a weight, before the link has it
const INPUTS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const NEAR = 1e-6;
/** @type {[string, string[]][]} */
const UNITS = [["z₁ =", ["· a", "· b", ""]], ["z₂ =", ["· a", "· b", ""]], ["y =", [
  "· h₁", "· h₂", "",
]]];
const NAMES = [
  "weight of a in z₁", "weight of b in z₁", "bias of z₁", "weight of a in z₂", "weight of b in z₂",
  "bias of z₂", "weight of h₁ in y", "weight of h₂ in y", "bias of y",
];
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
  const isRight = ([, , , , y], at) => Math.abs(y - (INPUTS[at][0] ^ INPUTS[at][1])) < NEAR;
  const right = results.filter(isRight).length;
  if (right === 4 && weights.every((weight, at) => weight === KNOWN[at])) {
    return "All four right: y = ReLU(a + b) − 2 · ReLU(a + b − 1).";
  }
  if (right === 4) return "All four right, with weights of your own.";
  const [none, one, other, both] = results.map((row) => row[4]);
  if (relu) return `${right} of 4 right.`;
  return `${right} of 4 right. Without φ, y(0,0) + y(1,1) = ${written(none + both)} is always ` +
    `y(0,1) + y(1,0) = ${written(one + other)}; XOR wants 0 and 2.`;
}

/**
 * What `xor_cell` sends.
 *
 * @typedef {{ head: Head, weights: number[], relu: boolean, most: number }} XorNetData
 */

export function mountXorNet(tell) {
  const phi = element("button", {
    type: "button", class: "phi", "aria-pressed": "true",
    onclick: () => {
      data = { ...data, relu: !data.relu };
      show();
      tell("phi", data.relu);
    },
  });
  const said = element("p", { class: "said", role: "status" });
  const head = element(
    "tr", {},
    ...["a, b", "z₁", "z₂", "h₁", "h₂", "y", "wanted"].map((text) =>
      element("th", { scope: "col", text })
    ),
  );
  const body = element(
    "tbody", {},
    ...INPUTS.map(([a, b]) =>
      element(
        "tr", {}, element("th", { scope: "row", text: `${a}, ${b}` }),
        ...Array.from({ length: 6 }, () => element("td")),
      )
    ),
  );
  const inputs = [];
  /** @type {XorNetData} */
  let data;
  let weights = [], waiting = 0;
  const unanswered = makeUnanswered(String);

  function change() {
    show();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      waiting = 0;
      unanswered.add(weights);
      tell("weights", weights);
    }, CHANGED_MS);
  }
  function set(at, value) {
    weights[at] = Math.max(-data.most, Math.min(data.most, value));
    inputs[at].value = written(weights[at]);
    change();
  }
  function stepper(at, after) {
    const input = element("input", {
      type: "text", autocomplete: "off", "aria-label": NAMES[at],
      oninput: () => {
        const value = numberOf(input.value);
        if (value !== null && Math.abs(value) <= data.most) {
          weights[at] = value;
          change();
        }
      },
      onchange: () => set(at, weights[at]),
      onkeydown: (event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (by) { event.preventDefault(); set(at, weights[at] + by); }
      },
    });
    inputs.push(input);
    const button = (text, by) =>
      element("button", {
        type: "button", text, "aria-label": `${NAMES[at]}: ${by > 0 ? "one more" : "one less"}`,
        onclick: () => set(at, weights[at] + by),
      });
    return element(
      "span", { class: "weight" }, button("−", -1), input, button("+", 1),
      element("span", { class: "of", text: after }),
    );
  }
  const lines = UNITS.map(([name, after], unit) =>
    element(
      "div", { class: "unit" }, element("b", { text: name }),
      ...after.map((text, at) => stepper(3 * unit + at, text)),
    )
  );
  lines.splice(2, 0, element("div", { class: "unit" }, element("b", { text: "h = φ(z)" }), phi));

  function show() {
    const results = run(weights, data.relu);
    phi.textContent = data.relu ? "φ is ReLU" : "φ is taken away";
    phi.setAttribute("aria-pressed", String(data.relu));
    results.forEach((row, at) => {
      const wanted = INPUTS[at][0] ^ INPUTS[at][1];
      const right = Math.abs(row[4] - wanted) < NEAR;
      const line = body.children[at];
      [...row.map(written), `${wanted} ${right ? "✓" : "✗"}`].forEach((text, column) => {
        line.children[column + 1].textContent = text;
      });
      line.className = right ? "right" : "wrong";
    });
    const words = verdict(weights, data.relu, results);
    setText(said, words);
  }

  return {
    element: element(
      "div", { class: "xor" },
      element(
        "div", { class: "both" }, element("div", {}, ...lines),
        element("table", {}, element("thead", {}, head), body),
      ),
      said,
    ),
    /** @param {XorNetData} next */
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

// Lines of a program, each with what it made; where they are movable, by a handle or the arrow
// keys.

const PATIENCE_MS = 2_000; // for the answer to a move

/**
 * @typedef {{
 *   name: string, code: string, values: { text: string, real: string }[], fault: string
 * }} Line
 */

/**
 * What `program_cell` sends.
 *
 * @typedef {{ head: Head, columns: string[], movable: boolean, lines: Line[] }} ProgramData
 */

export function mountProgram(tell) {
  const values = element("span", { class: "values" });
  const names = element("div", { class: "names", "aria-hidden": "true" }, values);
  const list = element("ol");
  const status = element("div", { class: "told", role: "status" });
  const how = element("p", {
    class: "how", text: "To move a line, hold ⠿ at its end and drag it.",
  });
  /** @type {ProgramData} */
  let data;
  let wanted = "", since = 0; // the order that the server was told last, and when
  const namesOf = (lines) => lines.map(({ name }) => name);
  const order = reordering(list, (from, to) => {
    const lines = [...data.lines], [moved] = lines.splice(from, 1);
    lines.splice(to, 0, { ...moved, values: [], fault: "" });
    status.textContent = `${moved.code}: now line ${to + 1} of ${lines.length}`;
    [wanted, since] = [namesOf(lines).join(" "), performance.now()];
    data = { ...data, lines };
    show();
    tell("order", namesOf(lines));
  });
  const makeValue = () =>
    element(
      "span", { class: "value" }, element("small", { class: "name" }), element("b"),
      element("small", { class: "real" }),
    );
  const makeLine = (at) =>
    element(
      "li", {}, element("code"), element("span", { class: "values" }), element("em"),
      order.handle(at),
    );

  function show() {
    order.cancel();
    how.hidden = !data.movable;
    const columns = `repeat(${data.columns.length}, minmax(0, 1fr))`;
    values.style.gridTemplateColumns = columns;
    each(values, data.columns, () => element("span", { class: "value" }), (name, text) => {
      name.textContent = text;
    });
    list.parentElement?.classList.toggle("many", data.columns.length > 2);
    each(list, data.lines, makeLine, (line, { code, values, fault }, at) => {
      const [text, numbers, why, handle] = line.children;
      text.textContent = code;
      numbers.style.gridTemplateColumns = columns;
      each(numbers, values, makeValue, (value, { text: shown, real }, column) => {
        const [name, number, right] = value.children;
        name.textContent = data.columns[column];
        number.textContent = shown;
        right.textContent = real ? `(${real})` : "";
        value.classList.toggle("off", Boolean(real));
        value.classList.toggle("none", !shown);
      });
      why.textContent = fault;
      why.hidden = !fault;
      line.classList.toggle("faulty", Boolean(fault));
      line.classList.toggle("idle", !fault && values.length === 0);
      handle.hidden = !data.movable;
      handle.setAttribute("aria-label", `Move line ${at + 1}, ${code}`);
    });
    order.settle();
  }

  return {
    element: element("div", { class: "program" }, how, names, list, status),
    /** @param {ProgramData} next */
    update(next) {
      // While lines are moved quickly, answers to earlier moves come in.
      const late = wanted && namesOf(next.lines).join(" ") !== wanted &&
        performance.now() - since < PATIENCE_MS;
      if (late) return;
      wanted = "";
      data = next;
      show();
    },
    destroy: order.cancel,
  };
}
