// What a browser remembers under a name, for one tab ("sessionStorage") or for good ("localStorage").

// A browser may forbid a page to keep anything: then only what was just to be kept is known.
/**
 * @param {"sessionStorage" | "localStorage"} storage
 * @param {string} name
 * @param {string} [value]
 * @returns {string | null}
 */
export function kept(storage, name, value) {
  try {
    const table = window[storage];
    if (value !== undefined) table.setItem(name, value);
    return table.getItem(name);
  } catch {
    return value ?? null;
  }
}
