// The scenes of one's own lecture in their order: a click chooses one, its handle is dragged, or
// moved by the arrow keys.

import { reordering } from "./drag.js";
import { each, element } from "./element.js";

/**
 * What `scene_list_cell` sends.
 *
 * @typedef {{
 *   scenes: { title: string, where: string, sentence: string, thumbnail: string }[],
 *   chosen: number
 * }} Data
 */

export function mount(tell) {
  const list = element("ol"), status = element("div", { class: "told", role: "status" });
  /** @type {Data} */
  let data;
  const order = reordering(list, (from, to) => {
    status.textContent = `${data.scenes[from].title}: now scene ${to + 1} of ${data.scenes.length}`;
    tell("move", { from, to });
  });

  function makeLine(at) {
    const picture = element("img", { alt: "" }), tile = element("span", { class: "tile", "aria-hidden": "true" });
    const scene = element("button", { type: "button", class: "scene", onclick: () => tell("choose", at) },
      element("span", { class: "thumbnail" }, picture, tile), element("span", { class: "words" }, element("b"), element("small"), element("small")));
    return element("li", {}, scene, order.handle(at));
  }

  return {
    element: element("nav", { class: "scenes", "aria-label": "Scenes of my lecture" }, list, status),
    /** @param {Data} next */
    update(next) {
      data = next;
      order.cancel();
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
      order.settle();
    },
    destroy: order.cancel,
  };
}
