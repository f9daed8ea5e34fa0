// Elements: made, updated, gone through by keys, faded where they scroll, and written from the
// right or the left.

/**
 * An element with text and attributes; text is always text, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes] "text", "style" as an object, "on…" as a function, and
 *   any other
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  /** @type {any} */
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name.startsWith("on")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// An element of a drawing.
export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * Writes a text where it is another: who reads the screen aloud says it once.
 *
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * The root that a node stands in; the page itself has no host.
 *
 * @param {Node} node
 */
export const rootOf = (node) =>
  /** @type {ShadowRoot & { host: HTMLElement }} */ (node.getRootNode());

/**
 * One child a value: made once, then changed, so that what has the focus keeps it. Where there are
 * fewer values than before, the focus of a child that goes moves to the last that stays.
 *
 * @template Value
 * @param {Element} parent
 * @param {readonly Value[]} values
 * @param {(index: number) => Element} make
 * @param {(child: any, value: Value, index: number) => void} change
 */
export function each(parent, values, make, change) {
  const focused = rootOf(parent).activeElement;
  const held = [...parent.children].findIndex((child) => child.contains(focused));
  while (parent.children.length > values.length) parent.lastElementChild?.remove();
  values.forEach((value, index) => {
    if (!parent.children[index]) parent.append(make(index));
    change(parent.children[index], value, index);
  });
  if (held < values.length) return;
  const last = parent.lastElementChild;
  (last?.matches("button") ? last : last?.querySelector("button"))?.focus();
}

/**
 * The arrow keys choose the next of a group's buttons, or the one before, around its ends.
 *
 * @param {HTMLElement} group
 * @param {() => number} chosen
 * @param {(next: number) => void} choose
 */
export function chooseByArrows(group, chosen, choose) {
  group.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (chosen() + step + group.children.length) % group.children.length;
    /** @type {HTMLElement} */ (group.children[next]).focus();
    choose(next);
  };
}

// Many buttons, one stop of the Tab key: the arrow keys go from one to the next, and Tab goes on.

/** @type {Record<string, number>} */
const STEPS = {
  ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10,
  Home: -Infinity, End: Infinity,
};

/**
 * Makes a group's buttons one stop.
 *
 * @param {HTMLElement} group an element that the buttons are in
 * @param {string} selector which buttons of it
 * @returns {(first?: number) => void} call it when the buttons are new, with the number of the one
 *   that Tab comes to, unless one has the focus
 */
export function oneStop(group, selector = "button") {
  const buttons = () => {
    const all = /** @type {NodeListOf<HTMLElement>} */ (group.querySelectorAll(selector));
    return [...all].filter((button) => !button.closest("[hidden]"));
  };
  /** @type {HTMLElement | null} */
  let stop = null;

  /** @param {HTMLElement | null} button */
  function stopAt(button) {
    if (stop && stop !== button) stop.tabIndex = -1;
    stop = button;
    if (stop) stop.tabIndex = 0;
  }
  group.addEventListener("focusin", ({ target }) => {
    const button = /** @type {HTMLElement} */ (target);
    if (button.matches(selector)) stopAt(button);
  });
  group.addEventListener("keydown", (event) => {
    const { key, target } = event;
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLElement} */ (target));
    if (at < 0 || !STEPS[key] || event.altKey || event.ctrlKey || event.metaKey) return;
    const sideways = key === "ArrowLeft" || key === "ArrowRight";
    const turned = sideways && getComputedStyle(group).direction === "rtl";
    event.preventDefault();
    event.stopPropagation(); // what is around the group has arrow keys of its own
    all[Math.max(0, Math.min(all.length - 1, at + (turned ? -STEPS[key] : STEPS[key])))].focus();
  });
  return (first = 0) => {
    const all = buttons(), focused = /** @type {HTMLElement} */ (rootOf(group).activeElement);
    for (const button of all) button.tabIndex = -1;
    stopAt(all.includes(focused) ? focused : all[first] ?? all[0] ?? null);
  };
}

// What slides says so: it fades where it goes on, at either end.

const SLACK = 2; // pixels that rounding may make
const FADE = "2.2rem";

/**
 * Has an element that scrolls, sideways or down, fade where there is more of it.
 *
 * @param {HTMLElement} node that scrolls
 * @returns {{ look: () => void, stop: () => void }} call `look` when its content is another
 */
export function makeSliding(node) {
  let asked = 0;
  function fade() {
    asked = 0;
    const sideways = node.scrollWidth > node.clientWidth + SLACK;
    const [at, seen, all] = sideways
      ? [Math.abs(node.scrollLeft), node.clientWidth, node.scrollWidth]
      : [node.scrollTop, node.clientHeight, node.scrollHeight];
    const before = at > SLACK, after = at + seen < all - SLACK;
    const scrolls = (before || after) &&
      getComputedStyle(node)[sideways ? "overflowX" : "overflowY"] !== "visible";
    const stops = [
      before ? `transparent, #000 ${FADE}` : "#000",
      after ? `#000 calc(100% - ${FADE}), transparent` : "#000",
    ];
    const mask = scrolls
      ? `linear-gradient(to ${sideways ? "right" : "bottom"}, ${stops.join(", ")})`
      : "";
    for (const name of ["-webkit-mask-image", "mask-image"]) node.style.setProperty(name, mask);
  }
  const look = () => { asked ||= requestAnimationFrame(fade); };
  node.addEventListener("scroll", look, { passive: true });
  const seen = new ResizeObserver(look);
  seen.observe(node);
  return {
    look,
    stop() {
      cancelAnimationFrame(asked);
      node.removeEventListener("scroll", look);
      seen.disconnect();
    },
  };
}

// Which way a sentence runs: as its first letter does that is not a mask's.

const MASK = /\[mask\]/gi, LETTER = /\p{L}/u;
const SCRIPTS = [
  "Hebrew", "Arabic", "Syriac", "Thaana", "Nko", "Samaritan", "Mandaic", "Adlam", "Hanifi_Rohingya",
];
const FROM_THE_RIGHT = new RegExp(SCRIPTS.map((name) => `\\p{Script=${name}}`).join("|"), "u");

/** @param {string} sentence */
export function directionOf(sentence) {
  const letter = LETTER.exec(sentence.replace(MASK, ""));
  return letter && FROM_THE_RIGHT.test(letter[0]) ? "rtl" : "ltr";
}
