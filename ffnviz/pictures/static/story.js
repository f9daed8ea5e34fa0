// The scene of a lecture that the page shows: its words, its question, the way on. As a talk it is
// all there is beside the lit picture, and a clicker or the keyboard leads through it.

import { beginBringing } from "./bringing.js";
import { classroom } from "./classroom_connection.js";
import { each, element, rootOf } from "./element.js";
import { crowd } from "./filling.js";
import { light, makeRoom } from "./spotlight.js";
import { makeQuestion } from "./story_question.js";
import { listenToKeys } from "./story_keys.js";
import { makeSpeaker } from "./story_speaker.js";
import { colourOf } from "./theme.js";

/** @import { Span } from "./head.js" */

export const styles = ["story.css"];

const RESTS_MS = 2_000;
const SMALL = matchMedia("(max-width: 700px), (max-height: 500px)"); // the words are scrolled with the rest
const GONE_MS = 1_500; // from one page to the next the scene is taken down and hung again
let leaving = null;
let current = null; // the scene hung last: the former may go only after it has come

// The page around the picture: page.css leaves only the scene of it while somebody presents, and
// nothing that could answer while a question is open.
function setPage({ scene = false, asking = false, presenting = false, alone = false }) {
  clearTimeout(leaving);
  const { documentElement } = document;
  for (const [name, value] of Object.entries({ scene, asking, presenting, alone })) documentElement.toggleAttribute(`data-${name}`, value);
  // Once the words have their size, pictures have other room.
  requestAnimationFrame(() => {
    makeRoom();
    dispatchEvent(new Event("resize"));
  });
}

const span = ([text, wanted], theme) => {
  const [kind, colour] = wanted.split("@");
  return element("span", { class: kind, text, style: { color: colour ? colourOf(colour, theme) : "" } });
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
  const where = element("span", { class: "where" }), title = element("h2"), sentence = element("span", { class: "typed" });
  const say = element("p", { class: "say" });
  const button = (text, what, more = {}) => element("button", { type: "button", text, onclick: what, ...more });
  const before = button("← Back", () => step(-1)), after = button("Next →", () => forward(), { class: "next" });
  const all = button("All scenes", () => list.showPopover());
  const present = button("Present", () => tell("ask", "present"), { title: "Only the scene, large: P" });
  const explore = button("What if?", () => tell("ask", "explore"), { title: "Leave the scene for a while: E" });
  const notes = button("Notes", () => speaker.open(), { title: "A second window for the speaker: N" });
  const leave = button("Leave", () => tell("ask", "leave"), { title: "The Lecture button below leads back here" });
  const back = button("Back to the scene", () => tell("ask", "back"), { class: "next" });
  const tools = element("div", { class: "tools", role: "group", "aria-label": "Way through the lecture" },
    back, before, after, all, present, explore, notes, leave);
  const strayed = element("p", { class: "strayed", text: "You have left the scene. Explore freely: the way back stays here." });
  const question = makeQuestion(() => { if (data) paint(); });
  const scenes = element("ol");
  const list = element("div", { popover: "auto", class: "list", role: "dialog", "aria-label": "Scenes" },
    element("h2", { text: "Scenes" }), scenes);
  const blank = element("div", { popover: "manual", class: "blank" });
  const status = element("div", { class: "told", role: "status" });
  const root = element("section", { class: "story", "aria-label": "Lecture", tabindex: "-1" },
    element("header", {}, where, title, sentence, tools), question.element, say, strayed, list, blank, status);
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

  // Without a network nobody hears where the speaker goes: what is pressed then leads nowhere later.
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
    status.textContent = blank.matches(":popover-open") ? "The screen is black" : "The screen is back";
  }

  const commands = {
    forward, back: () => step(-1), first: () => goTo(data.path[0]), last: () => goTo(data.path.at(-1)),
    code: () => classroom.showCode?.(), blank: toggleBlank, list: () => list.togglePopover(), notes: () => speaker.open(),
    present: () => tell("ask", "present"), explore: () => tell("ask", data.exploring ? "back" : "explore"),
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
  list.addEventListener("toggle", ({ newState }) => { if (newState === "open") currentScene()?.focus(); });
  const keys = listenToKeys(() => data, () => blank.matches(":popover-open"), () => list.matches(":popover-open"),
    (what) => commands[what]());

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
    const led = classroom.role === "student" && !classroom.alone && !classroom.over; // the way is the lecturer's
    tools.hidden = led;
    strayed.hidden = !data.strayed || talk || led;
    back.hidden = !data.strayed && !data.exploring;
    explore.hidden = !talk;
    notes.hidden = !data.presenting;
    present.textContent = data.presenting ? "End the talk" : "Present";
    const alone = classroom.role === "student" && !led; // they may look around; the class is what they leave
    leave.hidden = data.presenting || alone; // one way out of a talk
    for (const part of [all, present]) part.hidden = alone;
    before.disabled = neighbour(-1) === undefined;
    after.disabled = neighbour(1) === undefined && !veiled() && !ends();
    after.textContent = veiled() ? "Show the answer" : ends() ? "Look around" : "Next →";
    each(scenes, data.path, () => element("li", {}, element("button", { type: "button" })), ({ firstChild }, place) => {
      firstChild.textContent = data.titles[place];
      firstChild.setAttribute("aria-current", String(place === data.at));
      firstChild.onclick = () => goTo(place);
    });
    const asking = veiled() && !data.exploring && !data.strayed;
    const open = !talk && !asking && neighbour(1) === undefined; // after the last scene one looks around
    light(open ? "" : data.look, { veiled: asking, alone: talk });
    if (talk && !talked) rest();
    talked = talk;
    setPage({ scene: !data.strayed && !data.exploring, asking, presenting: talk, alone: talk && (data.look !== "" || asking) });
    const scene = `${data.lecture} ${data.at} ${asking} ${data.strayed} ${talk}`;
    if (scene !== brought && !data.strayed) {
      const { host } = rootOf(root);
      beginBringing(host);
      if (asking && SMALL.matches) host.scrollIntoView();
    }
    brought = scene;
    speaker.tell({ ...data, veiled: veiled(), say: asText(data.say), notes: asText(data.notes), counts: question.counts(data), ask: data.question && asText(data.question.ask) });
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
