// What can be done about a lecture: behind one button, on every page.

import { each, element } from "./element.js";
import { makeHelp } from "./help.js";
import { place } from "./popover.js";
import { notes } from "./spotlight.js";
import { thumbnail } from "./thumbnail.js";

const ANSWERED = ["add", "class", "how"]; // what came of these is said where they were asked for

export function makeLectureMenu(tell) {
  const { box, button } = makeHelp("Lecture", () => {});
  const actions = element("div"), outcome = element("p", { class: "outcome", role: "status" });
  box.append(outcome, actions);
  box.addEventListener("toggle", ({ newState }) => { if (newState === "closed") outcome.textContent = ""; });
  async function act(what) {
    if (what === "add") outcome.textContent = "Adding …"; // drawing its small picture takes a moment
    tell("lecture", { what, pictures: notes(), thumbnail: what === "add" ? await thumbnail() : "" });
  }
  return {
    parts: [button, box],
    update(lecture, came) {
      button.hidden = lecture.length === 0;
      if (came) { // a run that follows says it no more
        outcome.textContent = came;
        place(box, button);
      }
      each(actions, lecture, () => element("button", { type: "button", class: "do" }), (choice, [what, words]) => {
        choice.textContent = words;
        choice.onclick = () => {
          if (!ANSWERED.includes(what)) box.hidePopover();
          act(what);
        };
      });
    },
  };
}
