// How numbers are written.

// Two decimals; what would round to nothing in powers of ten, since only a true zero reads "0".
export function number(value) {
  const size = Math.abs(value);
  const digits = size === 0 ? "0" : size < 0.005 ? powerOfTen(size) : size.toFixed(2);
  return value < 0 ? `−${digits}` : digits;
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// As number_format has it in Python: 2 × 10⁻⁴.
function powerOfTen(size) {
  const [mantissa, power] = size.toExponential(0).split("e");
  return `${mantissa} × 10${[...power.replace("+", "")].map((sign) => RAISED[sign]).join("")}`;
}

// A share as a short percentage that never shows something as nothing.
export const percent = (share) =>
  share > 0 && share < 0.001 ? "<0.1%" : `${(share * 100).toFixed(share && share < 0.0995 ? 1 : 0)}%`;

// What half precision holds of a value: four digits.
export const short = (value) => Number(value.toPrecision(4));

export const grouped = (n) => n.toLocaleString("en-US");
