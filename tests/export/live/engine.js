// What test_engine.py asks of the modules; numbers go as base64 of float32.
(() => {
  const { makeEncoder, makeMemory, PANEL } = need("encoder.js");
  const { makeTokenizer } = need("tokenizer.js");
  const encoders = {};
  let tokenizer;
  const base64 = (values) => {
    if (globalThis.Buffer) {
      return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");
    }
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength), parts = [];
    for (let at = 0; at < bytes.length; at += 30000) {
      parts.push(String.fromCharCode(...bytes.subarray(at, at + 30000)));
    }
    return btoa(parts.join(""));
  };
  const packed = (values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, base64(value)]));
  return {
    tokenizer: (index) => { tokenizer = makeTokenizer(index); },
    encode: ({ text, most }) => tokenizer.encode(text, most ?? Infinity),
    encoder({ index, weights, allowed, name }) {
      const bytes = Uint8Array.from(atob(weights), (sign) => sign.charCodeAt(0)).buffer;
      encoders[name] = makeEncoder(index, bytes, allowed);
      return encoders[name].kind;
    },
    // The products of so many rows, [row][output], all with one matrix, which comes as
    // [output][input].
    products({ x, matrix, bias, numbers, allowed }) {
      const nOut = matrix.length;
      const nIn = matrix[0].length;
      const most = Math.max(...numbers) + 4;
      const w = most * nIn;
      const b = w + (nOut + PANEL) * nIn;
      const { f, product } = makeMemory(b + nOut + most * nOut, allowed), y = b + nOut;
      f.set(x.flat(), 0);
      matrix.forEach((row, out) =>
        row.forEach((value, at) => {
          f[w + (out - (out % PANEL)) * nIn + at * PANEL + (out % PANEL)] = value;
        })
      );
      f.set(bias, b);
      return numbers.map((T) => {
        f.fill(7, y);
        product(0, w, b, y, T, nIn, nOut);
        const end = y + Math.ceil(T / 4) * 4 * nOut;
        return {
          y: Array.from(f.subarray(y, y + T * nOut)),
          spared: f.subarray(end, y + most * nOut).every((value) => value === 7),
        };
      });
    },
    trace({ name, ids, token, off }) {
      const encoder = encoders[name], trace = encoder.trace(ids, off && ((block) => off[block]));
      const values = {
        embedding: trace.embedding, final: trace.final, logits: encoder.logits(trace, token),
      };
      trace.blocks.forEach(({ input, middle, output, attention, ffn }, block) => {
        Object.assign(values, {
          [`${block} input`]: input, [`${block} middle`]: middle, [`${block} output`]: output,
        });
        for (const [kind, value] of Object.entries(attention)) {
          values[`${block} attention ${kind}`] = value;
        }
        for (const [kind, value] of Object.entries(ffn)) values[`${block} ffn ${kind}`] = value;
      });
      const kept = Object.entries(values).map(([name, value]) => [name, value.slice()]);
      trace.blocks.forEach((_, block) => {
        values[`${block} without`] = encoder.logitsWithAndWithoutFfn(trace, block, token)[1];
        values[`${block} adds`] = encoder.contributions(trace, block, token, 7);
      });
      for (const [name, value] of kept) {
        if (value.some((each, at) => each !== values[name][at])) {
          throw new Error(`${name} was overwritten.`);
        }
      }
      return packed(values);
    },
  };
})()
