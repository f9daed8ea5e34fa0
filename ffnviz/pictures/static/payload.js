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
  for (let i = 0, next = 0; i < size; i++) if (bits[i >> 3] & (1 << (i & 7))) all[i] = values[next++];
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
  for (const [name, { dtype, shape, offset, kept }] of Object.entries(/** @type {Record<string, Packed>} */ (header.arrays))) {
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
