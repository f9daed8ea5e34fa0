// The scenes of one's own lecture in their order: a click chooses one, its handle is dragged, or
// moved by the arrow keys.

import { each, element } from "./element.js";

export const styles = ["scene_list.css"];

const STEPS = { ArrowUp: -1, ArrowDown: 1 };

export function mount(tell) {
  const list = element("ol"), told = element("div", { class: "told", role: "status" });
  let data = { scenes: [] }, drag = null, focused = null; // the handle that has moved with its scene

  function move(from, to) {
    if (from === to || to < 0 || to >= data.scenes.length) return;
    focused = to;
    told.textContent = `${data.scenes[from].title}: now scene ${to + 1} of ${data.scenes.length}`;
    tell("move", { from, to });
  }

  // Where the scene would stand if it were let go now: before the first whose middle is below.
  function placeAt(y) {
    const others = [...list.children].filter((_, at) => at !== drag.from);
    const before = others.findIndex((line) => { const { top, height } = line.getBoundingClientRect(); return y < top + height / 2; });
    return before < 0 ? others.length : before;
  }
  function show() {
    [...list.children].forEach((line, at) => {
      line.classList.toggle("dragged", at === drag?.from);
      line.classList.toggle("before", Boolean(drag) && at === drag.to && drag.to < drag.from);
      line.classList.toggle("after", Boolean(drag) && at === drag.to && drag.to > drag.from);
    });
  }
  function stop(moves) {
    const done = drag;
    drag = null;
    show();
    if (done && moves) move(done.from, done.to);
  }

  function makeLine(at) {
    const picture = element("img", { alt: "" }), tile = element("span", { class: "tile", "aria-hidden": "true" });
    const scene = element("button", { type: "button", class: "scene", onclick: () => tell("choose", at) },
      element("span", { class: "thumbnail" }, picture, tile), element("span", { class: "words" }, element("b"), element("small"), element("small")));
    const handle = element("button", {
      type: "button", class: "handle", text: "⠿", title: "Drag it, or move it with ↑ and ↓",
      onpointerdown: (event) => {
        event.preventDefault();
        handle.setPointerCapture(event.pointerId);
        handle.focus();
        drag = { from: at, to: at };
        show();
      },
      onpointermove: ({ clientY }) => {
        if (!drag) return;
        drag.to = placeAt(clientY);
        show();
      },
      onpointerup: () => stop(true),
      onpointercancel: () => stop(false),
      onkeydown: (event) => {
        if (event.key === "Escape") stop(false);
        const by = STEPS[event.key];
        if (!by) return;
        event.preventDefault();
        move(at, at + by);
      },
    });
    return element("li", {}, scene, handle);
  }

  return {
    element: element("nav", { class: "scenes", "aria-label": "Scenes of my lecture" }, list, told),
    update(next) {
      data = next;
      drag = null;
      each(list, data.scenes, makeLine, ({ children: [scene, handle], classList }, { title, where, sentence, thumbnail }, at) => {
        const [picture, tile] = scene.firstChild.children, [name, page, text] = scene.lastChild.children;
        picture.hidden = !thumbnail;
        tile.hidden = Boolean(thumbnail);
        if (thumbnail && picture.src !== thumbnail) picture.src = thumbnail;
        tile.textContent = where;
        name.textContent = `${at + 1}. ${title}`;
        page.textContent = where;
        text.textContent = sentence;
        classList.toggle("chosen", at === data.chosen);
        scene.setAttribute("aria-current", String(at === data.chosen));
        handle.setAttribute("aria-label", `Move scene ${at + 1}, ${title}`);
      });
      show();
      if (focused !== null) list.children[focused]?.lastChild.focus();
      focused = null;
    },
    destroy() { drag = null; },
  };
}
