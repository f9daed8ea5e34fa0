// A typed text as token ids and spans, as ffnviz/models/encoder/tokenizer.py makes them: the books'
// spelling, lower case, [MASK], the words of GPT-2's pattern, byte-level BPE (Sennrich et al. 2016;
// Radford et al. 2019). Positions count code points, as Python does.

import { isBlank } from "./typed.js";

// \s of the library's pattern is Unicode's White_Space; JavaScript's own has U+FEFF as well.
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const MASK = /\p{White_Space}*\[mask\]/gu; // once in lower case; blanks before it are its own
const MOST_KEPT = 10_000; // words whose tokens are kept

// The symbol that stands for each byte (Radford et al. 2019): printable ones for themselves.
function symbolsOfBytes() {
  const printable = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : 0x100 + others++));
}

const bytesOf = (sign) => {
  const code = sign.codePointAt(0);
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
};

// What each typed character is read as; `spelling` is the table of ffnviz/models/spelling.py.
function makeSpelling({ read_as: table, en_dash: enDash, no_break: noBreak, opening, closing }) {
  const known = new Map(Object.entries(table));
  const among = (signs, sign) => sign !== undefined && signs.includes(sign);
  const isWord = (sign) => sign !== undefined && !isBlank(sign);
  return (signs, at) => {
    const [before, sign, behind] = [signs[at - 1], signs[at], signs[at + 1]];
    if (sign === enDash) return isWord(before) && isWord(behind) ? "-" : "--";
    if (noBreak.includes(sign) && (among(opening, before) || among(closing, behind))) return "";
    if (sign >= "\ud800" && sign <= "\udfff" && sign.length === 1) return "\ufffd"; // half an emoji
    return known.get(sign) ?? sign;
  };
}

/**
 * Makes a tokenizer.
 *
 * @param header as packing.py makes it: vocabulary, merges, mask_id, labels, spelling
 */
export function makeTokenizer({ vocabulary, merges, mask_id: maskId, labels, spelling }) {
  const ids = new Map(vocabulary.map((word, id) => [word, id]));
  const ranks = new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  const symbols = symbolsOfBytes(), utf8 = new TextEncoder(), kept = new Map(), readAs = makeSpelling(spelling);

  // The tokens of a word, [id, number of bytes] each: of all pairs, the one learnt first is merged first.
  function merged(word) {
    if (kept.has(word)) return kept.get(word);
    const parts = Array.from(utf8.encode(word), (byte) => symbols[byte]);
    for (;;) {
      let best = Infinity, at = -1;
      for (let i = 0; i + 1 < parts.length; i++) {
        const rank = ranks.get(`${parts[i]} ${parts[i + 1]}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, i];
      }
      if (at < 0) break;
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
    const tokens = parts.map((part) => [ids.get(part), part.length]);
    if (kept.size < MOST_KEPT) kept.set(word, tokens);
    return tokens;
  }

  // The text as it is read, a blank before it, and for each UTF-16 unit where in the typed text it ends.
  function asRead(signs) {
    const parts = [" "], ends = [0];
    let last = 0;
    signs.forEach((_, at) => {
      for (const sign of readAs(signs, at)) {
        const lower = sign.toLowerCase();
        last = ends.length;
        parts.push(lower);
        for (let unit = 0; unit < lower.length; unit++) ends.push(at + 1);
      }
    });
    ends.fill(signs.length, last); // what is not read at the end belongs to the last that is
    return [parts.join(""), ends];
  }

  // All tokens of the text as [id, where it ends in the typed text].
  function pieces(signs) {
    const [read, ends] = asRead(signs), found = [];
    function addWords(from, to) {
      for (const { 0: word, index } of read.slice(from, to).matchAll(WORDS)) {
        const endOfByte = [];
        let unit = from + index;
        for (const sign of word) {
          unit += sign.length;
          for (let n = bytesOf(sign); n; n--) endOfByte.push(ends[unit - 1]);
        }
        let byte = 0;
        for (const [id, nBytes] of merged(word)) found.push([id, endOfByte[(byte += nBytes) - 1]]);
      }
    }
    let from = 0;
    for (const { 0: mask, index } of read.matchAll(MASK)) {
      addWords(from, index);
      from = index + mask.length;
      found.push([maskId, ends[from - 1]]);
    }
    addWords(from, read.length);
    return found;
  }

  return {
    maskId,
    labels, // of all entries of the vocabulary, as a list for people shows them
    // { tokens, nLeftOut }: at most so many tokens { id, text, start, end }, and how many more there are.
    encode(text, most = Infinity) {
      const signs = Array.from(text), found = signs.length ? pieces(signs) : [], tokens = [];
      let position = 0;
      for (const [id, ends] of found.slice(0, most)) {
        const end = Math.max(position, ends);
        tokens.push({ id, text: signs.slice(position, end).join(""), start: position, end });
        position = end;
      }
      return { tokens, nLeftOut: found.length - tokens.length };
    },
  };
}
