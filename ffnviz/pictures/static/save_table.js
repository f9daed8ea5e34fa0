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
