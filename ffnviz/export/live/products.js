// Matrix products y = x Wᵀ + b in WebAssembly SIMD, or in plain JavaScript where a browser has none.
//
// W lies in panels of 8 rows, [n_out / 8][n_in][8], so that it is read in order. A tile of y, 6 or 4 rows
// by 8 outputs, stays in registers: with 6 rows the multipliers never wait, with 4 each sum waits for the
// one before. y has room for a multiple of 4 rows: each twelve are two tiles of 6, the others are tiles
// of 4. Beside a tile's sums a part of the next panel is read, so that it is in the cache by then; behind
// W there must be as much as a panel. All places are counted in float32 numbers of one memory.

export const PANEL = 8;
export const ROWS = 4; // of a tile
const MORE = 6; // of a tile, where there are enough
const STEPS = 4; // of the sum over n_in in a turn of the inner loop

const BYTES = 4; // of a float32
const times = (n, make) => Array.from({ length: n }, (_, at) => make(at)).flat(Infinity);

// A number as WebAssembly writes it (LEB128), with a sign or without.
function leb(n, signed) {
  const bytes = [];
  for (;;) {
    const byte = n & 0x7f;
    n = signed ? n >> 7 : n >>> 7;
    if (signed ? (n === 0 && !(byte & 0x40)) || (n === -1 && byte & 0x40) : n === 0) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

const vector = (parts) => [...leb(parts.length), ...parts.flat()];
const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];
const name = (text) => vector([...text].map((sign) => sign.charCodeAt(0)));
const [I32, V128] = [0x7f, 0x7b];

// The instructions that are used (WebAssembly Core 2.0, 5.4), over locals that have names.
function makeInstructions(locals) {
  const at = (local) => {
    if (!locals.includes(local)) throw new Error(`There is no local called ${local}.`);
    return leb(locals.indexOf(local));
  };
  const get = (local) => [0x20, at(local)], set = (local, value) => [value, 0x21, at(local)];
  const int = (n) => [0x41, leb(n, true)];
  const simd = (code, ...operands) => [operands, 0xfd, leb(code)];
  const memory = (code, align, offset) => [0xfd, leb(code), align, leb(offset)];
  return {
    get, set, int,
    tee: (local, value) => [value, 0x22, at(local)],
    plus: (a, b) => [a, b, 0x6a], minus: (a, b) => [a, b, 0x6b], multiply: (a, b) => [a, b, 0x6c], shift: (a, n) => [a, int(n), 0x74],
    isPositive: (a) => [a, int(0), 0x4a],
    load: (pointer, offset) => [get(pointer), memory(0, 4, offset)], // v128.load
    spread: (pointer, offset) => [get(pointer), memory(9, 2, offset)], // v128.load32_splat
    store: (pointer, offset, value) => [get(pointer), value, memory(11, 4, offset)], // v128.store
    addLanes: (a, b) => simd(0xe4, a, b), multiplyLanes: (a, b) => simd(0xe6, a, b), // f32x4
    multiplyAdd: (a, b, c) => simd(0x105, a, b, c), // f32x4.relaxed_madd: a b + c, rounded once where the processor can
    readAhead: (pointer) => [get(pointer), memory(0, 4, 0), 0x1a], // v128.load, drop
    unlessZero: (a, body) => [a, 0x04, 0x40, body, 0x0b], // if … end
    repeatWhile: (body, condition) => [0x03, 0x40, body, condition, 0x0d, 0, 0x0b], // loop … br_if 0
  };
}

// As product() below has them, in bytes; how many rows are in tiles of 6, and then of 4; from one reading ahead to
// the next.
const PARAMETERS = ["x", "w", "b", "y", "bySix", "byFour", "nIn", "nOut", "stride"];
const COUNTERS = ["rows", "out", "left", "t", "k", "panel", "next", ...times(MORE, (r) => `x${r}`)];
const LANES = ["value", "w0", "w1", ...times(MORE, (r) => [`sum${r} 0`, `sum${r} 1`])];

// `fused`: a product and a sum are one instruction, which not all browsers have.
function body(fused) {
  const { get, set, int, tee, plus, minus, multiply, shift, isPositive, load, spread, store, addLanes, multiplyLanes, multiplyAdd, readAhead, unlessZero, repeatWhile } =
    makeInstructions([...PARAMETERS, ...COUNTERS, ...LANES]);
  const move = (local, by) => set(local, plus(get(local), by));
  const lanes = 16, panelRow = PANEL * BYTES; // bytes
  const added = (a, b, c) => (fused ? multiplyAdd(a, b, c) : addLanes(multiplyLanes(a, b), c));
  const add = (row, half) => set(`sum${row} ${half}`, added(get("value"), get(`w${half}`), get(`sum${row} ${half}`)));
  const step = (n) => (k) => [
    set("w0", load("panel", k * panelRow)), set("w1", load("panel", k * panelRow + lanes)),
    times(n, (row) => [set("value", spread(`x${row}`, k * BYTES)), add(row, 0), add(row, 1)]),
  ];
  const sums = (n) => repeatWhile([
    times(STEPS, step(n)),
    times(n, (row) => move(`x${row}`, int(STEPS * BYTES))),
    move("panel", int(STEPS * panelRow)), readAhead("next"), move("next", get("stride")),
  ], tee("k", minus(get("k"), int(STEPS))));
  const tiles = (n, count) => unlessZero(get(count), [
    set("t", get(count)),
    repeatWhile([
      set("x0", get("rows")), times(n - 1, (row) => set(`x${row + 1}`, plus(get(`x${row}`), shift(get("nIn"), 2)))),
      times(n, (row) => [set(`sum${row} 0`, load("b", 0)), set(`sum${row} 1`, load("b", lanes))]),
      set("panel", get("w")), set("k", get("nIn")),
      sums(n),
      times(n, (row) => [store("out", 0, get(`sum${row} 0`)), store("out", lanes, get(`sum${row} 1`)), move("out", shift(get("nOut"), 2))]),
      move("rows", multiply(get("nIn"), int(n * BYTES))),
    ], tee("t", minus(get("t"), int(n)))),
  ]);
  const panels = repeatWhile([
    set("rows", get("x")), set("out", get("y")), set("next", plus(get("w"), multiply(get("nIn"), int(panelRow)))),
    tiles(MORE, "bySix"), tiles(ROWS, "byFour"),
    move("w", multiply(get("nIn"), int(panelRow))), move("b", int(panelRow)), move("y", int(panelRow)),
  ], isPositive(tee("left", minus(get("left"), int(PANEL)))));
  return [set("left", get("nOut")), panels].flat(Infinity);
}

// The module: it imports a memory and exports the product.
function moduleBytes(fused) {
  const code = body(fused), locals = vector([[...leb(COUNTERS.length), I32], [...leb(LANES.length), V128]]);
  const whole = [...locals, ...code, 0x0b];
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, vector([[0x60, ...vector(PARAMETERS.map(() => [I32])), 0]])), // its type
    ...section(2, vector([[...name("page"), ...name("memory"), 2, 0, 1]])), // a memory of a page or more
    ...section(3, vector([[0]])),
    ...section(7, vector([[...name("product"), 0, 0]])),
    ...section(10, vector([[...leb(whole.length), ...whole]])),
  ]);
}

// The same in plain JavaScript. Sums are float64: rounding each to float32 takes twice as long.
function plainProduct(f) {
  return (x, w, b, y, T, nIn, nOut) => {
    for (let panel = 0; panel < nOut; panel += PANEL) for (let t = 0; t < T; t += ROWS) for (let j = panel; j < panel + PANEL; j += 2) {
      const x0 = x + t * nIn, x1 = x0 + nIn, x2 = x1 + nIn, x3 = x2 + nIn, to = y + t * nOut + j;
      let a0 = f[b + j], b0 = f[b + j + 1], a1 = a0, b1 = b0, a2 = a0, b2 = b0, a3 = a0, b3 = b0;
      for (let k = 0, at = w + panel * nIn + (j - panel); k < nIn; k++, at += PANEL) {
        const u = f[at], v = f[at + 1], z0 = f[x0 + k], z1 = f[x1 + k], z2 = f[x2 + k], z3 = f[x3 + k];
        a0 += z0 * u; b0 += z0 * v; a1 += z1 * u; b1 += z1 * v; a2 += z2 * u; b2 += z2 * v; a3 += z3 * u; b3 += z3 * v;
      }
      f[to] = a0; f[to + nOut] = a1; f[to + 2 * nOut] = a2; f[to + 3 * nOut] = a3;
      f[to + 1] = b0; f[to + nOut + 1] = b1; f[to + 2 * nOut + 1] = b2; f[to + 3 * nOut + 1] = b3;
    }
  };
}

/**
 * y = x Wᵀ + b, all of them places in the memory.
 *
 * @typedef {(x: number, w: number, b: number, y: number, T: number, nIn: number, nOut: number) => void} Product
 */

/**
 * A memory of so many numbers, and the product over it.
 *
 * @param {number} size how many float32 numbers
 * @param allowed whether WebAssembly may be used; a page's policy or its age may forbid it all the same
 * @returns {{ f: Float32Array, kind: "simd" | "plain", product: Product }} the numbers; how they are
 *   multiplied, and what does it
 */
export function makeMemory(size, allowed = true) {
  try {
    if (allowed) {
      const fused = moduleBytes(true), compiled = new WebAssembly.Module(WebAssembly.validate(fused) ? fused : moduleBytes(false));
      const memory = new WebAssembly.Memory({ initial: Math.ceil((size * BYTES) / 65_536) });
      const { product } = /** @type {{ product: (...places: number[]) => void }} */ (new WebAssembly.Instance(compiled, { page: { memory } }).exports);
      /** @type {Product} */
      const inBytes = (x, w, b, y, T, nIn, nOut) => {
        const rows = Math.ceil(T / ROWS) * ROWS, byFour = rows % (2 * MORE), bySix = rows - byFour;
        const stride = Math.floor((STEPS * PANEL * BYTES) / (bySix / MORE + byFour / ROWS)); // all tiles together read a panel
        product(BYTES * x, BYTES * w, BYTES * b, BYTES * y, bySix, byFour, nIn, nOut, stride);
      };
      return { f: new Float32Array(memory.buffer), kind: "simd", product: inBytes };
    }
  } catch (error) {
    if (error instanceof RangeError) throw error; // no memory is left, and there is none for the other either
  }
  const f = new Float32Array(size);
  return { f, kind: "plain", product: plainProduct(f) };
}
