// The controls of a part: sliders, choices, menus, boxes and buttons, all in one look.

import { chooseByArrows, element, makeSliding, oneStop, rootOf, setText } from "./element.js";
import { fileInput, saveFile } from "./saving.js";

/** @import { SavedFile } from "./saving.js" */

const ANSWER_MS = 1_000; // a page that has not answered by then is asked again
const NONE = "choose"; // where nothing is chosen yet
const DIGITS = 4; // of most neurons' numbers
const TYPED_MS = 400; // after which a box says what was typed so far

/**
 * What `rail_cell` sends of a control; `text` is that of a box, and `stop` a text where several are
 * chosen.
 *
 * @typedef {{
 *   name: string, label: string, help: string, disabled?: boolean, bare?: boolean
 * }} Common
 * @typedef {Common & { kind: "slider", stops: string[], stop: number }} Slider
 * @typedef {Common & { kind: "choice" | "menu", options: string[], stop: number }} Choice
 * @typedef {Common & { kind: "several", options: string[], stop: string }} Several
 * @typedef {Common & {
 *   kind: "text" | "number", text: string, example: string, longest: number | null
 * }} Box
 * @typedef {Common & { kind: "switch", on: boolean }} Switch
 * @typedef {Common & { kind: "button" | "measure" | "download", file?: SavedFile }} Button
 * @typedef {Common & { kind: "upload", accepts: string, longest: number }} Upload
 * `folded` are the words of the button that on a telephone unfolds all controls but the first.
 *
 * @typedef {{
 *   controls: (Slider | Choice | Several | Box | Switch | Button | Upload)[], folded: string
 * }} Data
 */

// One move at a time is under way: the next is sent when the page shows the last.
function makeSender(tell, name) {
  let wanted = null, sent = null, waiting = 0;
  function send() {
    const now = (sent = wanted);
    clearTimeout(waiting);
    waiting = setTimeout(() => { sent = null; if (wanted !== now) send(); }, ANSWER_MS);
    tell("move", { name, ...now });
  }
  return {
    move(value, done) {
      wanted = { value, done };
      if (done || !sent) send();
    },
    // The page shows a value; returns whether it is the one that was set here last.
    shown(value) {
      if (sent?.value === value) {
        clearTimeout(waiting);
        sent = null;
        if (wanted.value !== value) send();
      }
      return !sent;
    },
    stop() { clearTimeout(waiting); },
  };
}

// Its letters say how wide a button is beside others: their own widths are others in each browser.
// A star is wide, and a number as wide as those of another token.
function write(button, words) {
  setText(button, words);
  const letters = /^\d+$/.test(words) ? Math.max(DIGITS, words.length) : words.length;
  button.style.setProperty("--letters", letters + (words.endsWith("★") ? 3 : 0));
  return button;
}

const labelled = (name, ...parts) => element("label", { class: "control" }, name, ...parts);

function slider(tell, control) {
  const sender = makeSender(tell, control.name);
  const name = element("span"), output = element("output", { "aria-live": "off" });
  const input = element("input", { type: "range", min: "0", step: "1" });
  /** @type {string[]} */
  let stops = [];
  const say = () => {
    output.textContent = stops[input.value];
    input.setAttribute("aria-valuetext", stops[input.value]);
  };
  const move = (done) => {
    say();
    sender.move(Number(input.value), done);
  };
  input.oninput = () => move(false);
  input.onchange = () => move(true);
  return {
    element: labelled(element("span", { class: "line" }, name, output), input),
    /** @param {Slider} next */
    update(next) {
      ({ stops } = next);
      name.textContent = next.label;
      input.setAttribute("aria-label", next.label); // its label is the output's
      input.max = String(stops.length - 1);
      if (sender.shown(next.stop)) input.value = String(next.stop);
      say();
    },
    destroy: sender.stop,
  };
}

function choice(tell, control) {
  const group = element("span", { class: "choice", role: "radiogroup" }), name = element("span");
  let at = 0;
  const choose = (stop) => tell("move", { name: control.name, value: stop, done: true });
  chooseByArrows(group, () => at, choose);
  return {
    element: element(
      "span", { class: `control ${control.name.endsWith("_view") ? "views" : ""}` }, name, group,
    ),
    /** @param {Choice} next */
    update(next) {
      name.textContent = next.label;
      group.setAttribute("aria-label", next.label);
      at = next.stop;
      next.options.forEach((words, stop) => {
        const option = /** @type {HTMLElement} */ (group.children[stop]) ??
          group.appendChild(
            element("button", { type: "button", role: "radio", onclick: () => choose(stop) }),
          );
        write(option, words);
        option.setAttribute("aria-checked", String(stop === at));
        option.tabIndex = stop === Math.max(at, 0) ? 0 : -1;
      });
      while (group.children.length > next.options.length) group.lastElementChild?.remove();
    },
  };
}

// Any of the options: each is on or off, as a text of 0 and 1 says.
function several(tell, control) {
  const sender = makeSender(tell, control.name);
  const group = element("span", { class: "choice", role: "group" }), name = element("span");
  const stop = oneStop(group);
  let flags = "";
  const show = () =>
    [...group.children].forEach((option, at) =>
      option.setAttribute("aria-pressed", String(flags[at] === "1"))
    );
  function turn(at) {
    flags = flags.slice(0, at) + (flags[at] === "1" ? "0" : "1") + flags.slice(at + 1);
    show();
    sender.move(flags, true);
  }
  return {
    element: element("span", { class: "control" }, name, group),
    /** @param {Several} next */
    update(next) {
      name.textContent = next.label;
      group.setAttribute("aria-label", next.label);
      if (group.children.length !== next.options.length) {
        group.replaceChildren(
          ...next.options.map((words, at) =>
            write(element("button", { type: "button", onclick: () => turn(at) }), words)
          ),
        );
      }
      if (sender.shown(next.stop)) flags = next.stop;
      show();
      stop();
    },
    destroy: sender.stop,
  };
}

function menu(tell, control) {
  const select = element("select"), name = element("span");
  select.onchange = () =>
    tell("move", { name: control.name, value: select.selectedIndex, done: true });
  return {
    element: labelled(name, select),
    /** @param {Choice} next */
    update(next) {
      name.textContent = next.label;
      const known = [...select.options].map(({ text }) => text);
      const texts = [...next.options, ...(next.stop < 0 ? [NONE] : [])];
      if (known.join("\n") !== texts.join("\n")) {
        select.replaceChildren(
          ...next.options.map((text) => element("option", { text })),
          ...texts.slice(next.options.length).map((text) =>
            element("option", { text, hidden: "" })
          ),
        );
      }
      select.selectedIndex = next.stop < 0 ? next.options.length : next.stop;
    },
  };
}

function box(tell, control) {
  const sender = makeSender(tell, control.name);
  const name = element("span");
  const input = element("input", { autocomplete: "off", spellcheck: "false" });
  let later = 0;
  input.oninput = () => {
    clearTimeout(later);
    later = setTimeout(() => sender.move(input.value, false), TYPED_MS);
  };
  input.onchange = () => {
    clearTimeout(later);
    sender.move(input.value, true);
  };
  return {
    element: labelled(name, input),
    /** @param {Box} next */
    update(next) {
      name.textContent = next.label;
      input.type = next.kind === "number" ? "number" : "text";
      input.step = "any";
      input.placeholder = next.example;
      if (next.longest) input.maxLength = next.longest;
      // What somebody is typing is theirs; a number out of range is mended when they leave the box.
      if (sender.shown(next.text) && rootOf(input).activeElement !== input) input.value = next.text;
    },
    destroy() { clearTimeout(later); sender.stop(); },
  };
}

function toggle(tell, control) {
  const input = element("input", { type: "checkbox", role: "switch" }), name = element("span");
  input.onchange = () => tell("move", { name: control.name, value: input.checked, done: true });
  return {
    element: element("label", { class: "control switch" }, input, name),
    /** @param {Switch} next */
    update(next) {
      name.textContent = next.label;
      input.checked = next.on;
      input.disabled = Boolean(next.disabled);
      input.parentElement?.classList.toggle("off", Boolean(next.disabled));
    },
  };
}

function button(tell, control) {
  const made = element("button", { type: "button", class: "action" });
  let file = null;
  made.onclick = () =>
    (file
      ? saveFile(file)
      : tell(control.kind === "measure" ? "measure" : "press", control.name));
  return {
    element: made,
    /** @param {Button} next */
    update(next) {
      write(made, next.label);
      made.disabled = Boolean(next.disabled);
      file = next.file ?? null;
    },
  };
}

function upload(tell, control) {
  const file = fileInput(
    { hidden: "" }, (chosen) => tell("file", { control: control.name, ...chosen }),
  );
  const open = element("button", {
    type: "button", class: "action", onclick: () => file.input.click(),
  });
  return {
    element: element("span", {}, open, file.input),
    /** @param {Upload} next */
    update(next) {
      write(open, next.label);
      file.update(next.longest, next.accepts);
    },
  };
}

const KINDS = {
  slider, choice, several, menu, text: box, number: box, switch: toggle, button, measure: button,
  download: button, upload,
};

function foldButton() {
  const made = element("button", { type: "button", class: "fold", "aria-expanded": "false" });
  made.onclick = () => made.setAttribute("aria-expanded", String(made.ariaExpanded === "false"));
  return made;
}

export function mount(tell) {
  const root = element("div", { class: "controls" }), fold = foldButton();
  const sliding = makeSliding(root); // at the foot of a telephone
  const made = new Map(); // kind and name → control
  return {
    element: root,
    /** @param {Data} data */
    update({ controls, folded }) {
      const wanted = controls.map((control) => ({
        key: `${control.kind} ${control.name}`, control,
      }));
      for (const [key, control] of made) {
        if (wanted.some((other) => other.key === key)) continue;
        control.destroy?.();
        control.element.remove();
        made.delete(key);
      }
      const parts = wanted.map(({ key, control }) => {
        if (!made.has(key)) made.set(key, KINDS[control.kind](tell, control));
        const there = made.get(key);
        there.element.title = control.help;
        there.element.dataset.kind = control.kind;
        there.element.toggleAttribute("data-disabled", Boolean(control.disabled));
        there.element.classList.toggle("bare", Boolean(control.bare));
        there.update(control);
        return there.element;
      });
      setText(fold, `${folded} ▾`);
      if (folded) parts.splice(1, 0, fold);
      else fold.remove();
      parts.forEach((part, at) => {
        if (root.children[at] !== part) root.insertBefore(part, root.children[at] ?? null);
      });
      sliding.look();
    },
    destroy() {
      sliding.stop();
      made.forEach((control) => control.destroy?.());
    },
  };
}
