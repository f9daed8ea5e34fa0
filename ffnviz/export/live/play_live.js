// The first page without a server, for whatever is typed: it begins with a recorded sentence, and a
// worker that has the networks makes the data of every other. A lecture's scenes have it, too.

import { element } from "./element.js";
import { makeJourney } from "./play_journey.js";
import { aboutFrom } from "./save_svg.js";
import { tidied } from "./tokenizer.js";

// Arrays that are those of every sentence.
const STATIC = / (?:writes|writers|examples|example values|example heads)$/;
const LOADING = "The networks are on their way; till they are here you see a sentence that was " +
  "computed before.";
const HURRIED_MS = 300; // between two keys: what they change is at its place at once
const EMPTY = "Type a sentence: [MASK] or ___ stands for a hidden word. The pictures below still " +
  "show the last sentence.";

// The worker that reads sentences, seen from the page. One question at a time is on its way, and of
// those that come meanwhile the newest alone is asked: typing never waits, and is never behind.

/**
 * Makes an engine.
 *
 * @param script the worker's, as a text: a page that was opened as a file may load none
 * @param answered called with a state and its data, null where there is nothing to read
 * @param failed called with a sentence
 */
function makeEngine(script, answered, failed) {
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const asked = new Map(); // a question's number → what takes its answer
  let last = 0, busy = true, next = null; // busy: reading, or not ready

  worker.onmessage = ({ data: { number, fault, ...answer } }) => {
    const { resolve, reject } = asked.get(number);
    asked.delete(number);
    if (fault) reject(new Error(fault));
    else resolve(answer);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    for (const { reject } of asked.values()) {
      reject(new Error(event.message || "this browser runs no worker in such a page."));
    }
    asked.clear();
  };
  const ask = (what, message) =>
    new Promise((resolve, reject) => {
      asked.set(++last, { resolve, reject });
      worker.postMessage(
        { number: last, ask: what, ...message }, message.bytes ? [message.bytes] : [],
      );
    });

  async function read(state) {
    busy = true;
    try {
      const { data } = await ask("read", { state });
      answered(state, data);
    } catch ({ message }) {
      failed(message);
    }
    busy = false;
    goOn();
  }
  function goOn() {
    if (busy || !next) return;
    const state = next;
    next = null;
    read(state);
  }

  return {
    // Hands over the networks, one after the other, and what the pictures have in common. What lies
    // beside the page and is damaged comes again, once.
    async start(indices, weights, recorded, tokenizer) {
      for (const index of indices) {
        const first = await weights(index, false);
        await ask("network", first).catch(async (fault) => {
          if (!index.file) throw fault;
          await ask("network", await weights(index, true));
        });
      }
      await ask("start", { recorded, tokenizer });
      busy = false;
      goOn();
    },
    read(state) {
      next = state;
      goOn();
    },
  };
}

// The words that were hidden, by what stands before or after each mask: `remembered` in
// state/state.py.
function makeHiddenWords() {
  const MASK = Array.from("[MASK]"), known = new Map();
  const places = (signs, start, end) =>
    [["before", signs.slice(0, start)], ["after", signs.slice(end)]]
      .map(([side, around]) => `${side} ${around.join("")}`).filter((place) =>
        /[\p{L}\p{N}]/u.test(place.slice(6))
      );
  const startsOf = (signs) =>
    signs.flatMap((_, at) => (MASK.every((sign, n) => signs[at + n] === sign) ? [at] : []));
  function behind(signs, end) {
    const start = end - MASK.length;
    if (!startsOf(signs).includes(start)) return "";
    return places(signs, start, end).map((place) => known.get(place)).find(Boolean) ?? "";
  }
  return {
    behind,
    // The signs once a stretch is replaced; the masks that were there go on hiding what they hid.
    replaced(signs, start, end, by) {
      const after = [...signs.slice(0, start), ...by, ...signs.slice(end)];
      const keep = (at, word) =>
        places(after, at, at + MASK.length).forEach((place) => known.set(place, word));
      for (const at of startsOf(signs)) {
        const word = behind(signs, at + MASK.length);
        if (word && (at < start || at >= end)) {
          keep(at >= end ? at + by.length - (end - start) : at, word);
        }
      }
      if (by === MASK) keep(start, signs.slice(start, end).join(""));
      return after.join("");
    },
    MASK,
  };
}

/**
 * Makes the first page of whatever is typed into its box.
 *
 * @param recorded the header that page.py made, with `arrays` and `shapes`
 * @param told called with a sentence once its pictures are there
 */
export function makeLive(recorded, told) {
  let wanted = { ...recorded.start, sentence: recorded.sentence }; // what is shown, or will be
  // The state that is to be computed, if any; the token that was clicked, if one was.
  let asked = null, chosen = null;
  let ends = null, words = []; // of the tokens shown: where each ends, and what can be hidden
  // Their sentence; what was clicked while it was computed once more.
  let shown = "", waiting = null;
  const { arrays, shapes, files: _files, packed, tokenizer, ...header } = recorded;
  const kept = Object.fromEntries(Object.entries(arrays).filter(([name]) => STATIC.test(name)));
  const box = element("input", {
    type: "text", class: "typed-sentence", value: recorded.sentence, autocomplete: "off",
    spellcheck: "false", "aria-label": "Sentence",
    placeholder: "Type a sentence; [MASK] or ___ stands for a hidden word",
  });
  const notice = element("p", { class: "notice", role: "status" });
  const say = (spans) => notice.replaceChildren(...spans.map(([text]) => text));

  const journey = makeJourney(recorded, (part) => {
    chosen = part.token ?? chosen;
    const state = journey.changed(wanted, part);
    if (!journey.has(state)) return ask(state);
    asked = null;
    return journey.show(wanted = state);
  }, { hide: onceShown(hide), unhide: onceShown(unhide) });
  const hidden = makeHiddenWords();
  const engine = makeEngine(
    /** @type {HTMLElement} */ (document.getElementById("worker")).textContent, show, fail,
  );

  function ask(state) {
    wanted = asked = state;
    engine.read(state);
  }

  // The clicked token stays if all up to it stayed as it was; else it is the mask, or the last
  // word.
  function type() {
    const sentence = tidied(box.value), before = wanted.sentence;
    if (!sentence) return say([[EMPTY]]);
    if (sentence === before) return undefined;
    const upTo = chosen !== null && ends
      ? Array.from(before).slice(0, ends[chosen]).join("")
      : null;
    if (upTo === null || !sentence.startsWith(upTo)) chosen = null;
    return ask({ ...wanted, sentence, token: chosen });
  }
  let rests = 0; // a timer, while a key was pressed just before
  box.oninput = () => {
    const hurry = (is) => document.documentElement.toggleAttribute("data-hurried", is);
    hurry(rests > 0);
    clearTimeout(rests);
    rests = setTimeout(() => {
      rests = 0;
      hurry(false);
    }, HURRIED_MS);
    type();
  };
  addEventListener("edit-sentence", () => box.focus());

  function hide(token) {
    const word = words[token];
    if (word) replace(word.start, word.end, hidden.MASK, word.token);
  }
  function unhide(token) {
    const word = hidden.behind(Array.from(wanted.sentence), ends[token]);
    if (word) replace(ends[token] - hidden.MASK.length, ends[token], Array.from(word), token);
  }
  // A click on a token, which is computed first, may stand just before one on what it offers.
  function onceShown(act) {
    return (token) => {
      if (!asked) act(token);
      else if (asked.sentence === shown) waiting = { state: asked, click: () => act(token) };
    };
  }
  function replace(start, end, by, token) {
    box.value = hidden.replaced(Array.from(wanted.sentence), start, end, by);
    chosen = token;
    ask({ ...wanted, sentence: tidied(box.value), token: chosen });
  }

  function show(state, data) {
    if (!data || !asked) return; // or what was chosen meanwhile was at hand
    const { view, name, token, texts, notice: said } = data;
    ({ ends, words } = data);
    shown = state.sentence;
    const cards = Object.fromEntries(
      Object.entries(recorded.cards).map(([each, card]) => [each, { ...card, texts }]),
    );
    const sizes = { ...shapes, ...data.shapes };
    const { sentence, silenced } = state;
    const all = { ...kept, ...data.arrays };
    const signs = Array.from(sentence);
    view.chips.unhides = ends.map((end) => hidden.behind(signs, end));
    journey.take({
      ...recorded, sentence, silenced, cards, views: { [name]: view }, arrays: all, shapes: sizes,
    });
    if (state === asked) [wanted, asked] = [{ ...state, token }, null];
    journey.show({ ...state, token });
    told(sentence);
    say(said);
    if (silenced.length) sayOff(silenced);
    if (!asked && waiting?.state === state) waiting.click();
  }

  function sayOff(silenced) {
    const labels = Object.fromEntries(recorded.networks.map(({ id, label }) => [id, label]));
    const nameOf = ({ network, block, index }) => `${block + 1}:${index} (${labels[network]})`;
    const names = silenced.map(nameOf).join(", ");
    const again = element("button", {
      type: "button", text: "Switch all on again", onclick: () => ask({ ...wanted, silenced: [] }),
    });
    const neurons = silenced.length === 1 ? "neuron" : "neurons";
    const them = silenced.length === 1 ? "it" : "them";
    notice.append(
      `Switched off on every token: ${neurons} ${names}. `,
      `All that comes after is computed without ${them}. `, again,
    );
  }

  function fail(why) {
    box.disabled = true;
    notice.setAttribute("role", "alert");
    const seen = "You see the sentence that was saved with the page.";
    const then = "Load the page again, or save it anew.";
    say([[`Nothing new can be computed here: ${why} ${seen} ${then}`]]);
  }

  return {
    box,
    notice,
    choices: journey.choices,
    element: journey.element,
    about: () => [wanted.sentence, `ffnviz · ${journey.about()}`],
    show: () => journey.show(wanted),
    // What is typed next goes on from this state, of which nothing is drawn.
    from(state) {
      wanted = { ...recorded.start, ...state };
      asked = chosen = ends = null;
      box.value = state.sentence;
    },
    // Loads the networks.
    async start() {
      const total = packed.reduce((sum, { size }) => sum + size, 0);
      const bar = element("progress", {
        max: String(total), value: "0", "aria-label": "The networks",
      });
      const weights = makeWeights(recorded.kept, (n) => {
        bar.value += n;
      });
      say([[LOADING]]);
      if (recorded.kept) notice.append(" ", bar, ` ${Math.round(total / 1e6)} MB`);
      try {
        await engine.start(packed, weights, header, tokenizer);
      } catch ({ message }) {
        return fail(message);
      }
      if (!asked) say([]);
      return undefined;
    },
    // Computes what is shown, of which the recorded sentence has only a part.
    read() { if (!asked) ask(wanted); },
  };
}

export function play(body, recorded) {
  const page = makeLive(recorded, (sentence) => { document.title = `${sentence} · ffnviz`; });
  aboutFrom(page.about);
  body.append(
    element(
      "header", { class: "top" }, element("h1", { class: "name", text: "ffnviz" }), page.box,
      ...page.choices,
    ),
    page.notice,
    element("main", {}, page.element),
    element("footer", {}, ...recorded.says.map((text) => element("p", { text }))),
  );
  page.show();
  page.start().then(page.read);
}

// Where the networks' weights come from: texts in the page, or files beside it, which are kept in
// the browser once they are there. Whether they are whole, the worker says.

/** @type {() => Promise<unknown>} */
const pageIsRead = () =>
  new Promise((resolve) => {
    if (document.readyState === "loading") {
      addEventListener("DOMContentLoaded", resolve, { once: true });
    } else resolve(null);
  });

// A text of the page; it goes, as the worker has it then.
async function fromPage(index) {
  await pageIsRead();
  const packed = document.getElementById(`weights-${index.name}`);
  if (!packed) throw new Error(`The ${index.label} network is missing.`);
  const base64 = packed.textContent;
  packed.remove();
  return { index, base64 };
}

const ofFile =
  "The networks lie beside this page, and a page opened as a file may not read them: " +
  "put the folder on a web server, or use the one-file page.";

// A browser has nothing to keep them in on an address that is not safe, or where it is forbidden.
async function openKept(name) {
  try {
    return await caches.open(name);
  } catch {
    return null;
  }
}

// The bytes of an answer as they come; `arrived` is told of each piece.
async function bytesOf(answer, size, arrived) {
  const bytes = new Uint8Array(size), reader = answer.body.getReader();
  let at = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.slice(0, at).buffer;
    // Too long is as wrong as too short.
    if (at + value.length > size) return bytes.slice(0, at).buffer;
    bytes.set(value, at);
    at += value.length;
    arrived(value.length);
  }
}

/**
 * Makes what gets a network's weights.
 *
 * @param kept the name under which this version's files are kept
 * @param arrived called with a number of bytes that are here
 * @returns (index, again) => { index, bytes or base64 }; `again`: not what is kept, as that is
 *   damaged
 */
function makeWeights(kept, arrived) {
  const scope = new URL("./", document.baseURI).href;
  if ("serviceWorker" in navigator && kept && location.protocol !== "file:") {
    // It works without, but not offline.
    navigator.serviceWorker.register(new URL("service_worker.js", scope)).catch(() => {});
  }
  async function fromFile(index, again) {
    if (location.protocol === "file:") throw new Error(ofFile);
    const url = new URL(index.file, scope).href;
    const store = await openKept(`ffnviz-live ${scope} ${kept}`);
    const known = again ? null : await store?.match(url);
    const answer = known ?? (await fetch(url, { cache: again ? "reload" : "default" }));
    if (!answer.ok) throw new Error(`${index.file} could not be read (${answer.status}).`);
    // There may be no room.
    const copy = known ? null : answer.clone();
    const saving = copy && store?.put(url, copy).catch(() => {});
    const bytes = await bytesOf(answer, index.size, arrived);
    await saving;
    return { index, bytes };
  }
  return (index, again) => (index.file ? fromFile(index, again) : fromPage(index));
}
