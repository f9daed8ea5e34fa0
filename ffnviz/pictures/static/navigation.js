// Where one is, and what else there is to go to: in a block, on a page, and in one's own lecture.

import { reordering } from "./drag.js";
import { chooseByArrows, each, element, oneStop } from "./element.js";
import { place } from "./popover.js";

// A block, small: lit where the shown part is, each station a menu of the parts about it.

/**
 * @typedef {{
 *   name: string, sign: string, title: string, lit: boolean, parts: [string, string][],
 *   shown: number | null
 * }} Station
 */

/**
 * What `block_map_cell` sends.
 *
 * @typedef {{ stations: Station[] }} BlockMapData
 */

export function mountBlockMap(tell) {
  const row = element("div", { class: "stations" });
  const title = element("h3"), list = element("div", { class: "list" });
  const menu = element("div", { class: "menu", popover: "auto" }, title, list);
  const stop = oneStop(row), stopInMenu = oneStop(list);
  let stations = [], open = 0;

  function fill(at) {
    open = at;
    title.textContent = stations[at].title;
    each(
      list, stations[at].parts,
      () => element("button", { type: "button" }, element("b"), element("small")),
      (button, [part, page], to) => {
        button.children[0].textContent = part;
        button.children[1].textContent = page;
        button.toggleAttribute("aria-current", to === stations[at].shown);
        button.onclick = () => {
          menu.hidePopover();
          tell("go", { station: at, part: to });
        };
      },
    );
    stopInMenu();
  }

  const make = (at) => {
    const button = element("button", { type: "button", "aria-haspopup": "true" });
    button.popoverTargetElement = menu;
    button.onclick = () => fill(at);
    return button;
  };
  menu.ontoggle = ({ newState }) => {
    if (newState !== "open") return;
    place(menu, row.children[open]);
    list.querySelector("button")?.focus();
  };

  return {
    element: element(
      "nav", { class: "map", "aria-label": "Where this is in the block" }, row, menu,
    ),
    /** @param {BlockMapData} data */
    update(data) {
      ({ stations } = data);
      each(row, stations, make, (button, { name, sign, title: words, lit }) => {
        button.textContent = sign;
        button.className = name;
        button.title = words;
        button.setAttribute("aria-label", lit ? `${words} (this part)` : words);
        button.classList.toggle("lit", lit);
      });
      stop();
    },
  };
}

// The parts of a page, one of which is shown, each with a line on what one sees there; in a narrow
// window a menu.

/**
 * What `PartList` sends.
 *
 * @typedef {{
 *   label: string, parts: [string, string][], chosen: number, away: string[]
 * }} PartListData
 */

export function mountPartList(tell) {
  const open = element("button", { type: "button", class: "open" });
  const group = element("div", { class: "group", role: "radiogroup" });
  const away = element("div", { class: "away" });
  const list = element("div", { class: "list", popover: "auto" }, group, away);
  let chosen = 0;
  open.popoverTargetElement = list;
  list.ontoggle = ({ newState }) => { if (newState === "open") place(list, open); };
  function choose(at) {
    if (list.matches(":popover-open")) list.hidePopover();
    tell("part", at);
  }
  chooseByArrows(group, () => chosen, choose);
  return {
    element: element("nav", { class: "parts" }, open, list),
    /** @param {PartListData} data */
    update(data) {
      ({ chosen } = data);
      group.setAttribute("aria-label", data.label);
      open.textContent = `${data.parts[chosen][0]} ▾`;
      open.setAttribute("aria-label", `${data.label}: ${data.parts[chosen][0]}`);
      const make = (at) =>
        element(
          "button", { type: "button", role: "radio", onclick: () => choose(at) }, element("b"),
          element("small"),
        );
      each(group, data.parts, make, (part, [title, line], at) => {
        part.children[0].textContent = title;
        part.children[1].textContent = line;
        part.setAttribute("aria-label", title);
        part.setAttribute("aria-checked", String(at === chosen));
        part.tabIndex = at === chosen ? 0 : -1;
      });
      each(away, data.away, () => element("p"), (line, text) => { line.textContent = text; });
    },
  };
}

// The scenes of one's own lecture in their order: a click chooses one, its handle is dragged, or
// moved by the arrow keys.

/**
 * What `scene_list_cell` sends.
 *
 * @typedef {{
 *   scenes: { title: string, where: string, sentence: string, thumbnail: string }[],
 *   chosen: number
 * }} SceneListData
 */

export function mountSceneList(tell) {
  const list = element("ol"), status = element("div", { class: "told", role: "status" });
  /** @type {SceneListData} */
  let data;
  const order = reordering(list, (from, to) => {
    status.textContent = `${data.scenes[from].title}: now scene ${to + 1} of ${data.scenes.length}`;
    tell("move", { from, to });
  });

  function makeLine(at) {
    const picture = element("img", { alt: "" });
    const tile = element("span", { class: "tile", "aria-hidden": "true" });
    const scene = element(
      "button",
      {
        type: "button", class: "scene", onclick: () => tell("choose", at),
      },
      element("span", { class: "thumbnail" }, picture, tile),
      element("span", { class: "words" }, element("b"), element("small"), element("small")),
    );
    return element("li", {}, scene, order.handle(at));
  }

  return {
    element: element(
      "nav", { class: "scenes", "aria-label": "Scenes of my lecture" }, list, status,
    ),
    /** @param {SceneListData} next */
    update(next) {
      data = next;
      order.cancel();
      each(
        list, data.scenes, makeLine,
        ({ children: [scene, handle], classList }, { title, where, sentence, thumbnail }, at) => {
          const [picture, tile] = scene.firstChild.children;
          const [name, page, text] = scene.lastChild.children;
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
        },
      );
      order.settle();
    },
    destroy: order.cancel,
  };
}
