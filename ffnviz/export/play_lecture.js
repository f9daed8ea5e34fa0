// A lecture without a server: its scenes one after the other, by buttons or keys. Where the
// networks are in the file, the sentence of a scene of the first page can be changed.

import { each, element } from "./element.js";
import { makeJourney } from "./play_journey.js";
import { aboutFrom } from "./save_svg.js";
import { mount } from "./shell.js";
import { light } from "./spotlight.js";

const KEYS = {
  ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", Home: "first",
  End: "last",
};

// What stands under names that begin so, by the rest of the name.
const under = (values, prefix) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => name.startsWith(prefix)).map(([name, value]) =>
        [name.slice(prefix.length), value]),
  );

const span = ([text, wanted]) => {
  const [kind, colour = ""] = wanted.split("@");
  return element("span", { class: `${kind} ${colour}`, text });
};

function makeQuestion(answered) {
  const ask = element("p", { class: "ask" });
  const options = element("div", { class: "options", role: "group" });
  const verdict = element("p", { role: "status" });
  const box = element(
    "section", { class: "question", "aria-label": "Question" }, ask, options, verdict,
  );
  return {
    box,
    // `chosen`: undefined while it is open, null if nobody chose.
    update(question, chosen) {
      box.hidden = !question;
      if (!question) return;
      const open = chosen === undefined;
      box.classList.toggle("open", open);
      ask.replaceChildren(...question.ask.map(span));
      each(
        options, question.options, () => element("button", { type: "button" }),
        (button, text, place) => {
          const right = !open && place === question.answer;
          button.textContent = right ? `✓ ${text}` : text;
          button.classList.toggle("right", right);
          button.setAttribute("aria-pressed", String(place === chosen));
          button.disabled = !open;
          button.onclick = () => answered(place);
        },
      );
      verdict.textContent = open || chosen === null
        ? ""
        : chosen === question.answer
        ? "Right."
        : "Not quite.";
    },
  };
}

/**
 * Makes what a scene of the first page hangs in: a box for another sentence, and either's pictures.
 *
 * @param {typeof import("./play_live.js").makeLive} makeLive
 * @param recorded what that takes
 */
function makeLiveScene(makeLive, recorded) {
  const live = makeLive(recorded, swap);
  const holder = element("div");
  const typed = element(
    "div", {}, element("div", { class: "choices" }, ...live.choices), live.element,
  );
  const back = element("button", {
    type: "button", text: "The scene's sentence", title: "The words above are about it",
  });
  // Shows a scene's own sentence.
  function show(sentence, start, journey) {
    live.from({ ...start, off: false, silenced: [], sentence });
    back.onclick = () => show(sentence, start, journey);
    back.disabled = true;
    holder.replaceChildren(journey.element);
    journey.show(start);
  }
  function swap() {
    if (typed.isConnected) return;
    back.disabled = false;
    holder.replaceChildren(typed);
  }
  live.start();
  return {
    element: element(
      "div", {}, element("div", { class: "choices" }, live.box, back), live.notice, holder,
    ),
    show,
  };
}

export async function play(body, data) {
  const { scenes } = data;
  const answers = new Map(); // scene → the option that was chosen, or null
  const hung = new Map(); // scene → what shows its pictures, made when first seen
  const journeys = new Map();
  let at = 0;
  const liveScene = data.live && makeLiveScene((await import("./play_live.js")).makeLive,
    { ...data.live, arrays: under(data.arrays, "live "), shapes: under(data.shapes, "live ") });

  const where = element("span", { class: "where", role: "status" });
  const title = element("h2");
  const say = element("p", { class: "say" });
  const back = element("button", { type: "button", text: "← Back", onclick: () => step("back") });
  const next = element("button", { type: "button", onclick: () => step("next") });
  const list = element("ol");
  const all = element(
    "details", { class: "scenes" }, element("summary", { text: "All scenes" }), list,
  );
  const question = makeQuestion((option) => {
    answers.set(at, option);
    show();
  });
  const words = element("p");
  const notes = element(
    "details", { class: "notes" }, element("summary", { text: "Notes for the speaker" }), words,
  );
  const pictures = element("div", { class: "pictures" });

  const isOpen = () => Boolean(scenes[at].question) && !answers.has(at);

  function journeyOf(place) {
    if (!journeys.has(place)) {
      const prefix = `j${place} `;
      const journey = makeJourney({
        ...data.journeys[place], arrays: under(data.arrays, prefix),
        shapes: under(data.shapes, prefix),
      });
      journeys.set(place, {
        element: element(
          "div", {}, element("div", { class: "choices" }, ...journey.choices), journey.element,
        ),
        show: journey.show,
      });
    }
    return journeys.get(place);
  }

  function hang(scene) {
    if (scene.journey !== null) {
      const journey = journeyOf(scene.journey);
      if (liveScene) {
        return {
          element: liveScene.element,
          show: () => liveScene.show(scene.about[0], scene.start, journey),
        };
      }
      return { element: journey.element, show: () => journey.show(scene.start) };
    }
    if (!scene.pictures.length) {
      const text = "The picture of this scene needs ffnviz itself, and is not in this file. " +
        "What it shows is said above.";
      return { element: element("p", { text }), show() {} };
    }
    const box = element("div", { class: "row" });
    const made = scene.pictures.map(({ name, prefix, data: shown }) => {
      const host = element("div", { class: `picture ${name}` });
      box.append(host);
      return [mount(host, name, () => {}), {
        ...shown, arrays: under(data.arrays, prefix), shapes: under(data.shapes, prefix),
      }];
    });
    return {
      element: box,
      show: () =>
        made.forEach(([picture, shown]) => picture.update({ ...shown, stamp: String(at) })),
    };
  }

  function show() {
    const scene = scenes[at];
    where.textContent = `${at + 1} of ${scenes.length}`;
    title.textContent = scene.title;
    back.disabled = at === 0;
    next.textContent = isOpen() ? "Show the answer" : "Next →";
    next.disabled = !isOpen() && at === scenes.length - 1;
    question.update(scene.question, answers.get(at));
    say.hidden = isOpen();
    document.body.dataset.accent = scene.accent;
    say.replaceChildren(...scene.say.map(span));
    words.replaceChildren(...scene.notes.map(span));
    notes.hidden = scene.notes.length === 0;
    each(
      list, scenes, () => element("li", {}, element("button", { type: "button" })),
      ({ firstChild }, one, place) => {
        firstChild.textContent = one.title;
        firstChild.setAttribute("aria-current", String(place === at));
        firstChild.onclick = () => {
          all.open = false;
          go(place);
        };
      },
    );
    location.replace(`#${at + 1}`);
    // While a question is open the pictures have their places, and nobody sees them.
    pictures.classList.toggle("veiled", isOpen());
    pictures.inert = isOpen();
    if (!hung.has(at)) hung.set(at, hang(scene));
    pictures.replaceChildren(hung.get(at).element);
    hung.get(at).show();
    light(scene.journey === null || isOpen() ? "" : scene.look, { veiled: isOpen() });
  }

  function go(place) {
    at = Math.max(0, Math.min(scenes.length - 1, place));
    show();
    scrollTo(0, 0);
  }
  function step(what) {
    if (what === "next" && isOpen()) {
      answers.set(at, null);
      show();
    } else {
      go({ next: at + 1, back: at - 1, first: 0, last: scenes.length - 1 }[what]);
    }
  }
  // What moves within a picture does not turn the scene.
  addEventListener("keydown", (event) => {
    const { key, defaultPrevented, altKey, ctrlKey, metaKey, target } = event;
    if (!KEYS[key] || defaultPrevented || altKey || ctrlKey || metaKey) return;
    // It moves in the text.
    if (target instanceof HTMLInputElement && !key.startsWith("Page")) return;
    event.preventDefault();
    step(KEYS[key]);
  });

  aboutFrom(() => [scenes[at].about[0], `ffnviz · ${scenes[at].about[1]}`]);
  body.append(
    element(
      "header", { class: "top" }, element("b", { text: "ffnviz" }),
      element("h1", { text: data.title }), where, back, next,
    ),
    element("main", { class: "lecture" }, all, title, question.box, say, pictures, notes),
    element("footer", {}, ...data.says.map((text) => element("p", { text }))),
  );
  go(Number(location.hash.slice(1)) - 1 || 0);
}
