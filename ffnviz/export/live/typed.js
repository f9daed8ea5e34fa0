// What a person typed, as Python reads it: its blanks, and what stands for a gap.

const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;
const BLANKS = /[ \t\n\v\f\r]+/g;
const GAP = /_{3,}/g;

export const isBlank = (sign) => BLANK.test(sign); // str.isspace

// str.strip, of a list of characters.
export function stripped(signs) {
  const first = signs.findIndex((sign) => !isBlank(sign));
  return first < 0 ? [] : signs.slice(first, signs.findLastIndex((sign) => !isBlank(sign)) + 1);
}

// A sentence as it is read: `tidied` in state/state.py.
export const tidied = (text) => stripped(Array.from(text.replace(GAP, "[MASK]").replace(BLANKS, " "))).join("");
