// What stands around the pictures of every page: its bar, the examples, the welcome, and the
// footer.

import { each, element, svgElement } from "./element.js";
import { fillFrom, glossary } from "./head.js";
import { kept } from "./local_storage.js";
import { makeHelp, place } from "./popover.js";
import { aboutFrom, thumbnail } from "./save_svg.js";
import { copyText, DONE_MS } from "./saving.js";
import { notes } from "./spotlight.js";

// The bar: what page this is, and what can be done with it.

const REFUSED = "The link could not be copied: it stands in the address bar.";

// On a phone there is room for a sign only.
const sign = (d) =>
  svgElement("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svgElement("path", { d }));
const LINK =
  "M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1";
const FILE = "M12 4v11M7 11l5 5 5-5M5 20h14";

/**
 * What measuring.py sends.
 *
 * @typedef {{
 *   title: string, part: string, sentence: string, network: string[], takes: boolean,
 *   lecture: [string, string][], outcome: string
 * }} PageBarData
 */

export function mountPageBar(tell) {
  const part = element("span", { class: "part" });
  const name = element("span");
  const sentence = element("bdi", { class: "typed" });
  const status = element("div", { class: "told", role: "status" });
  const label = element("span", { text: "Copy link" });
  const button = element("button", { type: "button", class: "short" }, sign(LINK), label);
  const take = element(
    "button",
    {
      type: "button", class: "short", title: "This page as one file that works without a server",
      onclick: () => tell("take", true),
    },
    sign(FILE),
    element("span", { text: "Take home" }),
  );
  const lecture = makeLectureMenu(tell);
  let said = null;

  button.onclick = async () => {
    let outcome = "Link copied";
    await copyText(location.href, REFUSED).catch(({ message }) => { outcome = message; });
    label.textContent = outcome;
    button.classList.add("said");
    status.textContent = outcome;
    setTimeout(() => {
      label.textContent = "Copy link";
      button.classList.remove("said");
    }, DONE_MS);
  };

  return {
    element: element(
      "div", { class: "bar" }, element("h1", {}, name, part), sentence, ...lecture.parts, take,
      button, status,
    ),
    /** @param {PageBarData} data */
    update(data) {
      name.textContent = data.title;
      part.textContent = data.part ? `: ${data.part}` : "";
      sentence.textContent = data.sentence;
      take.hidden = !data.takes;
      lecture.update(data.lecture, data.outcome);
      // Which page it is now; what came of a click the pictures say, see shell.js.
      const now = data.part || data.title;
      if (said !== null && now !== said) status.textContent = now;
      said = now;
      aboutFrom(() => [data.sentence, ["ffnviz", ...data.network].join(" · ")].filter(Boolean));
    },
  };
}

// What can be done about a lecture: behind one button, on every page.

const ANSWERED = ["add", "class", "how"]; // what came of these is said where they were asked for

function makeLectureMenu(tell) {
  const { box, button } = makeHelp("Lecture", () => {});
  const actions = element("div"), outcome = element("p", { class: "outcome", role: "status" });
  box.append(outcome, actions);
  box.addEventListener("toggle", ({ newState }) => {
    if (newState === "closed") outcome.textContent = "";
  });
  async function act(what) {
    // Drawing its small picture takes a moment.
    if (what === "add") outcome.textContent = "Adding …";
    tell("lecture", {
      what, pictures: notes(), thumbnail: what === "add" ? await thumbnail() : "",
    });
  }
  return {
    parts: [button, box],
    update(lecture, came) {
      button.hidden = lecture.length === 0;
      if (came) { // a run that follows says it no more
        outcome.textContent = came;
        place(box, button);
      }
      each(
        actions, lecture, () => element("button", { type: "button", class: "do" }),
        (choice, [what, words]) => {
          choice.textContent = words;
          choice.onclick = () => {
            if (!ANSWERED.includes(what)) box.hidePopover();
            act(what);
          };
        },
      );
    },
  };
}

// Example sentences to choose from, with why one of them is there.

/**
 * What `examples_cell` sends.
 *
 * @typedef {{
 *   groups: { title: string, sentences: string[] }[], why: Record<string, string>
 * }} ExamplesData
 */

export function mountExamples(tell) {
  const list = element("nav", {
    "aria-label": "Example sentences", popover: "auto", id: "examples",
  });
  const button = element("button", {
    type: "button", class: "open", text: "Examples", popovertarget: "examples",
  });
  list.ontoggle = ({ newState }) => {
    if (newState === "open") place(list, button);
  };
  function choose({ currentTarget }) {
    list.hidePopover();
    tell("sentence", currentTarget.textContent);
  }
  // The first child of a group is its title, the others are its sentences.
  const make = (place) =>
    (place === 0 ? element("span") : element("button", { type: "button", onclick: choose }));
  return {
    element: element("div", { class: "examples" }, button, list),
    /** @param {ExamplesData} data */
    update({ groups, why }) {
      each(list, groups, () => element("div"), (group, { title, sentences }) => {
        each(group, [title, ...sentences], make, (child, text) => {
          child.textContent = text;
          child.title = Object.hasOwn(why, text) ? why[text] : "";
        });
      });
    },
  };
}

// What to do first, for those who have never heard of an FFN; gone for good once it is closed.

const CLOSED = "ffnviz-welcome-closed", CAME_BARE = "ffnviz-came-bare";

// The welcome's text, also read under "New here?" at the foot of a page.
const fillWelcome = (box) => fillFrom(box, "welcome.html");

/**
 * What `welcome_cell` sends.
 *
 * @typedef {{ bare: boolean, story: string }} WelcomeData
 */

export function mountWelcome(tell) {
  const story = element("button", {
    type: "button", class: "story",
    onclick: () => {
      shut();
      tell("story", true);
    },
  });
  const text = element("div", { class: "text" });
  const close = element("button", {
    type: "button", class: "close", text: "×", "aria-label": "Close the welcome",
    title: "Close for good; “New here?” below brings it back",
  });
  const line = element(
    "section", { class: "welcome", "aria-label": "Welcome", hidden: "" }, text, story, close,
  );
  // In a low window what is said under the guess makes room for it.
  function show(open) {
    line.hidden = !open;
    document.documentElement.style.setProperty("--under-shown", open ? "none" : "");
  }
  function shut() {
    kept("localStorage", CLOSED, "yes");
    show(false);
  }
  close.onclick = shut;
  return {
    element: element("div", {}, line),
    // Whoever follows a link that says what to show is shown that, and nothing before it.
    /** @param {WelcomeData} data */
    async update({ bare, story: words }) {
      story.textContent = words;
      story.hidden = !words;
      if (bare) kept("sessionStorage", CAME_BARE, "yes");
      const wanted = kept("sessionStorage", CAME_BARE) === "yes" &&
        kept("localStorage", CLOSED) !== "yes";
      if (wanted && !text.childElementCount) await fillWelcome(text);
      show(wanted);
    },
    destroy: () => show(false),
  };
}

// The footer of every part: what comes next, the glossary, and help.

async function fillGlossary(box) {
  const entries = (await glossary()).sort((a, b) => a.title.localeCompare(b.title, "en"));
  box.replaceChildren(
    element("h2", { text: "Glossary" }),
    element(
      "dl", {},
      ...entries.flatMap(({ title, text }) =>
        [element("dt", { text: title }), element("dd", { text })]),
    ),
  );
}

/**
 * What `footer_cell` sends.
 *
 * @typedef {{ next: string, knows: string[] }} FooterData
 */

export function mountFooter(tell) {
  const next = element("button", {
    type: "button", class: "next", onclick: () => tell("next", true),
  });
  const knows = makeHelp("What does the network know?", () => {});
  const helps = [makeHelp("New here?", fillWelcome), makeHelp("Glossary", fillGlossary), knows];
  return {
    element: element("nav", { class: "footer", "aria-label": "Where to go from here" },
      ...helps.flatMap(({ button, box }) => [button, box]), next),
    /** @param {FooterData} data */
    update(data) {
      next.textContent = `${data.next} →`;
      knows.button.hidden = data.knows.length === 0;
      each(knows.box, data.knows, () => element("p"), (line, text) => { line.textContent = text; });
    },
  };
}
