// The shell of every picture: mount(host, name, tell) -> { update(data), destroy() }.
//
// It needs a host element, the data, and a function that is told what a person did; it knows
// nothing of the page around it. What all pictures have in common is here: a shadow root with their
// style sheets, the theme, the head, and the mark that says what has been painted.

import { element } from "./element.js";
import { makeHead, titleOf } from "./head.js";
import { read, unpack } from "./loading.js";
import { elementAsSvg, savedBy, savedNoMore } from "./save_svg.js";
import { enlarge, pictureMenu } from "./saving.js";
import { shows, showsNoMore } from "./spotlight.js";
import { onThemeChange, theme, themeSheet } from "./theme.js";

/** @import { Palette } from "./theme.js" */

/**
 * Told of what a person did: its name, and a value.
 *
 * @typedef {(event: string, value?: unknown) => void} Tell
 */

/**
 * What is saved of a picture: a table whose first row names its columns, and a file's text, which
 * is its element's as it stands on the page if missing, and none if null.
 *
 * @typedef {{ rows(): unknown[][], svg?: (() => Promise<string>) | null }} Saves
 */

/**
 * A picture; `controls` go into its head.
 *
 * @typedef {object} Picture
 * @property {HTMLElement} element
 * @property {HTMLElement} [controls]
 * @property {Saves} [saves]
 * @property {(data: any, theme: Palette) => void | Promise<void>} update
 * @property {() => void} [destroy]
 */

/**
 * Each picture: what mounts it, in a script that is fetched when it is first shown, and its style
 * sheets.
 *
 * @type {Record<string, [() => Promise<(tell: Tell) => Picture>, ...string[]]>}
 */
const PICTURES = {
  activation_map: [
    async () => (await import("./activation_map.js")).mount, "tip.css", "activation_map.css",
  ],
  bars: [async () => (await import("./bars.js")).mount, "bars.css"],
  block_picture: [
    async () => (await import("./block_picture.js")).mount, "tip.css", "block_picture.css",
  ],
  chart: [async () => (await import("./chart.js")).mount, "chart.css"],
  classroom: [async () => (await import("./classroom.js")).mount, "classroom.css"],
  drawing: [async () => (await import("./drag.js")).mountDrawing, "drawing.css"],
  handles: [async () => (await import("./drag.js")).mountHandles, "handles.css"],
  by_hand: [async () => (await import("./exercises.js")).mountByHand, "by_hand.css"],
  program: [
    async () => (await import("./exercises.js")).mountProgram, "reorder.css", "program.css",
  ],
  xor_net: [async () => (await import("./exercises.js")).mountXorNet, "xor_net.css"],
  ffn_picture: [async () => (await import("./ffn_picture.js")).mount, "tip.css", "ffn_picture.css"],
  text: [async () => (await import("./head.js")).mountText, "text.css"],
  code: [async () => (await import("./lists.js")).mountCode, "code.css"],
  passages: [async () => (await import("./lists.js")).mountPassages, "passages.css"],
  sentences: [async () => (await import("./lists.js")).mountSentences, "sentences.css"],
  table: [async () => (await import("./lists.js")).mountTable, "table.css"],
  verdicts: [async () => (await import("./lists.js")).mountVerdicts, "verdicts.css"],
  local_storage: [async () => (await import("./local_storage.js")).mount],
  block_map: [async () => (await import("./navigation.js")).mountBlockMap, "block_map.css"],
  part_list: [async () => (await import("./navigation.js")).mountPartList, "part_list.css"],
  scene_list: [
    async () => (await import("./navigation.js")).mountSceneList, "reorder.css", "scene_list.css",
  ],
  examples: [async () => (await import("./page.js")).mountExamples, "examples.css"],
  page_bar: [async () => (await import("./page.js")).mountPageBar, "help.css", "page_bar.css"],
  footer: [async () => (await import("./page.js")).mountFooter, "help.css", "footer.css"],
  welcome: [async () => (await import("./page.js")).mountWelcome, "welcome.css"],
  points: [async () => (await import("./points.js")).mount, "points.css"],
  rail: [async () => (await import("./rail.js")).mount, "rail.css"],
  opening: [async () => (await import("./saving.js")).mountOpening, "opening.css"],
  saving: [async () => (await import("./saving.js")).mountSaving, "saving.css"],
  story: [async () => (await import("./story.js")).mount, "story.css"],
  chips: [async () => (await import("./tokens.js")).mountChips, "chips.css"],
  neuron_card: [async () => (await import("./tokens.js")).mountNeuronCard, "neuron_card.css"],
  bet: [async () => (await import("./votes.js")).mountBet, "bet.css"],
  vote_question: [async () => (await import("./votes.js")).mountVoteQuestion, "vote_question.css"],
  learn_bar: [async () => (await import("./waiting.js")).mountLearnBar, "learn_bar.css"],
  progress: [async () => (await import("./waiting.js")).mountProgress],
  waiting: [async () => (await import("./waiting.js")).mountWaiting, "waiting.css"],
  words_box: [async () => (await import("./words_box.js")).mount, "words_box.css"],
};

export const names = Object.keys(PICTURES);

// Each style sheet is made once and shared by all pictures that adopt it.
/** @type {Map<string, CSSStyleSheet>} */
const sheets = new Map();
/** @param {string} name */
async function sheet(name) {
  const text = await read(name);
  if (!sheets.has(name)) {
    const made = new CSSStyleSheet();
    made.replaceSync(text);
    sheets.set(name, made);
  }
  return /** @type {CSSStyleSheet} */ (sheets.get(name));
}

/** @param {string} name */
async function load(name) {
  const [fetched, ...styles] = PICTURES[name];
  const mounted = await fetched();
  const named = [
    "shell.css", "head.css", "terms.css", ...styles, "finger.css", "forced_colors.css",
  ];
  return { mounted, sheets: await Promise.all([themeSheet(), ...named.map(sheet)]) };
}

// What a picture says in words: its sentence, or that of a message.
function sentenceOf({ head, title, tone, paragraphs }) {
  if (head) return [title, titleOf(head)].filter(Boolean).join(": ");
  return tone === "info" ? paragraphs.flat().map(([text]) => text).join("") : "";
}

/**
 * Hangs a picture into a host.
 *
 * A picture is what its `mount(tell)` gives, `{ element, controls, saves, update, destroy }`;
 * `controls` go into its head, which keeps its height; `update(data, theme)` may return a promise.
 * What has `saves` can be saved: `rows()` gives its numbers as a table, `svg()` another picture
 * than its element.
 *
 * @param {HTMLElement | ShadowRoot} host an element without children, or a shadow root
 * @param {string} name one of `names`
 * @param {Tell} tell called with what happened ("neuron") and a value
 */
export function mount(host, name, tell) {
  const shadow = host instanceof ShadowRoot
    ? host
    : host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const root = /** @type {ShadowRoot & { host: HTMLElement }} */ (shadow);
  // Until the picture is there, something says that it is not painted yet.
  const waiting = element("span", { "data-painted": "" });
  const fault = element("p", { class: "fault", role: "alert" });
  root.append(waiting);
  let made = null, head = null, data = null, stamp, painted = null, loading = false, gone = false;
  const stopTheme = onThemeChange(() => paint());

  function fail(error) {
    fault.textContent = `This picture could not be drawn: ${error.message}`;
    root.append(fault);
  }

  // A picture that says nothing of how it is saved is saved as it stands on the page.
  function saving() {
    if (!made.saves) return null;
    const svg = () => elementAsSvg(made.element, titleOf(data.head), theme());
    const saves = { svg, ...made.saves };
    if (saves.svg) savedBy(root.host, saves.svg);
    return pictureMenu(saves, () => `ffnviz-${data.head.note}`, () => enlarge(root.host, root));
  }

  // What it shows, once that is painted.
  function says() {
    if (painted === data && stamp !== undefined) made.element.dataset.painted = stamp;
  }

  function paint() {
    if (!made || gone) return;
    const shown = data, colours = theme();
    const done = () => {
      if (data !== shown || gone) return;
      fault.remove();
      painted = shown;
      says();
      tellOutcome(root.host, sentenceOf(shown));
    };
    try {
      if (shown.head) {
        head ??= makeHead(made.controls, saving());
        if (!head.element.isConnected) made.element.prepend(head.element);
        head.update(shown.head, colours);
        if (!shown.head.under.length) head.under.remove();
        else if (!head.under.isConnected) made.element.append(head.under);
        shows(root.host, shown.head.note);
      }
      const painting = made.update(shown, colours);
      if (painting) painting.then(done, fail);
      else done();
    } catch (error) {
      fail(error);
    }
  }

  async function hang() {
    loading = true;
    try {
      const loaded = await load(name);
      if (gone) return;
      root.adoptedStyleSheets = loaded.sheets;
      made = loaded.mounted((event, value) => { if (!gone) tell(event, value); });
      made.element.classList.add("hung");
      waiting.replaceWith(made.element);
      paint();
    } catch (error) {
      if (!gone) fail(error);
    } finally {
      loading = false;
    }
  }

  return {
    // Shows data, a plain object or what payload.py packed; data that it shows already are not
    // drawn again.
    update(next, nextStamp = next.stamp) {
      if (gone) return;
      const same = next === data;
      if (!same) {
        data = next instanceof Uint8Array
          ? unpack(/** @type {Uint8Array<ArrayBuffer>} */ (next))
          : next;
      }
      stamp = nextStamp ?? data.stamp;
      if (made && same) says();
      else if (made) paint();
      else if (!loading) hang();
    },
    destroy() {
      if (gone) return;
      gone = true;
      stopTheme();
      head?.destroy();
      showsNoMore(root.host);
      savedNoMore(root.host);
      made?.destroy?.();
      [waiting, fault, made?.element].forEach((part) => part?.remove());
      root.adoptedStyleSheets = [];
      made = head = data = null; // whoever keeps the handle keeps no elements
    },
  };
}

// What came of an action, for those who do not see it: the sentences of the pictures that are now
// others. What was pressed a screen reader says by itself.

const REST_MS = 400; // after the last picture that changed
const APART_MS = 8_000; // between two times without an action, as while a network learns
const MOST = 2; // sentences; the others are read where they stand

const HIDDEN = {
  position: "fixed", width: "1px", height: "1px", overflow: "hidden", clipPath: "inset(50%)",
};
const region = element("div", {
  role: "status", "aria-live": "polite", id: "ffnviz-outcome", style: HIDDEN,
});
const said = new WeakMap(); // a picture's host → its sentence
const changed = new Set();
let acts = 0, spokenOf = 0, spokenAt = 0, waiting = 0;
for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { acts += 1; }, true);

const inOrder = (one, other) =>
  (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);

function speak() {
  const shown = [...changed].filter((host) => host.isConnected && host.getClientRects().length)
    .sort(inOrder);
  changed.clear();
  if (!shown.length) return;
  region.textContent = shown.slice(0, MOST).map((host) => said.get(host)).join(" ");
  [spokenOf, spokenAt] = [acts, performance.now()];
}

/**
 * Tells what a picture says now. It is spoken if it is new, and somebody has done something since
 * the page came.
 *
 * @param host of the picture
 * @param sentence what it says; "" if nothing
 */
function tellOutcome(host, sentence) {
  if (said.get(host) === sentence) return;
  said.set(host, sentence);
  if (!acts || !sentence) return;
  changed.add(host);
  // What is in a page before its text is spoken by all readers.
  if (!region.isConnected) document.body.append(region);
  clearTimeout(waiting);
  waiting = setTimeout(
    speak, acts === spokenOf ? Math.max(REST_MS, spokenAt + APART_MS - performance.now()) : REST_MS,
  );
}
