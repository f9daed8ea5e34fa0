// The encoder: token ids in, every value of a Trace out, by the names of ffnviz/models/encoder. All
// values are float32 in one memory, [token][dimension]; a pass overwrites those of the pass before.
// Its matrix products are at the end.

const roundUp = (n, to) => Math.ceil(n / to) * to;
const product = (shape) => shape.reduce((a, b) => a * b, 1);

// The float32 that each half is: its bits in place, times 2 to the power that the exponents differ
// by.
function halves() {
  const bits = new Uint32Array(65_536), values = new Float32Array(bits.buffer);
  for (let half = 0; half < 65_536; half++) {
    bits[half] = (half & 0x7fff) << 13;
    values[half] *= half & 0x8000 ? -(2 ** 112) : 2 ** 112;
  }
  return values;
}

// CRC-32 (ISO 3309, as zlib has it): a lost or changed byte of the weights is noticed.
const POLYNOMIAL = 0xedb88320;

// What a byte does to the sum, with none, one, two or three bytes behind it.
function tables() {
  const all = Array.from({ length: 4 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    all[0][byte] = sum;
  }
  for (let n = 1; n < 4; n++) for (let byte = 0; byte < 256; byte++) {
    const before = all[n - 1][byte];
    all[n][byte] = (before >>> 8) ^ all[0][before & 255];
  }
  return all;
}

// The sum of bytes, whose number is a multiple of four.
export function crc32(buffer) {
  const [t0, t1, t2, t3] = tables(), words = new Uint32Array(buffer);
  let sum = -1;
  for (let at = 0; at < words.length; at++) {
    sum ^= words[at];
    sum = t3[sum & 255] ^ t2[(sum >>> 8) & 255] ^ t1[(sum >>> 16) & 255] ^ t0[sum >>> 24];
  }
  return (sum ^ -1) >>> 0;
}

const bitsOf = (values) => new Int32Array(values.buffer, values.byteOffset, values.length);

// By bits, of which a negative number has the first set: no branch is guessed wrongly.
function relu(values, to) {
  const from = bitsOf(values), bits = bitsOf(to);
  for (let i = 0; i < bits.length; i++) bits[i] = from[i] & ~(from[i] >> 31);
}

// erfc by a rational Chebyshev fit, relative error 1.2e-7 (Press et al., Numerical Recipes, section
// 6.2).
const FIT = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
];
const [F0, F1, F2, F3, F4, F5, F6, F7, F8, F9] = FIT;
function computedGelu(x) {
  const z = Math.abs(x) * Math.SQRT1_2, t = 1 / (1 + 0.5 * z);
  const power = F0 +
    t * (F1 + t * (F2 + t * (F3 + t * (F4 + t * (F5 + t * (F6 + t * (F7 + t * (F8 + t * F9))))))));
  const tail = t * Math.exp(-z * z + power);
  return 0.5 * x * (x > 0 ? 2 - tail : tail);
}

// Read from a table, between its entries in proportion: off by at most STEP² / 8 max |GELU″| =
// 4e-7.
const [END, STEP] = [6, 1 / 512]; // beyond the end GELU is 0 or x, but for 6e-9
const table = Float32Array.from(
  { length: 2 * END / STEP + 2 }, (_, at) => computedGelu(at * STEP - END),
);
function gelu(values, to) {
  for (let i = 0; i < to.length; i++) {
    const x = values[i], place = (x + END) / STEP, at = place | 0;
    if (Math.abs(x) < END) to[i] = table[at] + (place - at) * (table[at + 1] - table[at]);
    else to[i] = x > 0 ? x : 0 * x; // NaN stays
  }
}

// What packing.py lets through; each for all values, as a call for one takes longer than it.
const ACTIVATIONS = { relu, gelu };

/**
 * Makes an encoder.
 *
 * @param config that of the network's folder
 * @param places of each weight in the bytes: { shape, at, panels }, as packing.py packed them
 * @param bytes float16, one weight after the other
 * @param allowed whether WebAssembly may be used
 */
export function makeEncoder({ config, places }, bytes, allowed = true) {
  const {
    d_model: d, d_ff: dFf, n_heads: nHeads, n_blocks: nBlocks, vocab_size: nWords, max_tokens: most,
  } = config;
  const dHead = d / nHeads, activate = ACTIVATIONS[config.activation];
  const nZeros = roundUp(Math.max(nWords, most + PANEL, d), ROWS), wide = roundUp(dHead, PANEL);
  const nWeights = Object.values(places).reduce(
    (sum, { shape }) => sum + roundUp(product(shape), ROWS), nZeros,
  );
  const blockRoom = 13 * d + 2 * dFf + nHeads * most; // numbers a token
  // A product reads ahead.
  const headRoom = 3 * wide + most + PANEL, panel = PANEL * Math.max(d, dFf, most + PANEL);
  // A pass and, on top of it, what a pass from a block on takes; the logits of one token.
  const size = nWeights + (most + PANEL) * (2 * nBlocks * blockRoom + headRoom + 4 * d) +
    2 * ROWS * nWords + panel;
  const { f, kind, product: multiply } = makeMemory(size, allowed);
  let top = 0;

  // Rows that only round their number up are zero.
  function room(T, width) {
    const at = top;
    top += roundUp(T, ROWS) * width;
    f.fill(0, at + T * width, top);
    return f.subarray(at, at + T * width);
  }
  const placeOf = (values) => values.byteOffset / values.BYTES_PER_ELEMENT;

  const half = halves();
  function weight(name) {
    const { shape, at } = places[name];
    const from = new Uint16Array(bytes, at, product(shape));
    const place = top;
    for (let i = 0; i < from.length; i++) f[place + i] = half[from[i]];
    top = roundUp(place + from.length, ROWS);
    return place;
  }
  const layer = (name) => ({
    w: weight(`${name}.weight`), b: weight(`${name}.bias`), nOut: places[`${name}.weight`].shape[0],
  });
  const norm = (name) => ({ gain: weight(`${name}.weight`), bias: weight(`${name}.bias`) });
  const blocks = Array.from({ length: nBlocks }, (_, n) => ({
    attentionNorm: norm(`blocks.${n}.attention_norm`), ffnNorm: norm(`blocks.${n}.ffn_norm`),
    projectIn: layer(`blocks.${n}.attention.project_in`),
    projectOut: layer(`blocks.${n}.attention.project_out`), expand: layer(`blocks.${n}.ffn.expand`),
    compress: layer(`blocks.${n}.ffn.compress`),
  }));
  const finalNorm = norm("final_norm"), positions = weight("position_embedding.weight");
  // No bias: memory begins as zeros.
  const words = { w: weight("token_embedding.weight"), b: top, nOut: nWords }, zeros = top;
  top += nZeros;
  const base = top;

  function linear(x, { w, b, nOut }, T) {
    const y = room(T, nOut);
    multiply(placeOf(x), w, b, placeOf(y), T, x.length / T, nOut);
    return y;
  }
  function layerNorm(x, { gain, bias }, T) {
    const y = room(T, d);
    for (let t = 0, at = 0; t < T; t++, at += d) {
      const [mean, scale] = momentsOf(x, at), share = 1 / scale;
      for (let k = 0; k < d; k++) {
        y[at + k] = (x[at + k] - mean) * share * f[gain + k] + f[bias + k];
      }
    }
    return y;
  }
  // The mean of the row that begins there, and what LayerNorm divides by.
  function momentsOf(x, at) {
    let sum = 0, squares = 0; // float64, so that one less the other has all digits of a float32
    for (let k = at; k < at + d; k++) {
      sum += x[k];
      squares += x[k] * x[k];
    }
    const mean = sum / d;
    return [mean, Math.sqrt(squares / d - mean * mean + config.layer_norm_eps)];
  }
  function sum(a, b, T) {
    const y = room(T, d);
    for (let i = 0; i < y.length; i++) y[i] = a[i] + b[i];
    return y;
  }

  // The rows of each head's queries, keys or values, [head][token][dimension].
  function headsOf(projected, which, T) {
    const y = room(T, d);
    for (let h = 0, to = 0; h < nHeads; h++) for (let t = 0; t < T; t++, to += dHead) {
      const from = (3 * t + which) * d + h * dHead;
      for (let k = 0; k < dHead; k++) y[to + k] = projected[from + k];
    }
    return y;
  }
  // softmax(q kᵀ / √d_head) of one query (Vaswani et al. 2017, equation 1), in place of its scores
  // q kᵀ.
  function softmax(scores, at, T) {
    const scale = 1 / Math.sqrt(dHead);
    let highest = -Infinity, total = 0;
    for (let s = at; s < at + T; s++) highest = Math.max(highest, scores[s]);
    for (let s = at; s < at + T; s++) total += scores[s] = Math.exp((scores[s] - highest) * scale);
    for (let s = at; s < at + T; s++) scores[s] /= total;
  }
  function attention(stream, block, T) {
    const input = layerNorm(stream, block.attentionNorm, T);
    const projected = linear(input, block.projectIn, T);
    const [queries, keys, values] = [0, 1, 2].map((which) => headsOf(projected, which, T));
    const weights = room(nHeads * T, T), mixed = room(T, d), before = top;
    // Each head is two products: with its keys, and with its values transposed, in panels. Keys and
    // values that only round their number up are zero, and so are their scores.
    const nKeys = roundUp(T, PANEL);
    const keyPanels = room(nKeys, dHead).fill(0);
    const valuePanels = room(nKeys, wide).fill(0);
    const scores = room(T, nKeys), z = room(T, wide);
    for (let h = 0, from = 0, row = 0; h < nHeads; h++) {
      const own = placeOf(queries) + from;
      for (let s = 0; s < T; s++) {
        const to = (s - s % PANEL) * dHead + s % PANEL;
        for (let k = 0; k < dHead; k++, from++) {
          keyPanels[to + k * PANEL] = keys[from];
          valuePanels[(k - k % PANEL) * nKeys + s * PANEL + k % PANEL] = values[from];
        }
      }
      multiply(own, placeOf(keyPanels), zeros, placeOf(scores), T, dHead, nKeys);
      for (let t = 0, at = 0; t < T; t++, row += T, at += nKeys) {
        softmax(scores, at, T);
        for (let s = 0; s < T; s++) weights[row + s] = scores[at + s];
      }
      multiply(placeOf(scores), placeOf(valuePanels), zeros, placeOf(z), T, nKeys, wide);
      for (let t = 0; t < T; t++) {
        for (let k = 0; k < dHead; k++) mixed[t * d + h * dHead + k] = z[t * wide + k];
      }
    }
    top = before;
    return { input, queries, keys, values, weights, output: linear(mixed, block.projectOut, T) };
  }
  // `off`: the neurons whose activation is taken as zero on all tokens.
  function feedForward(stream, block, T, off) {
    const input = layerNorm(stream, block.ffnNorm, T);
    const preActivation = linear(input, block.expand, T);
    const hidden = room(T, dFf);
    activate(preActivation, hidden);
    for (const neuron of off) for (let t = 0; t < T; t++) hidden[t * dFf + neuron] = 0;
    return {
      input, pre_activation: preActivation, hidden, output: linear(hidden, block.compress, T),
    };
  }
  function run(input, number, T, off) {
    const block = blocks[number];
    const attended = attention(input, block, T);
    const middle = sum(input, attended.output, T);
    const ffn = feedForward(middle, block, T, off(number));
    return { input, attention: attended, middle, ffn, output: sum(middle, ffn.output, T) };
  }

  const none = () => [];
  // The logits at a token of some streams, in one product; they are copies.
  function logitsOf(streams, token) {
    const n = streams.length, before = top, rows = room(n, d);
    streams.forEach((stream, at) => rows.set(stream.subarray(token * d, (token + 1) * d), at * d));
    const logits = linear(layerNorm(rows, finalNorm, n), words, n).slice();
    top = before;
    return streams.map((_, at) => logits.subarray(at * nWords, (at + 1) * nWords));
  }

  return {
    kind,
    // The trace of some ids; `off` gives the neurons of a block, by its number, that are switched
    // off.
    trace(ids, off = none) {
      const T = ids.length;
      top = base;
      const embedding = room(T, d);
      ids.forEach((id, t) => {
        const from = words.w + (id - (id % PANEL)) * d + (id % PANEL);
        for (let k = 0; k < d; k++) {
          embedding[t * d + k] = f[from + k * PANEL] + f[positions + t * d + k];
        }
      });
      const passed = [];
      for (let n = 0, input = embedding; n < nBlocks; n++, input = passed[n - 1].output) {
        passed.push(run(input, n, T, off));
      }
      return {
        ids, embedding, blocks: passed, final: layerNorm(passed[nBlocks - 1].output, finalNorm, T),
        off,
      };
    },
    logits: ({ blocks: passed }, token) => logitsOf([passed[nBlocks - 1].output], token)[0],
    // The logits at a token, and the same with a block's FFN left out for every token.
    logitsWithAndWithoutFfn({ ids, blocks: passed, off }, block, token) {
      const before = top;
      let stream = passed[block].middle;
      for (let n = block + 1; n < nBlocks; n++) stream = run(stream, n, ids.length, off).output;
      const both = logitsOf([passed[nBlocks - 1].output, stream], token);
      top = before;
      return both;
    },
    // What each neuron of a block directly adds to a word's logit: direct_contributions in Python.
    contributions({ blocks: passed }, block, token, word) {
      const [, scale] = momentsOf(passed[nBlocks - 1].output, token * d);
      const from = words.w + (word - (word % PANEL)) * d + (word % PANEL);
      const along = new Float64Array(d);
      for (let k = 0; k < d; k++) along[k] = f[finalNorm.gain + k] * f[from + k * PANEL];
      const mean = along.reduce((a, b) => a + b, 0) / d, { w } = blocks[block].compress;
      const hidden = passed[block].ffn.hidden.subarray(token * dFf, (token + 1) * dFf);
      const added = new Float32Array(dFf);
      hidden.forEach((value, neuron) => {
        if (value === 0) return;
        let dot = 0;
        for (let k = 0; k < d; k++) {
          dot += (along[k] - mean) * f[w + (k - (k % PANEL)) * dFf + neuron * PANEL + (k % PANEL)];
        }
        added[neuron] = (value * dot) / scale;
      });
      return added;
    },
  };
}

// Matrix products y = x Wᵀ + b in WebAssembly SIMD, or in plain JavaScript where a browser has
// none.
//
// W lies in panels of 8 rows, [n_out / 8][n_in][8], so that it is read in order. A tile of y, 6 or
// 4 rows by 8 outputs, stays in registers: with 6 rows the multipliers never wait, with 4 each sum
// waits for the one before. y has room for a multiple of 4 rows: each twelve are two tiles of 6,
// the others are tiles of 4. Beside a tile's sums a part of the next panel is read, so that it is
// in the cache by then; behind W there must be as much as a panel. All places are counted in
// float32 numbers of one memory.

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
    if (signed ? (n === 0 && !(byte & 0x40)) || (n === -1 && byte & 0x40) : n === 0) {
      return [...bytes, byte];
    }
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
    plus: (a, b) => [a, b, 0x6a], minus: (a, b) => [a, b, 0x6b], multiply: (a, b) => [a, b, 0x6c],
    shift: (a, n) => [a, int(n), 0x74],
    isPositive: (a) => [a, int(0), 0x4a],
    load: (pointer, offset) => [get(pointer), memory(0, 4, offset)], // v128.load
    spread: (pointer, offset) => [get(pointer), memory(9, 2, offset)], // v128.load32_splat
    store: (pointer, offset, value) => [get(pointer), value, memory(11, 4, offset)], // v128.store
    addLanes: (a, b) => simd(0xe4, a, b), multiplyLanes: (a, b) => simd(0xe6, a, b), // f32x4
    // f32x4.relaxed_madd: a b + c, rounded once where the processor can.
    multiplyAdd: (a, b, c) => simd(0x105, a, b, c),
    readAhead: (pointer) => [get(pointer), memory(0, 4, 0), 0x1a], // v128.load, drop
    unlessZero: (a, body) => [a, 0x04, 0x40, body, 0x0b], // if … end
    // Loop … br_if 0.
    repeatWhile: (body, condition) => [0x03, 0x40, body, condition, 0x0d, 0, 0x0b],
  };
}

// As product() below has them, in bytes; how many rows are in tiles of 6, and then of 4; from one
// reading ahead to the next.
const PARAMETERS = ["x", "w", "b", "y", "bySix", "byFour", "nIn", "nOut", "stride"];
const COUNTERS = ["rows", "out", "left", "t", "k", "panel", "next", ...times(MORE, (r) => `x${r}`)];
const LANES = ["value", "w0", "w1", ...times(MORE, (r) => [`sum${r} 0`, `sum${r} 1`])];

// `fused`: a product and a sum are one instruction, which not all browsers have.
function body(fused) {
  const {
    get, set, int, tee, plus, minus, multiply, shift, isPositive, load, spread, store, addLanes,
    multiplyLanes, multiplyAdd, readAhead, unlessZero, repeatWhile,
  } = makeInstructions([...PARAMETERS, ...COUNTERS, ...LANES]);
  const move = (local, by) => set(local, plus(get(local), by));
  const lanes = 16, panelRow = PANEL * BYTES; // bytes
  const added = (a, b, c) => (fused ? multiplyAdd(a, b, c) : addLanes(multiplyLanes(a, b), c));
  const add = (row, half) =>
    set(`sum${row} ${half}`, added(get("value"), get(`w${half}`), get(`sum${row} ${half}`)));
  const step = (n) => (k) => [
    set("w0", load("panel", k * panelRow)), set("w1", load("panel", k * panelRow + lanes)),
    times(n, (row) => [set("value", spread(`x${row}`, k * BYTES)), add(row, 0), add(row, 1)]),
  ];
  const sums = (n) =>
    repeatWhile([
      times(STEPS, step(n)), times(n, (row) => move(`x${row}`, int(STEPS * BYTES))),
      move("panel", int(STEPS * panelRow)), readAhead("next"), move("next", get("stride")),
    ], tee("k", minus(get("k"), int(STEPS))));
  const tiles = (n, count) =>
    unlessZero(get(count), [
      set("t", get(count)),
      repeatWhile([
        set("x0", get("rows")),
        times(n - 1, (row) => set(`x${row + 1}`, plus(get(`x${row}`), shift(get("nIn"), 2)))),
        times(n, (row) => [set(`sum${row} 0`, load("b", 0)), set(`sum${row} 1`, load("b", lanes))]),
        set("panel", get("w")), set("k", get("nIn")), sums(n),
        times(
          n,
          (row) => [
            store("out", 0, get(`sum${row} 0`)), store("out", lanes, get(`sum${row} 1`)),
            move("out", shift(get("nOut"), 2)),
          ],
        ),
        move("rows", multiply(get("nIn"), int(n * BYTES))),
      ], tee("t", minus(get("t"), int(n)))),
    ]);
  const panels = repeatWhile([
    set("rows", get("x")), set("out", get("y")),
    set("next", plus(get("w"), multiply(get("nIn"), int(panelRow)))), tiles(MORE, "bySix"),
    tiles(ROWS, "byFour"), move("w", multiply(get("nIn"), int(panelRow))), move("b", int(panelRow)),
    move("y", int(panelRow)),
  ], isPositive(tee("left", minus(get("left"), int(PANEL)))));
  return [set("left", get("nOut")), panels].flat(Infinity);
}

// The module: it imports a memory and exports the product.
function moduleBytes(fused) {
  const code = body(fused);
  const locals = vector([[...leb(COUNTERS.length), I32], [...leb(LANES.length), V128]]);
  const whole = [...locals, ...code, 0x0b];
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, vector([[0x60, ...vector(PARAMETERS.map(() => [I32])), 0]])), // its type
    // A memory of a page or more.
    ...section(2, vector([[...name("page"), ...name("memory"), 2, 0, 1]])),
    ...section(3, vector([[0]])),
    ...section(7, vector([[...name("product"), 0, 0]])),
    ...section(10, vector([[...leb(whole.length), ...whole]])),
  ]);
}

// The same in plain JavaScript. Sums are float64: rounding each to float32 takes twice as long.
function plainProduct(f) {
  return (x, w, b, y, T, nIn, nOut) => {
    for (let panel = 0; panel < nOut; panel += PANEL) {
      for (let t = 0; t < T; t += ROWS) {
        for (let j = panel; j < panel + PANEL; j += 2) {
          const x0 = x + t * nIn;
          const x1 = x0 + nIn;
          const x2 = x1 + nIn;
          const x3 = x2 + nIn;
          const to = y + t * nOut + j;
          let a0 = f[b + j];
          let b0 = f[b + j + 1];
          let a1 = a0;
          let b1 = b0;
          let a2 = a0;
          let b2 = b0;
          let a3 = a0;
          let b3 = b0;
          for (let k = 0, at = w + panel * nIn + (j - panel); k < nIn; k++, at += PANEL) {
            const u = f[at];
            const v = f[at + 1];
            const z0 = f[x0 + k];
            const z1 = f[x1 + k];
            const z2 = f[x2 + k];
            const z3 = f[x3 + k];
            a0 += z0 * u;
            b0 += z0 * v;
            a1 += z1 * u;
            b1 += z1 * v;
            a2 += z2 * u;
            b2 += z2 * v;
            a3 += z3 * u;
            b3 += z3 * v;
          }
          f[to] = a0;
          f[to + nOut] = a1;
          f[to + 2 * nOut] = a2;
          f[to + 3 * nOut] = a3;
          f[to + 1] = b0;
          f[to + nOut + 1] = b1;
          f[to + 2 * nOut + 1] = b2;
          f[to + 3 * nOut + 1] = b3;
        }
      }
    }
  };
}

/**
 * y = x Wᵀ + b, all of them places in the memory.
 *
 * @callback Product
 * @param {number} x
 * @param {number} w
 * @param {number} b
 * @param {number} y
 * @param {number} T
 * @param {number} nIn
 * @param {number} nOut
 * @returns {void}
 */

/**
 * A memory of so many numbers, and the product over it.
 *
 * @param {number} size how many float32 numbers
 * @param allowed whether WebAssembly may be used; a page's policy or its age may forbid it all the
 *   same
 * @returns {{ f: Float32Array, kind: "simd" | "plain", product: Product }} the numbers; how they
 *   are multiplied, and what does it
 */
export function makeMemory(size, allowed = true) {
  try {
    if (allowed) {
      const fused = moduleBytes(true);
      const compiled = new WebAssembly.Module(
        WebAssembly.validate(fused) ? fused : moduleBytes(false),
      );
      const memory = new WebAssembly.Memory({ initial: Math.ceil((size * BYTES) / 65_536) });
      const { product } =
        /** @type {{ product: (...places: number[]) => void }} */ (new WebAssembly.Instance(
          compiled, { page: { memory } },
        ).exports);
      /** @type {Product} */
      const inBytes = (x, w, b, y, T, nIn, nOut) => {
        const rows = Math.ceil(T / ROWS) * ROWS, byFour = rows % (2 * MORE), bySix = rows - byFour;
        // All tiles together read a panel.
        const stride = Math.floor((STEPS * PANEL * BYTES) / (bySix / MORE + byFour / ROWS));
        product(BYTES * x, BYTES * w, BYTES * b, BYTES * y, bySix, byFour, nIn, nOut, stride);
      };
      return { f: new Float32Array(memory.buffer), kind: "simd", product: inBytes };
    }
  } catch (error) {
    // No memory is left, and there is none for the other either.
    if (error instanceof RangeError) throw error;
  }
  const f = new Float32Array(size);
  return { f, kind: "plain", product: plainProduct(f) };
}
