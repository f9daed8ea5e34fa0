// What is read line by line: a table, sentences with a mark in them or with guesses, verdicts, and
// a program.

import { each, element, oneStop } from "./element.js";
import { fitList } from "./filling.js";
import { percent } from "./numbers.js";
import { copyText, DONE_MS } from "./saving.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

// A table of numbers and words.

const isNumber = (value) => typeof value === "number";
const decimals = (value) =>
  (Number.isInteger(value) ? 0 : (String(value).split(".")[1] ?? "").length);

/**
 * What `table_cell` sends.
 *
 * @typedef {{
 *   columns: string[], rows: (string | number)[][], head: Head, clickable: boolean, drawn: number
 * }} TableData
 */

export function mountTable(tell) {
  const head = element("tr"), body = element("tbody");
  const table = element("table", {}, element("thead", {}, head), body);
  const frame = element("div", { class: "frame" }, table);
  const stopAtTitle = oneStop(head), stopAtRow = oneStop(body);
  const fit = fitList(frame, () => [0.5, 1]);
  /** @type {TableData} */
  let shown;
  let order = [], digits = [];
  function cell(value, column) {
    if (!isNumber(value)) return element("td", { text: value });
    return element("td", {
      text: value.toFixed(digits[column]).replace("-", "−"), class: "number",
    });
  }
  // A row that can be clicked begins with a button, for whoever has no mouse.
  function line(at) {
    const row = shown.rows[at], cells = row.map(cell);
    if (!shown.clickable) return element("tr", {}, ...cells);
    const button = element("button", { type: "button", text: cells[0].textContent });
    cells[0].replaceChildren(button);
    return element("tr", { class: "clickable", onclick: () => tell("row", at) }, ...cells);
  }
  function draw() {
    body.replaceChildren(...order.slice(0, shown.drawn).map(line));
    stopAtRow();
  }
  // Large numbers and the beginning of the alphabet come first; a second click turns that round.
  function sort(column) {
    const header = head.children[column];
    const descending = header.ariaSort
      ? header.ariaSort === "ascending"
      : header.className === "number";
    const compare = (a, b) =>
      (isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b)));
    order.sort((a, b) =>
      (descending ? -1 : 1) * compare(shown.rows[a][column], shown.rows[b][column]) || a - b
    );
    for (const other of head.children) other.ariaSort = null;
    header.ariaSort = descending ? "descending" : "ascending";
    draw();
    frame.scrollTop = 0;
  }
  function title(text, column) {
    const kind = shown.rows.some((row) => isNumber(row[column])) ? "number" : "";
    return element(
      "th", { scope: "col", class: kind },
      element("button", { type: "button", text, onclick: () => sort(column) }),
    );
  }
  return {
    element: element("div", { class: "table" }, frame),
    saves: { svg: null, rows: () => [shown.columns, ...order.map((at) => shown.rows[at])] },
    /** @param {TableData} data */
    update(data) {
      shown = data;
      order = data.rows.map((_, at) => at);
      digits = data.columns.map((_, column) =>
        Math.max(0, ...data.rows.map((row) => (isNumber(row[column]) ? decimals(row[column]) : 0)))
      );
      head.replaceChildren(...data.columns.map(title));
      stopAtTitle();
      draw();
      frame.tabIndex = data.clickable ? -1 : 0; // its rows scroll it, where they are buttons
      fit();
    },
    destroy: () => fit(true),
  };
}

// Sentences of which one token is marked, each behind its value.

/**
 * What `passages_cell` sends.
 *
 * @typedef {{ rows: [string, string, string, string][], head: Head }} PassagesData
 */

export function mountPassages() {
  const list = element("ol", { tabindex: "0" });
  const fit = fitList(list, () => [1, 1.7]);
  let shown = /** @type {PassagesData["rows"]} */ ([]);
  return {
    element: element("div", { class: "passages" }, list),
    saves: {
      rows: () => [
        ["value", "before", "marked", "after"],
        ...shown.map(([value, ...text]) => [Number(value.replace("−", "-")) || value, ...text]),
      ],
    },
    /** @param {PassagesData} data */
    update({ rows, head }, theme) {
      shown = rows;
      list.setAttribute(
        "aria-label", `${rows.length} ${rows.length === 1 ? "sentence" : "sentences"}`,
      );
      list.style.setProperty("--accent", colourOf(head.accent, theme));
      const make = () => element("li", {}, element("b"), element("bdi"));
      each(list, rows, make, ({ children: [number, text] }, [value, before, at, after]) => {
        number.textContent = value;
        text.replaceChildren(before, element("mark", { text: at }), after);
      });
      fit();
    },
    destroy: () => fit(true),
  };
}

// Sentences that people sent in, each with what the networks guess there: large, for a hall to
// read.

/** @typedef {{ text: string, remark: string, guesses: [string, string, string, number][] }} Line */

/**
 * What `sentences_cell` sends.
 *
 * @typedef {{ lines: Line[], head: Head }} SentencesData
 */

/** @type {[string, string, string, number | null][]} */
const NO_GUESS = [["", "", "", null]];

export function mountSentences(tell) {
  const list = element("ol", { tabindex: "0" });
  let shown = /** @type {Line[]} */ ([]);

  function makeLine(at) {
    const open = element("button", {
      type: "button", class: "open", title: "Open it on the Journey",
      onclick: () => tell("open", at),
    }, element("bdi"));
    const hide = element("button", {
      type: "button", class: "hide", text: "Hide", onclick: () => tell("hide", at),
    });
    return element("li", {}, open, element("span", { class: "guesses" }), element("small"), hide);
  }

  return {
    element: element("div", { class: "sentences" }, list),
    saves: {
      rows: () => [
        ["sentence", "network", "guess", "probability"],
        ...shown.flatMap(({ text, guesses }) =>
          (guesses.length ? guesses : NO_GUESS).map(([network, , word, share]) =>
            [text, network, word, share])
        ),
      ],
    },
    /** @param {SentencesData} data */
    update({ lines }, theme) {
      shown = lines;
      list.setAttribute("aria-label", "Sentences of the class");
      each(list, lines, makeLine, ({ children: [open, guesses, remark, hide] }, line) => {
        open.firstChild.textContent = line.text;
        remark.textContent = line.remark;
        hide.setAttribute("aria-label", `Hide: ${line.text}`);
        each(
          guesses, line.guesses,
          () => element("span", {}, element("b"), element("i"), element("small")),
          (guess, [network, colour, word, share]) => {
            const [said, likely, name] = guess.children;
            guess.style.color = colourOf(colour, theme);
            said.textContent = word;
            likely.textContent = percent(share);
            name.textContent = network;
          },
        );
      });
    },
  };
}

// Verdicts: what was claimed, what one would then see, and what was seen.

const MANY = 8; // claims that leave no room for what one expects: it is said where one points

const makeClaim = () =>
  element(
    "li", {}, element("b", {}, element("em"), element("span")),
    element("span", { class: "expected" }),
    element(
      "strong", {}, element("i", { class: "sign", "aria-hidden": "true" }), element("span"),
      element("span", { class: "limits" }),
    ),
    element("span", { class: "seen" }, element("span"), element("small")),
  );

// Beside its verdict what was seen goes on with it; on a line of its own it begins anew.
const goesOn = (text, limits) => `${limits ? ";" : ":"} ${text} `;
const begins = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)} `;

function drawClaim(
  item, { claim, kind, sign, verdict, limits, expected, measured, check, label, inline },
) {
  const [name, hoped, { children: [icon, words, more] }, seen] = item.children;
  item.dataset.kind = kind;
  name.firstChild.textContent = label ? `${label}: ` : "";
  name.lastChild.textContent = claim;
  hoped.textContent = `If so, one sees: ${expected}.`;
  icon.textContent = sign;
  words.textContent = verdict.slice(0, verdict.length - limits.length);
  more.textContent = limits;
  seen.title = `If so, one sees: ${expected}. Test: ${check}.`;
  seen.firstChild.textContent = inline ? goesOn(measured, limits) : begins(measured);
  seen.lastChild.textContent = `(${check})`;
}

// The signs of a group's claims, and how often each kind is there for those who cannot see them.
function drawSigns(signs, claims) {
  signs.replaceChildren(
    ...claims.map(({ kind, sign }) => element("i", { "data-kind": kind, text: sign })),
  );
  const kinds = [...new Set(claims.map(({ kind }) => kind))];
  const count = (kind) => claims.filter((claim) => claim.kind === kind).length;
  signs.setAttribute("aria-label", kinds.map((kind) => `${count(kind)} ${kind}`).join(", "));
}

/**
 * @typedef {{
 *   claim: string, kind: string, sign: string, verdict: string, expected: string,
 *   measured: string, check: string, said: string, limits: string, label: string
 * }} Claim
 */

/**
 * What `verdicts_cell` sends.
 *
 * @typedef {{ groups: [string, Claim[]][], dense: boolean, head: Head }} VerdictsData
 */

export function mountVerdicts(tell) {
  const box = element("div", { class: "groups" });
  const all = element("div", {
    class: "all", tabindex: "0", role: "region", "aria-label": "Claims and verdicts",
  }, box);
  const root = element("div", { class: "verdicts" }, all);
  const makeGroup = (group) =>
    element(
      "section", {},
      element(
        "h3", {},
        element(
          "button", { type: "button", onclick: () => open(group) }, element("span"),
          element("span", { class: "signs", role: "img" }),
        ),
      ),
      element(
        "div", {}, element("ul"),
        element("button", { type: "button", class: "leads", onclick: () => tell("group", group) }),
      ),
    );
  const stop = oneStop(box, "h3 button");
  const fit = fitList(all, () => (root.classList.contains("titled") ? [0.6, 1.6] : [0.24, 1]));
  let shown = /** @type {VerdictsData["groups"]} */ ([]), opened = 0;
  // Of groups with titles one is open.
  function open(group) {
    opened = Math.max(0, Math.min(group, shown.length - 1));
    [...box.children].forEach((section, place) => {
      section.classList.toggle("open", place === opened);
      section.querySelector("h3 button")?.setAttribute("aria-expanded", String(place === opened));
    });
    fit();
  }
  return {
    element: root,
    saves: {
      rows: () => [
        ["experiment", "said", "claim", "expected", "verdict", "measured", "test"],
        ...shown.flatMap(([title, claims]) =>
          claims.map(({ said, claim, expected, verdict, measured, check }) =>
            [title, said, claim, expected, verdict, measured, check])
        ),
      ],
    },
    /** @param {VerdictsData} data */
    update({ groups, dense }) {
      shown = groups;
      const titled = groups.some(([title]) => title);
      root.classList.toggle("dense", dense);
      root.classList.toggle("titled", titled);
      root.classList.toggle("many", !titled && groups.some(([, claims]) => claims.length > MANY));
      box.style.gridTemplateRows = titled ? `repeat(${groups.length}, auto)` : "";
      each(box, groups, makeGroup, ({ children: [heading, body] }, [title, claims]) => {
        heading.hidden = body.lastChild.hidden = !title;
        heading.firstChild.firstChild.textContent = title;
        drawSigns(heading.firstChild.lastChild, claims);
        each(
          body.firstChild, claims, makeClaim,
          (item, claim) => drawClaim(item, { ...claim, inline: dense || claims.length >= 5 }),
        );
        body.firstChild.dataset.claims = claims.length;
        body.firstChild.classList.toggle("five", claims.length >= 5);
        body.lastChild.textContent = `${title} →`;
      });
      open(opened);
      stop(opened);
    },
    destroy: () => fit(true),
  };
}

// Program text, to be read and copied.

/**
 * What `code_cell` sends.
 *
 * @typedef {{ code: string, tokens: [string, string][] }} CodeData
 */

export function mountCode() {
  const code = element("code"), pre = element("pre", { tabindex: "0" }, code);
  const fit = fitList(pre, () => [1, 1]);
  let text = "";
  const copy = element("button", { type: "button", text: "Copy", "aria-label": "Copy the code" });
  copy.onclick = async () => {
    const outcome = await copyText(text, "").then(() => "✓", () => "✗");
    copy.textContent = outcome;
    setTimeout(() => { copy.textContent = "Copy"; }, DONE_MS);
  };
  return {
    element: element("div", { class: "code" }, pre, copy),
    /** @param {CodeData} data */
    update(data) {
      text = data.code;
      code.replaceChildren(
        ...data.tokens.map(([part, kind]) =>
          (kind ? element("span", { class: kind, text: part }) : part)),
      );
      fit();
    },
    destroy: () => fit(true),
  };
}
