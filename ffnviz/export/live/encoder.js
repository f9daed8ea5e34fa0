// The encoder: token ids in, every value of a Trace out, by the names of ffnviz/models/encoder. All
// values are float32 in one memory, [token][dimension]; a pass overwrites those of the pass before.

import { makeMemory, PANEL, ROWS } from "./products.js";

const roundUp = (n, to) => Math.ceil(n / to) * to;
const product = (shape) => shape.reduce((a, b) => a * b, 1);

// The float32 that each half is: its bits in place, times 2 to the power that the exponents differ by.
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

// erfc by a rational Chebyshev fit, relative error 1.2e-7 (Press et al., Numerical Recipes, section 6.2).
const FIT = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277];
const [F0, F1, F2, F3, F4, F5, F6, F7, F8, F9] = FIT;
function computedGelu(x) {
  const z = Math.abs(x) * Math.SQRT1_2, t = 1 / (1 + 0.5 * z);
  const power = F0 + t * (F1 + t * (F2 + t * (F3 + t * (F4 + t * (F5 + t * (F6 + t * (F7 + t * (F8 + t * F9))))))));
  const tail = t * Math.exp(-z * z + power);
  return 0.5 * x * (x > 0 ? 2 - tail : tail);
}

// Read from a table, between its entries in proportion: off by at most STEP² / 8 max |GELU″| = 4e-7.
const [END, STEP] = [6, 1 / 512]; // beyond the end GELU is 0 or x, but for 6e-9
const table = Float32Array.from({ length: 2 * END / STEP + 2 }, (_, at) => computedGelu(at * STEP - END));
function gelu(values, to) {
  for (let i = 0; i < to.length; i++) {
    const x = values[i], place = (x + END) / STEP, at = place | 0;
    if (Math.abs(x) < END) to[i] = table[at] + (place - at) * (table[at + 1] - table[at]);
    else to[i] = x > 0 ? x : 0 * x; // NaN stays
  }
}

const ACTIVATIONS = { relu, gelu }; // what packing.py lets through; each for all values, as a call for one takes longer than it

/**
 * Makes an encoder.
 *
 * @param config that of the network's folder
 * @param places of each weight in the bytes: { shape, at, panels }, as packing.py packed them
 * @param bytes float16, one weight after the other
 * @param allowed whether WebAssembly may be used
 */
export function makeEncoder({ config, places }, bytes, allowed = true) {
  const { d_model: d, d_ff: dFf, n_heads: nHeads, n_blocks: nBlocks, vocab_size: nWords, max_tokens: most } = config;
  const dHead = d / nHeads, activate = ACTIVATIONS[config.activation];
  const nZeros = roundUp(Math.max(nWords, most + PANEL, d), ROWS), wide = roundUp(dHead, PANEL);
  const nWeights = Object.values(places).reduce((sum, { shape }) => sum + roundUp(product(shape), ROWS), nZeros);
  const blockRoom = 13 * d + 2 * dFf + nHeads * most; // numbers a token
  const headRoom = 3 * wide + most + PANEL, panel = PANEL * Math.max(d, dFf, most + PANEL); // a product reads ahead
  // A pass and, on top of it, what a pass from a block on takes; the logits of one token.
  const size = nWeights + (most + PANEL) * (2 * nBlocks * blockRoom + headRoom + 4 * d) + 2 * ROWS * nWords + panel;
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
    const { shape, at } = places[name], from = new Uint16Array(bytes, at, product(shape)), place = top;
    for (let i = 0; i < from.length; i++) f[place + i] = half[from[i]];
    top = roundUp(place + from.length, ROWS);
    return place;
  }
  const layer = (name) => ({ w: weight(`${name}.weight`), b: weight(`${name}.bias`), nOut: places[`${name}.weight`].shape[0] });
  const norm = (name) => ({ gain: weight(`${name}.weight`), bias: weight(`${name}.bias`) });
  const blocks = Array.from({ length: nBlocks }, (_, n) => ({
    attentionNorm: norm(`blocks.${n}.attention_norm`), ffnNorm: norm(`blocks.${n}.ffn_norm`),
    projectIn: layer(`blocks.${n}.attention.project_in`), projectOut: layer(`blocks.${n}.attention.project_out`),
    expand: layer(`blocks.${n}.ffn.expand`), compress: layer(`blocks.${n}.ffn.compress`),
  }));
  const finalNorm = norm("final_norm"), positions = weight("position_embedding.weight");
  const words = { w: weight("token_embedding.weight"), b: top, nOut: nWords }, zeros = top; // no bias: memory begins as zeros
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
      for (let k = 0; k < d; k++) y[at + k] = (x[at + k] - mean) * share * f[gain + k] + f[bias + k];
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
  // softmax(q kᵀ / √d_head) of one query (Vaswani et al. 2017, equation 1), in place of its scores q kᵀ.
  function softmax(scores, at, T) {
    const scale = 1 / Math.sqrt(dHead);
    let highest = -Infinity, total = 0;
    for (let s = at; s < at + T; s++) highest = Math.max(highest, scores[s]);
    for (let s = at; s < at + T; s++) total += scores[s] = Math.exp((scores[s] - highest) * scale);
    for (let s = at; s < at + T; s++) scores[s] /= total;
  }
  function attention(stream, block, T) {
    const input = layerNorm(stream, block.attentionNorm, T), projected = linear(input, block.projectIn, T);
    const [queries, keys, values] = [0, 1, 2].map((which) => headsOf(projected, which, T));
    const weights = room(nHeads * T, T), mixed = room(T, d), before = top;
    // Each head is two products: with its keys, and with its values transposed, in panels. Keys and values that
    // only round their number up are zero, and so are their scores.
    const nKeys = roundUp(T, PANEL), keyPanels = room(nKeys, dHead).fill(0), valuePanels = room(nKeys, wide).fill(0);
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
      for (let t = 0; t < T; t++) for (let k = 0; k < dHead; k++) mixed[t * d + h * dHead + k] = z[t * wide + k];
    }
    top = before;
    return { input, queries, keys, values, weights, output: linear(mixed, block.projectOut, T) };
  }
  // `off`: the neurons whose activation is taken as zero on all tokens.
  function feedForward(stream, block, T, off) {
    const input = layerNorm(stream, block.ffnNorm, T), preActivation = linear(input, block.expand, T), hidden = room(T, dFf);
    activate(preActivation, hidden);
    for (const neuron of off) for (let t = 0; t < T; t++) hidden[t * dFf + neuron] = 0;
    return { input, pre_activation: preActivation, hidden, output: linear(hidden, block.compress, T) };
  }
  function run(input, number, T, off) {
    const block = blocks[number], attended = attention(input, block, T), middle = sum(input, attended.output, T);
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
    // The trace of some ids; `off` gives the neurons of a block, by its number, that are switched off.
    trace(ids, off = none) {
      const T = ids.length;
      top = base;
      const embedding = room(T, d);
      ids.forEach((id, t) => {
        const from = words.w + (id - (id % PANEL)) * d + (id % PANEL);
        for (let k = 0; k < d; k++) embedding[t * d + k] = f[from + k * PANEL] + f[positions + t * d + k];
      });
      const passed = [];
      for (let n = 0, input = embedding; n < nBlocks; n++, input = passed[n - 1].output) passed.push(run(input, n, T, off));
      return { ids, embedding, blocks: passed, final: layerNorm(passed[nBlocks - 1].output, finalNorm, T), off };
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
      const from = words.w + (word - (word % PANEL)) * d + (word % PANEL), along = new Float64Array(d);
      for (let k = 0; k < d; k++) along[k] = f[finalNorm.gain + k] * f[from + k * PANEL];
      const mean = along.reduce((a, b) => a + b, 0) / d, { w } = blocks[block].compress;
      const hidden = passed[block].ffn.hidden.subarray(token * dFf, (token + 1) * dFf), added = new Float32Array(dFf);
      hidden.forEach((value, neuron) => {
        if (value === 0) return;
        let dot = 0;
        for (let k = 0; k < d; k++) dot += (along[k] - mean) * f[w + (k - (k % PANEL)) * dFf + neuron * PANEL + (k % PANEL)];
        added[neuron] = (value * dot) / scale;
      });
      return added;
    },
  };
}
