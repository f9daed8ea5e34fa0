// A typed text as token ids and spans, as ffnviz/models/encoder/tokenizer.py makes them: the books'
// spelling, lower case, [MASK], the words of GPT-2's pattern, byte-level BPE (Sennrich et al. 2016;
// Radford et al. 2019). Positions count code points, as Python does.

// \s of the library's pattern is Unicode's White_Space; JavaScript's own has U+FEFF as well.
const KINDS = [
  /'s|'t|'re|'ve|'m|'ll|'d/u, / ?\p{L}+/u, / ?\p{N}+/u, / ?[^\p{White_Space}\p{L}\p{N}]+/u,
  /\p{White_Space}+(?!\P{White_Space})/u, /\p{White_Space}+/u,
];
const WORDS = new RegExp(KINDS.map(({ source }) => source).join("|"), "gu");
const MASK = /\p{White_Space}*\[mask\]/gu; // once in lower case; blanks before it are its own
const MOST_KEPT = 10_000; // words whose tokens are kept

// deno-lint-ignore no-control-regex -- str.isspace takes the four separators for blanks
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;
const BLANKS = /[ \t\n\v\f\r]+/g;
const GAP = /_{3,}/g;

export const isBlank = (sign) => BLANK.test(sign); // str.isspace

// str.strip, of a list of characters.
function stripped(signs) {
  const first = signs.findIndex((sign) => !isBlank(sign));
  return first < 0 ? [] : signs.slice(first, signs.findLastIndex((sign) => !isBlank(sign)) + 1);
}

// A sentence as it is read: `tidied` in state/state.py.
export const tidied = (text) =>
  stripped(Array.from(text.replace(GAP, "[MASK]").replace(BLANKS, " "))).join("");

// The symbol that stands for each byte (Radford et al. 2019): printable ones for themselves.
function symbolsOfBytes() {
  const printable = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let others = 0;
  return Array.from(
    { length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : 0x100 + others++),
  );
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
  const symbols = symbolsOfBytes();
  const utf8 = new TextEncoder();
  const kept = new Map();
  const readAs = makeSpelling(spelling);

  // The tokens of a word, [id, number of bytes] each: of all pairs, the one learnt first is merged
  // first.
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

  /**
   * The text as it is read, a blank before it, and for each UTF-16 unit where in the typed text it
   * ends.
   *
   * @returns {[string, number[]]}
   */
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

  const piece = piecesToHide(spelling.within);
  return {
    maskId,
    wordsToHide: (text, tokens) => wordsToHide(text, tokens, piece),
    labels, // of all entries of the vocabulary, as a list for people shows them
    // { tokens, nLeftOut }: at most so many tokens { id, text, start, end }, and how many more
    // there are.
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

// What is said of tokens, as state/run.py, models/token_slice.py and parts/guess.py have it.

const NO_GLYPH = /^[\p{Cc}\p{Cf}\ufe00-\ufe0f]$/u;
const LETTER = /^[\p{L}\p{Nl}\p{No}]$/u; // of a word: [^\W\d_] in Python
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u; // str.isalnum

function visible(text) {
  const signs = Array.from(text);
  const read = signs.filter((sign) => sign === "\u200d" || !/\p{Cf}/u.test(sign));
  const seen = read.length ? read : signs, bare = stripped(seen);
  const named = seen.map((sign) =>
    ({ "\n": "↵", "\t": "⇥" })[sign] ?? (isBlank(sign) ? "␣" : sign)
  );
  const shown = bare.length ? bare : named;
  if (!shown.every((sign) => NO_GLYPH.test(sign))) return shown.join("");
  return shown.map((sign) => `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`)
    .join(" ");
}

// The tokens as typed, with a sign for what cannot be seen.
export const labelsOf = (tokens) =>
  tokens.map(({ text }, place) => (text && visible(text)) || (place ? "…" : "␣"));

// The first mask, or else the last word.
export function usualToken(tokens, maskId) {
  const mask = tokens.findIndex(({ id }) => id === maskId);
  const word = tokens.findLastIndex(({ text }) => LETTER_OR_DIGIT.test(text));
  return mask >= 0 ? mask : word >= 0 ? word : tokens.length - 1;
}

// The words of more than one token, each spelling once: { word, pieces }.
export function splitWords(text, tokens) {
  const signs = Array.from(text), words = new Map();
  for (let start = 0; start < signs.length; start++) {
    if (!LETTER.test(signs[start])) continue;
    let end = start + 1;
    while (end < signs.length && LETTER.test(signs[end])) end++;
    const within = tokens.filter((token) =>
      start < token.end && (token.start < end || (token.start === token.end && token.end === end))
    );
    const pieces = within.map((token) =>
      signs.slice(Math.max(start, token.start), Math.min(end, token.end)).join("")
    );
    const word = signs.slice(start, end).join(""), spelling = word.toLowerCase();
    if (pieces.length > 1 && !words.has(spelling)) words.set(spelling, { word, pieces });
    start = end;
  }
  return [...words.values()];
}

// The typed characters that take several tokens, each once.
export function readInBytes(tokens) {
  const seen = new Set();
  tokens.slice(1).forEach((token, place) => {
    const before = Array.from(tokens[place].text);
    if (before.length && !token.text) seen.add(before.at(-1));
  });
  return [...seen];
}

// For each token the other network's that reads the same: one of no character of its own takes that
// of the one before. aligned_tokens in state/run.py, where both have one tokenizer.
export function aligned(tokens) {
  const places = [];
  tokens.forEach(({ text }, at) => {
    const isEnd = at === 0 || at === tokens.length - 1;
    places.push(text || isEnd ? at : places[at - 1]);
  });
  return places;
}

// A mask, a word with its apostrophes, or a single punctuation mark: _PIECES in
// analysis/journey.py.
function piecesToHide(within) {
  const word = "[\\p{L}\\p{N}_]+", blank = BLANK.source.slice(2, -2);
  return new RegExp(`(\\[MASK\\])|${word}(?:[${within}]+${word})*|[^\\p{L}\\p{N}_${blank}]`, "giu");
}

// For each token the whole word { text, start, end, token } that it is part of; null where nothing
// can be hidden.
function wordsToHide(text, tokens, piece) {
  let unit = 0, position = 0;
  const pieces = Array.from(text.matchAll(piece), ({ 0: found, 1: mask, index }) => {
    position += Array.from(text.slice(unit, index)).length;
    const start = position;
    position += Array.from(found).length;
    unit = index + found.length;
    return { text: found, start, end: position, mask };
  });
  return tokens.map((token) => {
    const signs = Array.from(token.text), first = signs.findIndex((sign) => !isBlank(sign));
    const at = token.start === token.end
      ? token.start - 1
      : Math.max(token.start, token.end - (first < 0 ? 0 : signs.length - first));
    const found = pieces.findLast(({ start }) => start <= at);
    if (!found || found.mask || at >= Math.min(found.end, token.end)) return null;
    return {
      text: found.text, start: found.start, end: found.end,
      token: tokens.filter(({ end }) => end <= found.start).length,
    };
  });
}
