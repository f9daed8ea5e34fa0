// The scene of a lecture that the page shows: its words, its question, the way on. As a talk it is
// all there is beside the lit picture, and a clicker or the keyboard leads through it.

import {
  classroom, onClass, reveal, send, together as isTogether, WAITS, waits,
} from "./classroom_connection.js";
import { each, element, rootOf } from "./element.js";
import { crowd } from "./filling.js";
import { sum } from "./numbers.js";
import { beginBringing, light, makeRoom } from "./spotlight.js";
import { colourOf } from "./theme.js";
import { drawOptions } from "./votes.js";

/** @import { Span } from "./head.js" */

// What keys do in a lecture: a clicker sends PageDown and PageUp, and B blanks the screen.

const TALK = {
  ArrowRight: "forward", PageDown: "forward", " ": "forward", Enter: "forward", ArrowLeft: "back",
  PageUp: "back", Home: "first", End: "last", b: "blank", ".": "blank", g: "list", e: "explore",
  n: "notes", c: "code", p: "present", Escape: "present",
};
const ALWAYS = { p: "present", g: "list" };
const EXPLORING = { Escape: "explore", e: "explore", n: "notes", p: "present" };

const EDITABLE = "input, textarea, select, [contenteditable=true], [role=combobox], [role=textbox]";
const TAKES_ARROWS = "[role=application], [role=radio], [role=slider], .plot";
const ARROWS = /^(Arrow|Home|End)/;

/**
 * Listens on the whole page until stopped.
 *
 * @param data what the scene is now
 * @param isBlank, isListed whether the screen is black, whether the scenes are listed
 * @param act called with what a key asks for
 */
function listenToKeys(data, isBlank, isListed, act) {
  // A control that a mouse has pressed keeps the focus, but a key that follows is meant for the
  // talk.
  let byKeyboard = false;
  const pressed = () => { byKeyboard = false; };
  function onKey(event) {
    if (event.key === "Tab") byKeyboard = true;
    const shown = data(), target = event.composedPath()[0];
    if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (target.matches?.(EDITABLE)) return;
    const talk = shown.presenting && !shown.exploring;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    let what = (talk ? TALK : shown.exploring ? EXPLORING : ALWAYS)[key];
    if (!what) return;
    if (isBlank()) what = "blank"; // whatever is pressed, light comes back first
    else if (isListed() && key !== "g") return; // the list has the keys
    else if (byKeyboard || !talk) {
      if (target.matches?.("button, a, [role=button]") && (key === " " || key === "Enter")) return;
      if (target.matches?.(TAKES_ARROWS) && (ARROWS.test(key) || key === "Enter")) return;
    }
    event.preventDefault();
    event.stopPropagation();
    act(what);
  }
  addEventListener("keydown", onKey, true);
  addEventListener("pointerdown", pressed, true);
  return {
    stop() {
      removeEventListener("keydown", onKey, true);
      removeEventListener("pointerdown", pressed, true);
    },
  };
}

// A scene's question, to be answered before the scene is told: by whoever looks, or by a class. Its
// counts wait for the answer, unless the lecturer wants them seen: whoever sees them votes with the
// most.

const answered = new Map(); // lecture and scene → the option that was chosen, or null if none was
const voted = new Map(); // the same, of a student whose class has not been shown the answer
let early = false; // whether the lecturer's page shows the counts while a question is open
const refused = new Map(); // the same → why the vote does not count
const voteOf = (data) => `${nameOf(data)} ${classroom.removals}`; // a vote that was removed is none
const nameOf = ({ lecture, at }) => `${classroom.code} ${lecture} ${at}`;

// Whether a class answers this question together.
const together = ({ at }) => isTogether() && classroom.now?.scene === at;
const countsOf = ({ at }) => classroom.now?.counts[at] ?? null;

function makeQuestion(changed) {
  const ask = element("p", { class: "ask" });
  const options = element("div", { class: "options", role: "group" });
  const verdict = element("p", { class: "verdict", role: "status" });
  const sooner = element("button", {
    type: "button", class: "early",
    onclick: () => {
      early = !early;
      changed();
    },
  });
  const root = element("div", { class: "question" }, ask, options, verdict, sooner);
  const stop = onClass(changed);

  function choose(data, option) {
    if (answered.has(nameOf(data))) return;
    if (together(data) && classroom.role === "student") {
      const name = voteOf(data);
      voted.set(name, option);
      refused.delete(name);
      send("vote", { scene: data.at, option }).catch(({ message }) => {
        refused.set(name, message);
        changed();
      });
    } else {
      if (together(data)) reveal(data.at);
      answered.set(nameOf(data), classroom.role === "lecturer" ? null : option);
    }
    changed();
  }

  // What the lecturer has shown is open to all who follow.
  function isOpen(data) {
    if (!data.question) return false;
    const name = nameOf(data);
    if (!answered.has(name) && together(data) && classroom.now?.revealed.includes(data.at)) {
      answered.set(name, voted.get(voteOf(data)) ?? null);
    }
    return !answered.has(name);
  }

  function said(data, open, chosen) {
    const { answer } = data.question, counts = countsOf(data);
    const n = sum(counts ?? []);
    const all = counts ? `${n} ${n === 1 ? "answer" : "answers"}. ` : "";
    if (open && together(data) && classroom.role === "student") {
      if (waits("vote", data.at)) return WAITS;
      if (refused.has(voteOf(data))) return refused.get(voteOf(data));
      return voted.has(voteOf(data))
        ? "Your answer is in. You may change it until the lecturer shows the answer."
        : "Your answer counts, without your name.";
    }
    if (!open && refused.has(voteOf(data))) return all + refused.get(voteOf(data));
    if (open || chosen === null || answer === null) return all;
    return all + (chosen === answer ? "Right." : "Not quite.");
  }

  return {
    element: root,
    isOpen,
    counts: countsOf,
    // Tell the scene though nobody has answered; a student waits for the lecturer.
    show: (data) => { if (!(together(data) && classroom.role === "student")) choose(data, null); },
    update(data, theme, span) {
      const { question } = data;
      root.hidden = !question;
      root.classList.toggle("open", isOpen(data));
      if (!question) return;
      const open = isOpen(data);
      const chosen = open ? voted.get(voteOf(data)) : answered.get(nameOf(data));
      const counts = open && !early ? null : countsOf(data), most = Math.max(1, ...(counts ?? []));
      ask.replaceChildren(...question.ask.map((part) => span(part, theme)));
      const make = () =>
        element(
          "button", { type: "button" }, element("span"), element("b", { class: "count" }),
          element("i", { "aria-hidden": "true" }),
        );
      const state = {
        right: open ? null : question.answer, chosen, isOpen: open,
        choose: (place) => choose(data, place),
      };
      drawOptions(options, question.options, make, state, (button, place) => {
        const [, count, bar] = button.children;
        count.textContent = counts ? String(counts[place]) : "";
        bar.hidden = !counts;
        button.classList.toggle("uncounted", !counts);
        bar.style.width = counts ? `${(100 * counts[place]) / most}%` : "0";
      });
      verdict.textContent = said(data, open, chosen ?? null);
      verdict.hidden = verdict.textContent === "";
      sooner.hidden = !(open && together(data) && classroom.role === "lecturer");
      sooner.textContent = early ? "Hide the counts" : "Show the counts now";
    },
    destroy: stop,
  };
}

// The speaker's second window: notes, the next scene and a clock. The two windows of one browser
// talk to each other, and no server hears of it.

const channelName = `ffnviz-lecture-${Math.random().toString(36).slice(2)}`;

/** @param act called with what the second window's keys ask for */
function makeSpeaker(act) {
  let channel = null, last = null;

  const post = () => { if (channel && last) channel.postMessage(last); };
  function listen() {
    if (channel) return;
    channel = new BroadcastChannel(channelName);
    channel.onmessage = ({ data }) => {
      if (data.ready) post();
      else if (typeof data.act === "string") act(data.act);
    };
  }

  return {
    open() {
      listen();
      const address = new URL("./speaker.html", import.meta.url);
      address.hash = channelName;
      open(address, channelName, "popup,width=900,height=700");
    },
    tell(scene) {
      listen(); // the window may be open since before the page was drawn anew
      last = { scene };
      post();
    },
    close() {
      channel?.close();
      channel = null;
    },
  };
}

const RESTS_MS = 2_000;
// The words are scrolled with the rest.
const SMALL = matchMedia("(max-width: 700px), (max-height: 500px)");
const GONE_MS = 1_500; // from one page to the next the scene is taken down and hung again
let leaving = null;
let current = null; // the scene hung last: the former may go only after it has come

// The page around the picture: page.css leaves only the scene of it while somebody presents, and
// nothing that could answer while a question is open.
function setPage({ scene = false, asking = false, presenting = false, alone = false }) {
  clearTimeout(leaving);
  const { documentElement } = document;
  for (const [name, value] of Object.entries({ scene, asking, presenting, alone })) {
    documentElement.toggleAttribute(`data-${name}`, value);
  }
  // Once the words have their size, pictures have other room.
  requestAnimationFrame(() => {
    makeRoom();
    dispatchEvent(new Event("resize"));
  });
}

const span = ([text, wanted], theme) => {
  const [kind, colour] = wanted.split("@");
  return element("span", {
    class: kind, text, style: { color: colour ? colourOf(colour, theme) : "" },
  });
};
const asText = (spans) => spans.map(([text]) => text).join("");

/** @typedef {{ ask: Span[], options: string[], answer: number | null }} Question */

/**
 * What `story_cell` sends.
 *
 * @typedef {{
 *   lecture: string, at: number, titles: string[], path: number[], sentence: string, say: Span[],
 *   look: string, question: Question | null, notes: Span[], coming: string, minutes: number,
 *   presenting: boolean, exploring: boolean, strayed: boolean, accent: string
 * }} Data
 */

export function mount(tell) {
  const where = element("span", { class: "where" });
  const title = element("h2");
  const sentence = element("span", { class: "typed" });
  const say = element("p", { class: "say" });
  const button = (text, what, more = {}) =>
    element("button", { type: "button", text, onclick: what, ...more });
  const before = button("← Back", () => step(-1));
  const after = button("Next →", () => forward(), { class: "next" });
  const all = button("All scenes", () => list.showPopover());
  const present = button("Present", () => tell("ask", "present"), {
    title: "Only the scene, large: P",
  });
  const explore = button("What if?", () => tell("ask", "explore"), {
    title: "Leave the scene for a while: E",
  });
  const notes = button("Notes", () => speaker.open(), {
    title: "A second window for the speaker: N",
  });
  const leave = button("Leave", () => tell("ask", "leave"), {
    title: "The Lecture button below leads back here",
  });
  const back = button("Back to the scene", () => tell("ask", "back"), { class: "next" });
  const tools = element(
    "div", { class: "tools", role: "group", "aria-label": "Way through the lecture" }, back, before,
    after, all, present, explore, notes, leave,
  );
  const strayed = element("p", {
    class: "strayed", text: "You have left the scene. Explore freely: the way back stays here.",
  });
  const question = makeQuestion(() => {
    if (data) paint();
  });
  const scenes = element("ol");
  const list = element(
    "div", { popover: "auto", class: "list", role: "dialog", "aria-label": "Scenes" },
    element("h2", { text: "Scenes" }), scenes,
  );
  const blank = element("div", { popover: "manual", class: "blank" });
  const status = element("div", { class: "told", role: "status" });
  const root = element(
    "section", { class: "story", "aria-label": "Lecture", tabindex: "-1" },
    element("header", {}, where, title, sentence, tools), question.element, say, strayed, list,
    blank, status,
  );
  // When the words take more lines or fewer, the picture has other room.
  const resized = new ResizeObserver(() => {
    makeRoom();
    dispatchEvent(new Event("resize"));
  });
  resized.observe(root);
  /** @type {Data} */
  let data;
  let theme = null, at = null; // where the speaker has asked to be
  let talked = false; // whether the scene was part of a talk when it was painted last
  let brought = ""; // the scene, told or not, whose picture was brought into the window last

  const veiled = () => question.isOpen(data);
  const neighbour = (by) => {
    const path = by < 0 ? [...data.path].reverse() : data.path;
    return path.find((place) => (by < 0 ? place < at : place > at));
  };

  // Without a network nobody hears where the speaker goes: what is pressed then leads nowhere
  // later.
  const isLost = () => document.documentElement.hasAttribute("data-lost");
  const network = new MutationObserver(() => { if (data && isLost()) at = data.at; });
  network.observe(document.documentElement, { attributeFilter: ["data-lost"] });

  function goTo(place) {
    if (place === undefined || !data || isLost()) return;
    if (list.matches(":popover-open")) list.hidePopover();
    at = place;
    tell("go", place);
  }
  function step(by) { goTo(neighbour(by)); }
  // A question is answered before the scene goes on.
  function forward() {
    if (at === data.at && veiled()) question.show(data);
    else if (ends()) tell("ask", "leave");
    else step(1);
  }
  // After the last scene one looks around; a talk stays at it, whatever a clicker sends.
  const ends = () => neighbour(1) === undefined && !data.presenting && !tools.hidden;
  function toggleBlank() {
    blank.togglePopover();
    status.textContent = blank.matches(":popover-open")
      ? "The screen is black"
      : "The screen is back";
  }

  const commands = {
    forward, back: () => step(-1), first: () => goTo(data.path[0]),
    last: () => goTo(data.path.at(-1)), code: () => classroom.showCode?.(), blank: toggleBlank,
    list: () => list.togglePopover(), notes: () => speaker.open(),
    present: () => tell("ask", "present"),
    explore: () => tell("ask", data.exploring ? "back" : "explore"),
  };
  const speaker = makeSpeaker((what) => commands[what]?.());
  // In a talk what one can press is there while the pointer moves, or the keyboard is at it.
  let rested = null;
  function moved() {
    root.classList.add("moved");
    clearTimeout(rested);
    rested = setTimeout(() => root.classList.remove("moved"), RESTS_MS);
  }
  addEventListener("pointermove", moved);
  // In a talk no button keeps the focus: what is pressed next is meant for the scene.
  function rest() {
    if (!list.matches(":popover-open")) root.focus({ preventScroll: true });
  }
  root.addEventListener("click", () => { if (data?.presenting && !data.exploring) rest(); });
  /** @type {() => HTMLElement | null} */
  const currentScene = () => scenes.querySelector("[aria-current=true]");
  list.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") currentScene()?.focus();
  });
  const keys = listenToKeys(
    () => data, () => blank.matches(":popover-open"), () => list.matches(":popover-open"),
    (what) => commands[what](),
  );

  function paint() {
    current = root;
    const talk = data.presenting && !data.exploring;
    root.classList.toggle("talk", talk);
    sentence.textContent = talk ? data.sentence : "";
    root.style.setProperty("--accent", colourOf(data.accent, theme));
    where.textContent = `${data.path.indexOf(data.at) + 1 || data.at + 1} of ${data.path.length}`;
    title.textContent = data.titles[data.at];
    question.update(data, theme, span);
    say.hidden = data.say.length === 0 || veiled();
    say.replaceChildren(...data.say.map((part) => span(part, theme)));
    // The way is the lecturer's.
    const led = classroom.role === "student" && !classroom.alone && !classroom.over;
    tools.hidden = led;
    strayed.hidden = !data.strayed || talk || led;
    back.hidden = !data.strayed && !data.exploring;
    explore.hidden = !talk;
    notes.hidden = !data.presenting;
    present.textContent = data.presenting ? "End the talk" : "Present";
    // They may look around; the class is what they leave.
    const alone = classroom.role === "student" && !led;
    leave.hidden = data.presenting || alone; // one way out of a talk
    for (const part of [all, present]) part.hidden = alone;
    before.disabled = neighbour(-1) === undefined;
    after.disabled = neighbour(1) === undefined && !veiled() && !ends();
    after.textContent = veiled() ? "Show the answer" : ends() ? "Look around" : "Next →";
    each(
      scenes, data.path, () => element("li", {}, element("button", { type: "button" })),
      ({ firstChild }, place) => {
        firstChild.textContent = data.titles[place];
        firstChild.setAttribute("aria-current", String(place === data.at));
        firstChild.onclick = () => goTo(place);
      },
    );
    const asking = veiled() && !data.exploring && !data.strayed;
    // After the last scene one looks around.
    const open = !talk && !asking && neighbour(1) === undefined;
    light(open ? "" : data.look, { veiled: asking, alone: talk });
    if (talk && !talked) rest();
    talked = talk;
    setPage({
      scene: !data.strayed && !data.exploring, asking, presenting: talk,
      alone: talk && (data.look !== "" || asking),
    });
    const scene = `${data.lecture} ${data.at} ${asking} ${data.strayed} ${talk}`;
    if (scene !== brought && !data.strayed) {
      const { host } = rootOf(root);
      beginBringing(host);
      if (asking && SMALL.matches) host.scrollIntoView();
    }
    brought = scene;
    speaker.tell({
      ...data, veiled: veiled(), say: asText(data.say), notes: asText(data.notes),
      counts: question.counts(data), ask: data.question && asText(data.question.ask),
    });
  }

  return {
    element: root,
    /** @param {Data} next */
    update(next, palette) {
      const moved = data?.at !== next.at || data?.lecture !== next.lecture;
      [data, theme] = [next, palette];
      at = next.at;
      if (moved || !next.presenting) crowd(false);
      paint();
      if (moved) status.textContent = `Scene ${where.textContent}: ${next.titles[next.at]}`;
    },
    destroy() {
      resized.disconnect();
      network.disconnect();
      question.destroy();
      keys.stop();
      clearTimeout(rested);
      removeEventListener("pointermove", moved);
      speaker.close();
      if (current !== root) return;
      light("");
      leaving = setTimeout(() => setPage({}), GONE_MS);
    },
  };
}
