// Keeps the page that needs no server: after the first visit it works without a network, too.
// The page itself is asked for again each time, and taken from what is kept where nobody answers;
// weights have their checksum in their names, so those that are kept are the right ones.

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));
// Other folders of the same host have other names.
const OWN = `ffnviz-live ${worker.registration.scope} `;
const KEPT = `${OWN}{kept}`; // another version has another

worker.addEventListener("install", (event) => {
  const keep = async () => {
    await (await caches.open(KEPT)).add("./");
    await worker.skipWaiting();
  };
  event.waitUntil(keep());
});

// Of other versions nothing is kept.
worker.addEventListener("activate", (event) => {
  const forget = async () => {
    const names = await caches.keys();
    await Promise.all(
      names.filter((name) => name.startsWith(OWN) && name !== KEPT).map((name) =>
        caches.delete(name)
      ),
    );
    await worker.clients.claim();
  };
  event.waitUntil(forget());
});

async function answer(request) {
  const kept = await caches.open(KEPT);
  const known = await kept.match(request, { ignoreSearch: true });
  if (known && request.url.endsWith(".bin") && request.cache !== "reload") return known;
  try {
    const fresh = await fetch(request);
    if (request.mode === "navigate" && fresh.ok) await kept.put("./", fresh.clone());
    return fresh;
  } catch (error) {
    const page = known ?? (request.mode === "navigate" ? await kept.match("./") : undefined);
    if (page) return page;
    throw error;
  }
}

worker.addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && event.request.url.startsWith(worker.registration.scope)) {
    event.respondWith(answer(event.request));
  }
});
