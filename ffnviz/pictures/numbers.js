// How numbers read.

// Two decimals; what would round to nothing in powers of ten, since only a true zero reads "0".
export function number(value) {
  const size = Math.abs(value);
  const digits = size === 0 ? "0" : size < 0.005 ? size.toExponential(0).replace("-", "−") : size.toFixed(2);
  return value < 0 ? `−${digits}` : digits;
}

// A share as a short percentage that never shows something as nothing.
export const percent = (share) =>
  share > 0 && share < 0.001 ? "<0.1%" : `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)}%`;

// What half precision holds of a value: four digits.
export const short = (value) => Number(value.toPrecision(4));

export const grouped = (n) => n.toLocaleString("en-US");
