// What test_first_page.py asks of the modules: a sentence's data, its arrays as lists.
(() => {
  const { crc32, makeEncoder } = need("encoder.js");
  const { makeTokenizer, tidied } = need("tokenizer.js");
  const { makeLiveJourney } = need("live_journey.js");
  const { fixed, percent, signed } = need("numbers.js"), networks = {};
  let journey = null;
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)).buffer;
  return {
    network({ index, weights }) {
      networks[index.id] = {
        encoder: makeEncoder(index, bytesOf(weights)), dFf: index.config.d_ff,
      };
    },
    start: ({ recorded, tokenizer }) => {
      journey = makeLiveJourney(recorded, networks, makeTokenizer(tokenizer));
    },
    read({ state, wanted }) {
      const data = journey.read(state);
      return data &&
        {
          ...data,
          arrays: Object.fromEntries(wanted.map((name) => [name, Array.from(data.arrays[name])])),
        };
    },
    sum: (base64) => crc32(bytesOf(base64)),
    tidied: (texts) => texts.map(tidied),
    written: (values) =>
      values.map((value) =>
        [fixed(value, 0), fixed(value, 1), fixed(value, 2), percent(value), signed(value)]),
  };
})()
