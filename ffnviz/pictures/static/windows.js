// The lecturer's own windows, which no hall sees: the speaker's notes, and what students sent. Each
// talks with the lecture's own window by a channel that its address names.

import { each, element } from "./element.js";

const KEYS = {
  ArrowRight: "forward", PageDown: "forward", " ": "forward", ArrowLeft: "back", PageUp: "back",
  Home: "first", End: "last", b: "blank", e: "explore",
};
const by = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const channel = new BroadcastChannel(location.hash.slice(1));

const two = (number) => String(number).padStart(2, "0");
const spelled = (seconds) => `${Math.floor(seconds / 60)}:${two(Math.floor(seconds) % 60)}`;

// What the lecture's window tells, the votes so far, and how the time goes.
function speak() {
  let began = Date.now(); // as this window was opened, or the clock set to begin anew
  let scene = null;
  const act = (what) => channel.postMessage({ act: what });

  channel.onmessage = ({ data }) => {
    if (!data.scene) return;
    ({ scene } = data);
    const { path, at, titles, ask, question, counts } = scene;
    by("title").textContent = `${path.indexOf(at) + 1 || at + 1} of ${path.length}: ${titles[at]}`;
    const answer = question?.options[question.answer] ?? "see the picture";
    by("say").textContent = ask && scene.veiled ? `${ask} (The answer: ${answer})` : scene.say;
    const votes = question?.options.map((option, place) => `${option}: ${counts?.[place]}`);
    by("counts").textContent = counts && votes ? `Votes: ${votes.join(" · ")}` : "";
    by("notes").textContent = scene.notes;
    by("coming").textContent = scene.coming ? `Next: ${scene.coming}` : "This is the last scene.";
    tick();
  };

  for (const button of document.querySelectorAll("button")) {
    if (button.dataset.act) button.onclick = () => act(button.dataset.act);
  }
  by("restart").onclick = () => {
    began = Date.now();
    tick();
  };
  addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLButtonElement && event.key === " ") return;
    const what = KEYS[event.key];
    if (!what || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(what);
  });

  // Of the planned time each scene has the same share.
  function pace(seconds) {
    const { path, at, minutes } = scene;
    const n = path.indexOf(at) + 1;
    const each = (60 * minutes) / path.length;
    if (n === 0) return "";
    const [begins, ends] = [(n - 1) * each, n * each];
    const late = seconds > ends
      ? `, ${spelled(seconds - ends)} behind`
      : seconds < begins
      ? `, ${spelled(begins - seconds)} ahead`
      : "";
    return ` · this scene ends at ${spelled(ends)}${late}`;
  }

  function tick() {
    const now = new Date(), seconds = Math.floor((Date.now() - began) / 1000);
    by("clock").textContent = `${two(now.getHours())}:${two(now.getMinutes())}`;
    const planned = scene?.minutes
      ? ` of ${spelled(60 * scene.minutes)} planned${pace(seconds)}`
      : ", no time planned";
    by("time").textContent = `${spelled(seconds)} elapsed${scene ? planned : ""}`;
  }
  setInterval(tick, 1000);
  tick();
}

// What students sent, to be let through to the wall or kept from it.
function review() {
  const [said, list] = ["said", "sentences"].map(by);

  function makeLine() {
    const button = element("button", { type: "button" });
    return element("li", {}, element("bdi"), button);
  }

  channel.onmessage = ({ data }) => {
    if (!data.sentences) return;
    const waiting = data.sentences.filter(({ hidden }) => hidden).length;
    const unseen = `${waiting} of ${data.sentences.length} are not on the wall.`;
    said.textContent = data.sentences.length
      ? `${unseen} Only you see this window: keep it off the projector.`
      : "No sentence has come yet.";
    each(
      list, data.sentences, makeLine,
      ({ children: [text, button], classList }, { number, text: typed, hidden }) => {
        text.textContent = typed;
        classList.toggle("hidden", hidden);
        button.textContent = hidden ? "Show on the wall" : "Take off the wall";
        button.setAttribute("aria-label", `${button.textContent}: ${typed}`);
        button.onclick = () => channel.postMessage({ wall: { number, hidden: !hidden } });
      },
    );
  };
}

if (by("sentences")) review();
else speak();
channel.postMessage({ ready: true });
