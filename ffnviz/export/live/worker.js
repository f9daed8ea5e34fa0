// Reads sentences beside the page, which stays free to take keys: networks come in, then sentences.
// Messages are answered one after the other; which of them are worth asking, the page decides.

import { crc32, makeEncoder } from "./encoder.js";
import { makeLiveJourney } from "./live_journey.js";
import { grouped } from "./numbers.js";
import { makeTokenizer } from "./tokenizer.js";

const worker = /** @type {WorkerScope} */ (/** @type {unknown} */ (self));
const networks = {};
let journey = null;

// The bytes that a text holds as base64; null if it is none.
function decoded(base64) {
  try {
    const signs = atob(base64), bytes = new Uint8Array(signs.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = signs.charCodeAt(at);
    return bytes.buffer;
  } catch {
    return null;
  }
}

function addNetwork({ index, bytes, base64 }) {
  const { label, size, crc32: sum } = index;
  const here = bytes?.byteLength ?? Math.floor(base64.length / 4) * 3;
  if (here < size) {
    throw new Error(
      `Of the ${label} network's ${grouped(size)} bytes only ${grouped(here)} are here.`,
    );
  }
  const weights = bytes ?? decoded(base64);
  if (weights?.byteLength !== size || crc32(weights) !== sum) {
    throw new Error(
      `The ${label} network's weights are not those that were saved: their checksum differs.`,
    );
  }
  networks[index.id] = { encoder: makeEncoder(index, weights), dFf: index.config.d_ff };
}

const ANSWERS = {
  network(message) {
    addNetwork(message);
    return { added: message.index.id, kind: networks[message.index.id].encoder.kind };
  },
  start({ recorded, tokenizer }) {
    journey = makeLiveJourney(recorded, networks, makeTokenizer(tokenizer));
    return { started: true };
  },
  read: ({ state }) => ({ data: journey.read(state) }),
};

worker.onmessage = ({ data: { number, ask, ...message } }) => {
  try {
    const answer = ANSWERS[ask](message);
    const moved = Object.values(answer.data?.arrays ?? {}).map(({ buffer }) => buffer);
    worker.postMessage({ number, ...answer }, moved);
  } catch ({ message: fault, name }) {
    worker.postMessage({
      number,
      fault: name === "RangeError" ? `This device has too little memory for it (${fault}).` : fault,
    });
  }
};
