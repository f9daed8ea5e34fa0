import { each, element } from "./element.js";
import { makeHelp, place } from "./popover.js";
import { aboutFrom, thumbnail } from "./save_svg.js";
import { notes } from "./spotlight.js";

const DONE_MS = 1_500;

// Only addresses that a browser trusts may write to its clipboard themselves; on others a selection
// is copied, as by a person.
async function copy(text) {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const area = element("textarea", { style: { position: "fixed", opacity: "0" } });
  document.body.append(area);
  area.value = text;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("The link could not be copied: it stands in the address bar.");
}

// On a phone there is room for a sign only.
const sign = (path) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
};
const LINK = "M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1";
const FILE = "M12 4v11M7 11l5 5 5-5M5 20h14";

/**
 * What measuring.py sends.
 *
 * @typedef {{
 *   title: string, part: string, sentence: string, network: string[], takes: boolean,
 *   lecture: [string, string][], outcome: string
 * }} Data
 */

export function mount(tell) {
  const part = element("span", { class: "part" });
  const name = element("span");
  const sentence = element("bdi", { class: "typed" });
  const status = element("div", { class: "told", role: "status" });
  const label = element("span", { text: "Copy link" });
  const button = element("button", { type: "button", class: "short" }, sign(LINK), label);
  const take = element("button", {
    type: "button", class: "short", title: "This page as one file that works without a server", onclick: () => tell("take", true),
  }, sign(FILE), element("span", { text: "Take home" }));
  const lecture = makeLectureMenu(tell);
  let said = null;

  button.onclick = async () => {
    let outcome = "Link copied";
    await copy(location.href).catch(({ message }) => { outcome = message; });
    label.textContent = outcome;
    button.classList.add("said");
    status.textContent = outcome;
    setTimeout(() => {
      label.textContent = "Copy link";
      button.classList.remove("said");
    }, DONE_MS);
  };

  return {
    element: element("div", { class: "bar" }, element("h1", {}, name, part), sentence, ...lecture.parts, take, button, status),
    /** @param {Data} data */
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
