// The first page without a server, for whatever is typed: it begins with a recorded sentence, and a
// worker that has the networks makes the data of every other.

import { aboutFrom } from "./about.js";
import { element } from "./element.js";
import { makeJourney } from "./play_journey.js";
import { tidied } from "./tokenizer.js";

const STATIC = / (?:writes|writers)$/; // arrays that are those of every sentence
const LOADING = "The networks are being read; what you type is computed in a moment.";
const EMPTY = "Type a sentence: [MASK] or ___ stands for a hidden word. Below is the one before.";

const pageIsRead = () => new Promise((resolve) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve, { once: true });
  else resolve();
});

// A network's weights, which lie in the page as a text; it goes, as the worker has it then.
async function weightsOf(index) {
  await pageIsRead();
  const packed = document.getElementById(`weights-${index.id}`);
  if (!packed) throw new Error(`The ${index.label} network is missing.`);
  const base64 = packed.textContent;
  packed.remove();
  return { index, base64 };
}

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
    for (const { reject } of asked.values()) reject(new Error(event.message || "this browser runs no worker in such a page."));
    asked.clear();
  };
  const ask = (what, message) => new Promise((resolve, reject) => {
    asked.set(++last, { resolve, reject });
    worker.postMessage({ number: last, ask: what, ...message });
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
    // Hands over the networks, one after the other, and what the pictures have in common.
    async start(networks, recorded, tokenizer) {
      for (const network of networks) await ask("network", await network());
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

export function play(body, recorded) {
  let wanted = { ...recorded.start, sentence: recorded.sentence }; // what is shown, or will be
  let asked = null, shown = wanted.sentence; // the state that is to be computed, if any; whose data are here
  let ends = null, chosen = null; // where its tokens end; the one that was clicked, if one was
  const { arrays, shapes, files, packed, tokenizer, ...header } = recorded;
  const kept = Object.fromEntries(Object.entries(arrays).filter(([name]) => STATIC.test(name)));
  const box = element("input", {
    type: "text", class: "typed-sentence", value: recorded.sentence, autocomplete: "off", spellcheck: "false",
    "aria-label": "Sentence", placeholder: "Type a sentence; [MASK] or ___ stands for a hidden word",
  });
  const notice = element("p", { class: "notice", role: "status" });
  const say = (spans) => notice.replaceChildren(...spans.map(([text]) => text));

  const journey = makeJourney(recorded, (part) => {
    chosen = part.token ?? chosen;
    const state = journey.changed(wanted, part);
    if (state.sentence !== shown || !journey.has(state)) return ask(state);
    asked = null;
    return journey.show(wanted = state);
  });
  const engine = makeEngine(document.getElementById("worker").textContent, show, fail);

  function ask(state) {
    wanted = asked = state;
    engine.read(state);
  }

  // The clicked token stays if all up to it stayed as it was; else it is the mask, or the last word.
  function type() {
    const sentence = tidied(box.value), before = wanted.sentence;
    if (!sentence) return say([[EMPTY]]);
    if (sentence === before) return undefined;
    const upTo = chosen !== null && ends ? Array.from(before).slice(0, ends[chosen]).join("") : null;
    if (upTo === null || !sentence.startsWith(upTo)) chosen = null;
    return ask({ ...wanted, sentence, token: chosen });
  }
  box.oninput = type;
  addEventListener("edit-sentence", () => box.focus());

  function show(state, data) {
    if (!data || !asked) return; // or what was chosen meanwhile was at hand
    const { view, name, token, texts, notice: said } = data;
    ends = data.ends;
    const cards = Object.fromEntries(Object.entries(recorded.cards).map(([each, card]) => [each, { ...card, texts }]));
    const sizes = { ...shapes, ...data.shapes };
    journey.take({ ...recorded, cards, views: { [name]: view }, arrays: { ...kept, ...data.arrays }, shapes: sizes });
    if (state === asked) [wanted, asked] = [{ ...state, token }, null];
    shown = state.sentence;
    journey.show({ ...state, token });
    say(said);
  }

  function fail(why) {
    box.disabled = true;
    notice.setAttribute("role", "alert");
    say([[`Nothing new can be computed here: ${why} What is shown is the sentence that was saved with the page. Load it again, or save it anew.`]]);
  }

  aboutFrom(() => [wanted.sentence, `ffnviz · ${journey.about()}`]);
  body.append(
    element("header", { class: "top" }, element("h1", { class: "name", text: "ffnviz" }), box, ...journey.choices),
    notice,
    element("main", {}, journey.element),
    element("footer", {}, ...recorded.says.map((text) => element("p", { text }))),
  );
  journey.show(wanted);
  if (document.readyState === "loading") say([[LOADING]]);
  engine.start(packed.map((index) => () => weightsOf(index)), header, tokenizer).then(() => say([]), ({ message }) => fail(message));
}
