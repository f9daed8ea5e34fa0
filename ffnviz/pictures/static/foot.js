// The foot of every part: what comes next, and what helps whoever is lost.

import { each, element } from "./element.js";
import { place } from "./popover.js";
import { notes } from "./spotlight.js";
import { glossary } from "./terms.js";
import { thumbnail } from "./thumbnail.js";
import { fillWelcome } from "./welcome.js";

export const styles = ["foot.css"];

const ANSWERED = ["add", "class", "how"]; // what came of these is said where they were asked for

async function fillGlossary(box) {
  const entries = (await glossary()).sort((a, b) => a.title.localeCompare(b.title, "en"));
  box.replaceChildren(element("h2", { text: "Glossary" }), element("dl", {},
    ...entries.flatMap(({ title, text }) => [element("dt", { text: title }), element("dd", { text })])));
}

// A button, and the box that it opens; filled when first opened.
function makeHelp(label, fill) {
  const box = element("div", { popover: "auto", class: "box", role: "region", "aria-label": label, tabindex: "-1" });
  const button = element("button", { type: "button", class: "help", text: label });
  button.popoverTargetElement = box;
  box.ontoggle = async ({ newState }) => {
    if (newState !== "open") return;
    const failed = (error) => { box.textContent = `This could not be read: ${error.message}`; };
    if (!box.childElementCount) await Promise.resolve(fill(box)).catch(failed);
    place(box, button);
    box.focus();
  };
  return { box, button };
}

export function mount(tell) {
  const next = element("button", { type: "button", class: "next", onclick: () => tell("next", true) });
  const knows = makeHelp("What does the network know?", () => {});
  const lecture = makeHelp("Lecture", () => {});
  const actions = element("div"), outcome = element("p", { class: "outcome", role: "status" });
  lecture.box.append(actions, outcome);
  lecture.box.addEventListener("toggle", ({ newState }) => { if (newState === "closed") outcome.textContent = ""; });
  const helps = [lecture, makeHelp("New here?", fillWelcome), makeHelp("Glossary", fillGlossary), knows];
  async function act(what) {
    if (what === "add") outcome.textContent = "Adding …"; // drawing its small picture takes a moment
    tell("lecture", { what, pictures: notes(), thumbnail: what === "add" ? await thumbnail() : "" });
  }
  return {
    element: element("nav", { class: "foot", "aria-label": "Where to go from here" },
      ...helps.flatMap(({ button, box }) => [button, box]), next),
    update(data) {
      next.textContent = `${data.next} →`;
      lecture.button.hidden = data.lecture.length === 0;
      if (data.outcome) { // a run that follows says it no more
        outcome.textContent = data.outcome;
        place(lecture.box, lecture.button);
      }
      each(actions, data.lecture, () => element("button", { type: "button", class: "do" }), (button, [what, words]) => {
        button.textContent = words;
        button.onclick = () => {
          if (!ANSWERED.includes(what)) lecture.box.hidePopover();
          act(what);
        };
      });
      knows.button.hidden = data.knows.length === 0;
      each(knows.box, data.knows, () => element("p"), (line, text) => { line.textContent = text; });
    },
  };
}
