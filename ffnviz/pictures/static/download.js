// Has the browser save a file of its own making.

import { element } from "./element.js";

const KEEP_MS = 60_000; // a browser that asks first where to put it reads it later

export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEEP_MS);
}
