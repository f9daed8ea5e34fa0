// What comes to the pictures: packed numbers, the texts beside the scripts, and plotly.js.

// Reading what ffnviz/pictures/payload.py packed: a header, and arrays of numbers.

/** @typedef {Float32Array | Uint16Array | Int32Array | Uint8Array} Numbers */

/**
 * Where an array is, in bytes behind the header; `kept`: how many of its numbers came, if not all.
 *
 * @typedef {{ dtype: string, shape: number[], offset: number, kept?: number }} Packed
 */

const HALF = (() => {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    table[bits] =
      exponent === 0 ? sign * fraction * 2 ** -24
      : exponent === 31 ? (fraction ? NaN : sign * Infinity)
      : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return table;
})();

/** @param {Uint16Array<ArrayBuffer>} halves */
function widen(halves) {
  const values = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) values[i] = HALF[halves[i]];
  return values;
}

/**
 * All entries of an array of which only those that are not zero came, after a bit for each.
 *
 * @param {ArrayBuffer} buffer
 * @param {number} start
 * @param {number} size
 * @param {number} kept
 */
function spread(buffer, start, size, kept) {
  const bits = new Uint8Array(buffer, start, Math.ceil(size / 8));
  const values = widen(new Uint16Array(buffer, start + 4 * Math.ceil(size / 32), kept));
  const all = new Float32Array(size);
  for (let i = 0, next = 0; i < size; i++) {
    if (bits[i >> 3] & (1 << (i & 7))) all[i] = values[next++];
  }
  return all;
}

/**
 * The header, with its arrays by name, and their shapes.
 *
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {any}
 */
export function unpack(bytes) {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Record<string, Numbers>} */
  const arrays = {};
  /** @type {Record<string, number[]>} */
  const shapes = {};
  const packed = /** @type {Record<string, Packed>} */ (header.arrays);
  for (const [name, { dtype, shape, offset, kept }] of Object.entries(packed)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const start = 4 + length + offset;
    shapes[name] = shape;
    if (kept !== undefined) arrays[name] = spread(buffer, start, size, kept);
    else if (dtype === "uint8") arrays[name] = new Uint8Array(buffer, start, size);
    else if (dtype === "float32") arrays[name] = new Float32Array(buffer, start, size);
    else if (dtype === "int32") arrays[name] = new Int32Array(buffer, start, size);
    else {
      const raw = new Uint16Array(buffer, start, size);
      arrays[name] = dtype === "float16" ? widen(raw) : raw;
    }
  }
  return { ...header, arrays, shapes };
}

// The text of the files beside this one: style sheets, notes, palettes. A page that must do without
// a server hands over another reader.

/** @type {(name: string) => Promise<string>} */
let readText = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name} could not be read (${answer.status}).`);
  return answer.text();
};
/** @type {Map<string, Promise<string>>} */
const texts = new Map();

/** @param {(name: string) => Promise<string>} reader */
export function readFrom(reader) {
  readText = reader;
}

/**
 * Texts that came with the scripts are asked for nowhere.
 *
 * @param {Record<string, string>} known
 */
export function keep(known) {
  for (const [name, text] of Object.entries(known)) texts.set(name, Promise.resolve(text));
}

/**
 * Each file is read once; one that could not be read is tried again when next asked for.
 *
 * @param {string} name
 * @returns {Promise<string>}
 */
export function read(name) {
  if (!texts.has(name)) {
    const text = readText(name);
    texts.set(name, text);
    text.catch(() => texts.delete(name));
  }
  return /** @type {Promise<string>} */ (texts.get(name));
}

// plotly.js itself, fetched once a page, and only where a chart is shown.

/** @type {string[] | null} */
let addresses = null;
/** @type {(() => Promise<any>) | null} */
let from = null;
/** @type {Promise<any> | null} */
let loading = null;

// Where plotly.min.js may lie, if not beside this file; the first that answers is taken.
export function plotlyAt(...hrefs) {
  addresses = hrefs;
}

// What makes it instead, where no file can be loaded.
export function plotlyFrom(maker) {
  from = maker;
}

export function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ??= from?.() ?? load(addresses ?? [new URL("plotly.min.js", import.meta.url).href]);
  return loading;
}

/** @param {string[]} hrefs */
function load(hrefs) {
  const [address, ...others] = hrefs;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      script.remove();
      if (others.length) return resolve(load(others));
      loading = null; // the next figure tries again
      reject(new Error("plotly.min.js could not be loaded."));
    };
    document.head.append(script);
  });
}
