// How numbers are written, and two sums that many do with them.

/**
 * @param {number} value
 * @param {number} lowest
 * @param {number} highest
 */
export const within = (value, lowest, highest) => Math.min(highest, Math.max(lowest, value));

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/**
 * Two decimals; what would round to nothing in powers of ten, since only a true zero reads "0".
 *
 * @param {number} value
 */
export function number(value) {
  const size = Math.abs(value);
  const digits = size === 0 ? "0" : size < 0.005 ? powerOfTen(size) : size.toFixed(2);
  return value < 0 ? `−${digits}` : digits;
}

/** @type {Record<string, string>} */
const RAISED = {
  "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹",
};

/**
 * As number_format has it in Python: 2 × 10⁻⁴.
 *
 * @param {number} size
 */
function powerOfTen(size) {
  const [mantissa, power] = size.toExponential(0).split("e");
  return `${mantissa} × 10${[...power.replace("+", "")].map((sign) => RAISED[sign]).join("")}`;
}

/**
 * So many decimals; of a number half way between two the even one, as Python writes it.
 *
 * @param {number} value
 * @param {number} digits
 */
export function fixed(value, digits) {
  const size = Math.abs(value), below = Math.floor(size * 10 ** digits);
  const isHalf = size * 10 ** digits - below === 0.5 && Number.isInteger(size * 2 ** (digits + 1));
  const text = isHalf && below % 2 === 0
    ? (below / 10 ** digits).toFixed(digits)
    : size.toFixed(digits);
  return value < 0 ? `-${text}` : text;
}

/**
 * A value to two decimals with a real minus sign, as pictures/wording.py writes it.
 *
 * @param {number} value
 */
export function signed(value) {
  const text = fixed(value, 2);
  return text === "-0.00" ? "0.00" : text.replace("-", "−");
}

/**
 * A share as a short percentage that never shows something as nothing.
 *
 * @param {number} share from 0 to 1
 */
export const percent = (share) =>
  share > 0 && share < 0.001 ? "<0.1%" : `${fixed(share * 100, share && share < 0.0995 ? 1 : 0)}%`;

/**
 * What half precision holds of a value: four digits.
 *
 * @param {number} value
 */
export const short = (value) => Number(value.toPrecision(4));

/** @param {number} n */
export const grouped = (n) => n.toLocaleString("en-US");
