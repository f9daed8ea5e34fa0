// What stays on the page moves to where it belongs now; nothing moves where the person's system asks for calm.

export const MOVE_MS = 180;
export const PLAY_MS = 600;

export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Puts the rows of a list into a new order, so that each goes on showing what it showed; call before they are written.
 * Rows are equally high, so nobody asks the browser where they stand: it would lay the whole page out.
 *
 * @param list of rows of one height, each with its name in data-name
 * @param names that its rows have from now on
 * @return to be called when they are written: rows that stay then move to their places
 */
export function reorder(list, names) {
  const rows = [...list.children];
  if (rows.length !== names.length || rows.every((row, at) => row.dataset.name === names[at])) return () => {};
  const calm = isCalm(), named = new Map(rows.map((row) => [row.dataset.name, row]));
  const places = new Map(rows.filter(({ hidden }) => !hidden).map((row, at) => [row, at]));
  const staying = names.map((name) => named.get(name));
  const others = rows.filter((row) => !staying.includes(row));
  list.append(...staying.map((row) => row ?? others.shift()));
  return () => {
    if (calm) return;
    staying.forEach((row, at) => {
      const by = row && places.has(row) && !row.hidden ? places.get(row) - at : 0;
      if (by) row.animate([{ transform: `translateY(${100 * by}%)` }, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
    });
  };
}

/**
 * Plays parts one after the other, once, within PLAY_MS.
 *
 * @param parts elements in order, each with its keyframes
 */
export function playInTurn(parts) {
  if (isCalm()) return;
  const each = PLAY_MS / (parts.length + 2), duration = 3 * each;
  parts.forEach(([part, frames], at) => part.animate(frames, { duration, delay: at * each, fill: "backwards", easing: "ease-out" }));
}
