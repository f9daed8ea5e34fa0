// The tokens of a sentence: in a row to choose from, and with a neuron's value on each.

import { directionOf, each, element, makeSliding, oneStop, rootOf } from "./element.js";
import { fitList } from "./filling.js";
import { mayBeNamed } from "./head.js";
import { stretch } from "./motion.js";
import { number, percent } from "./numbers.js";
import { colourOf } from "./theme.js";

/** @import { Head } from "./head.js" */

const LOW = 800; // pixels, of a window's height
// Of a long text that are seen; on a telephone its one line slides.
const LINES = { low: 2, high: 3 };

// A token, and at its corner, while the mouse is there, a button that hides its word.
function makeChip(choose, hide) {
  const onkeydown = ({ key }) => { if (key === "Delete") hide(); };
  return element("div", { class: "chip" },
    element("button", { type: "button", onclick: choose, onkeydown },
      element("bdi"),
      element("small"),
      element("span", { class: "track", "aria-hidden": "true" }, element("i")),
    ),
    element("button", {
      type: "button", class: "cut", text: "___", "aria-label": "hide", tabindex: "-1",
      onclick: hide,
    }),
  );
}

// Where to scroll the row so that a chip is in its middle.
const intoView = (row, { offsetLeft, offsetTop, offsetWidth, offsetHeight }) => ({
  left: offsetLeft - row.offsetLeft - (row.clientWidth - offsetWidth) / 2,
  top: offsetTop - row.offsetTop - (row.clientHeight - offsetHeight) / 2,
});

// Whether all of a chip can be seen in its row.
function isSeen(row, { offsetLeft, offsetTop, offsetWidth, offsetHeight }) {
  const [x, y] = [offsetLeft - row.scrollLeft, offsetTop - row.scrollTop];
  return y >= -2 && y + offsetHeight <= row.clientHeight + 2 && x >= -2 &&
    x + offsetWidth <= row.clientWidth + 2;
}

/**
 * What measuring.py sends. `stays` is of files and notebooks.
 *
 * @typedef {{
 *   texts: string[], shares: number[], chosen: number, what: string, accent: string,
 *   hides: string[], asks: boolean, joins: boolean[], unhides: string[], head?: Head,
 *   stays?: boolean
 * }} ChipsData
 */

export function mountChips(tell) {
  const row = element("div", {
    class: "row", role: "group", "aria-label": "Tokens of the sentence",
  });
  const hide = element("button", {
    type: "button", class: "hide",
    onclick: () => (shown.unhides[at] ? tell("unhide", at) : cut(at)),
  });
  const more = element("button", {
    type: "button", class: "more-tokens", hidden: "", tabindex: "-1", "aria-hidden": "true",
    onclick: goOn,
  });
  const edit = element("button", {
    type: "button", class: "edit", text: "✎", title: "Edit the sentence ( / )",
    "aria-label": "Edit the sentence",
  });
  edit.onclick = () =>
    edit.dispatchEvent(new CustomEvent("edit-sentence", { bubbles: true, composed: true }));
  const stop = oneStop(row, "[aria-pressed]");
  /** @type {ChipsData} */
  let shown;
  let at = null, colours = null;
  const cut = (token) => { if (shown.hides[token]) tell("hide", token); };
  function choose(token) {
    tell("token", token);
    // What it does is then played.
    if (token !== shown.chosen) {
      row.dispatchEvent(new Event("token-chosen", { bubbles: true, composed: true }));
    }
  }
  const root = element("section", {}, element("div", { class: "line" }, row, more, hide, edit));
  const sliding = makeSliding(row);

  // The next lines of a long text; after its end, the first.
  function goOn() {
    const end = row.scrollTop + row.clientHeight >= row.scrollHeight - 2 &&
      row.scrollLeft + row.clientWidth >= row.scrollWidth - 2;
    row.scrollTo(
      end
        ? { top: 0, left: 0 }
        : { top: row.scrollTop + row.clientHeight, left: row.scrollLeft + row.clientWidth },
    );
  }

  // No line is cut through its letters, and what is out of sight is counted.
  function fit() {
    const all = /** @type {HTMLCollectionOf<HTMLElement>} */ (row.children), [chip] = all;
    if (!chip?.offsetHeight) return;
    const wraps = () => all[all.length - 1].offsetTop > chip.offsetTop;
    row.classList.remove("close");
    if (wraps()) row.classList.add("close"); // rather than a second line
    if (wraps()) row.classList.remove("close");
    const { flexWrap, rowGap } = getComputedStyle(row);
    const lines = innerHeight <= LOW ? LINES.low : LINES.high, gap = Number.parseFloat(rowGap);
    row.style.maxHeight = flexWrap === "wrap" ? `${lines * (chip.offsetHeight + gap) - gap}px` : "";
    count();
  }
  function count() {
    const chips = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (row.children)];
    const away = chips.filter((chip) => !isSeen(row, chip)).length;
    more.hidden = !away;
    more.textContent = `+ ${away}`;
    more.title = `${away} more ${away === 1 ? "token" : "tokens"}: a click scrolls on`;
  }
  row.onscroll = count;
  const resized = new ResizeObserver(fit);
  resized.observe(row);

  // What was hidden last is there again, unless somebody is typing.
  function undo(event) {
    const typing = event.composedPath()[0].matches?.("input, textarea, select, [contenteditable]");
    if (
      typing || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.key !== "z" ||
      !shown.unhides[at]
    ) return;
    event.preventDefault();
    tell("unhide", at);
  }
  addEventListener("keydown", undo);

  function drawChip(chip, text, token) {
    const { shares, chosen, what, hides, joins } = shown, counts = shares.length > 0;
    const [face, over] = chip.children;
    const [name, share, track] = face.children;
    const isChosen = token === chosen, accent = colourOf(shown.accent, colours);
    const whole = joins[token]
      ? shown.texts[shown.texts.findLastIndex((_, other) => other < token && !joins[other])]
      : "";
    const further = whole ? `${text}, a further token of the character ${whole}` : text;
    chip.classList.toggle("joins", Boolean(whole));
    chip.classList.toggle("goes-on", Boolean(joins[token + 1]));
    face.setAttribute("aria-pressed", String(isChosen));
    const said = counts ? `${further}: ${percent(shares[token])}` : further;
    if (whole) face.setAttribute("aria-label", said);
    else face.removeAttribute("aria-label");
    const counted = counts ? `: ${percent(shares[token])} ${what}` : "";
    face.title = `${further}${counted}${hides[token] ? "\nDelete hides the word" : ""}`;
    face.style.borderColor = isChosen ? accent : "";
    over.hidden = !hides[token];
    over.title = why(token);
    name.textContent = text;
    share.textContent = counts ? percent(shares[token]) : "";
    stretch(track.firstChild, 0, Math.min(1, shares[token] ?? 0));
    track.firstChild.style.background = accent;
  }
  const why = (token) =>
    `Put [MASK] in the place of “${shown.hides[token]}”: the network then has to guess it`;

  return {
    element: root,
    saves: {
      rows: () => [
        ["token number", "token", "share"],
        ...shown.texts.map((text, token) => [token + 1, text, shown.shares[token]]),
      ],
    },
    /** @param {ChipsData} data */
    update(data, theme) {
      const other = shown && String(shown.texts) !== String(data.texts);
      const held = row.contains(rootOf(root).activeElement);
      [shown, colours] = [data, theme];
      const { texts, shares, chosen, hides, unhides, asks } = data;
      root.classList.toggle("calm", !asks);
      root.classList.toggle("counts", shares.length > 0);
      mayBeNamed(texts);
      row.dir = directionOf(texts.join(""));
      // It keeps its place: the words do not move.
      hide.classList.toggle("none", !hides[chosen] && !unhides[chosen]);
      hide.textContent = unhides[chosen] ? "Unhide" : "Hide";
      hide.setAttribute(
        "aria-label", unhides[chosen] ? `Unhide “${unhides[chosen]}”` : "Hide this word",
      );
      hide.title = unhides[chosen]
        ? `Put back “${unhides[chosen]}”, which was there ( Ctrl + Z )`
        : why(chosen);
      edit.hidden = Boolean(data.stays); // in a notebook the sentence is the trace's
      each(row, texts, (token) => makeChip(() => choose(token), () => cut(token)), drawChip);
      // In a long text the chosen chip may be out of sight; a person who has scrolled away since is
      // left alone. There is none while a token is chosen that is not shown.
      const there = /** @type {HTMLElement | undefined} */ (row.children[chosen]);
      if (chosen !== at && there) row.scrollTo(intoView(row, there));
      stop(chosen);
      // The sentence is another.
      if (other && held && chosen !== at) {
        there?.querySelector("button")?.focus({ preventScroll: true });
      }
      at = chosen;
      if (other !== false) requestAnimationFrame(fit);
      sliding.look();
    },
    destroy() {
      sliding.stop();
      resized.disconnect();
      removeEventListener("keydown", undo);
    },
  };
}

// A neuron, with its value on each token.

function makeValue(show) {
  return element("li", {},
    element("button", { type: "button", onclick: show },
      element("bdi"),
      element("span", { class: "track", "aria-hidden": "true" }, element("i")),
      element("b")));
}

/**
 * What `NeuronCard` sends. `action` and `stays` are of files.
 *
 * @typedef {{
 *   title: string, texts: string[], values: number[], token: number, words: string[], head: Head,
 *   action?: string, stays?: boolean
 * }} NeuronCardData
 */

export function mountNeuronCard(tell) {
  const title = element("span");
  const meet = element("button", {
    type: "button", class: "action", onclick: () => tell("meet", { token: null }),
  });
  const words = element("span");
  const writes = element("p", {}, "pushes towards ", words);
  const values = element("ol", { "aria-label": "Its value on every token" });
  const card = element("div", { class: "card" },
    element("h3", {}, title, meet), writes, values);
  const fit = fitList(values, () => [innerHeight > LOW ? 0.24 : 0.2, 2.2]);
  const stop = oneStop(values);
  /** @type {NeuronCardData} */
  let shown;
  return {
    element: element("article", {}, card),
    saves: {
      rows: () => [
        ["neuron", "token number", "token", "hidden"],
        ...shown.values.map((value, token) => [shown.title, token + 1, shown.texts[token], value]),
      ],
    },
    /** @param {NeuronCardData} data */
    update(data, theme) {
      shown = data;
      // In a file there is no other page to go to.
      meet.hidden = Boolean(data.stays) && !data.action;
      meet.textContent = data.action || "Meet this neuron →";
      const largest = Math.max(...data.values.map(Math.abs));
      title.textContent = data.title;
      title.style.color = colourOf(data.head.accent, theme);
      writes.hidden = data.words.length === 0; // of a network without a word head nobody knows
      each(words, data.words, () => element("bdi"), (word, text) => { word.textContent = text; });
      const make = (token) => makeValue(() => tell("meet", { token }));
      each(values, data.values, make, (item, value, token) => {
        const button = item.firstChild;
        const [name, track, text] = button.children;
        item.className = token === data.token ? "chosen" : "";
        button.title = data.stays
          ? `Choose ${data.texts[token]}`
          : `Show how ${number(value)} comes about`;
        name.textContent = data.texts[token];
        text.textContent = number(value);
        stretch(track.firstChild, 0, largest > 0 ? Math.abs(value) / largest : 0);
        track.firstChild.style.background = value < 0 ? theme.negative_mid : theme.positive_mid;
      });
      stop(data.token);
      fit();
    },
    destroy: () => fit(true),
  };
}
