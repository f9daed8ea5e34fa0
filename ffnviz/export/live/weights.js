// Where the networks' weights come from: texts in the page, or files beside it, which are kept in the
// browser once they are there. Whether they are whole, the worker says.

/** @type {() => Promise<unknown>} */
const pageIsRead = () => new Promise((resolve) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve, { once: true });
  else resolve(null);
});

// A text of the page; it goes, as the worker has it then.
async function fromPage(index) {
  await pageIsRead();
  const packed = document.getElementById(`weights-${index.name}`);
  if (!packed) throw new Error(`The ${index.label} network is missing.`);
  const base64 = packed.textContent;
  packed.remove();
  return { index, base64 };
}

const ofFile = "Its networks lie beside it, and a page that was opened as a file may read none: put the folder on a web server, or take the page of one file.";

// A browser has nothing to keep them in on an address that is not safe, or where it is forbidden.
async function openKept(name) {
  try {
    return await caches.open(name);
  } catch {
    return null;
  }
}

// The bytes of an answer as they come; `arrived` is told of each piece.
async function bytesOf(answer, size, arrived) {
  const bytes = new Uint8Array(size), reader = answer.body.getReader();
  let at = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.slice(0, at).buffer;
    if (at + value.length > size) return bytes.slice(0, at).buffer; // too long is as wrong as too short
    bytes.set(value, at);
    at += value.length;
    arrived(value.length);
  }
}

/**
 * Makes what gets a network's weights.
 *
 * @param kept the name under which this version's files are kept
 * @param arrived called with a number of bytes that are here
 * @returns (index, again) => { index, bytes or base64 }; `again`: not what is kept, as that is damaged
 */
export function makeWeights(kept, arrived) {
  const scope = new URL("./", document.baseURI).href;
  if ("serviceWorker" in navigator && kept && location.protocol !== "file:") {
    navigator.serviceWorker.register(new URL("service_worker.js", scope)).catch(() => {}); // it works without, but not offline
  }
  async function fromFile(index, again) {
    if (location.protocol === "file:") throw new Error(ofFile);
    const url = new URL(index.file, scope).href, store = await openKept(`ffnviz-live ${scope} ${kept}`);
    const known = again ? null : await store?.match(url);
    const answer = known ?? (await fetch(url, { cache: again ? "reload" : "default" }));
    if (!answer.ok) throw new Error(`${index.file} could not be read (${answer.status}).`);
    const copy = known ? null : answer.clone(), saving = copy && store?.put(url, copy).catch(() => {}); // there may be no room
    const bytes = await bytesOf(answer, index.size, arrived);
    await saving;
    return { index, bytes };
  }
  return (index, again) => (index.file ? fromFile(index, again) : fromPage(index));
}
