// A button that saves a file, and a picture's numbers as a table for one. The browser makes the file: a link to the
// server would be answered by whichever of its processes is free, and that one may never have heard of the file.

import { element } from "./element.js";

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

// A picture's numbers as a table that any spreadsheet reads.

// What XML 1.0 has no place for: control characters, lone surrogates, U+FFFE and U+FFFF.
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/**
 * The same value, with the character for "unknown" where text has one that no file may have.
 *
 * @param {any} value
 * @returns {any}
 */
export function allowed(value) {
  if (typeof value === "string") return value.replace(FORBIDDEN, "\uFFFD");
  if (Array.isArray(value)) return value.map(allowed);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, allowed(inner)]));
}

/**
 * A number in single precision, without the digits that only double precision would make of it.
 *
 * @param {unknown} value
 */
export const single = (value) => (typeof value === "number" ? Number(value.toPrecision(7)) : value);

/**
 * A spreadsheet runs a cell that begins like a formula: such text stands in quotation marks, as
 * tokens do on the page.
 *
 * @param {unknown} value
 */
export function cell(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const text = allowed(String(value)).replace(/^[=+\-@\t\r].*$/s, "“$&”");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {unknown[][]} table */
export const asCsv = (table) => `\ufeff${table.map((row) => row.map(cell).join(",")).join("\r\n")}`;
