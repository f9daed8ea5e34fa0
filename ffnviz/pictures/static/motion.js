// What stays on the page moves to where it belongs now; nothing moves where the person's system
// asks for calm, or while somebody types faster than it would get there.

const MOVE_MS = 180;
const PLAY_MS = 600;
const MOVE = { duration: MOVE_MS, easing: "ease-out" };

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const stands = () => calm.matches || "hurried" in document.documentElement.dataset;

/**
 * Says where a bar begins and how long it is; it gets there from where it was. Its transform moves,
 * which the browser draws without laying the page out.
 *
 * @param {HTMLElement | SVGElement} bar an element, as wide and as far from the left as its style
 *   says
 * @param {number} start
 * @param {number} length both shares of its track, from 0 to 1
 */
export function stretch(bar, start, length) {
  const [was, long] = [bar.style.marginLeft, bar.style.width].map((share) =>
    Number.parseFloat(share) / 100
  );
  Object.assign(bar.style, { marginLeft: `${100 * start}%`, width: `${100 * length}%` });
  if (stands() || !(long > 0 && length > 0) || (was === start && long === length)) return;
  const before = `translateX(${(100 * (was - start)) / length}%) scaleX(${long / length})`;
  bar.animate([{ transform: before, transformOrigin: "left" }, {
    transform: "none", transformOrigin: "left",
  }], MOVE);
}

/**
 * Lets what has been put in its place get there from so many pixels away.
 *
 * @param {Element} one
 * @param {number} x
 * @param {number} y
 */
export function slide(one, x, y) {
  if (!stands() && (x || y)) {
    one.animate([{ translate: `${x}px ${y}px` }, { translate: "none" }], MOVE);
  }
}

/**
 * Puts the rows of a list into a new order, so that each goes on showing what it showed; call
 * before they are written. Rows are equally high, so nobody asks the browser where they stand: it
 * would lay the whole page out.
 *
 * @param {Element} list of rows of one height, each with its name in data-name
 * @param {string[]} names that its rows have from now on
 * @returns {() => void} to be called when they are written: rows that stay then move to their
 *   places
 */
export function reorder(list, names) {
  const rows = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (list.children)];
  if (rows.length !== names.length || rows.every((row, at) => row.dataset.name === names[at])) {
    return () => {};
  }
  const named = new Map(rows.map((row) => [row.dataset.name, row]));
  const places = new Map(rows.filter(({ hidden }) => !hidden).map((row, at) => [row, at]));
  const staying = names.map((name) => named.get(name));
  const others = rows.filter((row) => !staying.includes(row));
  list.append(...staying.map((row) => row ?? /** @type {HTMLElement} */ (others.shift())));
  return () => {
    if (stands()) return;
    staying.forEach((row, at) => {
      const by = row && !row.hidden ? (places.get(row) ?? at) - at : 0;
      if (by) {
        row?.animate([{ transform: `translateY(${100 * by}%)` }, { transform: "none" }], MOVE);
      }
    });
  };
}

/**
 * Plays parts one after the other, once, within PLAY_MS.
 *
 * @param {[Element, Keyframe[]][]} parts elements in order, each with its keyframes
 */
export function playInTurn(parts) {
  if (stands()) return;
  const each = PLAY_MS / (parts.length + 2), duration = 3 * each;
  parts.forEach(([part, frames], at) =>
    part.animate(frames, { duration, delay: at * each, fill: "backwards", easing: "ease-out" })
  );
}
