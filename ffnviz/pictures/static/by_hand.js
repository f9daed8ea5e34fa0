// Numbers to fill in beside what they are made of. Each is judged as it is typed: what comes of a
// broken rule was computed before, so a wrong number that one of them gives says which it was.

import { element, setText } from "./element.js";

/** @import { Head } from "./head.js" */

const LONG = 8; // rows of a table, with which there is no room for large type
const WAIT_MS = 500; // after the last key, before the link has it
const EXACT = 1e-9;

// What was typed as a number, with any of the signs that are taken for a minus or a point; null if it is none.
export function numberOf(text) {
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
  const before = gap.reads.map(([place]) => place), read = before.filter((place) => values[place] !== null);
  const off = read.find((place) => Math.abs(values[place] - gaps[place].right) > gaps[place].tolerance + EXACT);
  if (off !== undefined && read.length === before.length && near(carried(gap, values))) return ["follows", `Right for your ${gaps[off].name}, which is wrong.`];
  return ["wrong", gap.slips.find(([wrong]) => near(wrong))?.[1] ?? "Not this. Go through the sum again, term by term."];
}

function makeTable({ name, columns, rows }) {
  const cells = (tag, row) => element("tr", {}, ...row.map((text) => element(tag, { text })));
  const parts = [element("caption", { text: name })];
  if (columns.length) parts.push(element("thead", {}, cells("th", columns)));
  return element("table", {}, ...parts, element("tbody", {}, ...rows.map((row) => cells("td", row))));
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
 * }} Data
 */

export function mount(tell) {
  const steps = element("div", { class: "steps" }), done = element("p", { class: "done", role: "status" });
  const another = element("button", { type: "button", class: "another", text: "Another", onclick: () => tell("another") });
  const again = element("button", { type: "button", text: "Empty all", onclick: () => { fill([]); show(); send(); inputs[0].focus(); } });
  /** @type {Data} */
  let data;
  let gaps = [], inputs = [], waiting = 0;
  /** @type {HTMLTableElement[]} */
  let tables = [];

  // What is no number stays as it was typed, with a word about it: the link has numbers alone.
  const isNoNumber = ({ value }) => value.trim() !== "" && numberOf(value) === null;
  const fill = (typed, all = true) => inputs.forEach((input, at) => { if (all || !isNoNumber(input)) input.value = typed[at] ?? ""; });
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
      line.querySelector(".sign").textContent = { right: "✓", follows: "↪", wrong: "✗" }[verdict] ?? "";
      const said = verdict === "right" ? "right" : isNoNumber(input) ? "Type a number, such as −3 or 0.5." : words;
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
      id, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: String(data.longest),
      "aria-describedby": `said-${at}`,
      oninput: () => { show(); clearTimeout(waiting); waiting = setTimeout(send, WAIT_MS); },
      onchange: () => { if (waiting) send(); },
      onfocus: () => mark(at),
      onblur: () => mark(null),
      onkeydown: (event) => { if (event.key === "Enter") inputs[(at + 1) % inputs.length].focus(); },
    });
    inputs.push(input);
    return element("div", { class: "gap" }, element("label", { for: id, text: `${gap.name} =` }), input,
      element("span", { class: "sign", "aria-hidden": "true" }), element("span", { id: `said-${at}`, class: "said", role: "status" }));
  }

  function build() {
    gaps = data.steps.flatMap((step) => step.gaps);
    [inputs, tables] = [[], []];
    let at = 0;
    steps.replaceChildren(...data.steps.map((step) => {
      const made = step.tables.map(makeTable);
      tables.push(...made);
      return element("section", {}, element("h3", { text: step.equation }), element("div", { class: "given" }, ...made),
        element("div", { class: "gaps" }, ...step.gaps.map((gap) => makeGap(gap, at++))));
    }));
    root.classList.toggle("four", data.steps.length === 4);
    root.classList.toggle("long", tables.some(({ rows }) => rows.length >= LONG));
  }

  const root = element("div", { class: "by-hand" }, steps, element("div", { class: "foot" }, done, another, again));
  return {
    element: root,
    /** @param {Data} next */
    update(next) {
      const other = next.exercise !== data?.exercise;
      data = next;
      if (other) {
        clearTimeout(waiting);
        waiting = 0;
        build();
      }
      // What is being typed is newer than what the server has heard of.
      if (other || (!waiting && !inputs.some((input) => input.matches(":focus")))) fill(data.typed, other);
      show();
    },
    destroy() { clearTimeout(waiting); },
  };
}
