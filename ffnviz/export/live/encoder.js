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

const relu = (x) => (x > 0 ? x : 0);

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
function gelu(x) {
  if (!(Math.abs(x) < END)) return x > 0 ? x : 0 * x; // NaN stays
  const place = (x + END) / STEP, at = Math.floor(place);
  return table[at] + (place - at) * (table[at + 1] - table[at]);
}

const ACTIVATIONS = { relu, gelu }; // what packing.py lets through

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
  const dHead = d / nHeads, activation = ACTIVATIONS[config.activation];
  const nWeights = Object.values(places).reduce((sum, { shape }) => sum + roundUp(product(shape), ROWS), roundUp(nWords, ROWS));
  const blockRoom = 13 * d + 2 * dFf + nHeads * most; // numbers a token
  // A pass and, on top of it, what a pass from a block on takes; the logits of one token.
  const size = nWeights + (most + ROWS) * (2 * nBlocks * blockRoom + 4 * d) + 2 * ROWS * nWords;
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
  const words = { w: weight("token_embedding.weight"), b: top, nOut: nWords }; // no bias: memory begins as zeros
  top += roundUp(nWords, ROWS);
  const base = top;

  function linear(x, { w, b, nOut }, T) {
    const y = room(T, nOut);
    multiply(placeOf(x), w, b, placeOf(y), T, x.length / T, nOut);
    return y;
  }
  function layerNorm(x, { gain, bias }, T) {
    const y = room(T, d);
    for (let t = 0, at = 0; t < T; t++, at += d) {
      const [mean, scale] = momentsOf(x.subarray(at, at + d));
      for (let k = 0; k < d; k++) y[at + k] = ((x[at + k] - mean) / scale) * f[gain + k] + f[bias + k];
    }
    return y;
  }
  // The mean of a row, and what LayerNorm divides by.
  function momentsOf(row) {
    let mean = 0, variance = 0;
    for (let k = 0; k < d; k++) mean += row[k];
    mean /= d;
    for (let k = 0; k < d; k++) variance += (row[k] - mean) ** 2;
    return [mean, Math.sqrt(variance / d + config.layer_norm_eps)];
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
  // softmax(q kᵀ / √d_head) of one query (Vaswani et al. 2017, equation 1); `to` is its row of weights.
  function attend(query, keys, weights, T) {
    const scale = 1 / Math.sqrt(dHead);
    let highest = -Infinity, total = 0;
    for (let s = 0, k = 0; s < T; s++, k += dHead) {
      let a = 0, b = 0, c = 0, e = 0; // four sums: no addition waits for the one before
      for (let j = 0; j < dHead; j += 4) {
        a += query[j] * keys[k + j]; b += query[j + 1] * keys[k + j + 1];
        c += query[j + 2] * keys[k + j + 2]; e += query[j + 3] * keys[k + j + 3];
      }
      weights[s] = (a + b + c + e) * scale;
      highest = Math.max(highest, weights[s]);
    }
    for (let s = 0; s < T; s++) total += weights[s] = Math.exp(weights[s] - highest);
    for (let s = 0; s < T; s++) weights[s] /= total;
  }
  function attention(stream, block, T) {
    const input = layerNorm(stream, block.attentionNorm, T), projected = linear(input, block.projectIn, T);
    const [queries, keys, values] = [0, 1, 2].map((which) => headsOf(projected, which, T));
    const weights = room(T, nHeads * T), mixed = room(T, d);
    mixed.fill(0);
    for (let h = 0; h < nHeads; h++) {
      const own = h * T * dHead, headKeys = keys.subarray(own, own + T * dHead);
      for (let t = 0; t < T; t++) {
        const row = weights.subarray((h * T + t) * T, (h * T + t + 1) * T), to = t * d + h * dHead;
        attend(queries.subarray(own + t * dHead, own + (t + 1) * dHead), headKeys, row, T);
        for (let s = 0; s < T; s++) for (let j = 0, v = own + s * dHead, share = row[s]; j < dHead; j++) mixed[to + j] += share * values[v + j];
      }
    }
    return { input, queries, keys, values, weights, output: linear(mixed, block.projectOut, T) };
  }
  // `off`: the neurons whose activation is taken as zero on all tokens.
  function feedForward(stream, block, T, off) {
    const input = layerNorm(stream, block.ffnNorm, T), preActivation = linear(input, block.expand, T), hidden = room(T, dFf);
    for (let i = 0; i < hidden.length; i++) hidden[i] = activation(preActivation[i]);
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
      const [, scale] = momentsOf(passed[nBlocks - 1].output.subarray(token * d, (token + 1) * d));
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
