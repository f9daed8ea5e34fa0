// Makes elements, and updates existing ones.

/**
 * An element with text and attributes; text is always text, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes] "text", "style" as an object, "on…" as a function, and any other
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
export const rootOf = (node) => /** @type {ShadowRoot & { host: HTMLElement }} */ (node.getRootNode());

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
