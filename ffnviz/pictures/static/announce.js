// What came of an action, for those who do not see it: the sentences of the pictures that are now
// others. What was pressed a screen reader says by itself.

import { element } from "./element.js";

const REST_MS = 400; // after the last picture that changed
const APART_MS = 8_000; // between two times without an action, as while a network learns
const MOST = 2; // sentences; the others are read where they stand

const HIDDEN = { position: "fixed", width: "1px", height: "1px", overflow: "hidden", clipPath: "inset(50%)" };
const region = element("div", { role: "status", "aria-live": "polite", id: "ffnviz-outcome", style: HIDDEN });
const said = new WeakMap(); // a picture's host → its sentence
const changed = new Set();
let acts = 0, spokenOf = 0, spokenAt = 0, waiting = 0;
for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { acts += 1; }, true);

const inOrder = (one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);

function speak() {
  const shown = [...changed].filter((host) => host.isConnected && host.getClientRects().length).sort(inOrder);
  changed.clear();
  if (!shown.length) return;
  region.textContent = shown.slice(0, MOST).map((host) => said.get(host)).join(" ");
  [spokenOf, spokenAt] = [acts, performance.now()];
}

/**
 * Tells what a picture says now. It is spoken if it is new, and somebody has done something since the page came.
 *
 * @param host of the picture
 * @param sentence what it says; "" if nothing
 */
export function tellOutcome(host, sentence) {
  if (said.get(host) === sentence) return;
  said.set(host, sentence);
  if (!acts || !sentence) return;
  changed.add(host);
  if (!region.isConnected) document.body.append(region); // what is in a page before its text is spoken by all readers
  clearTimeout(waiting);
  waiting = setTimeout(speak, acts === spokenOf ? Math.max(REST_MS, spokenAt + APART_MS - performance.now()) : REST_MS);
}
