// A button that saves a file. The browser makes it: a link to the server would be answered by
// whichever of its processes is free, and that one may never have heard of the file.

import { element } from "./element.js";

export const styles = ["saving.css"];

/**
 * What `file_data` packed.
 *
 * @typedef {{ name: string, type: string, base64: string }} SavedFile
 */

/** @param {SavedFile} file */
export function saveFile({ name, type, base64 }) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  download(new Blob([bytes], { type }), name);
}

/**
 * What `saving_cell` sends.
 *
 * @typedef {{ label: string, file: SavedFile | null }} Data
 */

export function mount() {
  let file = /** @type {SavedFile | null} */ (null);
  const button = element("button", { type: "button", onclick: () => { if (file) saveFile(file); } });
  return {
    element: button,
    /** @param {Data} data */
    update(data) {
      ({ file } = data);
      button.textContent = data.label;
      button.disabled = file === null;
    },
  };
}

// Has the browser save a file of its own making.

const KEEP_MS = 60_000; // a browser that asks first where to put it reads it later

export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEEP_MS);
}
